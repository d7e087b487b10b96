#include "datasets/traces/openb.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "datasets/generator/draw.h"
#include "datasets/generator/options.h"
#include "datasets/generator/random.h"
#include "datasets/generator/random_fit.h"
#include "datasets/traces/csv.h"
#include "model/base/require.h"

namespace muster::traces {

Result<std::vector<OpenbPublished>> load_openb_published(const std::string& directory) {
  const std::string file = directory + "/published.csv";
  const auto text = read_maybe_compressed(file);
  if (!text) return text.error();
  const auto table = read_csv(*text, file, {{"trace", "policy", "arrived", "unallocated_mean"}, {}});
  if (!table) return table.error();
  constexpr std::size_t kArrived = 2, kUnallocated = 3;
  std::vector<OpenbPublished> points;
  for (std::size_t row = 0; row < table->rows.size(); ++row) {
    const auto arrived = table->number(row, kArrived, 1000);
    if (!arrived) return arrived.error();
    const std::string field(table->rows[row][kUnallocated]);
    char* end = nullptr;
    const double percent = std::strtod(field.c_str(), &end);
    if (field.empty() || *end != '\0' || !(percent >= 0 && percent <= 100))
      return table->fault(row, kUnallocated, "not a percentage");
    points.push_back({std::string(table->rows[row][0]), std::string(table->rows[row][1]),
                      static_cast<std::int32_t>(*arrived), static_cast<std::int32_t>(std::lround(percent * 1000))});
  }
  return points;
}

namespace {

constexpr std::int64_t kMostCpuMilli = 1'000'000'000, kMostMemoryMib = 1'000'000'000, kMostGpus = 1024;
constexpr std::int64_t kPodsPerNode = 1000;

// The numbers of one row in the columns from `first` on, each within its bound.
Result<std::vector<std::int64_t>> numbers_of(const CsvTable& table, std::size_t row, std::size_t first,
                                             const std::vector<std::int64_t>& bounds) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const auto number = table.number(row, first + i, bounds[i]);
    if (!number) return number.error();
    numbers.push_back(*number);
  }
  return numbers;
}

// Names stand in the first column, and none twice.
std::optional<InputError> name_fault(const CsvTable& table) {
  std::unordered_set<std::string_view> seen;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string_view name = table.rows[row][0];
    if (name.empty()) return table.fault(row, 0, "the name is empty");
    if (seen.insert(name).second) continue;
    InputError fault = table.fault(row, 0, fmt::format("duplicate name \"{}\"", name));
    fault.code = ErrorCode::kDuplicateName;
    return fault;
  }
  return std::nullopt;
}

// "A|B|B" as sorted, distinct names.
std::vector<std::string> models_of(std::string_view field) {
  std::vector<std::string> models;
  while (!field.empty()) {
    const std::size_t bar = field.find('|');
    if (bar != 0) models.emplace_back(field.substr(0, bar));
    field.remove_prefix(bar == std::string_view::npos ? field.size() : bar + 1);
  }
  std::ranges::sort(models);
  models.erase(std::ranges::unique(models).begin(), models.end());
  return models;
}

GpuRequest gpu_request(std::int64_t num_gpu, std::int64_t gpu_milli) {
  if (num_gpu == 0) return {};
  const auto devices = static_cast<std::int32_t>(num_gpu);
  if (gpu_milli == 1000) return {GpuRequestKind::kWhole, devices, 0};
  return {GpuRequestKind::kFraction, devices, gpu_milli * 1000};
}

}  // namespace

Result<std::vector<generator::InstanceNode>> parse_openb_nodes(std::string_view text, std::string_view file) {
  const auto table = read_csv(text, file, {{"sn", "cpu_milli", "memory_mib", "gpu", "model"}, {}});
  if (!table) return table.error();
  if (auto fault = name_fault(*table)) return *std::move(fault);
  std::vector<generator::InstanceNode> nodes;
  for (std::size_t row = 0; row < table->rows.size(); ++row) {
    const auto numbers = numbers_of(*table, row, 1, {kMostCpuMilli, kMostMemoryMib, kMostGpus});
    if (!numbers) return numbers.error();
    generator::InstanceNode& node = nodes.emplace_back();
    node.name = table->rows[row][0];
    node.cpu_milli = (*numbers)[0];
    node.memory_mib = (*numbers)[1];
    node.pods = kPodsPerNode;
    node.gpu_count = static_cast<std::int32_t>((*numbers)[2]);
    node.gpu_model = table->rows[row][4];
  }
  return nodes;
}

Result<std::vector<OpenbPod>> parse_openb_pods(std::string_view text, std::string_view file) {
  constexpr std::size_t kGpuMilliColumn = 4, kModelsColumn = 5;
  const auto table = read_csv(text, file, {{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}, {"gpu_spec"}});
  if (!table) return table.error();
  if (auto fault = name_fault(*table)) return *std::move(fault);
  std::vector<OpenbPod> pods;
  for (std::size_t row = 0; row < table->rows.size(); ++row) {
    const auto numbers = numbers_of(*table, row, 1, {kMostCpuMilli, kMostMemoryMib, kMostGpus, 1000});
    if (!numbers) return numbers.error();
    const std::int64_t num_gpu = (*numbers)[2], gpu_milli = (*numbers)[3];
    if (num_gpu >= 1 && gpu_milli == 0)
      return table->fault(row, kGpuMilliColumn, "num_gpu is at least 1, but gpu_milli is 0");
    if (num_gpu > 1 && gpu_milli < 1000) {
      return table->fault(row, kGpuMilliColumn, "a share requires num_gpu 1");
    }
    OpenbPod& pod = pods.emplace_back();
    pod.name = table->rows[row][0];
    pod.shape.cpu_milli = (*numbers)[0];
    pod.shape.memory_mib = (*numbers)[1];
    pod.shape.gpu = gpu_request(num_gpu, gpu_milli);
    pod.shape.gpu_models = models_of(table->rows[row][kModelsColumn]);
  }
  return pods;
}

Result<std::vector<std::uint32_t>> parse_openb_order(std::string_view text, std::string_view file,
                                                     std::size_t row_count) {
  // A table of one column without a header: it gets one, and its line numbers move back by one.
  std::vector<std::uint32_t> order;
  std::size_t line = 0;
  while (!text.empty()) {
    ++line;
    const std::size_t end = text.find('\n');
    CsvTable table{std::string(file), {"row"}, {{text.substr(0, end)}}};
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (table.rows[0][0].ends_with('\r')) table.rows[0][0].remove_suffix(1);
    const auto row = table.number(0, 0, static_cast<std::int64_t>(row_count) - 1);
    if (!row) return InputError{row.error().code, fmt::format("{}:{}:row", file, line), row.error().message};
    order.push_back(static_cast<std::uint32_t>(*row));
  }
  return order;
}

OpenbFiles openb_trace_files(const std::string& directory, const std::string& trace) {
  return openb_trace_files(directory, trace, 42);
}

OpenbFiles openb_trace_files(const std::string& directory, const std::string& trace, std::uint32_t seed) {
  // The lists of `default` and of all gpuspec traces are equally long, so the same seed gives the same order.
  const bool has_default_order = trace == "gpuspec10" || trace == "gpuspec20";
  return {directory + "/nodes.csv", directory + "/pods_" + trace + ".csv",
          fmt::format("{}/arrivals_{}_{}.idx", directory, has_default_order ? "default" : trace, seed)};
}

const std::vector<std::string>& openb_traces() {
  static const std::vector<std::string> traces = {"default",    "cpu050",      "cpu100",    "cpu250",    "gpushare40",
                                                  "gpushare60", "gpushare100", "gpuspec10", "gpuspec20", "gpuspec33",
                                                  "multigpu20", "multigpu30",  "multigpu50"};
  return traces;
}

const std::vector<std::uint32_t>& openb_seeds() {
  static const std::vector<std::uint32_t> seeds = {42, 43, 44, 45, 46};
  return seeds;
}

std::string openb_source_directory() { return MUSTER_OPENB_DIRECTORY; }

Result<OpenbInput> load_openb(const OpenbFiles& files) {
  const auto node_text = read_maybe_compressed(files.nodes), pod_text = read_maybe_compressed(files.pods);
  if (!node_text) return node_text.error();
  if (!pod_text) return pod_text.error();
  auto nodes = parse_openb_nodes(*node_text, files.nodes);
  if (!nodes) return nodes.error();
  auto pods = parse_openb_pods(*pod_text, files.pods);
  if (!pods) return pods.error();
  OpenbInput input{*std::move(nodes), *std::move(pods), {}};
  if (files.order.empty()) return input;
  const auto order_text = read_maybe_compressed(files.order);
  if (!order_text) return order_text.error();
  auto order = parse_openb_order(*order_text, files.order, input.pods.size());
  if (!order) return order.error();
  input.order = *std::move(order);
  return input;
}

namespace {

// Each use of the seed draws from its own stream.
enum Stream : std::uint64_t { kNodes = 1, kGangSizes, kRunning, kPending };

constexpr int kDrawsWithoutPlace = 1000;

// One multiplication and one rounding, which IEEE 754 defines identically everywhere.
std::int64_t scaled(std::int64_t amount, double factor) { return std::llround(static_cast<double>(amount) * factor); }

std::int64_t thousandths_of(const OpenbPod& pod) { return generator::gpu_thousandths(pod.shape.gpu, 1); }

std::int64_t thousandths_of(const std::vector<generator::InstanceNode>& nodes) {
  std::int64_t sum = 0;
  for (const generator::InstanceNode& node : nodes) sum += node.gpu_count * std::int64_t{1000};
  return sum;
}

std::string tile_suffix(const OpenbOptions& options, std::int32_t tile) {
  return options.tile == 1 ? std::string() : fmt::format("-t{}", tile);
}

// Fills in an instance step by step.
class Import {
 public:
  Import(const OpenbInput& input, const OpenbOptions& options)
      : input_(input), options_(options), shape_of_row_(input.pods.size(), -1) {
    instance_.id = options.id;
    instance_.place_only = options.place_only;
    if (options.falling_sizes) size_weights_ = generator::gang_size_weights(options.gang_max);
  }

  std::string run() {
    add_nodes();
    if (options_.resamples()) {
      add_running();
      add_sampled();
    } else {
      add_listed();
    }
    return generator::write_instance(instance_);
  }

 private:
  void add_nodes() {
    if (options_.node_count > 0) return sample_nodes();
    for (std::int32_t tile = 0; tile < options_.tile; ++tile) {
      for (const generator::InstanceNode& node : input_.nodes) {
        instance_.nodes.push_back(node);
        instance_.nodes.back().name += tile_suffix(options_, tile);
      }
    }
  }

  void sample_nodes() {
    generator::Random random(options_.seed, kNodes);
    for (std::int32_t i = 0; i < options_.node_count; ++i) {
      instance_.nodes.push_back(input_.nodes[random.below(input_.nodes.size())]);
      instance_.nodes.back().name = fmt::format("node-{}", i);
    }
  }

  // The rows of the pod list in the order in which their pods come, for one tile.
  std::vector<std::uint32_t> listed_rows() const {
    std::vector<std::uint32_t> rows = input_.order;
    if (options_.arrived_percent) rows.resize(openb_arrival(input_, *options_.arrived_percent).events);
    if (!input_.order.empty()) return rows;
    for (std::uint32_t row = 0; row < input_.pods.size(); ++row) rows.push_back(row);
    return rows;
  }

  void add_listed() {
    std::vector<std::int32_t> times(input_.pods.size(), 0);
    for (const std::uint32_t row : listed_rows()) {
      const std::int32_t time = ++times[row];
      std::string name = input_.pods[row].name;
      if (time > 1) name += fmt::format("-r{}", time);
      for (std::int32_t tile = 0; tile < options_.tile; ++tile) {
        add_pod(row, name + tile_suffix(options_, tile)).terms = pending_terms();
      }
    }
    if (options_.gang_max > 1) group_into_gangs();
  }

  generator::InstancePod& add_pod(std::uint32_t row, std::string name) {
    if (shape_of_row_[row] < 0) shape_of_row_[row] = shapes_.position_of(input_.pods[row].shape, instance_);
    generator::InstancePod& pod = instance_.pods.emplace_back();
    pod.name = std::move(name);
    pod.shape = shape_of_row_[row];
    return pod;
  }

  generator::InstanceTerms pending_terms() const {
    generator::InstanceTerms terms;
    if (options_.pending_priority != 0) terms.priority = options_.pending_priority;
    return terms;
  }

  // Walks through the pods; each joins the open gang of its shape, until that has reached its drawn size.
  void group_into_gangs() {
    struct Group {
      std::vector<std::size_t> pods;
      std::size_t size = 0;
    };
    generator::Random random(options_.seed, kGangSizes);
    std::vector<Group> groups;
    std::vector<std::size_t> open(instance_.shapes.size(), 0);  // position + 1
    for (std::size_t i = 0; i < instance_.pods.size(); ++i) {
      std::size_t& group = open[static_cast<std::size_t>(instance_.pods[i].shape)];
      if (group == 0 || groups[group - 1].pods.size() == groups[group - 1].size) {
        groups.push_back({{}, static_cast<std::size_t>(gang_size(random))});
        group = groups.size();
      }
      groups[group - 1].pods.push_back(i);
    }
    for (const Group& group : groups) {
      if (group.pods.size() == 1) continue;
      const std::int32_t gang = add_gang(group.pods.size());
      for (const std::size_t pod : group.pods) instance_.pods[pod].gang = gang;
    }
  }

  // Requires gang_max > 1.
  std::int64_t gang_size(generator::Random& random) const {
    if (options_.falling_sizes) return static_cast<std::int64_t>(random.weighted(size_weights_)) + 1;
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(options_.gang_max))) + 1;
  }

  std::int32_t add_gang(std::size_t size) {
    generator::InstanceGang& gang = instance_.gangs.emplace_back();
    gang.name = fmt::format("gang-{}", instance_.gangs.size() - 1);
    gang.terms = pending_terms();
    gang.min_member = static_cast<std::int32_t>(size);
    return static_cast<std::int32_t>(instance_.gangs.size() - 1);
  }

  void add_running() {
    const std::int64_t target = scaled(thousandths_of(instance_.nodes), options_.occupied);
    const generator::NodeRange everywhere{0, static_cast<std::int32_t>(instance_.nodes.size())};
    generator::Random random(options_.seed, kRunning);
    generator::IdleCapacity room(instance_.nodes);
    for (int vain = 0; used_ < target && vain < kDrawsWithoutPlace; ++vain) {
      const auto row = static_cast<std::uint32_t>(random.below(input_.pods.size()));
      const OpenbPod& drawn = input_.pods[row];
      const auto places = generator::random_fit(room, drawn.shape, 1, everywhere, random);
      if (!places) continue;
      generator::InstancePod& pod = add_pod(row, fmt::format("run-{}", instance_.pods.size()));
      pod.node = places->front().node;
      pod.devices = places->front().devices;
      pod.status = PodStatus::kRunning;
      pod.terms.preemptible = options_.preemptible;
      used_ += thousandths_of(drawn);
      vain = -1;
    }
  }

  // Adds gangs (or pods) until the load is reached; the last gang is cut to the rest.
  void add_sampled() {
    const double load = options_.load.value_or(options_.occupied > 0 ? 1.5 : 1.2);
    std::int64_t wanted = scaled(thousandths_of(instance_.nodes) - used_, load);
    generator::Random random(options_.seed, kPending);
    std::size_t named = 0;
    while (wanted > 0) {
      const auto row = static_cast<std::uint32_t>(random.below(input_.pods.size()));
      std::int64_t size = options_.gang_max > 1 ? gang_size(random) : 1;
      const std::int64_t work = thousandths_of(input_.pods[row]);
      if (work > 0) size = std::min(size, (wanted + work - 1) / work);
      wanted -= size * work;
      const std::int32_t gang = size > 1 ? add_gang(static_cast<std::size_t>(size)) : -1;
      for (std::int64_t i = 0; i < size; ++i) {
        generator::InstancePod& pod = add_pod(row, fmt::format("pod-{}", named++));
        pod.gang = gang;
        pod.terms = pending_terms();
      }
    }
  }

  const OpenbInput& input_;
  const OpenbOptions& options_;
  generator::Instance instance_;
  generator::ShapeTable shapes_;
  std::vector<std::int32_t> shape_of_row_;
  std::vector<std::uint64_t> size_weights_;  // by size - 1, if sizes are drawn by weight
  std::int64_t used_ = 0;                    // thousandths of a GPU under running pods
};

InputError option_fault(std::string_view option, std::string_view message) {
  return {ErrorCode::kInvalidOption, std::string(option), std::string(message)};
}

std::optional<InputError> range_fault(const OpenbOptions& options) {
  constexpr std::int32_t kMostTiles = 10'000, kMostNodes = 1'000'000, kMostGangPods = 100'000;
  if (options.tile < 1 || options.tile > kMostTiles) return option_fault("tile", "must be from 1 to 10000");
  if (options.gang_max < 0 || options.gang_max > kMostGangPods)
    return option_fault("gangs", "must be from 0 to 100000");
  if (options.falling_sizes && options.gang_max < 2) return option_fault("falling-sizes", "needs gangs of two or more");
  if (options.node_count < 0 || options.node_count > kMostNodes)
    return option_fault("nodes", "must be from 0 to 1000000");
  if (!(options.occupied >= 0 && options.occupied <= 1)) return option_fault("occupy", "must be from 0 to 1");
  if (options.load && !(*options.load >= 0 && *options.load <= 1000))
    return option_fault("load", "must be from 0 to 1000");
  if (options.arrived_percent && !(*options.arrived_percent >= 0)) return option_fault("arrived", "is negative");
  return std::nullopt;
}

}  // namespace

std::int64_t openb_cluster_thousandths(const OpenbInput& input) { return thousandths_of(input.nodes); }

OpenbArrival openb_arrival(const OpenbInput& input, double percent) {
  // A tolerance of a millionth of a thousandth: 33.3 % must not ask for one thousandth more because 33.3 has no exact
  // double.
  const double exact = static_cast<double>(openb_cluster_thousandths(input)) * percent / 100;
  const std::int64_t needed = std::llround(std::ceil(exact - 1e-6));
  OpenbArrival arrival;
  while (arrival.gpu_thousandths < needed && arrival.events < input.order.size()) {
    arrival.gpu_thousandths += thousandths_of(input.pods[input.order[arrival.events]]);
    ++arrival.events;
  }
  arrival.reached = arrival.gpu_thousandths >= needed;
  return arrival;
}

std::optional<InputError> openb_fault(const OpenbInput& input, const OpenbOptions& options) {
  if (auto fault = range_fault(options)) return fault;
  if (options.arrived_percent && options.resamples()) {
    return option_fault("arrived", "cannot be combined with resampling (nodes, occupy, load)");
  }
  if (options.arrived_percent && input.order.empty()) return option_fault("arrived", "needs an order of arrival");
  if (options.arrived_percent && !openb_arrival(input, *options.arrived_percent).reached) {
    return option_fault("arrived", "is beyond the end of the order of arrival");
  }
  if (options.tile > 1 && options.node_count > 0) return option_fault("tile", "cannot be combined with nodes");
  if (options.preemptible && !(options.occupied > 0)) return option_fault("preemptible", "needs occupy");
  if (!options.resamples()) return std::nullopt;
  const bool has_gpu_pod = std::ranges::any_of(input.pods, [](const OpenbPod& pod) { return thousandths_of(pod) > 0; });
  if (!has_gpu_pod) return option_fault("load", "needs a pod list with at least one GPU pod");
  if (input.nodes.empty()) return option_fault("nodes", "needs a node list that is not empty");
  return std::nullopt;
}

std::string openb_snapshot(const OpenbInput& input, const OpenbOptions& options) {
  MUSTER_REQUIRE_SLOW(!openb_fault(input, options));
  return Import(input, options).run();
}

}  // namespace muster::traces
