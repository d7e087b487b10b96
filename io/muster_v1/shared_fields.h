// The keys of expectedDurations[], in a policy and in the histories of a plan, and of unread[].
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "io/json/reading.h"
#include "io/muster_v1/snapshot_input.h"
#include "model/snapshot/snapshot.h"
#include "model/snapshot/unread.h"

namespace muster::muster_v1 {

inline constexpr std::int64_t kMostHistoryCount = std::numeric_limits<std::int32_t>::max();

// [from, to], or [from] without an end.
template <class Input>
bool read_history_sizes(Input& in, json::JsonValue list, DurationHistory& history) {
  if (!in.expect(list, json::JsonKind::kArray)) return false;
  if (list.size() != 1 && list.size() != 2) return in.fail_value(list, "give the first and the last number of GPUs");
  std::int64_t* at = &history.from;
  for (const json::JsonValue element : list.elements()) {
    if (!in.read_integer(element, history.from, kMostHistoryCount, *at)) return false;
    at = &history.to;
  }
  return true;
}

template <class Input>
constexpr std::array<json::Field<Input, DurationHistory>, 4> kDurationHistoryFields = {
    {{"queue", [](Input& in, json::JsonValue v, DurationHistory& h) { return in.read_name(v, h.queue); }},
     {"gpus", read_history_sizes<Input>, true},
     {"count",
      [](Input& in, json::JsonValue v, DurationHistory& h) {
        return in.read_integer(v, 0, kMostHistoryCount, h.count);
      },
      true},
     {"mean", [](Input& in, json::JsonValue v, DurationHistory& h) { return in.read_duration(v, h.mean); }, true}}};

template <class Input, std::string UnreadKey::*Member>
bool read_unread_text(Input& in, json::JsonValue value, UnreadKey& key) {
  if (!in.expect(value, json::JsonKind::kString)) return false;
  key.*Member = value.string();
  return true;
}

template <class Input>
constexpr std::array<json::Field<Input, UnreadKey>, 8> kUnreadFields = {
    {{"kind", read_unread_text<Input, &UnreadKey::kind>, true},
     {"name", read_unread_text<Input, &UnreadKey::name>, true},
     {"place", read_unread_text<Input, &UnreadKey::place>, true},
     {"key", read_unread_text<Input, &UnreadKey::key>, true},
     {"value", read_unread_text<Input, &UnreadKey::value>},
     {"treatment", read_unread_text<Input, &UnreadKey::treatment>, true},
     {"mayChange", read_unread_text<Input, &UnreadKey::may_change>, true},
     {"count", [](Input& in, json::JsonValue v, UnreadKey& key) {
        return in.read_integer(v, 1, std::numeric_limits<std::int64_t>::max(), key.count);
      }}}};

// The keys that a gang and a pod that is a gang by itself share. `Target` has a member `terms`.
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
