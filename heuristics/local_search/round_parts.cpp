#include "heuristics/local_search/round_parts.h"

#include <algorithm>

#include "heuristics/local_search/plan_value.h"
#include "heuristics/state/fit.h"
#include "model/base/tuning.h"

namespace muster::local_search {

RoundParts::RoundParts(const SearchScope& scope, const ClusterState& state, std::uint64_t seed)
    : scope_(scope),
      problem_(scope.problem()),
      state_(state),
      random_(seed),
      taken_in_(scope.problem().nodes.size(), 0) {}

std::size_t RoundParts::most_vain_rounds() const {
  return kTuning.search.vain_rounds * (1 + scope_.open_nodes().size() / kTuning.search.round_nodes());
}

std::vector<SearchPart> RoundParts::next(const Round& round) {
  const std::size_t open = scope_.open_nodes().size();
  std::vector<SearchPart> parts(
      std::min(kTuning.search.parts, (open + kTuning.search.part_nodes - 1) / kTuning.search.part_nodes));
  ++round_;
  for (SearchPart& part : parts) fill(part);
  std::erase_if(parts, [](const SearchPart& part) { return part.nodes.empty(); });
  if (parts.empty()) return parts;
  distribute_waiting(parts);
  for (std::size_t number = 0; number < parts.size(); ++number) {
    parts[number].number = static_cast<std::uint32_t>(number);
    parts[number].of = static_cast<std::uint32_t>(parts.size());
    parts[number].seed = random_.next();
    parts[number].trials = std::min(kTuning.search.part_trials, 1 + (round.trials_left - 1) / std::ssize(parts));
    parts[number].counts_usable = round.counts_usable;
  }
  return parts;
}

// In a random order, nodes with idle devices alternating with others; scattered idle capacity on a large cluster is
// then in few parts, and is searched again before all full nodes have been searched once.
std::vector<NodeIndex> RoundParts::next_turns() {
  std::vector<NodeIndex> nodes = scope_.open_nodes();
  random_.shuffle(nodes);
  const auto full = std::ranges::stable_partition(
      nodes, [&](NodeIndex node) { return idle_thousandths(problem_, node, state_.free_devices(node)) > 0; });
  const std::size_t idle = nodes.size() - full.size();
  std::vector<NodeIndex> turns;
  for (std::size_t i = 0; i < std::max(idle, full.size()); ++i) {
    if (idle > 0 && turns.size() >= std::max(2 * idle, kTuning.search.round_nodes())) break;
    if (i < idle) turns.push_back(nodes[i]);
    if (i < full.size()) turns.push_back(full[i]);
  }
  std::ranges::reverse(turns);
  return turns;
}

// Nodes in turn, each with the nodes of its gangs.
void RoundParts::fill(SearchPart& part) {
  std::size_t next = 0;  // of its nodes, whose gangs are examined
  while (part.nodes.size() < kTuning.search.part_nodes) {
    if (next < part.nodes.size()) {
      add_gangs_of(part.nodes[next++], part);
      continue;
    }
    const bool begins_again = turns_.empty();
    if (begins_again) {
      if (!part.nodes.empty() || scope_.open_nodes().empty()) return;
      turns_ = next_turns();
    }
    const NodeIndex node = turns_.back();
    turns_.pop_back();
    if (taken_in_[node] != round_) add(node, part);
    if (begins_again && turns_.empty()) return;
  }
}

void RoundParts::add_gangs_of(NodeIndex node, SearchPart& part) {
  for (const PodIndex pod : state_.pods_on(node)) {
    const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
    if (gang.pods.size() == 1 || part.nodes.size() + gang.pods.size() > kTuning.search.part_nodes) continue;
    const auto may_come = [&](PodIndex other) {
      if (!state_.is_present(other)) return true;
      const NodeIndex there = state_.node_of(other);
      return scope_.may_move(other) && scope_.is_open(there) &&
             (taken_in_[there] != round_ || std::ranges::find(part.nodes, there) != part.nodes.end());
    };
    if (!std::ranges::all_of(gang.pods, may_come)) continue;
    for (const PodIndex other : gang.pods) {
      if (state_.is_present(other) && taken_in_[state_.node_of(other)] != round_) add(state_.node_of(other), part);
    }
  }
}

void RoundParts::add(NodeIndex node, SearchPart& part) {
  taken_in_[node] = round_;
  part.nodes.push_back(node);
}

void RoundParts::distribute_waiting(std::vector<SearchPart>& parts) {
  std::vector<PodIndex> pods;
  std::vector<GangIndex> gangs;
  for (const GangIndex index : problem_.gangs.indices()) {
    if (!scope_.may_add(index)) continue;
    const Gang& gang = problem_.gangs[index];
    if (scope_.spare(state_, index) < -1) {
      if (could_complete(gang)) gangs.push_back(index);
      continue;
    }
    for (const PodIndex pod : gang.pods) {
      if (!waits(pod)) continue;
      if (gang.pods.size() == 1) {
        pods.push_back(pod);
      } else {
        parts[index.value() % parts.size()].waiting_pods.push_back(pod);
      }
    }
  }
  random_.shuffle(pods);
  random_.shuffle(gangs);
  for (std::size_t i = 0; i < pods.size(); ++i) parts[i % parts.size()].waiting_pods.push_back(pods[i]);
  for (std::size_t i = 0; i < gangs.size(); ++i) parts[i % parts.size()].waiting_gangs.push_back(gangs[i]);
}

bool RoundParts::waits(PodIndex pod) const {
  return fit::is_pending(problem_.pods[pod]) && !state_.is_present(pod) && scope_.may_move(pod);
}

// No pod of the gang is present, and all pods that its minimum needs wait.
bool RoundParts::could_complete(const Gang& gang) const {
  return state_.members(gang.root) == 0 && std::ranges::count_if(gang.pods, [&](PodIndex pod) { return waits(pod); }) >=
                                               problem_.groups[gang.root].minimum;
}

}  // namespace muster::local_search
