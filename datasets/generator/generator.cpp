#include "datasets/generator/generator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "datasets/generator/draw.h"
#include "datasets/generator/instance.h"
#include "datasets/generator/options.h"
#include "datasets/generator/presets.h"
#include "datasets/generator/random.h"
#include "datasets/generator/random_fit.h"
#include "datasets/generator/situations.h"
#include "model/base/require.h"

namespace muster::generator {
namespace {

// Each use of the seed draws from its own stream; the snapshots of one seed are 16 streams apart.
enum Stream : std::uint64_t { kNodes = 1, kQueues, kRunning, kRunningTerms, kPending, kPendingTerms, kStreams = 16 };

constexpr std::int64_t kTime = 1'767'225'600;  // 2026-01-01T00:00:00Z
constexpr std::uint64_t kMostSecondsWaited = 3600, kMostSecondsRun = 86'400;
constexpr std::int32_t kQueuesPerDepartment = 4;
constexpr int kDrawsWithoutPlace = 1000;

class Generation {
 public:
  Generation(const GeneratorOptions& options, std::uint64_t k)
      : options_(options),
        k_(k),
        source_(options),
        rack_count_(options.cluster.zones * options.cluster.racks_per_zone) {
    instance_.id = options.id;
    instance_.time = kTime;
    instance_.place_only = options.place_only;
    if (options.cluster.zones > 0) instance_.topology = {std::string(kZoneLabel), std::string(kRackLabel)};
  }

  Instance run() {
    add_nodes();
    if (options_.queues.count > 1) add_queues();
    for (std::int32_t i = 0; i < options_.priorities && options_.priorities > 1; ++i) {
      instance_.priority_classes.push_back({fmt::format("class-{}", i), 50 + 25 * i});
    }
    add_running();
    add_pending();
    return std::move(instance_);
  }

 private:
  Random stream(Stream use) const { return Random(options_.seed, k_ * kStreams + use); }
  std::int64_t cluster_gpus() const { return std::int64_t{options_.cluster.nodes} * options_.cluster.gpus_per_node; }
  std::int64_t device_memory_mib() const { return std::max(options_.cluster.gpu_memory_gib, 1) * std::int64_t{1024}; }

  void add_nodes() {
    Random random = stream(kNodes);
    instance_.nodes.reserve(static_cast<std::size_t>(options_.cluster.nodes));
    for (std::int32_t i = 0; i < options_.cluster.nodes; ++i) {
      InstanceNode& node = instance_.nodes.emplace_back();
      node.name = fmt::format("node-{}", i);
      node.cpu_milli = options_.cluster.cores_per_node * std::int64_t{1000};
      node.memory_mib = options_.cluster.memory_gib_per_node * std::int64_t{1024};
      node.gpu_count = options_.cluster.gpus_per_node;
      node.gpu_memory_mib = options_.cluster.gpu_memory_gib * std::int64_t{1024};
      if (!options_.cluster.gpu_models.empty())
        node.gpu_model = options_.cluster.gpu_models[random.below(options_.cluster.gpu_models.size())];
      if (rack_count_ > 0) {
        const std::int32_t rack = rack_of(i);
        node.zone = fmt::format("zone-{}", rack / options_.cluster.racks_per_zone);
        node.rack = fmt::format("rack-{}", rack);
      }
      node.tainted = random.chance(millionths_of(options_.cluster.tainted));
      if (options_.cluster.selecting > 0) node.pool = pool_name(random.below(kPoolCount));
      node.hostname_label = options_.gangs.one_a_node > 0;
    }
  }

  std::int32_t rack_of(std::int32_t node) const {
    return static_cast<std::int32_t>(std::int64_t{node} * rack_count_ / options_.cluster.nodes);
  }

  // The nodes of a random rack: those i with rack_of(i) == rack.
  NodeRange random_rack(Random& random) const {
    const auto rack = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(rack_count_)));
    const auto first = [&](std::int64_t r) {
      return static_cast<std::int32_t>((r * options_.cluster.nodes + rack_count_ - 1) / rack_count_);
    };
    return {first(rack), first(rack + 1)};
  }

  void add_queues() {
    Random random = stream(kQueues);
    const bool has_departments = options_.queues.count > kQueuesPerDepartment;
    const std::int64_t quota =
        std::llround(static_cast<double>(cluster_gpus()) * options_.queues.quota / options_.queues.count);
    for (std::int32_t i = 0; i < options_.queues.count; ++i) {
      InstanceQueue leaf;
      leaf.name = fmt::format("team-{}", i);
      if (has_departments) leaf.parent = fmt::format("department-{}", i / kQueuesPerDepartment);
      leaf.gpu_quota = quota;
      if (options_.queues.limit > 0) leaf.gpu_limit = std::llround(static_cast<double>(quota) * options_.queues.limit);
      leaf.weight = static_cast<std::int64_t>(1 + random.below(3));
      instance_.queues.push_back(std::move(leaf));
    }
    if (has_departments) add_departments(quota);
  }

  // After the leaves, so that a leaf's position is its number.
  void add_departments(std::int64_t leaf_quota) {
    for (std::int32_t first = 0; first < options_.queues.count; first += kQueuesPerDepartment) {
      InstanceQueue department;
      department.name = fmt::format("department-{}", first / kQueuesPerDepartment);
      department.gpu_quota = leaf_quota * std::min(kQueuesPerDepartment, options_.queues.count - first);
      instance_.queues.push_back(std::move(department));
    }
  }

  enum class Side : std::uint8_t { kRunning, kPending };

  std::int32_t draw_queue(Random& random, Side side) const {
    const auto queues = static_cast<std::uint64_t>(options_.queues.count);
    if (options_.queues.skew == 0) return static_cast<std::int32_t>(random.below(queues));
    const double in_first = side == Side::kRunning ? options_.queues.skew : 1 - options_.queues.skew;
    return random.chance(millionths_of(in_first)) ? 0 : static_cast<std::int32_t>(1 + random.below(queues - 1));
  }

  std::int32_t draw_priority_class(Random& random, Side side) const {
    const std::int32_t choices = options_.priorities - (options_.pending_above ? 1 : 0);
    const std::int32_t least = options_.pending_above && side == Side::kPending ? 1 : 0;
    return least + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(choices)));
  }

  InstanceTerms draw_terms(Random& random, Side side) const {
    InstanceTerms terms;
    if (options_.queues.count > 1) terms.queue = draw_queue(random, side);
    if (options_.priorities > 1) terms.priority_class = draw_priority_class(random, side);
    return terms;
  }

  // Appends the gang and its pods; a gang of one is its pod. Returns the position of the first pod.
  std::size_t add_gang(const GangDraft& draft, const InstanceTerms& terms, Random& random) {
    const std::size_t first = instance_.pods.size();
    const bool is_gang = draft.size > 1;
    const auto gang = static_cast<std::int32_t>(instance_.gangs.size());
    if (is_gang) append_gang(draft, terms, random);
    const std::int32_t shape = shapes_.position_of(draft.shape, instance_);
    for (std::int32_t i = 0; i < draft.size; ++i) {
      InstancePod& pod = instance_.pods.emplace_back();
      pod.name = is_gang ? fmt::format("gang-{}-{}", gang, i) : fmt::format("pod-{}", first);
      pod.shape = shape;
      if (!is_gang) {
        pod.terms = terms;
        continue;
      }
      pod.gang = gang;
      const std::size_t groups = instance_.gangs.back().subgroups.size();
      if (groups > 0) pod.subgroup = i % static_cast<std::int32_t>(groups);
    }
    return first;
  }

  void append_gang(const GangDraft& draft, const InstanceTerms& terms, Random& random) {
    InstanceGang& gang = instance_.gangs.emplace_back();
    gang.name = fmt::format("gang-{}", instance_.gangs.size() - 1);
    gang.terms = terms;
    if (draft.in_one_rack) gang.required_level = kRackLabel;
    if (draft.preferably_in_one_zone) gang.preferred_level = kZoneLabel;
    if (!draft.has_subgroups) {
      gang.min_member = draft.is_elastic ? draw_minimum(draft.size, random) : draft.size;
      return;
    }
    // Pods are dealt to the subgroups in turn.
    const auto groups = static_cast<std::int32_t>(2 + random.below(3));
    for (std::int32_t i = 0; i < groups; ++i) {
      const std::int32_t size = (draft.size - i + groups - 1) / groups;
      gang.subgroups.push_back({fmt::format("part-{}", i), draft.is_elastic ? draw_minimum(size, random) : size});
    }
  }

  // Less than the size if the size is more than one.
  static std::int32_t draw_minimum(std::int32_t size, Random& random) {
    return size == 1 ? 1 : 1 + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(size - 1)));
  }

  void add_running() {
    const std::int64_t target = std::llround(static_cast<double>(cluster_gpus()) * 1000 * options_.running.occupied);
    Random random = stream(kRunning), terms_random = stream(kRunningTerms);
    IdleCapacity room(instance_.nodes);
    for (int vain = 0; used_ < target && vain < kDrawsWithoutPlace; ++vain) {
      const GangDraft draft = source_.draw(random, target - used_);
      const NodeRange range = draft.in_one_rack ? random_rack(random) : NodeRange{0, options_.cluster.nodes};
      const auto places = random_fit(room, draft.shape, draft.size, range, random);
      if (!places) continue;
      add_running_gang(draft, *places, terms_random);
      used_ += gpu_thousandths(draft.shape.gpu, device_memory_mib()) * draft.size;
      vain = -1;
    }
  }

  void add_running_gang(const GangDraft& draft, const std::vector<RandomPlace>& places, Random& random) {
    InstanceTerms terms = draw_terms(random, Side::kRunning);
    terms.preemptible = random.chance(millionths_of(options_.running.preemptible));
    const bool is_releasing = random.chance(millionths_of(options_.running.releasing));
    const std::int64_t started = kTime - seconds_run(random);
    const std::size_t first = add_gang(draft, terms, random);
    for (std::size_t i = 0; i < places.size(); ++i) {
      InstancePod& pod = instance_.pods[first + i];
      pod.node = places[i].node;
      pod.devices = places[i].devices;
      pod.status = is_releasing ? PodStatus::kReleasing : PodStatus::kRunning;
      pod.started = started;
    }
  }

  // Of a few distinct times, the latest at or before the one drawn.
  std::int64_t seconds_run(Random& random) const {
    const std::uint64_t drawn = random.below(kMostSecondsRun);
    if (options_.running.start_times == 0) return static_cast<std::int64_t>(drawn);
    const auto times = static_cast<std::uint64_t>(options_.running.start_times);
    return static_cast<std::int64_t>((drawn * times / kMostSecondsRun + 1) * kMostSecondsRun / times);
  }

  void add_pending() {
    const double load = options_.load.value_or(options_.running.occupied > 0 ? 1.5 : 1.2);
    std::int64_t wanted = std::llround(static_cast<double>(cluster_gpus() * 1000 - used_) * load);
    Random random = stream(kPending), terms_random = stream(kPendingTerms);
    while (wanted > 0) {
      const GangDraft draft = source_.draw(random, wanted);
      wanted -= gpu_thousandths(draft.shape.gpu, device_memory_mib()) * draft.size;
      InstanceTerms terms = draw_terms(terms_random, Side::kPending);
      terms.created = kTime - static_cast<std::int64_t>(terms_random.below(kMostSecondsWaited));
      const bool is_gated = terms_random.chance(millionths_of(options_.gangs.gated));
      const std::size_t first = add_gang(draft, terms, terms_random);
      for (std::size_t i = first; is_gated && i < instance_.pods.size(); ++i) {
        instance_.pods[i].status = PodStatus::kGated;
      }
    }
  }

  const GeneratorOptions& options_;
  const std::uint64_t k_;
  const GangSource source_;
  const std::int32_t rack_count_;
  Instance instance_;
  ShapeTable shapes_;
  std::int64_t used_ = 0;  // thousandths of a GPU under running pods
};

}  // namespace

std::string generate_snapshot(const GeneratorOptions& options, std::uint64_t k) {
  MUSTER_REQUIRE(!generator_fault(options));
  if (options.situation != Situation::kDrawn) return write_instance(situation_instance(options, k));
  return write_instance(Generation(options, k).run());
}

}  // namespace muster::generator
