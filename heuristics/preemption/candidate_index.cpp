#include "heuristics/preemption/candidate_index.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "heuristics/state/fit.h"
#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::preemption {

namespace {

// Calls visit(node) for each of the nodes, for all of the cluster if there are none.
template <class Visit>
void for_each_node(const Problem& problem, std::span<const NodeIndex> nodes, const Visit& visit) {
  if (nodes.empty()) {
    for (const NodeIndex node : problem.nodes.indices()) visit(node);
  } else {
    for (const NodeIndex node : nodes) visit(node);
  }
}

}  // namespace

// Newly placed pods that may give way change from claim to claim; and if an anti-affinity relates nodes for the pod, a
// move away from one of them counts for others. Then nothing is kept.
void CandidateIndex::scan(const Claim& claim, PodIndex pod, Nodes nodes, CandidateShortlist& shortlist) {
  const PodClass& pod_class = problem_.class_of(pod);
  const bool keeps = claim.mode != PreemptionMode::kSwap &&
                     (claim.mode != PreemptionMode::kConsolidate || !pod_class.has_inter_pod_rules());
  if (keeps) cache_.begin(key_of(claim, pod));
  builder_.capacity().begin_scan(claim);
  for_each_node(problem_, nodes, [&](NodeIndex node) {
    context_.stop.ask_at(node.value());
    if (context_.stop.is_raised() || !fit::node(problem_, pod_class, node)) return;
    if (keeps) {
      if (const NodeCandidate* candidate = known(claim, pod, node)) shortlist.add(*candidate);
    } else if (auto candidate = builder_.candidate(claim, pod, node)) {
      shortlist.add_own(*std::move(candidate));
    }
  });
}

// The same as a scan of all nodes, except those that cost more than another of their kind. If the last scan was for an
// equivalent pod, only nodes that have changed since are examined.
void CandidateIndex::scan_cheapest(const Claim& claim, PodIndex pod, Nodes nodes, CandidateShortlist& shortlist) {
  const CandidateKey key = key_of(claim, pod);
  if (!nodes.empty() || key.attempt != 0 || cache_.depends_on_gangs()) return scan(claim, pod, nodes, shortlist);
  cache_.begin(key);
  const bool is_new = std::exchange(cheapest_keys_, cache_.keys()) != cache_.keys();
  const std::vector<NodeIndex> examined = unlisted(is_new);
  builder_.capacity().begin_scan(claim);
  for (std::size_t i = 0; i < examined.size() && !context_.stop.is_raised(); ++i) {
    context_.stop.ask_at(i);
    if (fit::node(problem_, problem_.class_of(pod), examined[i])) list(claim, pod, examined[i]);
  }
  std::vector<std::size_t> kinds;
  for (const auto& [kind, ranked] : cheapest_.kinds()) kinds.push_back(kind);
  for (const std::size_t kind : kinds) {
    if (const NodeCandidate* candidate = cheapest_of(kind, claim, pod)) shortlist.add(*candidate);
  }
  cheapest_read_ = state_.changes().touched().size();
}

// The nodes to be examined before the list is complete, ascending: all, or those that have changed since it was.
std::vector<NodeIndex> CandidateIndex::unlisted(bool is_new) {
  const std::vector<NodeIndex>& touched = state_.changes().touched();
  if (is_new || touched.size() - cheapest_read_ > problem_.nodes.size()) {
    cheapest_.clear();
    not_listed_.clear();
    for (const NodeIndex node : problem_.nodes.indices()) not_listed_.push_back(node);
  } else {
    not_listed_.insert(not_listed_.end(), touched.begin() + static_cast<std::ptrdiff_t>(cheapest_read_), touched.end());
  }
  std::vector<NodeIndex> nodes = std::exchange(not_listed_, {});
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

// Lists what the node's candidate costs, except what changes with every claim.
void CandidateIndex::list(const Claim& claim, PodIndex pod, NodeIndex node) {
  cheapest_.remove(node);
  const NodeCandidate* candidate = known(claim, pod, node);
  if (candidate == nullptr) {
    not_listed_.push_back(node);
    return;
  }
  VictimCost lasting = candidate->cost;
  lasting.share = lasting.quota = {};
  lasting.excess = 0;
  cheapest_.list(node, cache_.kind_of(node), lasting);
}

// The first of the kind's list that is still valid; null: there is none, or no time. What is out of date is listed
// again.
const NodeCandidate* CandidateIndex::cheapest_of(std::size_t kind, const Claim& claim, PodIndex pod) {
  const auto& all = cheapest_.kinds();
  for (auto at = all.find(kind); at != all.end() && !context_.stop.is_raised(); at = all.find(kind)) {
    const NodeIndex node = at->second.begin()->second;
    const NodeCandidate* kept = state_.budgets().empty() ? nullptr : cache_.find(state_, node);
    const bool is_allowed = kept == nullptr || budgets_allow(state_, *kept);
    const NodeCandidate* candidate = is_allowed ? known(claim, pod, node) : nullptr;
    if (candidate != nullptr) return candidate;
    list(claim, pod, node);
  }
  return nullptr;
}

void CandidateIndex::scan_promising(const Claim& claim, PodIndex pod, Nodes nodes, CandidateShortlist& shortlist) {
  MUSTER_REQUIRE(claim.evicts());
  cache_.begin(key_of(claim, pod));
  builder_.capacity().begin_scan(claim);
  std::size_t found = 0, examined = 0;
  PromisingNodes promising = ranking_.by_promise(claim, pod, nodes);
  for (NodeIndex node = promising.next(); !node.is_none(); node = promising.next()) {
    if (++examined % 64 == 0) context_.stop.ask();
    if (context_.stop.is_raised() || found == kTuning.heuristics.promising) return;
    const NodeCandidate* candidate = known(claim, pod, node);
    if (candidate == nullptr) continue;
    shortlist.add(*candidate);
    ++found;
  }
}

std::vector<NodeCandidate> CandidateIndex::promising_once(const Claim& claim, PodIndex pod, Nodes nodes) {
  builder_.capacity().begin_scan(claim);
  std::vector<NodeCandidate> candidates;
  PromisingNodes promising = ranking_.by_promise(claim, pod, nodes);
  for (NodeIndex node = promising.next(); !node.is_none(); node = promising.next()) {
    if (auto candidate = builder_.candidate(claim, pod, node)) candidates.push_back(*std::move(candidate));
    if (candidates.size() == kTuning.heuristics.enough) break;
  }
  std::ranges::stable_sort(candidates, {}, &NodeCandidate::cost);
  return candidates;
}

void CandidateIndex::scan_by_moves(const Claim& claim, PodIndex pod, Nodes nodes, CandidateShortlist& shortlist) {
  MUSTER_REQUIRE(!problem_.class_of(pod).has_inter_pod_rules());
  const bool keeps = !context_.ranks.any_after(claim.rank);  // else other victims than moved ones may clear a node, too
  if (keeps) cache_.begin(key_of(claim, pod));
  for_each_by_least_moved(claim, pod, nodes, shortlist, false, [&](NodeIndex node) {
    if (keeps) {
      if (const NodeCandidate* candidate = known(claim, pod, node)) shortlist.add(*candidate);
    } else if (builder_.capacity().could_take(claim, pod, node) != ClearableCapacity::Answer::kTooSmall) {
      if (auto candidate = builder_.candidate_by_moves(claim, pod, node)) shortlist.add_own(*std::move(candidate));
    }
  });
}

void CandidateIndex::scan_by_moves_and_swaps(const Claim& claim, PodIndex pod, Nodes nodes,
                                             CandidateShortlist& shortlist) {
  MUSTER_REQUIRE(!problem_.class_of(pod).has_inter_pod_rules());
  cache_.begin(key_of(claim, pod));
  for_each_by_least_moved(claim, pod, nodes, shortlist, true, [&](NodeIndex node) {
    if (const NodeCandidate* candidate = known(claim, pod, node)) shortlist.add(*candidate);
  });
}

// Those where pods of the plan may give way come first if they may do so here: these need not be moved. Ends when all
// that follow cost more than the shortlist takes.
template <class Visit>
void CandidateIndex::for_each_by_least_moved(const Claim& claim, PodIndex pod, Nodes nodes,
                                             const CandidateShortlist& shortlist, bool swaps, const Visit& visit) {
  std::vector<std::pair<Work, NodeIndex>> ranked;
  for_each_node(problem_, nodes, [&](NodeIndex node) {
    if (!fit::node(problem_, problem_.class_of(pod), node)) return;
    const bool is_swap = swaps && builder_.capacity().may_any_give_way(claim, node);
    ranked.emplace_back(is_swap ? 0 : ranking_.least_moved(pod, node), node);
  });
  std::ranges::sort(ranked);
  builder_.capacity().begin_scan(claim);
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    context_.stop.ask_at(i);
    VictimCost least;
    least.moved = ranked[i].first;
    if (context_.stop.is_raised() || shortlist.excludes(least, ranked[i].second)) break;
    visit(ranked[i].second);
  }
}

// Pods of one class clear nodes in the same way if their gangs have equal rules on victims. Which pods may be moved
// does not depend on what else the claimant's gang asks for.
CandidateKey CandidateIndex::key_of(const Claim& claim, PodIndex pod) const {
  const Gang& gang = problem_.gangs[claim.claimant];
  const bool is_shared = !claim.exchange && !context_.ranks.any_after(claim.rank) && is_claimant_new(context_, claim) &&
                         (gang.pods.size() == 1 || claim.mode == PreemptionMode::kConsolidate);
  return {static_cast<int>(claim.mode),
          problem_.pods[pod].pod_class,
          gang.queue,
          gang.priority,
          claim.rank,
          gang.preemptible,
          is_shared ? 0 : claim.attempt};
}

const NodeCandidate* CandidateIndex::known(const Claim& claim, PodIndex pod, NodeIndex node) {
  if (cache_.has_no_victims(state_, node)) return nullptr;
  if (NodeCandidate* known = cache_.find(state_, node); known != nullptr && budgets_allow(state_, *known)) {
    if (const NodeCandidate* like = cache_.like(node)) {
      known->cost.share = like->cost.share;
      known->cost.quota = like->cost.quota;
      known->cost.excess = like->cost.excess;
      return known;
    }
  }
  auto candidate = builder_.candidate(claim, pod, node);
  if (!candidate) {
    // Eligibility for reclaim depends on more than the node, and so does the rest of disruption budgets.
    const bool is_short = !state_.budgets().empty() && has_budgets(state_, node);
    if (claim.mode == PreemptionMode::kConsolidate && !is_short) cache_.keep_none(state_, node);
    return nullptr;
  }
  const VictimKind kind = kind_of(*candidate);
  return &cache_.keep(state_, *std::move(candidate), kind);
}

VictimKind CandidateIndex::kind_of(const NodeCandidate& candidate) const {
  VictimKind kind;
  for (const VictimUnit& unit : candidate.victims) {
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

namespace {

// What a pod of the class takes: of devices, or of cpu.
Amount amount_of(const PodClass& pod_class, const NodeClass& node_class, bool by_device) {
  if (!by_device) return pod_class.request[kCpu.value()];
  return pod_class.gpu.devices > 0 ? pod_class.gpu.devices * share_units(pod_class, node_class) : 0;
}

}  // namespace

PromisingNodes CandidateOrder::by_promise(const Claim& claim, PodIndex pod, std::span<const NodeIndex> nodes) {
  MUSTER_REQUIRE(claim.evicts());
  find_leaving_sums(claim);
  begin_class(pod);
  const PodClass& pod_class = problem_.class_of(pod);
  std::vector<PromisingNodes::Ranked> ranked;
  ranked.reserve(nodes.empty() ? problem_.nodes.size() : nodes.size());
  for_each_node(problem_, nodes, [&](NodeIndex node) {
    if (!fit::node(problem_, pod_class, node)) return;
    const Amount lacking = lacking_on(pod_class, node), leaving = leaving_on(claim, pod_class, node);
    const Amount stuck = std::max<Amount>(0, lacking - leaving);
    const std::size_t pods = state_.pods_on(node).size();
    switch (claim.stage) {
      case ClaimStage::kPlain:
        ranked.emplace_back(stuck, lacking, pods, node);
        break;
      case ClaimStage::kDisplacing:
        ranked.emplace_back(lacking, stuck, pods, node);
        break;
      case ClaimStage::kPlacingDisplaced:
        if (stuck == 0) ranked.emplace_back(leaving - lacking, lacking, pods, node);
        break;
    }
  });
  return PromisingNodes(std::move(ranked));
}

Work CandidateOrder::least_moved(PodIndex pod, NodeIndex node) {
  const PodClass& pod_class = problem_.class_of(pod);
  if (pod_class.gpu.devices == 0 || std::ssize(state_.free_devices(node)) < pod_class.gpu.devices) return 0;
  begin_class(pod);
  const auto lacking = static_cast<double>(lacking_on(pod_class, node));
  const double thousandths = 1e3 * lacking / static_cast<double>(problem_.device_capacity(node));
  // Less by a margin for rounding: it must stay a lower bound.
  return static_cast<Work>(std::max(0.0, thousandths * context_.rules.survey().least_weight - 1e-3));
}

void CandidateOrder::begin_class(PodIndex pod) {
  if (std::exchange(lacking_class_, problem_.pods[pod].pod_class) != problem_.pods[pod].pod_class)
    lacking_.assign(problem_.nodes.size(), {});
}

// What a pod of the class lacks on the node: on the devices that lack least, or of cpu if it asks for no device.
Amount CandidateOrder::lacking_on(const PodClass& pod_class, NodeIndex node) {
  Lacking& known = lacking_[node];
  if (known.node_version != state_.version(node)) known = {state_.version(node), find_lacking(pod_class, node)};
  return known.amount;
}

Amount CandidateOrder::find_lacking(const PodClass& pod_class, NodeIndex node) {
  if (pod_class.gpu.devices == 0)
    return std::max<Amount>(0, pod_class.request[kCpu.value()] - state_.free(node)[kCpu.value()]);
  const DeviceUnits need = share_units(pod_class, problem_.class_of(node));
  std::vector<DeviceUnits>& lacking = on_devices_;
  lacking.clear();
  for (const DeviceUnits units : state_.free_devices(node)) lacking.push_back(std::max<DeviceUnits>(0, need - units));
  const auto devices = std::min<std::ptrdiff_t>(std::ssize(lacking), pod_class.gpu.devices);
  if (devices == 0) return 0;
  std::ranges::nth_element(lacking, lacking.begin() + devices - 1);
  return std::accumulate(lacking.begin(), lacking.begin() + devices, DeviceUnits{0});
}

// In the same unit, what the pods hold on the node whose eviction costs least.
Amount CandidateOrder::leaving_on(const Claim& claim, const PodClass& pod_class, NodeIndex node) {
  LeavingSums& known = (*leaving_now_)[node];
  if (known.node_version != state_.version(node)) {
    known = {state_.version(node), 0, 0};
    for (const PodIndex pod : state_.pods_on(node)) {
      const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
      const auto& least = claim.least_losses;
      const bool is_least = std::ranges::find(least, std::pair(gang.queue, gang.priority)) != least.end();
      if (!is_least || fit::is_pending(problem_.pods[pod]) || !capacity_.may_evict_at_first(claim, pod)) continue;
      known.devices += amount_of(problem_.class_of(pod), problem_.class_of(node), true);
      known.cpu += amount_of(problem_.class_of(pod), problem_.class_of(node), false);
    }
  }
  return pod_class.gpu.devices > 0 ? known.devices : known.cpu;
}

// The sums of claims with the same least-loss victims: few nodes have changed since the last of them.
void CandidateOrder::find_leaving_sums(const Claim& claim) {
  const Gang& claimant = problem_.gangs[claim.claimant];
  std::vector<std::int64_t> deciding{
      static_cast<std::int64_t>(claim.mode),
      claimant.queue.value(),
      claimant.priority,
      static_cast<std::int64_t>(claimant.preemption_policy),
      is_claimant_new(context_, claim) ? -1 : static_cast<std::int64_t>(claim.claimant.value()),
      claim.exchange ? claim.exchange->most_seconds : -1};
  for (const auto& [queue, priority] : claim.least_losses) {
    const bool may_go =
        claim.mode != PreemptionMode::kReclaim || claim.exchange || capacity_.may_reclaim_at_first(queue);
    deciding.insert(deciding.end(), {queue.value(), priority, may_go});
  }
  if (leaving_sums_.size() == kTuning.heuristics.kept && !leaving_sums_.contains(deciding)) leaving_sums_.clear();
  leaving_now_ = &leaving_sums_.try_emplace(std::move(deciding), problem_.nodes.size()).first->second;
}

}  // namespace muster::preemption
