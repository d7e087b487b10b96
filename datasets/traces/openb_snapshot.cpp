#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "datasets/generator/draw.h"
#include "datasets/generator/random.h"
#include "datasets/generator/random_fit.h"
#include "datasets/generator/shape_table.h"
#include "datasets/traces/openb.h"
#include "model/base/require.h"

namespace muster::traces {
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
