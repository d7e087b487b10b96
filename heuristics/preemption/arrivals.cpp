#include "heuristics/preemption/arrivals.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "heuristics/state/fit.h"

namespace muster::preemption {

void Arrivals::set_moves(std::vector<std::pair<PodIndex, GangIndex>> moves) {
  moves_ = std::move(moves);
  std::ranges::sort(moves_);
}

bool Arrivals::is_arrival(PodIndex pod) const {
  return fit::is_pending(problem_.pods[pod]) || (ledger_.was_taken(pod) && !is_home(state_, pod));
}

bool Arrivals::any_claimant(PodIndex arrival, const Counts& counts) const {
  if (fit::is_pending(problem_.pods[arrival])) return counts(problem_.pods[arrival].gang);
  bool any = false;
  std::set<NodeIndex> seen;
  for (std::vector<NodeIndex> open{problem_.pods[arrival].node}; !open.empty();) {
    const NodeIndex node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    for (const PodIndex other : state_.pods_on(node)) {
      if (fit::is_pending(problem_.pods[other])) {
        if (counts(problem_.pods[other].gang)) return true;
        any = true;
      } else if (is_arrival(other)) {
        open.push_back(problem_.pods[other].node);
      }
    }
  }
  const auto named = std::ranges::lower_bound(moves_, arrival, {}, &std::pair<PodIndex, GangIndex>::first);
  return !any && named != moves_.end() && named->first == arrival && counts(named->second);
}

std::vector<PodIndex> Arrivals::moved_for_none(const Counts& counts) const {
  MovedFrom from;
  for (const auto& [pod, claimant] : moves_) {
    if (is_away(pod)) from[problem_.pods[pod].node].push_back(pod);
  }
  Indexed<NodeIndex, std::uint8_t> is_claimed(problem_.nodes.size(), 0), is_counted(problem_.nodes.size(), 0);
  std::map<GangIndex, bool> known;
  for (const auto& [node, pods] : from) {
    for (const PodIndex other : state_.pods_on(node)) {
      if (!fit::is_pending(problem_.pods[other])) continue;
      const GangIndex gang = problem_.pods[other].gang;
      const auto [at, is_new] = known.try_emplace(gang, false);
      if (is_new) at->second = counts(gang);
      mark(node, from, is_claimed);
      if (at->second) mark(node, from, is_counted);
    }
  }
  std::vector<PodIndex> moved;
  for (const auto& [pod, claimant] : moves_) {
    if (!is_away(pod)) continue;
    const NodeIndex home = problem_.pods[pod].node;
    if (is_claimed[home] != 0 ? is_counted[home] == 0 : !counts(claimant)) moved.push_back(pod);
  }
  return moved;
}

// The node, and those to which pods moved from it, in turn.
void Arrivals::mark(NodeIndex node, const MovedFrom& from, Indexed<NodeIndex, std::uint8_t>& is_marked) const {
  for (std::vector<NodeIndex> open{node}; !open.empty();) {
    const NodeIndex next = open.back();
    open.pop_back();
    if (std::exchange(is_marked[next], std::uint8_t{1}) != 0) continue;
    const auto pods = from.find(next);
    if (pods == from.end()) continue;
    for (const PodIndex pod : pods->second) open.push_back(state_.node_of(pod));
  }
}

}  // namespace muster::preemption
