// A node for one pod of a claim: the victims there, and which node costs least.
#include <algorithm>
#include <tuple>
#include <utility>

#include "heuristics/preemption/make_room.h"
#include "heuristics/state/groups.h"

namespace muster {

namespace {

constexpr std::size_t kMostClearings = 24;  // nodes tried for one pod, cheapest first, if victims have to be moved
constexpr std::size_t kMostPromising = 64;  // nodes that can be cleared and are examined for one pod

}  // namespace

void RoomSearch::CheapestFew::add(const Choice& choice) {
  if (are_cheaper_than(choice.cost, choice.clearing->node)) return;
  heap_.push_back(choice);
  std::ranges::push_heap(heap_, {}, rank_of);
  if (heap_.size() <= most_) return;
  std::ranges::pop_heap(heap_, {}, rank_of);
  heap_.pop_back();
}

std::vector<RoomSearch::Choice> RoomSearch::CheapestFew::in_order() const {
  std::vector<Choice> choices = heap_;
  std::ranges::sort(choices, {}, rank_of);
  return choices;
}

bool RoomSearch::clear_for(PodIndex pod, std::span<const NodeIndex> nodes) {
  const auto before = state_.checkpoint();
  const PodClass& pod_class = problem_.class_of(pod);
  added_ = {pod_class.smallest_gpu_usage, pod_class.request[kCpu.value()], pod_class.request[kMemory.value()]};
  if (means_ == Means::kConsolidate && latest_rank_ <= rank_ && !fits_in_sum(pod_class)) return false;
  if (!exchange_ && !free_queue()) {
    state_.rollback(before);
    return false;
  }
  const bool evicts = means_ == Means::kPreempt || means_ == Means::kReclaim;
  const bool has_cleared = stage_ == Stage::kDisplacing  ? clear_displacing(pod, nodes)
                           : evicts && !could_relocate() ? clear_cheapest(pod, nodes)
                                                         : clear_any(pod, nodes);
  if (!has_cleared) state_.rollback(before);
  return has_cleared;
}

// Calls visit(clearing) for each of the nodes (empty: all) that can be cleared; false: there was no time for all.
// Clearings are cached for equivalent pods where possible; others are in `found`.
template <class Visit>
bool RoomSearch::look_at_clearings(PodIndex pod, std::span<const NodeIndex> nodes, std::deque<Clearing>& found,
                                   const Visit& visit) {
  const bool keeps = may_keep_clearings();
  if (keeps) cache_.begin(clearing_key(pod));
  begin_look();
  const PodClass& pod_class = problem_.class_of(pod);
  const auto look = [&](NodeIndex node) {
    if (stop_ && node.value() % 64 == 63 && stop_()) stopped_ = true;
    if (stopped_ || !fit::node(problem_, pod_class, node)) return;
    if (keeps) {
      if (const Clearing* clearing = known_clearing(pod, node)) visit(clearing);
    } else if (auto clearing = clearing_of(pod, node)) {
      visit(&found.emplace_back(*std::move(clearing)));
    }
  };
  if (nodes.empty()) {
    for (const NodeIndex node : problem_.nodes.indices()) look(node);
  } else {
    for (const NodeIndex node : nodes) look(node);
  }
  return !stopped_;
}

// Lists what the node's clearing costs, except what changes with every claim.
void RoomSearch::list_clearing(PodIndex pod, NodeIndex node) {
  cheapest_.remove(node);
  const Clearing* clearing = known_clearing(pod, node);
  if (clearing == nullptr) {
    not_cleared_.push_back(node);
    return;
  }
  Cost lasting = clearing->cost;
  lasting.share = lasting.quota = {};
  lasting.excess = 0;
  cheapest_.list(node, cache_.kind_of(node), lasting);
}

// The same as look_at_clearings over all nodes, except those that cost more than another of their kind. If the last
// scan was for an equivalent pod, only nodes that have changed since are examined. Cost: O(kinds + nodes changed).
template <class Visit>
bool RoomSearch::look_at_cheapest(PodIndex pod, const Visit& visit) {
  cache_.begin(clearing_key(pod));
  const bool is_new = std::exchange(cheapest_keys_, cache_.keys()) != cache_.keys();
  if (is_new || state_.touched().size() - cheapest_read_ > problem_.nodes.size()) {
    cheapest_.clear();
    not_cleared_.clear();
    for (const NodeIndex node : problem_.nodes.indices()) not_cleared_.push_back(node);
  } else {
    not_cleared_.insert(not_cleared_.end(), state_.touched().begin() + static_cast<std::ptrdiff_t>(cheapest_read_),
                        state_.touched().end());
  }
  begin_look();
  std::vector<NodeIndex> nodes = std::exchange(not_cleared_, {});
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (std::size_t i = 0; i < nodes.size() && !stopped_; ++i) {
    if (stop_ && i % 64 == 63 && stop_()) stopped_ = true;
    if (fit::node(problem_, problem_.class_of(pod), nodes[i])) list_clearing(pod, nodes[i]);
  }
  std::vector<std::size_t> kinds;
  for (const auto& [kind, ranked] : cheapest_.kinds()) kinds.push_back(kind);
  for (const std::size_t kind : kinds) {
    const auto& all = cheapest_.kinds();
    for (auto at = all.find(kind); at != all.end() && !stopped_; at = all.find(kind)) {
      const NodeIndex node = at->second.begin()->second;
      const Clearing* kept = state_.budgets_left().empty() ? nullptr : cache_.find(state_, node);
      if (kept != nullptr && !budgets_allow(*kept)) {  // what is listed is out of date
        list_clearing(pod, node);
        continue;
      }
      if (const Clearing* clearing = known_clearing(pod, node)) {
        visit(clearing);
        break;
      }
      list_clearing(pod, node);
    }
  }
  cheapest_read_ = state_.touched().size();
  return !stopped_;
}

// No pod can be moved, so the cheapest clearing is exact.
bool RoomSearch::clear_cheapest(PodIndex pod, std::span<const NodeIndex> nodes) {
  const Clearing* best = nullptr;
  std::deque<Clearing> none;
  const auto visit = [&](const Clearing* clearing) {
    if (best == nullptr || std::tie(clearing->cost, clearing->node) < std::tie(best->cost, best->node)) best = clearing;
  };
  const bool is_listed = nodes.empty() && clearing_key(pod).attempt == 0 && !cache_.depends_on_gangs();
  const bool all = is_listed ? look_at_cheapest(pod, visit) : look_at_clearings(pod, nodes, none, visit);
  if (!all || best == nullptr) return false;
  return commit_clearing(pod, *best) || clear_any(pod, nodes);
}

// The same as look_at_clearings if there are evictions, but of the nodes that can be cleared only the most promising.
template <class Visit>
void RoomSearch::look_at_promising(PodIndex pod, std::span<const NodeIndex> nodes, const Visit& visit) {
  find_least_losses();
  cache_.begin(clearing_key(pod));
  std::size_t found = 0, looked_at = 0;
  for (const NodeIndex node : by_promise(pod, nodes)) {
    if (stop_ && ++looked_at % 64 == 0 && stop_()) stopped_ = true;
    if (stopped_ || found == kMostPromising) return;
    const Clearing* clearing = known_clearing(pod, node);
    if (clearing == nullptr) continue;
    visit(clearing);
    ++found;
  }
}

// The cheapest few, in the order of their cost once all movable victims are moved.
bool RoomSearch::clear_any(PodIndex pod, std::span<const NodeIndex> nodes) {
  const auto commit = [&](const Choice& choice) { return commit_clearing(pod, *choice.clearing); };
  // Moves cost less than whatever else there is.
  if (means_ == Means::kConsolidate && !problem_.has_company_rules()) {
    std::deque<Clearing> found;
    const std::vector<Choice> choices = cheapest_by_moves(pod, nodes, found);
    if (stopped_) return false;
    if (std::ranges::any_of(choices, commit)) return true;
    if (latest_rank_ <= rank_) return false;
  }
  std::deque<Clearing> found;  // those that are not kept
  CheapestFew few(kMostClearings);
  const bool evicts = means_ == Means::kPreempt || means_ == Means::kReclaim;
  const auto add = [&](const Clearing* clearing) { few.add({clearing->cost, clearing}); };
  if (evicts) {
    look_at_promising(pod, nodes, add);
  } else {
    look_at_clearings(pod, nodes, found, add);
  }
  if (stopped_) return false;
  std::vector<Choice> choices = few.in_order();
  if (evicts && could_relocate()) {
    for (Choice& choice : choices) choice.cost = cost_with_moves(pod, *choice.clearing);
    std::ranges::stable_sort(choices, {}, &Choice::cost);
  }
  return std::ranges::any_of(choices, commit);
}

// Of the nodes that can be cleared by moves alone the cheapest few; nodes where more has to be moved than for those are
// not examined. Clearings that are not cached for equivalent pods are in `found`. Requires that there is no
// anti-affinity.
std::vector<RoomSearch::Choice> RoomSearch::cheapest_by_moves(PodIndex pod, std::span<const NodeIndex> nodes,
                                                              std::deque<Clearing>& found) {
  std::vector<std::pair<Work, NodeIndex>> ranked;
  const auto rank = [&](NodeIndex node) {
    if (fit::node(problem_, problem_.class_of(pod), node)) ranked.emplace_back(least_moved(pod, node), node);
  };
  if (nodes.empty()) {
    for (const NodeIndex node : problem_.nodes.indices()) rank(node);
  } else {
    std::ranges::for_each(nodes, rank);
  }
  std::ranges::sort(ranked);
  const bool keeps = latest_rank_ <= rank_;  // else a node may be cleared by other victims than the moved ones, too
  if (keeps) cache_.begin(clearing_key(pod));
  begin_look();
  CheapestFew few(kMostClearings);
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    if (stop_ && i % 64 == 63 && stop_()) stopped_ = true;
    Cost least;
    least.moved = ranked[i].first;
    const NodeIndex node = ranked[i].second;
    if (stopped_ || few.are_cheaper_than(least, node)) break;
    const Clearing* clearing = nullptr;
    if (keeps) {
      clearing = known_clearing(pod, node);
    } else if (could_clear(pod, node) != Cleared::kTooSmall) {
      if (auto by_moves = clearing_by_moves(pod, node)) clearing = &found.emplace_back(*std::move(by_moves));
    }
    if (clearing != nullptr) few.add({clearing->cost, clearing});
  }
  return few.in_order();
}

// The minimum of work on the node's devices that has to be moved for the pod to fit: that on the devices that lack
// least. Cost: O(devices), once for all pods of a class until the node changes.
Work RoomSearch::least_moved(PodIndex pod, NodeIndex node) {
  const PodClass& pod_class = problem_.class_of(pod);
  if (pod_class.gpu.devices == 0 || std::ssize(state_.free_devices(node)) < pod_class.gpu.devices) return 0;
  if (std::exchange(least_moved_of_, problem_.pods[pod].pod_class) != problem_.pods[pod].pod_class)
    least_moved_.assign(problem_.nodes.size(), {});
  LeastMoved& known = least_moved_[node];
  if (known.is_known && known.node_version == state_.version(node)) return known.work;
  const auto lacking = static_cast<double>(lacking_on(pod_class, node));
  const double thousandths = 1e3 * lacking / static_cast<double>(problem_.device_capacity(node));
  // A hair's breadth of rounding must not make it too much.
  known = {true, state_.version(node), static_cast<Work>(std::max(0.0, thousandths * survey().least_weight - 1e-3))};
  return known.work;
}

// Newly placed pods that may give way change from claim to claim; and if an anti-affinity relates nodes, a move away
// from one of them counts for others.
bool RoomSearch::may_keep_clearings() const {
  return means_ != Means::kSwap && (means_ != Means::kConsolidate || !problem_.has_company_rules());
}

// Pods of one class clear nodes in the same way if their gangs have equal rules on victims. Which pods may be moved
// does not depend on what else the claimant's gang asks for.
ClearingKey RoomSearch::clearing_key(PodIndex pod) const {
  const Gang& gang = problem_.gangs[claimant_];
  const bool is_shared = !exchange_ && latest_rank_ <= rank_ && is_claimant_new() &&
                         (gang.pods.size() == 1 || means_ == Means::kConsolidate);
  return {static_cast<int>(means_), problem_.pods[pod].pod_class, gang.queue, gang.priority, rank_,
          gang.preemptible,         is_shared ? 0 : attempts_};
}

RoomSearch::Clearing* RoomSearch::known_clearing(PodIndex pod, NodeIndex node) {
  if (cache_.cannot_be_cleared(state_, node)) return nullptr;
  if (Clearing* known = cache_.find(state_, node); known != nullptr && budgets_allow(*known)) {
    if (const Clearing* like = cache_.like(node)) {
      known->cost.share = like->cost.share;
      known->cost.quota = like->cost.quota;
      known->cost.excess = like->cost.excess;
      return known;
    }
  }
  auto clearing = clearing_of(pod, node);
  if (!clearing) {
    // Eligibility for reclaim depends on more than the node, and so does the rest of disruption budgets.
    const bool is_short = !state_.budgets_left().empty() && has_budgets(node);
    if (means_ == Means::kConsolidate && !is_short) cache_.keep_none(state_, node);
    return nullptr;
  }
  const ClearingKind kind = kind_of(*clearing);
  return &cache_.keep(state_, *std::move(clearing), kind);
}

// Whether the clearing's victims may all be evicted in the current state.
bool RoomSearch::budgets_allow(const Clearing& clearing) const {
  if (state_.budgets_left().empty()) return true;
  std::vector<PodIndex> pods;
  for (const Unit& unit : clearing.victims) pods.insert(pods.end(), unit.pods.begin(), unit.pods.end());
  return state_.budgets_allow(pods);
}

// Whether any pod on the node counts in a budget that allows some evictions, but not all.
bool RoomSearch::has_budgets(NodeIndex node) const {
  return std::ranges::any_of(state_.pods_on(node), [&](PodIndex pod) {
    return !problem_.disruption_budgets.of(pod).empty() && !is_pinned(pod);
  });
}

ClearingKind RoomSearch::kind_of(const Clearing& clearing) const {
  ClearingKind kind;
  for (const Unit& unit : clearing.victims) {
    const Gang& gang = problem_.gangs[problem_.pods[unit.pods.front()].gang];
    QueueAmounts goes{};
    for (const PodIndex pod : unit.pods) {
      const QueueAmounts used = queue_usage(problem_.class_of(pod), problem_.class_of(state_.node_of(pod)));
      for (std::size_t r = 0; r < kQueueResources; ++r) goes[r] += used[r];
    }
    kind.insert(kind.end(), {gang.queue.value(), gang.priority, unit.must_move, goes[0], goes[1], goes[2]});
  }
  return kind;
}

bool RoomSearch::commit_clearing(PodIndex pod, const Clearing& clearing) {
  const auto before = state_.checkpoint();
  const Cost lost_before = lost_;
  const bool displaces = stage_ == Stage::kDisplacing;
  if (displaces) displaced_.clear();
  if (!budgets_allow(clearing)) return false;
  for (const Unit& unit : clearing.victims) {
    take(unit.pods);
    if (!unit.must_move) lost_.add(unit.cost);
    if (displaces && unit.must_move) displaced_.push_back(problem_.pods[unit.pods.front()].gang);
  }
  // A cached clearing may have been invalidated by placements elsewhere: anti-affinity, a queue's bounds.
  bool moved = can_place(state_, bounds_, pod, clearing.node);
  if (moved) {
    state_.put(pod, clearing.node, chooser_.devices_for(pod, clearing.node));
    moved = std::ranges::all_of(clearing.victims, [&](const Unit& unit) { return !unit.must_move || relocate(unit); });
  }
  if (!moved) {
    state_.rollback(before);
    lost_ = lost_before;
  }
  return moved;
}

// The cost of the clearing if victims that fit elsewhere are moved there.
RoomSearch::Cost RoomSearch::cost_with_moves(PodIndex pod, const Clearing& clearing) {
  const auto before = state_.checkpoint();
  const auto reasons_before = reasons_.checkpoint();
  for (const Unit& unit : clearing.victims) take(unit.pods);
  state_.put(pod, clearing.node, chooser_.devices_for(pod, clearing.node));
  Cost cost;
  for (const Unit& unit : clearing.victims) {
    if (!relocate(unit)) {
      cost.add(unit.cost);
    } else {
      for (const PodIndex p : unit.pods) cost.moved += problem_.pods[p].weighted_work;
    }
  }
  state_.rollback(before);
  reasons_.rollback(reasons_before);
  cache_.refresh(state_, clearing.node);
  return cost;
}

// If the claimant's queue (or one above it) is at its limit, some of the pods that run in it have to leave first,
// wherever they are.
bool RoomSearch::free_queue() {
  const Gang& gang = problem_.gangs[claimant_];
  while (!fit::limit(state_, bounds_, gang, added_)) {
    QueueIndex full = QueueIndex::none();
    for (const QueueIndex queue : problem_.queues[gang.queue].ancestors) {
      for (std::size_t r = 0; r < kQueueResources; ++r) {
        const bool binds = added_[r] > 0 && bounds_.usage[queue][r] != kNoBound;
        if (full.is_none() && binds && state_.usage()[queue][r] + added_[r] > bounds_.usage[queue][r]) full = queue;
      }
    }
    const auto unit = cheapest_unit_below(full);
    if (!unit) return false;
    take(unit->pods);
  }
  return fit::quota(state_, bounds_, gang, added_);
}

bool RoomSearch::free_min_resources() {
  added_ = {};
  while (!min_resources_hold(claimant_)) {
    const auto unit = cheapest_unit_below(QueueIndex::none());
    if (!unit) return false;
    take(unit->pods);
  }
  return true;
}

std::optional<RoomSearch::Clearing> RoomSearch::clearing_by_moves(PodIndex pod, NodeIndex node) const {
  auto clearing = clearing_by_moves(pod, node, VictimOrder::kCheapestFirst);
  if (clearing || state_.budgets_left().empty() || !has_budgets(node)) return clearing;
  return clearing_by_moves(pod, node, VictimOrder::kLargestFirst);
}

// Of the movable pods, the cheapest whose departure makes the pod fit. Only the free capacity of the node changes with
// them, so the state is left alone. Requires that there is no anti-affinity. Cost: O(pods on the node x devices).
std::optional<RoomSearch::Clearing> RoomSearch::clearing_by_moves(PodIndex pod, NodeIndex node,
                                                                  VictimOrder order) const {
  const PodClass& pod_class = problem_.class_of(pod);
  const NodeClass& node_class = problem_.class_of(node);
  const Gang& gang = problem_.gangs[claimant_];
  const QueueAmounts added = queue_usage(pod_class, node_class);
  if (!fit::limit(state_, bounds_, gang, added) || !fit::quota(state_, bounds_, gang, added)) return std::nullopt;
  std::vector<Amount> free(state_.free(node).begin(), state_.free(node).end());
  std::vector<DeviceUnits> devices(state_.free_devices(node).begin(), state_.free_devices(node).end());
  const auto fits = [&] {
    return fit::capacity({free, devices}, pod_class) && fit::devices({free, devices}, problem_, pod_class, node);
  };
  const auto let_go = [&](PodIndex other, int sign) {
    const PodClass& other_class = problem_.class_of(other);
    for (std::size_t r = 0; r < free.size(); ++r) free[r] += sign * other_class.request[r];
    const DeviceList& held = state_.place_of(other).devices;
    const DeviceUnits units = held.empty() ? 0 : share_units(other_class, node_class);
    for (const std::int32_t device : held) devices[static_cast<std::size_t>(device)] += sign * units;
  };
  std::vector<std::pair<Work, PodIndex>> movable;
  for (const PodIndex other : state_.pods_on(node)) {
    if (problem_.pods[other].gang != claimant_ && (rules_.may_move(state_, other) || (exchange_ && is_fresh(other))))
      movable.emplace_back(problem_.pods[other].weighted_work, other);
  }
  std::ranges::stable_sort(movable, {}, &std::pair<Work, PodIndex>::first);
  if (order == VictimOrder::kLargestFirst) std::ranges::reverse(movable);
  std::vector<PodIndex> gone;
  bool does_fit = fits();
  for (std::size_t i = 0; !does_fit && i < movable.size(); ++i) {
    gone.push_back(movable[i].second);
    if (!state_.budgets_allow(gone)) {
      gone.pop_back();
      continue;
    }
    let_go(gone.back(), 1);
    does_fit = fits();
  }
  if (!does_fit) return std::nullopt;
  Clearing clearing;
  clearing.node = node;
  // Victims that turn out not to be needed stay, the last one first. Before the last one left, the pod did not fit.
  for (std::size_t i = gone.size(); i-- > 0;) {
    const PodIndex other = gone[i];
    if (i + 1 < gone.size()) {
      let_go(other, -1);
      if (fits()) continue;
      let_go(other, 1);
    }
    Unit unit{{other}, {}, true};
    unit.cost.moved = problem_.pods[other].weighted_work;
    clearing.cost.add(unit.cost);
    clearing.victims.push_back(std::move(unit));
  }
  return clearing;
}

std::optional<RoomSearch::Clearing> RoomSearch::clearing_of(PodIndex pod, NodeIndex node) {
  auto clearing = clearing_of(pod, node, VictimOrder::kCheapestFirst);
  if (clearing || state_.budgets_left().empty() || !has_budgets(node)) return clearing;
  return clearing_of(pod, node, VictimOrder::kLargestFirst);
}

// The cheapest victims on the node whose departure makes the pod fit.
std::optional<RoomSearch::Clearing> RoomSearch::clearing_of(PodIndex pod, NodeIndex node, VictimOrder order) {
  const Cleared cleared = could_clear(pod, node);
  if (cleared == Cleared::kTooSmall) return std::nullopt;
  if (means_ == Means::kConsolidate && !problem_.has_company_rules() && latest_rank_ <= rank_)
    return clearing_by_moves(pod, node);
  const bool displaces = stage_ == Stage::kDisplacing;
  if (displaces) displaced_.clear();
  bool fits = can_place(state_, bounds_, pod, node);  // it may be its queue that was in the way
  if (!fits && cleared == Cleared::kNobodyGoes) return std::nullopt;
  const auto before = state_.checkpoint();
  std::vector<Unit> taken;
  std::vector<std::vector<Place>> places;  // from which they were taken
  // A moved pod leaves by itself, whichever others are moved. Other units may shrink or grow as others leave (surplus
  // becomes core), so they are queried again each time.
  std::vector<Unit> moves;
  if (means_ != Means::kSwap && stage_ == Stage::kPlain && problem_.snapshot->policy.actions.consolidate)
    moves = moves_on(node);
  std::ranges::stable_sort(moves, {}, &Unit::cost);
  if (order == VictimOrder::kLargestFirst) std::ranges::reverse(moves);
  std::size_t next = 0;
  const auto cheapest_move = [&]() -> std::optional<Unit> {
    const auto may_go = [&](const Unit& unit) {
      return state_.is_present(unit.pods.front()) && state_.budgets_allow(unit.pods);
    };
    while (next < moves.size() && !may_go(moves[next])) ++next;
    return next < moves.size() ? std::optional(std::move(moves[next++])) : std::nullopt;
  };
  const auto work_here = [&](const Unit& unit) {
    Work sum = 0;
    for (const PodIndex p : unit.pods) sum += state_.node_of(p) == node ? problem_.class_of(p).work : 0;
    return sum;
  };
  const auto cheapest_unit = [&]() -> std::optional<Unit> {
    std::vector<Unit> units = units_on(node);
    const auto cheapest = order == VictimOrder::kLargestFirst ? std::ranges::max_element(units, {}, work_here)
                                                              : std::ranges::min_element(units, {}, &Unit::cost);
    return cheapest != units.end() ? std::optional(std::move(*cheapest)) : std::nullopt;
  };
  const bool moves_first = means_ == Means::kConsolidate;  // else pods that may not be evicted may still be moved
  while (!fits) {
    std::optional<Unit> cheapest = moves_first ? cheapest_move() : cheapest_unit();
    if (!cheapest) cheapest = moves_first ? cheapest_unit() : cheapest_move();
    if (!cheapest) break;
    std::vector<Place> from;
    for (const PodIndex p : cheapest->pods) from.push_back(state_.place_of(p));
    for (const PodIndex p : cheapest->pods) state_.take(p);
    if (displaces && cheapest->must_move) displaced_.push_back(problem_.pods[cheapest->pods.front()].gang);
    taken.push_back(std::move(*cheapest));
    places.push_back(std::move(from));
    fits = can_place(state_, bounds_, pod, node);
  }
  std::optional<Clearing> clearing;
  if (fits) clearing = without_spare({pod, node}, std::move(taken), places);
  state_.rollback(before);
  return clearing;
}

// Of the units that were taken, each from its places, those that are needed: the most expensive of the others are put
// back first. Before the last one left, the pod did not fit.
RoomSearch::Clearing RoomSearch::without_spare(std::pair<PodIndex, NodeIndex> target, std::vector<Unit> taken,
                                               const std::vector<std::vector<Place>>& places) {
  Clearing clearing;
  clearing.node = target.second;
  // If the rest of a gang leaves, its surplus has to leave, too.
  const auto is_torn = [&](GangIndex gang) {
    return !is_satisfied(state_, gang) && std::ranges::any_of(clearing.victims, [&](const Unit& victim) {
      return !victim.must_move && problem_.pods[victim.pods.front()].gang == gang;
    });
  };
  for (std::size_t i = taken.size(); i-- > 0;) {
    const auto here = state_.checkpoint();
    bool back = i + 1 < taken.size();
    for (std::size_t k = 0; back && k < taken[i].pods.size(); ++k) back = put_back(taken[i].pods[k], places[i][k]);
    if (back && can_place(state_, bounds_, target.first, target.second) &&
        !is_torn(problem_.pods[taken[i].pods.front()].gang))
      continue;
    state_.rollback(here);
    clearing.cost.add(taken[i].cost);
    clearing.victims.push_back(std::move(taken[i]));
  }
  return clearing;
}

std::optional<RoomSearch::Unit> RoomSearch::cheapest_unit_below(QueueIndex queue) const {
  std::optional<Unit> best;
  for (const PodIndex pod : problem_.pods.indices()) {
    const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
    if (!state_.is_present(pod) || gang.queue.is_none()) continue;
    if (means_ == Means::kConsolidate && !is_fresh(pod)) continue;  // a move frees nothing of the queue
    const auto& path = problem_.queues[gang.queue].ancestors;
    if (!queue.is_none() && std::ranges::find(path, queue) == path.end()) continue;
    auto unit = leaving_unit_of(pod);
    if (!unit) continue;
    if (!best || unit->cost < best->cost) best = std::move(unit);
  }
  return best;
}

}  // namespace muster
