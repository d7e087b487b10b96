#include "solver/answers/standing.h"

#include <algorithm>

#include "model/snapshot/filters.h"

namespace muster::answers {

WaitingGang::WaitingGang(const Run& run, GangIndex gang)
    : run_(run),
      gang_(gang),
      end_(explain::after_plan(run.problem, run.solution.plan)),
      need_(explain::reason_subject(run.problem, end_, gang, true).need) {
  for (const explain::NeedItem& item : need_.items) {
    const PodSpecIndex spec = run.problem.pod_classes[item.pod_class].spec;
    if (std::ranges::find(specs_, spec) == specs_.end()) specs_.push_back(spec);
  }
}

const SnapshotGang* WaitingGang::entry() const {
  const bool has_entry = gang_.value() < snapshot().gangs.size();
  return has_entry ? &snapshot().gangs[gang_.value()] : nullptr;
}

std::int64_t WaitingGang::pods_without_room() const {
  const Problem& problem = run_.problem;
  const std::int64_t all = std::max<std::int64_t>(1, need_.pods);
  if (need_.items.size() != 1 || explain::requires_level(problem, gang())) return all;
  const PodClass& pod_class = problem.pod_classes[need_.items.front().pod_class];
  const explain::RemainingCapacity room = explain::RemainingCapacity::after(problem, end_);
  std::int64_t missing = all;
  for (const NodeIndex node : room.nodes()) {
    if (missing <= 1) break;
    if (pod_class.allowed[problem.nodes[node].node_class.value()]) missing -= room.count(pod_class, node, missing - 1);
  }
  return missing;
}

std::int32_t WaitingGang::priority_as_set() const {
  static const GangTerms defaults;
  const GangTerms* terms = &defaults;
  if (const SnapshotGang* own = entry()) {
    terms = &own->terms;
  } else if (const std::int32_t at = snapshot().pods[gang().pods.front().value()].own_gang; at >= 0) {
    terms = &snapshot().own_gang_terms[static_cast<std::size_t>(at)];
  }
  if (terms->priority) return *terms->priority;
  const auto& classes = snapshot().definitions.priority_classes;
  const auto found = std::ranges::find(classes, terms->priority_class.value_or(""), &SnapshotPriorityClass::name);
  return found == classes.end() ? 0 : found->value;
}

bool WaitingGang::some_pod_may_use(const SnapshotNode& node) const {
  return std::ranges::any_of(specs_,
                             [&](PodSpecIndex spec) { return passes_filters(snapshot().pod_specs[spec], node); });
}

Standing standing_of(const WaitingGang& gang) {
  Standing standing;
  for (const explain::GangReport& report : gang.run().solution.report.gangs) {
    if (report.phase != explain::GangPhase::kUnschedulable && report.phase != explain::GangPhase::kEvicted) continue;
    const Gang& other = gang.problem().gangs[report.gang];
    const bool is_ahead = rank_of(other) > rank_of(gang.gang());
    const bool is_level = rank_of(other) == rank_of(gang.gang()) && report.gang != gang.index();
    ++standing.waiting_in_all;
    if (is_ahead) ++standing.ahead_in_all;
    if (is_level) ++standing.level_in_all;
    if (other.queue != gang.gang().queue) continue;
    ++standing.waiting;
    if (is_ahead) ++standing.ahead;
    if (is_level) ++standing.level;
  }
  return standing;
}

}  // namespace muster::answers
