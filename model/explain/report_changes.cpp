#include "model/explain/report_changes.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "model/base/words.h"

namespace muster::explain {
namespace {

constexpr std::size_t kMostNames = 3;  // names listed; the rest is counted

bool is_move(const Eviction& eviction) { return eviction.reason == EvictionReason::kConsolidate; }

// "a, b and c", "a, b, c and 4 more".
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t told = std::min(names.size(), kMostNames);
  for (std::size_t i = 0; i < told; ++i) {
    const bool is_last = i + 1 == told && told == names.size();
    text += (i == 0 ? "" : is_last ? " and " : ", ") + names[i];
  }
  return told == names.size() ? text : text + " and " + std::to_string(names.size() - told) + " more";
}

}  // namespace

GangChanges::GangChanges(const Problem& problem, const Plan& plan)
    : problem_(problem), new_node_(problem.pods.size(), NodeIndex::none()) {
  for (const Placement& placement : plan.placements) {
    if (problem.pods[placement.pod].status == PodStatus::kRunning) new_node_[placement.pod] = placement.node;
  }
  for (const Eviction& eviction : plan.evictions) evictions_[problem.pods[eviction.pod].gang].push_back(&eviction);
}

bool GangChanges::is_stale(GangIndex gang) const {
  const auto at = evictions_.find(gang);
  return at != evictions_.end() && std::ranges::any_of(at->second, [](const Eviction* eviction) {
           return eviction->reason == EvictionReason::kStale;
         });
}

ReasonCode GangChanges::eviction_code(GangIndex gang) const {
  if (is_stale(gang)) return ReasonCode::kStale;
  const auto at = evictions_.find(gang);
  const bool is_reclaimed = at != evictions_.end() && std::ranges::any_of(at->second, [](const Eviction* eviction) {
                              return eviction->reason == EvictionReason::kReclaim;
                            });
  return is_reclaimed ? ReasonCode::kReclaimed : ReasonCode::kPreempted;
}

std::string GangChanges::message(GangIndex gang) const {
  const auto at = evictions_.find(gang);
  if (at == evictions_.end()) return "";
  std::vector<const Eviction*> gone, moves;
  for (const Eviction* eviction : at->second) (is_moved(eviction->pod) ? moves : gone).push_back(eviction);
  if (gone.empty()) return moves_text(moves);
  return moves.empty() ? evictions_text(gone) : evictions_text(gone) + "; " + moves_text(moves);
}

std::string GangChanges::evictions_text(const std::vector<const Eviction*>& evictions) const {
  const std::string pods =
      counted(std::ssize(evictions), "pod") + (evictions.size() == 1 ? " is evicted" : " are evicted");
  if (evictions.front()->reason == EvictionReason::kStale)
    return pods + ": the gang has run below its minimum for longer than its grace period";
  return pods + " to make room for " + claimants_text(evictions);
}

std::string GangChanges::moves_text(const std::vector<const Eviction*>& moves) const {
  const auto node_name = [&](NodeIndex node) { return std::string(problem_.snapshot->nodes[node.value()].name); };
  const bool is_one = problem_.gangs[problem_.pods[moves.front()->pod].gang].pods.size() == 1;
  std::vector<std::string> ways;
  for (const Eviction* move : moves) {
    const std::string_view pod = problem_.snapshot->pods[move->pod.value()].name;
    ways.push_back((is_one ? "" : std::string(pod) + " ") + node_name(problem_.pods[move->pod].node) + " -> " +
                   node_name(new_node_[move->pod]));
  }
  return "moves " + listed(ways) + (moves.size() == 1 ? " (restarts the pod)" : " (restarts the pods)") +
         " to make room for " + claimants_text(moves);
}

// Each with its reason: "ns/a (preempt) and ns/b (reclaim)"; a move needs no reason.
std::string GangChanges::claimants_text(const std::vector<const Eviction*>& evictions) const {
  std::set<std::string> names;
  for (const Eviction* eviction : evictions) {
    if (eviction->for_gang.is_none()) continue;
    const std::string name(problem_.gangs[eviction->for_gang].name);
    names.insert(is_move(*eviction) ? name : name + " (" + std::string(eviction_reason_name(eviction->reason)) + ")");
  }
  return listed({names.begin(), names.end()});
}

}  // namespace muster::explain
