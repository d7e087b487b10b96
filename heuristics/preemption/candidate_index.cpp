#include "heuristics/preemption/candidate_index.h"

#include <algorithm>
#include <optional>
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

CandidateIndex::CandidateIndex(const PreemptionInputs& inputs, const Claim& claim, const PlacementRanks& ranks,
                               const VictimEligibility& eligibility, CandidateBuilder& builder,
                               ClearableCapacity& capacity, CandidateOrder& ranking, StopFlag& stop)
    : problem_(inputs.problem),
      state_(inputs.state),
      claim_(claim),
      ranks_(ranks),
      eligibility_(eligibility),
      builder_(builder),
      capacity_(capacity),
      ranking_(ranking),
      stop_(stop),
      cache_(problem_.nodes.size()),
      cheapest_(problem_.nodes.size()) {}

void CandidateIndex::scan(PodIndex pod, std::span<const NodeIndex> nodes, CandidateShortlist& shortlist) {
  const bool keeps = may_keep(pod);
  if (keeps) cache_.begin(key_of(pod));
  capacity_.begin_scan();
  const PodClass& pod_class = problem_.class_of(pod);
  for_each_node(problem_, nodes, [&](NodeIndex node) {
    stop_.ask_at(node.value());
    if (stop_.is_raised() || !fit::node(problem_, pod_class, node)) return;
    if (keeps) {
      if (const NodeCandidate* candidate = known(pod, node)) shortlist.add(*candidate);
    } else if (auto candidate = builder_.candidate(pod, node)) {
      shortlist.add_own(*std::move(candidate));
    }
  });
}

void CandidateIndex::scan_cheapest(PodIndex pod, std::span<const NodeIndex> nodes, CandidateShortlist& shortlist) {
  if (nodes.empty() && key_of(pod).attempt == 0 && !cache_.depends_on_gangs()) {
    scan_listed(pod, shortlist);
  } else {
    scan(pod, nodes, shortlist);
  }
}

// The same as a scan of all nodes, except those that cost more than another of their kind. If the last scan was for an
// equivalent pod, only nodes that have changed since are examined.
void CandidateIndex::scan_listed(PodIndex pod, CandidateShortlist& shortlist) {
  cache_.begin(key_of(pod));
  const bool is_new = std::exchange(cheapest_keys_, cache_.keys()) != cache_.keys();
  const std::vector<NodeIndex> nodes = unlisted(is_new);
  capacity_.begin_scan();
  for (std::size_t i = 0; i < nodes.size() && !stop_.is_raised(); ++i) {
    stop_.ask_at(i);
    if (fit::node(problem_, problem_.class_of(pod), nodes[i])) list(pod, nodes[i]);
  }
  std::vector<std::size_t> kinds;
  for (const auto& [kind, ranked] : cheapest_.kinds()) kinds.push_back(kind);
  for (const std::size_t kind : kinds) {
    if (const NodeCandidate* candidate = cheapest_of(kind, pod)) shortlist.add(*candidate);
  }
  cheapest_read_ = state_.changes().touched().size();
}

// The nodes to be examined before the list is complete, ascending: all, or those that have changed since it was.
std::vector<NodeIndex> CandidateIndex::unlisted(bool is_new) {
  if (is_new || state_.changes().touched().size() - cheapest_read_ > problem_.nodes.size()) {
    cheapest_.clear();
    not_listed_.clear();
    for (const NodeIndex node : problem_.nodes.indices()) not_listed_.push_back(node);
  } else {
    not_listed_.insert(not_listed_.end(),
                       state_.changes().touched().begin() + static_cast<std::ptrdiff_t>(cheapest_read_),
                       state_.changes().touched().end());
  }
  std::vector<NodeIndex> nodes = std::exchange(not_listed_, {});
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

// Lists what the node's candidate costs, except what changes with every claim.
void CandidateIndex::list(PodIndex pod, NodeIndex node) {
  cheapest_.remove(node);
  const NodeCandidate* candidate = known(pod, node);
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
const NodeCandidate* CandidateIndex::cheapest_of(std::size_t kind, PodIndex pod) {
  const auto& all = cheapest_.kinds();
  for (auto at = all.find(kind); at != all.end() && !stop_.is_raised(); at = all.find(kind)) {
    const NodeIndex node = at->second.begin()->second;
    const NodeCandidate* kept = state_.budgets().empty() ? nullptr : cache_.find(state_, node);
    const bool is_allowed = kept == nullptr || budgets_allow(state_, *kept);
    const NodeCandidate* candidate = is_allowed ? known(pod, node) : nullptr;
    if (candidate != nullptr) return candidate;
    list(pod, node);
  }
  return nullptr;
}

void CandidateIndex::scan_promising(PodIndex pod, std::span<const NodeIndex> nodes, CandidateShortlist& shortlist) {
  MUSTER_REQUIRE(claim_.evicts());
  cache_.begin(key_of(pod));
  capacity_.begin_scan();
  std::size_t found = 0, examined = 0;
  for (const NodeIndex node : ranking_.by_promise(pod, nodes)) {
    if (++examined % 64 == 0) stop_.ask();
    if (stop_.is_raised() || found == kTuning.heuristics.promising) return;
    const NodeCandidate* candidate = known(pod, node);
    if (candidate == nullptr) continue;
    shortlist.add(*candidate);
    ++found;
  }
}

void CandidateIndex::scan_by_moves(PodIndex pod, std::span<const NodeIndex> nodes, CandidateShortlist& shortlist) {
  MUSTER_REQUIRE(!problem_.class_of(pod).has_inter_pod_rules());
  const bool keeps = !ranks_.any_after(claim_.rank);  // else other victims than moved ones may clear a node, too
  if (keeps) cache_.begin(key_of(pod));
  for_each_by_least_moved(pod, nodes, shortlist, false, [&](NodeIndex node) {
    if (keeps) {
      if (const NodeCandidate* candidate = known(pod, node)) shortlist.add(*candidate);
    } else if (capacity_.could_take(pod, node) != ClearableCapacity::Answer::kTooSmall) {
      if (auto candidate = builder_.candidate_by_moves(pod, node)) shortlist.add_own(*std::move(candidate));
    }
  });
}

void CandidateIndex::scan_by_moves_and_swaps(PodIndex pod, std::span<const NodeIndex> nodes,
                                             CandidateShortlist& shortlist) {
  MUSTER_REQUIRE(!problem_.class_of(pod).has_inter_pod_rules());
  cache_.begin(key_of(pod));
  for_each_by_least_moved(pod, nodes, shortlist, true, [&](NodeIndex node) {
    if (const NodeCandidate* candidate = known(pod, node)) shortlist.add(*candidate);
  });
}

// Those where pods of the plan may give way come first if they may do so here: these need not be moved. Ends when all
// that follow cost more than the shortlist takes.
template <class Visit>
void CandidateIndex::for_each_by_least_moved(PodIndex pod, std::span<const NodeIndex> nodes,
                                             const CandidateShortlist& shortlist, bool swaps, const Visit& visit) {
  std::vector<std::pair<Work, NodeIndex>> ranked;
  for_each_node(problem_, nodes, [&](NodeIndex node) {
    if (!fit::node(problem_, problem_.class_of(pod), node)) return;
    const bool is_swap = swaps && capacity_.may_any_give_way(node);
    ranked.emplace_back(is_swap ? 0 : ranking_.least_moved(pod, node), node);
  });
  std::ranges::sort(ranked);
  capacity_.begin_scan();
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    stop_.ask_at(i);
    VictimCost least;
    least.moved = ranked[i].first;
    if (stop_.is_raised() || shortlist.excludes(least, ranked[i].second)) break;
    visit(ranked[i].second);
  }
}

// Newly placed pods that may give way change from claim to claim; and if an anti-affinity relates nodes for the
// pod, a move away from one of them counts for others.
bool CandidateIndex::may_keep(PodIndex pod) const {
  return claim_.mode != PreemptionMode::kSwap &&
         (claim_.mode != PreemptionMode::kConsolidate || !problem_.class_of(pod).has_inter_pod_rules());
}

// Pods of one class clear nodes in the same way if their gangs have equal rules on victims. Which pods may be moved
// does not depend on what else the claimant's gang asks for.
CandidateKey CandidateIndex::key_of(PodIndex pod) const {
  const Gang& gang = problem_.gangs[claim_.claimant];
  const bool is_shared = !claim_.exchange && !ranks_.any_after(claim_.rank) && eligibility_.is_claimant_new() &&
                         (gang.pods.size() == 1 || claim_.mode == PreemptionMode::kConsolidate);
  return {static_cast<int>(claim_.mode),
          problem_.pods[pod].pod_class,
          gang.queue,
          gang.priority,
          claim_.rank,
          gang.preemptible,
          is_shared ? 0 : claim_.attempt};
}

const NodeCandidate* CandidateIndex::known(PodIndex pod, NodeIndex node) {
  if (cache_.has_no_victims(state_, node)) return nullptr;
  if (NodeCandidate* known = cache_.find(state_, node); known != nullptr && budgets_allow(state_, *known)) {
    if (const NodeCandidate* like = cache_.like(node)) {
      known->cost.share = like->cost.share;
      known->cost.quota = like->cost.quota;
      known->cost.excess = like->cost.excess;
      return known;
    }
  }
  auto candidate = builder_.candidate(pod, node);
  if (!candidate) {
    // Eligibility for reclaim depends on more than the node, and so does the rest of disruption budgets.
    const bool is_short = !state_.budgets().empty() && has_budgets(state_, node);
    if (claim_.mode == PreemptionMode::kConsolidate && !is_short) cache_.keep_none(state_, node);
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

}  // namespace muster::preemption
