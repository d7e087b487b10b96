#include "heuristics/local_search/repacking.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "heuristics/local_search/plan_value.h"
#include "heuristics/local_search/scope.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/plan_of.h"
#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "model/objective/evaluation.h"
#include "model/objective/levels.h"

namespace muster::local_search {
namespace {

auto size_of(const Problem& problem, PodIndex pod) {
  const PodClass& pod_class = problem.class_of(pod);
  return std::tuple(pod_class.gpu.devices, pod_class.work, pod_class.request[kCpu.value()],
                    pod_class.request[kMemory.value()]);
}

// The plan while its pods change places, and what such changes leave whole.
class Repacking {
 public:
  Repacking(const Problem& problem, const FairShares& shares, const Plan& plan, const StopRequest& stop)
      : problem_(problem),
        stop_(stop),
        plan_(plan, ClusterState(problem, ClusterState::Releasing::kFreed)),
        state_(plan_.state),
        scope_(problem, shares, state_, plan),
        whole_nodes_(problem),
        breaking_(problem.nodes.size(), 0) {
    begin();
    for (const Placement& placement : plan.placements) {
      if (may_move(placement.pod)) movable_.push_back(placement.pod);
    }
    for (const NodeIndex node : problem.nodes.indices()) {
      for (const PodIndex pod : state_.pods_on(node)) breaking_[node] += whole_nodes_.breaks(pod, node) ? 1 : 0;
    }
  }

  // With its whole work budget left, which grows with the size of clusters beyond twice a large one.
  void begin() {
    const auto items = static_cast<std::int64_t>(problem_.pods.size() + problem_.nodes.size());
    work_left_ = kTuning.search.repacking_steps * std::max(kTuning.size.large, items / 2);
  }
  bool is_due() const { return work_left_ <= 0 || (stop_ && stop_()); }

  enum class Order : std::uint8_t { kBigFirst, kAsGiven };

  // Whether some node in use could be whole: else placing pods anew cannot leave more of them.
  bool may_empty_a_node() const { return !nodes_to_empty().empty(); }

  // Whether there are so few movable pods that placing them anew is worth the time.
  bool is_small() const { return movable_.size() <= kTuning.search.repacked; }

  // Places all movable pods anew, by best fit. False: not all of them found a place, and nothing changed.
  bool place_anew(Order order) {
    std::vector<PodIndex> pods = movable_;
    if (order == Order::kBigFirst) sort_big_first(pods);
    const auto start = state_.checkpoint();
    std::vector<std::pair<PodIndex, NodeIndex>> from;
    for (const PodIndex pod : pods) from.emplace_back(pod, state_.node_of(pod));
    for (const PodIndex pod : pods) take(pod);
    placement::NodeChooser chooser(state_, plan_.bounds, placement::NodeRule::kBestFit);
    for (const auto& [pod, home] : from) {
      const NodeIndex node = is_due() ? NodeIndex::none() : chooser.choose(pod, {});
      const bool may_go = !node.is_none() && scope_.is_open(node) && scope_.keeps_domains(pod, home, node);
      if (!may_go || !put(pod, node)) return undo(start);
    }
    return keep();
  }

  // One improving change after another until there is none. Returns whether there was any.
  bool improve() {
    bool any = false;
    for (bool more = true; more && !is_due();) {
      more = empty_nodes();
      more = free_gpu_nodes() || more;
      more = unite_gangs() || more;
      any = any || more;
    }
    return any;
  }

  Plan plan() const { return plan_of(problem_, state_, plan_.evictions); }

 private:
  bool may_move(PodIndex pod) const { return scope_.may_move(pod) && scope_.is_open(state_.node_of(pod)); }
  bool is_whole(NodeIndex node) const { return whole_nodes_.counts(node) && breaking_[node] == 0; }

  void sort_big_first(std::vector<PodIndex>& pods) const {
    std::ranges::stable_sort(pods, std::ranges::greater(), [&](PodIndex pod) { return size_of(problem_, pod); });
  }

  // --- Changes, which are undone in reverse order

  void take(PodIndex pod) {
    const NodeIndex node = state_.node_of(pod);
    breaking_[node] -= whole_nodes_.breaks(pod, node) ? 1 : 0;
    undo_.push_back({pod, node, -1});
    state_.take(pod);
  }

  bool put(PodIndex pod, NodeIndex node) {
    if (!can_place(state_, plan_.bounds, pod, node)) return false;
    const auto devices = choose_devices(room_of(state_, node), problem_, problem_.class_of(pod), node);
    if (!devices) return false;
    state_.put(pod, node, *devices);
    breaking_[node] += whole_nodes_.breaks(pod, node) ? 1 : 0;
    undo_.push_back({pod, node, +1});
    return true;
  }

  bool undo(ClusterState::Checkpoint start) {
    state_.rollback(start);
    for (; !undo_.empty(); undo_.pop_back()) {
      const Undo& last = undo_.back();
      breaking_[last.node] -= whole_nodes_.breaks(last.pod, last.node) ? last.sign : 0;
    }
    return false;
  }
  bool keep() {
    undo_.clear();
    return true;
  }

  // --- One node less

  // Nodes that would be whole except for movable pods, those with the fewest on them first.
  std::vector<NodeIndex> nodes_to_empty() const {
    std::vector<std::pair<std::int64_t, NodeIndex>> nodes;
    for (const NodeIndex node : scope_.open_nodes()) {
      if (!whole_nodes_.counts(node) || breaking_[node] == 0) continue;
      const auto stays = [&](PodIndex pod) { return whole_nodes_.breaks(pod, node) && !may_move(pod); };
      if (std::ranges::any_of(state_.pods_on(node), stays)) continue;
      const std::int64_t idle = idle_thousandths(problem_, node, state_.free_devices(node));
      nodes.emplace_back(1000 * problem_.class_of(node).device_count - idle, node);
    }
    std::ranges::sort(nodes);
    std::vector<NodeIndex> sorted;
    for (const auto& [used, node] : nodes) sorted.push_back(node);
    return sorted;
  }

  bool empty_nodes() {
    bool any = false;
    for (const NodeIndex node : nodes_to_empty()) {
      if (is_due()) break;
      any = empty_node(node) || any;
    }
    return any;
  }

  bool empty_node(NodeIndex node) {
    undo_.clear();
    const auto start = state_.checkpoint();
    std::vector<PodIndex> pods;
    for (const PodIndex pod : state_.pods_on(node)) {
      if (whole_nodes_.breaks(pod, node)) pods.push_back(pod);
    }
    std::ranges::sort(pods);
    sort_big_first(pods);
    const auto is_used = [&](NodeIndex other) { return other != node && !is_whole(other); };
    for (const PodIndex pod : pods) {
      take(pod);
      if (!put_best(pod, node, is_used)) return undo(start);
    }
    return keep();
  }

  // On the fullest of the nodes that fit.
  template <class Allowed>
  bool put_best(PodIndex pod, NodeIndex home, const Allowed& allowed) {
    work_left_ -= std::ssize(scope_.open_nodes());
    std::optional<std::tuple<std::int64_t, Amount, NodeIndex>> best;
    for (const NodeIndex node : scope_.open_nodes()) {
      if (!may_fit(pod, node) || !allowed(node) || !scope_.keeps_domains(pod, home, node)) continue;
      const std::tuple rank(idle_thousandths(problem_, node, state_.free_devices(node)),
                            state_.free(node)[kCpu.value()], node);
      if ((!best || rank < *best) && can_place(state_, plan_.bounds, pod, node)) best = rank;
    }
    return best && put(pod, std::get<2>(*best));
  }

  bool may_fit(PodIndex pod, NodeIndex node) const {
    const PodClass& pod_class = problem_.class_of(pod);
    const auto free = state_.free(node);
    const bool is_whole_request = pod_class.gpu.kind == GpuRequestKind::kWhole;
    return pod_class.request[kCpu.value()] <= free[kCpu.value()] &&
           (!is_whole_request || pod_class.gpu.devices <= state_.idle_devices(node));
  }

  // --- Pods without GPUs off nodes with GPUs

  bool free_gpu_nodes() {
    bool any = false;
    const auto is_without = [&](NodeIndex node) {
      return !whole_nodes_.has_gpus(problem_.nodes[node].node_class) && !is_whole(node);
    };
    for (const PodIndex pod : movable_) {
      const NodeIndex node = state_.node_of(pod);
      if (problem_.gangs[problem_.pods[pod].gang].pods.size() > 1 || !whole_nodes_.is_misplaced(pod, node)) continue;
      if (is_due()) break;
      undo_.clear();
      const auto start = state_.checkpoint();
      take(pod);
      any = (put_best(pod, node, is_without) ? keep() : undo(start)) || any;
    }
    return any;
  }

  // --- Gangs together

  GangSpread spread_of(GangIndex index) const {
    std::vector<GangNode> nodes;
    for (const PodIndex pod : problem_.gangs[index].pods) {
      if (state_.is_present(pod)) nodes.push_back({state_.node_of(pod), problem_.class_of(pod).gpu.devices > 0});
    }
    return spread_of_gang(problem_, nodes);
  }
  static auto rank_of(const GangSpread& spread) { return std::tuple(spread.nodes, spread.domains, spread.models); }

  bool unite_gangs() {
    bool any = false;
    GangIndex last = GangIndex::none();
    for (const PodIndex pod : movable_) {
      const GangIndex gang = problem_.pods[pod].gang;
      if (gang == std::exchange(last, gang)) continue;
      if (problem_.gangs[gang].pods.size() < 2 || problem_.gangs[gang].pods.size() > kTuning.search.round_nodes())
        continue;
      if (is_due()) break;
      if (spread_of(gang).nodes > 0) any = unite(gang) || any;
    }
    return any;
  }

  // Takes its pods off, and puts them on one node after another: each time on the one that holds most of them. Only
  // nodes that it was on are broken.
  bool unite(GangIndex gang) {
    undo_.clear();
    const auto start = state_.checkpoint();
    const GangSpread before = spread_of(gang);
    std::vector<std::pair<PodIndex, NodeIndex>> pods;
    for (const PodIndex pod : problem_.gangs[gang].pods) {
      if (state_.is_present(pod) && may_move(pod)) pods.emplace_back(pod, state_.node_of(pod));
    }
    const std::vector<NodeIndex> own = nodes_with(pods);
    for (const auto& [pod, node] : pods) take(pod);
    std::ranges::stable_sort(pods, std::ranges::greater(), [&](const auto& at) { return size_of(problem_, at.first); });
    while (!pods.empty()) {
      const std::size_t left = pods.size();
      const std::optional<NodeIndex> node = best_for(pods, own);
      if (!node) return undo(start);
      std::erase_if(pods, [&](const auto& at) {
        return scope_.keeps_domains(at.first, at.second, *node) && put(at.first, *node);
      });
      if (pods.size() == left) return undo(start);
    }
    return rank_of(spread_of(gang)) < rank_of(before) ? keep() : undo(start);
  }

  // The node that takes most of those that are like the first.
  std::optional<NodeIndex> best_for(const std::vector<std::pair<PodIndex, NodeIndex>>& pods,
                                    const std::vector<NodeIndex>& own) {
    work_left_ -= std::ssize(scope_.open_nodes());
    const auto& [first, home] = pods.front();
    const PodClassIndex pod_class = problem_.pods[first].pod_class;
    const auto alike =
        std::ranges::count_if(pods, [&](const auto& at) { return problem_.pods[at.first].pod_class == pod_class; });
    std::optional<std::tuple<std::int64_t, std::int64_t, NodeIndex>> best;
    for (const NodeIndex node : scope_.open_nodes()) {
      if (!may_fit(first, node) || !scope_.keeps_domains(first, home, node)) continue;
      if (is_whole(node) && !std::ranges::binary_search(own, node)) continue;
      const std::tuple rank(-std::min<std::int64_t>(alike, copies(pod_class, node)),
                            idle_thousandths(problem_, node, state_.free_devices(node)), node);
      if ((!best || rank < *best) && can_place(state_, plan_.bounds, first, node)) best = rank;
    }
    return best ? std::optional(std::get<2>(*best)) : std::nullopt;
  }

  std::int64_t copies(PodClassIndex index, NodeIndex node) const {
    const PodClass& pod_class = problem_.pod_classes[index];
    std::int64_t copies = kLargest;
    for (std::size_t r = 0; r < pod_class.request.size(); ++r) {
      if (pod_class.request[r] > 0) copies = std::min(copies, state_.free(node)[r] / pod_class.request[r]);
    }
    if (pod_class.gpu.kind == GpuRequestKind::kWhole)
      copies = std::min<std::int64_t>(copies, state_.idle_devices(node) / pod_class.gpu.devices);
    return copies;
  }

  static std::vector<NodeIndex> nodes_with(const std::vector<std::pair<PodIndex, NodeIndex>>& pods) {
    std::vector<NodeIndex> nodes;
    for (const auto& [pod, node] : pods) nodes.push_back(node);
    std::ranges::sort(nodes);
    nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
    return nodes;
  }

  struct Undo {
    PodIndex pod;
    NodeIndex node;
    int sign = 1;
  };

  const Problem& problem_;
  const StopRequest& stop_;
  PlanState plan_;
  ClusterState& state_;
  SearchScope scope_;
  WholeNodes whole_nodes_;
  Indexed<NodeIndex, std::int32_t> breaking_;  // pods that keep the node from being whole
  std::vector<PodIndex> movable_;              // ascending
  std::vector<Undo> undo_;
  std::int64_t work_left_ = 0;
};

WholenessValues wholeness_of(const Problem& problem, const Levels& levels) {
  WholenessValues values{};
  std::copy_n(levels.values.begin() + levels_of_presence(problem), values.size(), values.begin());
  return values;
}

// The best plan so far, and one that is being changed.
class RepackingRun {
 public:
  RepackingRun(const Problem& problem, const FairShares& shares, const Candidate& incumbent, const StopRequest& stop)
      : problem_(problem), shares_(shares), incumbent_(incumbent), stop_(stop), ids_(level_ids(problem)) {}

  Repacked run(const WholenessValues& bounds) {
    if (at_best().improve()) keep_if_better();
    for (const Repacking::Order order : {Repacking::Order::kBigFirst, Repacking::Order::kAsGiven}) {
      const WholenessValues values = wholeness_of(problem_, best().levels);
      if ((values[0] == bounds[0] && values[1] == bounds[1]) || !changed_->is_small() || is_stopped()) break;
      if (!at_best().may_empty_a_node()) break;
      if (!changed_->place_anew(order)) continue;
      changed_->improve();
      keep_if_better();
    }
    is_complete_ = is_complete_ && !changed_->is_due();
    return {std::move(better_), is_complete_};
  }

 private:
  const Candidate& best() const { return better_ ? *better_ : incumbent_; }

  // With its whole work budget left.
  Repacking& at_best() {
    if (changed_) is_complete_ = is_complete_ && !changed_->is_due();
    if (is_at_best_)
      changed_->begin();
    else
      changed_.emplace(problem_, shares_, best().plan, stop_);
    is_at_best_ = true;
    return *changed_;
  }

  bool is_stopped() {
    const bool is_due = stop_ && stop_();
    is_complete_ = is_complete_ && !is_due;
    return is_due;
  }

  // Only places have changed, so no level of presence has.
  void keep_if_better() {
    Plan plan = changed_->plan();
    Levels levels = evaluate_places(problem_, plan, incumbent_.levels);
    is_at_best_ = compare(levels, best().levels, ids_) > 0;
    if (is_at_best_) better_ = Candidate{std::move(plan), std::move(levels), incumbent_.ran_out};
  }

  const Problem& problem_;
  const FairShares& shares_;
  const Candidate& incumbent_;
  const StopRequest& stop_;
  const std::vector<LevelId> ids_;
  std::optional<Candidate> better_;
  std::optional<Repacking> changed_;
  bool is_at_best_ = false;  // `changed_` has the places of the best plan
  bool is_complete_ = true;
};

}  // namespace

Repacked repack(const Problem& problem, const FairShares& shares, const Candidate& incumbent,
                const WholenessValues& bounds, const StopRequest& stop) {
  MUSTER_REQUIRE(problem.snapshot->policy.has_whole_nodes());
  if (incumbent.plan.placements.empty() || wholeness_of(problem, incumbent.levels) == bounds) return {};
  return RepackingRun(problem, shares, incumbent, stop).run(bounds);
}

}  // namespace muster::local_search
