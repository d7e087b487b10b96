// The keys of expectedDurations[], in a policy and in the histories of a plan, and of unread[].
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "io/json/reading.h"
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

}  // namespace muster::muster_v1
