// The keys that a gang and a pod that is a gang by itself share. `Target` has a member `terms`.
#pragma once

#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "io/muster_v1/snapshot_input.h"

namespace muster::muster_v1 {

inline constexpr std::array<std::pair<std::string_view, PreemptionPolicy>, 2> kPreemptionPolicies = {
    {{"PreemptLowerPriority", PreemptionPolicy::kPreemptLowerPriority}, {"Never", PreemptionPolicy::kNever}}};

inline bool read_priority_number(SnapshotInput& in, json::JsonValue v, std::int32_t& out) {
  std::int64_t wide = 0;
  using Limits = std::numeric_limits<std::int32_t>;
  if (!in.read_integer(v, Limits::min(), Limits::max(), wide)) return false;
  out = static_cast<std::int32_t>(wide);
  return true;
}

template <class Target>
bool read_term_queue(SnapshotInput& in, json::JsonValue v, Target& target) {
  return in.read_shared_name(v, in.last.queue, target.terms.queue);
}

template <class Target>
bool read_term_class(SnapshotInput& in, json::JsonValue v, Target& target) {
  return in.read_shared_name(v, in.last.priority_class, target.terms.priority_class.emplace());
}

template <class Target>
bool read_term_priority(SnapshotInput& in, json::JsonValue v, Target& target) {
  return read_priority_number(in, v, target.terms.priority.emplace());
}

template <class Target>
bool read_term_preemptible(SnapshotInput& in, json::JsonValue v, Target& target) {
  return in.read(v, target.terms.preemptible.emplace());
}

template <class Target>
bool read_term_policy(SnapshotInput& in, json::JsonValue v, Target& target) {
  return json::read_choice(in, v, kPreemptionPolicies, target.terms.preemption_policy.emplace());
}

template <class Target>
bool read_term_created(SnapshotInput& in, json::JsonValue v, Target& target) {
  return in.read_instant(v, target.terms.created.emplace());
}

template <class Target>
bool read_term_timeout(SnapshotInput& in, json::JsonValue v, Target& target) {
  return in.read_duration(v, target.terms.timeout.emplace());
}

template <class Target>
bool read_term_expected_duration(SnapshotInput& in, json::JsonValue v, Target& target) {
  Nanoseconds& duration = target.terms.expected_duration.emplace();
  return in.read_duration(v, duration) && (duration > 0 || in.fail_value(v, "an expected duration is more than 0"));
}

template <class Target>
bool read_term_expected_end(SnapshotInput& in, json::JsonValue v, Target& target) {
  return in.read_instant(v, target.terms.expected_end.emplace());
}

template <class Target>
bool read_term_checkpointed(SnapshotInput& in, json::JsonValue v, Target& target) {
  return in.read_instant(v, target.terms.checkpointed.emplace());
}

template <class Target>
bool read_term_weight(SnapshotInput& in, json::JsonValue v, Target& target) {
  return in.read_weight(v, json::Reading::Zero::kRefused, target.terms.weight) &&
         (target.terms.weight <= kMostWeight || in.fail_value(v, "a weight must be at most 1e12"));
}

}  // namespace muster::muster_v1
