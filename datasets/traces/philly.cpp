#include "datasets/traces/philly.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "datasets/generator/random.h"
#include "datasets/traces/csv.h"
#include "model/base/require.h"

namespace muster::traces {
namespace {

constexpr std::int64_t kMostGpus = 4096, kMostMinutes = 5'256'000, kMostNodes = 100'000, kMostCores = 1'000'000;
constexpr std::int64_t kMinutesPerDay = 1440;
constexpr double kMostWeight = 1000;
constexpr std::int32_t kMostPriority = 1000;
constexpr std::string_view kUserPrefix = "vc_", kOneQueue = "philly";
constexpr std::int64_t kPodsPerNode = 1000;  // out of reach, as for the other trace

struct KindRow {
  PhillyKind kind;
  const char* name;
  std::int32_t priority;
};
constexpr std::array<KindRow, 3> kKinds = {
    {{PhillyKind::kStrict, "strict", 125}, {PhillyKind::kSoft, "soft", 75}, {PhillyKind::kBest, "best", 50}}};

// Random streams: one for each use of the seed.
constexpr std::uint64_t kCopyStream = 1, kDayStream = 2, kEstimateStream = 3;

// 1000 x 0.3 x 10^(i/10): the factors of noisy estimates; between two of them they are drawn evenly.
constexpr std::array<std::int64_t, 11> kEstimateFactors{300, 378, 475, 599, 754, 949, 1194, 1504, 1893, 2383, 3000};

std::vector<PhillyArrival> drawn_arrivals(const PhillyInput& input, const PhillyOptions& options, std::int64_t gpus) {
  const std::int64_t window = *options.days * kMinutesPerDay;
  std::int64_t work = 0;
  for (const PhillyJob& job : input.jobs) work += job.gpus * job.duration_minutes;
  const double wanted = *options.load * static_cast<double>(gpus) * static_cast<double>(window);
  const auto millionths =
      static_cast<std::int64_t>(1e6 * wanted / static_cast<double>(std::max<std::int64_t>(1, work)));
  generator::Random copies(options.seed, kCopyStream), days(options.seed, kDayStream);
  std::vector<PhillyArrival> arrivals;
  for (std::size_t i = 0; i < input.jobs.size(); ++i) {
    if (input.jobs[i].gpus == 0) continue;
    const std::int64_t count = millionths / 1'000'000 + (copies.chance(millionths % 1'000'000) ? 1 : 0);
    for (std::int64_t copy = 0; copy < count; ++copy) {
      const auto day = copy == 0 ? 0 : static_cast<std::int64_t>(days.below(static_cast<std::uint64_t>(*options.days)));
      arrivals.push_back({i, (input.jobs[i].submit_minutes + day * kMinutesPerDay) % window, copy});
    }
  }
  return arrivals;
}

std::int64_t gpus_of(const std::vector<generator::InstanceNode>& nodes) {
  return std::accumulate(nodes.begin(), nodes.end(), std::int64_t{0},
                         [](std::int64_t sum, const generator::InstanceNode& node) { return sum + node.gpu_count; });
}

// The parts of `total` in proportion to the nodes: rounded down, the rest to the largest remainders, first named first.
std::vector<std::int64_t> quotas_of(const std::vector<PhillyCluster>& clusters, std::int64_t total) {
  std::int64_t nodes = 0;
  for (const PhillyCluster& cluster : clusters) nodes += cluster.nodes;
  std::vector<std::int64_t> quotas;
  std::vector<std::pair<std::int64_t, std::size_t>> remainders;
  std::int64_t left = total;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    quotas.push_back(total * clusters[i].nodes / std::max<std::int64_t>(1, nodes));
    remainders.emplace_back(-(total * clusters[i].nodes % std::max<std::int64_t>(1, nodes)), i);
    left -= quotas.back();
  }
  std::ranges::sort(remainders);
  for (std::size_t i = 0; i < remainders.size() && left > 0; ++i, --left) ++quotas[remainders[i].second];
  return quotas;
}

// Template tN of the snapshot asks for N + 1 GPUs.
generator::Instance frame_of(const PhillyInput& input, const PhillyOptions& options,
                             std::vector<generator::InstanceNode> nodes) {
  generator::Instance instance;
  instance.id = options.id;
  instance.time = 0;
  instance.place_only = options.place_only;
  const std::int64_t total = gpus_of(nodes);
  const std::vector<std::int64_t> quotas = quotas_of(input.clusters, total);
  instance.nodes = std::move(nodes);
  const auto add_queue = [&](std::string name, std::int64_t quota) {
    generator::InstanceQueue& queue = instance.queues.emplace_back();
    queue.name = std::move(name);
    queue.gpu_quota = quota;
  };
  if (options.one_queue) {
    add_queue(std::string(kOneQueue), total);
  } else {
    for (std::size_t i = 0; i < input.clusters.size(); ++i)
      add_queue(std::string(kUserPrefix) + input.clusters[i].name, quotas[i]);
  }
  for (const KindRow& row : kKinds) instance.priority_classes.push_back({row.name, row.priority});
  for (std::int32_t gpus = 1; gpus <= kPhillyGpusPerNode; ++gpus) {
    generator::PodShape& shape = instance.shapes.emplace_back();
    shape.gpu = {GpuRequestKind::kWhole, gpus, 0};
  }
  return instance;
}

// GPUs of each worker: with fewer than 8 GPUs, one each; from 8 on, 8 each, and one worker with the rest.
std::vector<std::int32_t> workers_of(std::int32_t gpus) {
  if (gpus < kPhillyGpusPerNode) return std::vector<std::int32_t>(static_cast<std::size_t>(gpus), 1);
  std::vector<std::int32_t> workers(static_cast<std::size_t>(gpus / kPhillyGpusPerNode), kPhillyGpusPerNode);
  if (gpus % kPhillyGpusPerNode != 0) workers.push_back(gpus % kPhillyGpusPerNode);
  return workers;
}

// Keys of a gang, or of a pod that is one.
std::string terms_of(const PhillyJob& job, const PhillyOptions& options) {
  const KindRow& kind = kKinds[static_cast<std::size_t>(job.kind)];
  const bool is_large = job.gpus >= kPhillyGpusPerNode;
  std::string terms = fmt::format(R"("queue":"{}",)", options.one_queue ? kOneQueue : std::string_view(job.user));
  if (is_large && options.large_priority > 0) {
    terms += fmt::format(R"("priority":{})", kind.priority + options.large_priority);
  } else {
    terms += fmt::format(R"("priorityClass":"{}")", kind.name);
  }
  if (is_large && options.large_weight != 1) terms += fmt::format(R"(,"weight":{})", options.large_weight);
  return terms;
}

// Seconds; none: the job tells nothing.
std::optional<std::int64_t> estimate_of(const PhillyJob& job, PhillyEstimates estimates, generator::Random& random) {
  const std::int64_t seconds = job.duration_minutes * 60;
  if (estimates == PhillyEstimates::kNone) return std::nullopt;
  if (estimates == PhillyEstimates::kExact) return seconds;
  const std::size_t part = random.below(kEstimateFactors.size() - 1);
  const auto within = static_cast<std::int64_t>(random.below(1000));
  const std::int64_t factor =
      kEstimateFactors[part] + (kEstimateFactors[part + 1] - kEstimateFactors[part]) * within / 1000;
  return std::max<std::int64_t>(1, seconds * factor / 1000);
}

void append_submit(const PhillyJob& job, const PhillyArrival& arrival, const std::string& terms, std::string& out) {
  const auto to = std::back_inserter(out);
  const std::string name = arrival.copy == 0 ? job.name : fmt::format("{}-r{}", job.name, arrival.copy + 1);
  fmt::format_to(to, FMT_COMPILE(R"({{"time":{},"event":"submit",)"), arrival.minutes * 60);
  const std::vector<std::int32_t> workers = workers_of(job.gpus);
  if (workers.size() == 1) {
    fmt::format_to(to, FMT_COMPILE(R"("pods":[{{"name":"{}","template":"t{}",{}}}])"), name, workers[0] - 1, terms);
  } else {
    fmt::format_to(to, FMT_COMPILE(R"("gangs":[{{"name":"{}",{}}}],"pods":[)"), name, terms);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      fmt::format_to(to, FMT_COMPILE(R"({}{{"name":"{}-{}","gang":"{}","template":"t{}"}})"), i == 0 ? "" : ",", name,
                     i, name, workers[i] - 1);
    }
    out += ']';
  }
  fmt::format_to(to, FMT_COMPILE(",\"duration\":{}}}\n"), job.duration_minutes * 60);
}

}  // namespace

Result<std::vector<PhillyJob>> parse_philly_jobs(std::string_view text, std::string_view file) {
  const auto table = read_csv(text, file, {{"job_id", "user", "num_gpu", "submit_time", "duration", "job_type"}, {}});
  if (!table) return table.error();
  std::vector<PhillyJob> jobs;
  std::unordered_set<std::string_view> seen;
  for (std::size_t row = 0; row < table->rows.size(); ++row) {
    const auto& fields = table->rows[row];
    if (fields[0].empty()) return table->fault(row, 0, "the name is empty");
    if (!seen.insert(fields[0]).second) {
      return InputError{ErrorCode::kDuplicateName, table->fault(row, 0, "").path,
                        fmt::format("duplicate name \"{}\"", fields[0])};
    }
    const auto gpus = table->number(row, 2, kMostGpus);
    const auto submit = table->number(row, 3, kMostMinutes), duration = table->number(row, 4, kMostMinutes);
    if (!gpus) return gpus.error();
    if (!submit) return submit.error();
    if (!duration) return duration.error();
    if (*duration == 0) return table->fault(row, 4, "the duration must be greater than 0");
    const auto kind =
        std::ranges::find(kKinds, fields[5], [](const KindRow& known) { return std::string_view(known.name); });
    if (kind == kKinds.end()) return table->fault(row, 5, "must be strict, soft or best");
    jobs.push_back({fmt::format("job-{}", fields[0]), std::string(fields[1]), kind->kind,
                    static_cast<std::int32_t>(*gpus), *submit, *duration});
  }
  return jobs;
}

Result<std::vector<PhillyCluster>> parse_philly_clusters(std::string_view text, std::string_view file) {
  const auto table = read_csv(text, file, {{"vc", "node num"}, {}});
  if (!table) return table.error();
  std::vector<PhillyCluster> clusters;
  for (std::size_t row = 0; row < table->rows.size(); ++row) {
    const auto nodes = table->number(row, 1, kMostNodes);
    if (!nodes) return nodes.error();
    clusters.push_back({std::string(table->rows[row][0]), static_cast<std::int32_t>(*nodes)});
  }
  return clusters;
}

Result<std::vector<generator::InstanceNode>> parse_inventory(std::string_view text, std::string_view file) {
  const auto table = read_csv(text, file, {{"node_name", "cpu_num", "gpu_capacity_num", "gpu_model"}, {}});
  if (!table) return table.error();
  std::vector<generator::InstanceNode> nodes;
  for (std::size_t row = 0; row < table->rows.size(); ++row) {
    const auto cores = table->number(row, 1, kMostCores), gpus = table->number(row, 2, kMostGpus);
    if (!cores) return cores.error();
    if (!gpus) return gpus.error();
    generator::InstanceNode& node = nodes.emplace_back();
    node.name = fmt::format("node-{}", table->rows[row][0]);
    node.cpu_milli = *cores * 1000;
    node.pods = kPodsPerNode;
    node.gpu_count = static_cast<std::int32_t>(*gpus);
    node.gpu_model = table->rows[row][3];
  }
  return nodes;
}

Result<PhillyInput> load_philly(const std::string& jobs, const std::string& clusters) {
  const auto job_text = read_maybe_compressed(jobs), cluster_text = read_maybe_compressed(clusters);
  if (!job_text) return job_text.error();
  if (!cluster_text) return cluster_text.error();
  auto read_jobs = parse_philly_jobs(*job_text, jobs);
  if (!read_jobs) return read_jobs.error();
  auto read_clusters = parse_philly_clusters(*cluster_text, clusters);
  if (!read_clusters) return read_clusters.error();
  PhillyInput input{*std::move(read_jobs), *std::move(read_clusters)};
  std::unordered_set<std::string> users;
  for (const PhillyCluster& cluster : input.clusters) users.insert(std::string(kUserPrefix) + cluster.name);
  for (std::size_t i = 0; i < input.jobs.size(); ++i) {
    if (users.contains(input.jobs[i].user)) continue;
    return InputError{ErrorCode::kUnknownName, fmt::format("{}:{}:user", jobs, i + 2),
                      fmt::format("\"{}\" is not a virtual cluster of {}", input.jobs[i].user, clusters)};
  }
  return input;
}

Result<std::vector<generator::InstanceNode>> load_inventory(const std::string& path) {
  const auto text = read_maybe_compressed(path);
  if (!text) return text.error();
  return parse_inventory(*text, path);
}

std::string datasets_source_directory() { return MUSTER_DATASETS_DIRECTORY; }

std::optional<InputError> philly_fault(const PhillyOptions& options) {
  const auto fault = [](const char* name, const char* message) {
    return InputError{ErrorCode::kInvalidOption, name, message};
  };
  if (options.days.has_value() != options.load.has_value()) return fault("load", "and --days must be given together");
  if (options.days && (*options.days < 1 || *options.days > 366)) return fault("days", "must be from 1 to 366");
  if (options.load && !(*options.load > 0 && *options.load <= 100))
    return fault("load", "must be greater than 0 and at most 100");
  if (!(options.large_weight > 0 && options.large_weight <= kMostWeight))
    return fault("large-weight", "must be greater than 0 and at most 1000");
  if (options.large_priority < 0 || options.large_priority > kMostPriority)
    return fault("large-priority", "must be from 0 to 1000");
  return std::nullopt;
}

std::vector<generator::InstanceNode> philly_nodes(const PhillyInput& input) {
  std::vector<generator::InstanceNode> nodes;
  for (const PhillyCluster& cluster : input.clusters) {
    for (std::int32_t i = 0; i < cluster.nodes; ++i) {
      generator::InstanceNode& node = nodes.emplace_back();
      node.name = fmt::format("{}-{}", cluster.name, i);
      node.pods = kPodsPerNode;
      node.gpu_count = kPhillyGpusPerNode;
    }
  }
  return nodes;
}

std::vector<PhillyArrival> philly_arrivals(const PhillyInput& input, const PhillyOptions& options) {
  const std::int64_t gpus = gpus_of(options.nodes.empty() ? philly_nodes(input) : options.nodes);
  std::vector<PhillyArrival> arrivals;
  if (options.days) {
    arrivals = drawn_arrivals(input, options, gpus);
  } else {
    for (std::size_t i = 0; i < input.jobs.size(); ++i) {
      if (input.jobs[i].gpus > 0) arrivals.push_back({i, input.jobs[i].submit_minutes, 0});
    }
  }
  std::ranges::stable_sort(arrivals, {}, &PhillyArrival::minutes);
  return arrivals;
}

std::string philly_workload(const PhillyInput& input, const PhillyOptions& options) {
  MUSTER_REQUIRE_SLOW(!philly_fault(options));
  std::string out =
      generator::write_instance(frame_of(input, options, options.nodes.empty() ? philly_nodes(input) : options.nodes));
  out += '\n';
  generator::Random estimates(options.seed, kEstimateStream);
  for (const PhillyArrival& arrival : philly_arrivals(input, options)) {
    const PhillyJob& job = input.jobs[arrival.job];
    std::string terms = terms_of(job, options);
    if (const auto seconds = estimate_of(job, options.estimates, estimates))
      terms += fmt::format(R"(,"expectedDuration":{})", *seconds);
    append_submit(job, arrival, terms, out);
  }
  return out;
}

std::string inventory_snapshot(const std::vector<generator::InstanceNode>& nodes, const std::string& id) {
  generator::Instance instance;
  instance.id = id;
  instance.nodes = nodes;
  return generator::write_instance(instance);
}

}  // namespace muster::traces
