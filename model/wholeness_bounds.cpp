#include "model/wholeness_bounds.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "model/free_room.h"
#include "model/least_broken.h"

namespace muster {
namespace {

constexpr std::int64_t kMostSteps = 20'000'000;  // of counting copies of gangs' pods on nodes

std::int64_t copies_on(const PodClass& pod_class, const NodeClass& node_class, const NodeEnd& node) {
  if (!pod_class.allowed[node.node_class.value()]) return 0;
  std::int64_t copies = kLargest;
  for (std::size_t r = 0; r < pod_class.request.size(); ++r) {
    if (pod_class.request[r] > 0) copies = std::min(copies, std::max<Amount>(0, node.free[r]) / pod_class.request[r]);
  }
  if (pod_class.gpu.devices == 0) return copies;
  if (pod_class.gpu.kind == GpuRequestKind::kMemory && node_class.device_memory_mib == 0) return 0;
  const DeviceUnits share = std::max<DeviceUnits>(1, share_units(pod_class, node_class));
  std::int64_t shares = 0;
  for (const DeviceUnits free : node.free_devices) shares += std::max<DeviceUnits>(0, free) / share;
  return std::min(copies, shares / pod_class.gpu.devices);
}

// How many of the largest bins it takes to hold `pods`, beyond the first one; as many as there are where they do not
// suffice.
std::int64_t beyond_first_bin(std::vector<std::int64_t>& bins, std::int64_t pods) {
  std::ranges::sort(bins, std::greater<>{});
  std::int64_t used = 0;
  for (const std::int64_t copies : bins) {
    if (pods <= 0 || copies == 0) break;
    pods = saturating_subtract(pods, copies);
    ++used;
  }
  return std::max<std::int64_t>(0, used - 1);
}

bool is_all_or_nothing(const Problem& problem, const Gang& gang) {
  return gang.groups.size() == 1 && problem.groups[gang.root].minimum >= std::ssize(gang.pods);
}

// Over how much so many alike pods must be spread if all the room were theirs.
class SpreadOfClass {
 public:
  SpreadOfClass(const Problem& problem, const FreeRoom& room) : problem_(problem), room_(room) {}

  // Nothing where it would take too long to tell.
  GangSpread of(PodClassIndex pod_class, std::int64_t pods) {
    const auto [at, is_new] = known_.try_emplace({pod_class, pods});
    if (is_new && steps_ <= kMostSteps) at->second = count(pod_class, pods);
    return at->second;
  }

 private:
  GangSpread count(PodClassIndex index, std::int64_t pods) {
    const PodClass& pod_class = problem_.pod_classes[index];
    const std::size_t levels = problem_.topology_levels.size();
    std::vector<std::int64_t> by_node, by_domain(problem_.domains.size(), 0), outside(levels, 0);
    std::map<ModelIndex, std::int64_t> by_model;
    for (const NodeIndex node : problem_.nodes.indices()) {
      const NodeClass& node_class = problem_.class_of(node);
      steps_ += 8 + node_class.device_count;
      const std::int64_t copies = std::min(pods, copies_on(pod_class, node_class, room_.of(node)));
      if (copies == 0) continue;
      by_node.push_back(copies);
      by_model[node_class.model] += copies;
      for (std::size_t level = 0; level < levels; ++level) {
        const DomainIndex domain = problem_.nodes[node].domains[level];
        (domain.is_none() ? outside[level] : by_domain[domain.value()]) += copies;
      }
    }
    GangSpread spread;
    spread.nodes = beyond_first_bin(by_node, pods);
    for (std::size_t level = 0; level < levels; ++level) {
      std::vector<std::int64_t> bins{outside[level]};
      for (const DomainIndex domain : problem_.domains.indices()) {
        if (problem_.domains[domain].level.value() == level) bins.push_back(by_domain[domain.value()]);
      }
      spread.domains += beyond_first_bin(bins, pods);
    }
    std::vector<std::int64_t> models;
    for (const auto& [model, copies] : by_model) models.push_back(copies);
    if (pod_class.gpu.devices > 0) spread.models = beyond_first_bin(models, pods);
    return spread;
  }

  const Problem& problem_;
  const FreeRoom& room_;
  std::map<std::pair<PodClassIndex, std::int64_t>, GangSpread> known_;
  std::int64_t steps_ = 0;
};

void add(MissingPods::Cost& sum, const MissingPods::Cost& cost) {
  sum.rank = cost.rank;
  sum.work = saturating_add(sum.work, cost.work);
  sum.other = saturating_add(sum.other, cost.other);
}

}  // namespace

// What is known of a plan with these levels.
struct WholenessBounds::Given {
  MissingPods missing;
  Indexed<PodIndex, std::uint8_t> leaves;  // those who may be gone; their room counts as free
  Plan leaving;
  EndState end_state;                          // without them
  Indexed<NodeIndex, std::uint8_t> is_broken;  // the same, whatever else is placed
  FreeRoom room;
  WholenessValues values;  // of the levels themselves

  Given(const WholenessBounds& of, const Levels& levels)
      : missing(of.problem_, of.possibilities_, of.sums_, levels),
        leaves(of.problem_.pods.size(), 0),
        leaving(leaving_of(of.problem_)),
        end_state(end_state_of(of.problem_, leaving)),
        is_broken(broken_nodes(of.problem_, of.whole_nodes_, end_state)),
        room(of.problem_, leaving, end_state) {
    const auto first = static_cast<std::ptrdiff_t>(3 * of.problem_.priorities.size() + 3);
    std::copy_n(levels.values.begin() + first, values.size(), values.begin());
  }

 private:
  Plan leaving_of(const Problem& problem) {
    Plan plan;
    for (const PodIndex pod : problem.pods.indices()) {
      if (problem.pods[pod].status != PodStatus::kRunning || !missing.may_leave(pod)) continue;
      leaves[pod] = 1;
      plan.evictions.push_back({pod, EvictionReason::kPreempt, GangIndex::none()});
    }
    return plan;
  }
};

WholenessValues trivial_wholeness(const Problem& problem) {
  const WholeNodes whole_nodes(problem);
  const Indexed<NodeIndex, std::uint8_t> none_broken(problem.nodes.size(), 0);
  return {whole_nodes.countable(), whole_domains(problem, whole_nodes, none_broken), 0, 0, 0, 0};
}

WholenessBounds::WholenessBounds(const Problem& problem)
    : problem_(problem), whole_nodes_(problem), possibilities_(problem), sums_(problem, possibilities_) {}

WholenessValues WholenessBounds::given(const Levels& levels) const {
  const Given known(*this, levels);
  const LeastBroken least_broken(
      {problem_, whole_nodes_, possibilities_, known.missing, known.leaves, known.is_broken, known.room});
  const std::int64_t countable = whole_nodes_.countable();
  const std::int64_t most_whole = countable - least_broken.count(countable - known.values[0]);
  const GangSpread spread = least_spread(known);
  return {most_whole, most_whole_domains(known, known.values[0]), spread.nodes, spread.domains, spread.models,
          least_misplaced(known)};
}

// Of each topology level the smallest first, as many as `whole_nodes` make up.
std::int64_t WholenessBounds::most_whole_domains(const Given& given, std::int64_t whole_nodes) const {
  std::int64_t sum = 0;
  for (const TopologyLevelIndex level : problem_.topology_levels.indices()) {
    std::vector<std::int64_t> sizes;
    for (const TopologyDomain& domain : problem_.domains) {
      if (domain.level != level) continue;
      std::int64_t size = 0;
      bool may_be_whole = true;
      for (const NodeIndex node : domain.nodes) {
        if (!whole_nodes_.counts(node)) continue;
        ++size;
        may_be_whole = may_be_whole && given.is_broken[node] == 0;
      }
      if (may_be_whole && size > 0) sizes.push_back(size);
    }
    std::ranges::sort(sizes);
    std::int64_t left = whole_nodes;
    for (const std::int64_t size : sizes) {
      if ((left -= size) < 0) break;
      ++sum;
    }
  }
  return sum;
}

// Each gang by itself, as if all the room were its own. Of a gang that can be placed in part, any pod that is missing
// may undo all of it. Of gangs of which pods run nothing is told.
GangSpread WholenessBounds::least_spread(const Given& given) const {
  if (given.values[2] == 0 && given.values[3] == 0 && given.values[4] == 0) return {};
  std::array undone{MostMissing(given.missing), MostMissing(given.missing), MostMissing(given.missing)};
  GangSpread all;
  SpreadOfClass spread_of(problem_, given.room);
  for (const Gang& gang : problem_.gangs) {
    if (gang.pods.size() < 2) continue;
    std::map<PodClassIndex, std::int64_t> pods;
    MissingPods::Cost sum;
    std::optional<MissingPods::Cost> least;
    bool is_new = true;
    for (const PodIndex pod : gang.pods) {
      is_new = is_new && problem_.pods[pod].status != PodStatus::kRunning;
      if (!possibilities_.may_be_placed(pod)) continue;
      ++pods[problem_.pods[pod].pod_class];
      const MissingPods::Cost cost = given.missing.cost_of(pod);
      add(sum, cost);
      if (!least) least = cost;
      least->work = std::min(least->work, cost.work);
      least->other = std::min(least->other, cost.other);
    }
    if (!is_new || pods.empty()) continue;
    GangSpread spread;
    for (const auto& [pod_class, count] : pods) {
      const GangSpread of_class = spread_of.of(pod_class, count);
      spread.nodes = std::max(spread.nodes, of_class.nodes);
      spread.domains = std::max(spread.domains, of_class.domains);
      spread.models = std::max(spread.models, of_class.models);
    }
    const MissingPods::Cost& undone_by = is_all_or_nothing(problem_, gang) ? sum : *least;
    all += spread;
    undone[0].add(undone_by, spread.nodes, 1);
    undone[1].add(undone_by, spread.domains, 1);
    undone[2].add(undone_by, spread.models, 1);
  }
  return {all.nodes - undone[0].profit(), all.domains - undone[1].profit(), all.models - undone[2].profit()};
}

// Pods without GPUs for which nodes without GPUs have no room in sum.
std::int64_t WholenessBounds::least_misplaced(const Given& given) const {
  if (given.values[5] == 0) return 0;
  std::vector<PodIndex> pods;
  MostMissing missing(given.missing);
  for (const PodIndex pod : problem_.pods.indices()) {
    const PodClassIndex pod_class = problem_.pods[pod].pod_class;
    if (!possibilities_.may_be_placed(pod) || !whole_nodes_.may_avoid_gpus(pod_class)) continue;
    pods.push_back(pod);
    missing.add(given.missing.cost_of(pod), 1, 1);
  }
  if (pods.empty()) return 0;
  std::int64_t most = std::ssize(pods);
  for (std::size_t r = 0; r < problem_.resource_count; ++r) {
    Amount free = 0;
    for (const NodeIndex node : problem_.nodes.indices()) {
      const NodeEnd end = given.room.of(node);
      if (!whole_nodes_.has_gpus(end.node_class) && !problem_.class_of(node).cordoned)
        free = saturating_add(free, std::max<Amount>(0, end.free[r]));
    }
    std::ranges::sort(pods, {}, [&](PodIndex pod) { return problem_.class_of(pod).request[r]; });
    std::int64_t fit = 0;
    for (const PodIndex pod : pods) {
      if ((free = saturating_subtract(free, problem_.class_of(pod).request[r])) < 0) break;
      ++fit;
    }
    most = std::min(most, fit);
  }
  return std::max<std::int64_t>(0, std::ssize(pods) - most - missing.profit());
}

}  // namespace muster
