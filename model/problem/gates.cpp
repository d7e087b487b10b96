#include "model/problem/gates.h"

#include <algorithm>

#include "model/problem/gang_tree.h"

namespace muster {

namespace {

bool is_gated(const Problem& problem, PodIndex pod) { return problem.pods[pod].status == PodStatus::kGated; }

bool is_there_or_pending(const Problem& problem, PodIndex pod) {
  const PodStatus status = problem.pods[pod].status;
  return status == PodStatus::kPending || status == PodStatus::kRunning || status == PodStatus::kSucceeded;
}

}  // namespace

bool has_enough_pods(const Problem& problem, const Gang& gang) {
  return meets_minimum(problem, gang,
                       [&](PodIndex pod) { return is_gated(problem, pod) || is_there_or_pending(problem, pod); });
}

GateKind gate_of(const Problem& problem, const Gang& gang, const std::function<bool(PodIndex)>& is_present) {
  if (std::ranges::none_of(gang.pods, [&](PodIndex pod) { return is_gated(problem, pod); })) return GateKind::kNone;
  const bool is_left_over = std::ranges::any_of(
      gang.pods, [&](PodIndex pod) { return problem.pods[pod].status == PodStatus::kPending && !is_present(pod); });
  if (is_left_over) {
    const bool suffices = meets_minimum(problem, gang, [&](PodIndex pod) { return is_there_or_pending(problem, pod); });
    if (suffices || !has_enough_pods(problem, gang)) return GateKind::kNone;
  }
  return held_message(problem, gang).empty() ? GateKind::kGated : GateKind::kHeld;
}

// A gang is held for one of its pods, whatever the state of that one; an importer may say at the others that it is, and
// what is wrong at that one alone.
std::string_view held_message(const Problem& problem, const Gang& gang) {
  std::string_view message;
  bool has_gated = false;
  for (const PodIndex pod : gang.pods) {
    const std::string_view held = problem.snapshot->pods[pod.value()].notes.held;
    has_gated = has_gated || is_gated(problem, pod);
    if (held.size() > message.size() && held.starts_with(message)) message = held;
  }
  return has_gated ? message : std::string_view();
}

}  // namespace muster
