#include "model/objective/wholeness_bounds.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "model/base/interning.h"
#include "model/base/require.h"
#include "model/base/tuning.h"
#include "model/objective/free_capacity.h"
#include "model/objective/least_broken.h"
#include "model/objective/levels.h"
#include "model/objective/possibilities.h"

namespace muster {
namespace {

// Nodes that are equal in what is free and in their domains.
struct AlikeNodes {
  NodeIndex first;
  std::int64_t count = 0;
  std::int64_t idle_devices = 0;
  DeviceUnits most_free = 0;  // on one device
};

std::int64_t shares_on(const PodClass& pod_class, const NodeClass& node_class, const NodeEnd& node,
                       const AlikeNodes& alike) {
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) return alike.idle_devices;
  if (pod_class.gpu.kind == GpuRequestKind::kMemory && node_class.device_memory_mib == 0) return 0;
  const DeviceUnits share = std::max<DeviceUnits>(1, share_units(pod_class, node_class));
  if (alike.most_free < share) return 0;
  std::int64_t shares = 0;
  for (const DeviceUnits free : node.free_devices) shares += std::max<DeviceUnits>(0, free) / share;
  return shares;
}

bool has_devices_for(const PodClass& pod_class, const AlikeNodes& alike) {
  return pod_class.gpu.kind != GpuRequestKind::kWhole || alike.idle_devices >= pod_class.gpu.devices;
}

// Of nodes that have devices for it.
std::int64_t copies_on(const PodClass& pod_class, const NodeClass& node_class, const NodeEnd& node,
                       const AlikeNodes& alike) {
  if (!pod_class.allowed[node.node_class.value()]) return 0;
  std::int64_t copies = kLargest;
  for (std::size_t r = 0; r < pod_class.request.size(); ++r) {
    const Amount request = pod_class.request[r];
    if (request <= 0) continue;
    if (node.free[r] < request) return 0;
    copies = std::min(copies, node.free[r] / request);
  }
  if (pod_class.gpu.devices == 0) return copies;
  return std::min(copies, shares_on(pod_class, node_class, node, alike) / pod_class.gpu.devices);
}

// Bins by what they hold.
class Bins {
 public:
  void add(std::int64_t copies, std::int64_t bins) {
    if (copies <= 0) return;
    if (!alike_.empty() && alike_.back().copies == copies)
      alike_.back().bins += bins;
    else
      alike_.push_back({copies, bins, 0, 0});
  }
  // Once all are there.
  void close() {
    std::ranges::sort(alike_, std::greater<>{}, &Alike::copies);
    std::int64_t copies = 0, bins = 0;
    for (Alike& alike : alike_) {
      alike.copies_before = copies;
      alike.bins_before = bins;
      copies = saturating_add(copies, saturating_multiply(alike.copies, alike.bins));
      bins += alike.bins;
    }
  }
  // The fewest nodes that hold this many pods, minus the first node; all of them if they do not suffice.
  std::int64_t beyond_first(std::int64_t pods) const {
    if (alike_.empty() || pods <= 0) return 0;
    const auto last = std::ranges::lower_bound(alike_, pods, {}, &Alike::copies_before) - 1;  // reaches `pods`, or none
    const std::int64_t rest = pods - last->copies_before;
    const std::int64_t bins = rest / last->copies + (rest % last->copies > 0 ? 1 : 0);
    return last->bins_before + std::min(bins, last->bins) - 1;
  }

 private:
  struct Alike {
    std::int64_t copies = 0, bins = 0;
    std::int64_t copies_before = 0, bins_before = 0;  // of larger ones
  };
  std::vector<Alike> alike_;
};

// The first of them; its owner counts how many there are.
AlikeNodes alike_to(const Problem& problem, NodeIndex node, const NodeEnd& end) {
  AlikeNodes alike{node, 0, 0, 0};
  for (const DeviceUnits free : end.free_devices) {
    alike.idle_devices += free >= problem.device_capacity(node) ? 1 : 0;
    alike.most_free = std::max(alike.most_free, free);
  }
  return alike;
}

std::vector<AlikeNodes> alike_nodes(const Problem& problem, const FreeCapacity& room) {
  std::vector<AlikeNodes> all;
  SequenceTable known;
  std::vector<std::uint64_t> signature;
  const auto note = [&](auto amount) { signature.push_back(static_cast<std::uint64_t>(amount)); };
  for (const NodeIndex node : problem.nodes.indices()) {
    signature.clear();
    const NodeEnd end = room.of(node);
    note(end.node_class.value());
    for (const Amount free : end.free) note(free);
    for (const DeviceUnits free : end.free_devices) note(free);
    for (const DomainIndex domain : problem.nodes[node].domains) note(domain.is_none() ? kLargest : domain.value());
    const auto [number, is_new] = known.intern(signature);
    if (is_new) all.push_back(alike_to(problem, node, end));
    ++all[number].count;
  }
  return all;
}

bool is_all_or_nothing(const Problem& problem, const Gang& gang) {
  return gang.groups.size() == 1 && problem.groups[gang.root].minimum >= std::ssize(gang.pods);
}

// The number of nodes and domains over which equal pods must be spread if all free capacity were theirs.
class SpreadOfClass {
 public:
  SpreadOfClass(const Problem& problem, const FreeCapacity& room)
      : problem_(problem), room_(room), nodes_(alike_nodes(problem, room)), known_(problem.pod_classes.size()) {
    for (const AlikeNodes& alike : nodes_) steps_each_ += 8 + problem.class_of(alike.first).device_count;
    std::ranges::stable_sort(nodes_, std::ranges::greater(),
                             [](const AlikeNodes& alike) { return std::pair(alike.idle_devices, alike.most_free); });
  }

  // Nothing if the computation would take too long.
  GangSpread of(PodClassIndex pod_class, std::int64_t pods) {
    Known& known = known_[pod_class];
    if (known.is_new) known.is_told = steps_ <= kTuning.bounds.gang_steps;
    if (std::exchange(known.is_new, false)) steps_ += steps_each_;
    if (!known.is_told || fits_on_one(problem_.pod_classes[pod_class], pods, known)) return {};
    std::optional<Copies>& copies = known.copies;
    if (!copies) copies = copies_of(problem_.pod_classes[pod_class]);
    GangSpread spread;
    spread.nodes = copies->by_node.beyond_first(pods);
    for (const Bins& level : copies->by_domain) spread.domains += level.beyond_first(pods);
    if (problem_.pod_classes[pod_class].gpu.devices > 0) spread.models = copies->by_model.beyond_first(pods);
    return spread;
  }

 private:
  struct Copies {
    Bins by_node, by_model;
    std::vector<Bins> by_domain;  // by topology level
  };

  struct Known {
    bool is_new = true, is_told = false;
    std::int64_t most_on_one = 0;  // node, of the first `looked_at`
    std::size_t looked_at = 0;
    std::optional<Copies> copies;
  };

  bool fits_on_one(const PodClass& pod_class, std::int64_t pods, Known& known) const {
    while (known.most_on_one < pods && known.looked_at < nodes_.size()) {
      const AlikeNodes& alike = nodes_[known.looked_at];
      if (!has_devices_for(pod_class, alike)) break;  // none after it, either
      known.most_on_one = std::max(known.most_on_one, copies_on(pod_class, alike));
      ++known.looked_at;
    }
    return known.most_on_one >= pods;
  }

  std::int64_t copies_on(const PodClass& pod_class, const AlikeNodes& alike) const {
    return muster::copies_on(pod_class, problem_.class_of(alike.first), room_.of(alike.first), alike);
  }

  Copies copies_of(const PodClass& pod_class) const {
    Copies copies;
    const std::size_t levels = problem_.topology.own_level_count;
    std::vector<std::int64_t> by_domain(problem_.topology.domains.size(), 0), outside(levels, 0);
    std::map<ModelIndex, std::int64_t> by_model;
    NodeClassIndex last_class = NodeClassIndex::none();
    std::int64_t* of_model = nullptr;
    for (const AlikeNodes& alike : nodes_) {
      if (!has_devices_for(pod_class, alike)) break;  // none after it, either
      const NodeIndex node = alike.first;
      const std::int64_t each = copies_on(pod_class, alike);
      if (each == 0) continue;
      copies.by_node.add(each, alike.count);
      const std::int64_t here = saturating_multiply(each, alike.count);
      const NodeClassIndex node_class = problem_.nodes[node].node_class;
      if (std::exchange(last_class, node_class) != node_class) of_model = &by_model[problem_.class_of(node).model];
      *of_model = saturating_add(*of_model, here);
      for (std::size_t level = 0; level < levels; ++level) {
        const DomainIndex domain = problem_.nodes[node].domains[level];
        std::int64_t& sum = domain.is_none() ? outside[level] : by_domain[domain.value()];
        sum = saturating_add(sum, here);
      }
    }
    copies.by_node.close();
    for (const auto& [model, sum] : by_model) copies.by_model.add(sum, 1);
    copies.by_model.close();
    for (const std::int64_t sum : outside) copies.by_domain.emplace_back().add(sum, 1);
    for (const DomainIndex domain : problem_.topology.domains.indices()) {
      const TopologyLevelIndex level = problem_.topology.domains[domain].level;
      if (problem_.topology.is_own(level)) copies.by_domain[level.value()].add(by_domain[domain.value()], 1);
    }
    for (Bins& level : copies.by_domain) level.close();
    return copies;
  }

  const Problem& problem_;
  const FreeCapacity& room_;
  std::vector<AlikeNodes> nodes_;  // by falling number of idle devices
  Indexed<PodClassIndex, Known> known_;
  std::int64_t steps_ = 0, steps_each_ = 0;  // so far, and for a class
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
  Indexed<PodIndex, std::uint8_t> leaves;  // pods that may be gone; their room counts as free
  Plan leaving;
  EndState end_state;                          // without them
  Indexed<NodeIndex, std::uint8_t> is_broken;  // the same, whatever else is placed
  FreeCapacity room;
  std::vector<std::int64_t> before;  // values of the levels before

  Given(const WholenessBounds& of, const Levels& levels)
      : missing(of.problem_, of.possibilities_, of.sums_, levels),
        leaves(of.problem_.pods.size(), 0),
        leaving(leaving_of(of.problem_)),
        end_state(end_state_of(of.problem_, leaving)),
        is_broken(broken_nodes(of.problem_, of.whole_nodes_, end_state)),
        room(of.problem_, leaving, end_state),
        before(levels.values.begin(), levels.values.begin() + levels_of_presence(of.problem_)) {}

  bool holds_for(const Levels& levels) const { return std::equal(before.begin(), before.end(), levels.values.begin()); }

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
WholenessBounds::~WholenessBounds() = default;

// If a plan's own value reaches a bound, no further search is needed: no bound can be beyond it.
WholenessValues WholenessBounds::given(const Levels& levels) {
  MUSTER_REQUIRE(std::ssize(levels.values) >= levels_of_presence(problem_) + std::ssize(WholenessValues{}));
  if (!given_ || !given_->holds_for(levels)) {
    given_ = std::make_unique<Given>(*this, levels);
    most_whole_.reset();
    least_spread_.reset();
    least_misplaced_.reset();
  }
  WholenessValues values{};
  std::copy_n(levels.values.begin() + levels_of_presence(problem_), values.size(), values.begin());
  if (!most_whole_) most_whole_ = most_whole(values[0]);
  if (!least_spread_ && values[2] + values[3] + values[4] > 0) least_spread_ = least_spread();
  if (!least_misplaced_ && values[5] > 0) least_misplaced_ = least_misplaced();
  const GangSpread spread = least_spread_.value_or(GangSpread{});
  return {*most_whole_,  most_whole_domains(values[0]), spread.nodes, spread.domains,
          spread.models, least_misplaced_.value_or(0)};
}

std::int64_t WholenessBounds::most_whole(std::int64_t whole_nodes) const {
  const LeastBroken least_broken(
      {problem_, whole_nodes_, possibilities_, given_->missing, given_->leaves, given_->is_broken, given_->room});
  return whole_nodes_.countable() - least_broken.count(whole_nodes_.countable() - whole_nodes);
}

// Of each topology level the smallest first, as many as `whole_nodes` make up.
std::int64_t WholenessBounds::most_whole_domains(std::int64_t whole_nodes) const {
  std::int64_t sum = 0;
  for (const TopologyLevelIndex level : problem_.topology.own_levels()) {
    std::vector<std::int64_t> sizes;
    for (const TopologyDomain& domain : problem_.topology.domains) {
      if (domain.level != level) continue;
      std::int64_t size = 0;
      bool may_be_whole = true;
      for (const NodeIndex node : domain.nodes) {
        if (!whole_nodes_.counts(node)) continue;
        ++size;
        may_be_whole = may_be_whole && given_->is_broken[node] == 0;
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

// Each gang by itself, as if all free capacity were its own. For a gang that can be placed in part, any missing pod may
// invalidate all of it. Gangs with running pods are left out.
GangSpread WholenessBounds::least_spread() const {
  const MissingPods& missing = given_->missing;
  std::array undone{MostMissing(missing), MostMissing(missing), MostMissing(missing)};
  GangSpread all;
  SpreadOfClass spread_of(problem_, given_->room);
  for (const Gang& gang : problem_.gangs) {
    const auto runs = [&](PodIndex pod) { return problem_.pods[pod].status == PodStatus::kRunning; };
    if (gang.pods.size() < 2 || std::ranges::any_of(gang.pods, runs)) continue;
    std::map<PodClassIndex, std::int64_t> pods;
    MissingPods::Cost sum;
    std::optional<MissingPods::Cost> least;
    for (const PodIndex pod : gang.pods) {
      if (!possibilities_.may_be_placed(pod)) continue;
      ++pods[problem_.pods[pod].pod_class];
      const MissingPods::Cost cost = missing.cost_of(pod);
      add(sum, cost);
      if (!least) least = cost;
      least->work = std::min(least->work, cost.work);
      least->other = std::min(least->other, cost.other);
    }
    if (pods.empty()) continue;
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

// Pods without GPUs that exceed the total capacity of the nodes without GPUs.
std::int64_t WholenessBounds::least_misplaced() const {
  std::vector<PodIndex> pods;
  MostMissing missing(given_->missing);
  for (const PodIndex pod : problem_.pods.indices()) {
    const PodClassIndex pod_class = problem_.pods[pod].pod_class;
    if (!possibilities_.may_be_placed(pod) || !whole_nodes_.may_avoid_gpus(pod_class)) continue;
    pods.push_back(pod);
    missing.add(given_->missing.cost_of(pod), 1, 1);
  }
  if (pods.empty()) return 0;
  std::int64_t most = std::ssize(pods);
  for (std::size_t r = 0; r < problem_.resource_count; ++r) {
    Amount free = 0;
    for (const NodeIndex node : problem_.nodes.indices()) {
      const NodeEnd end = given_->room.of(node);
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
