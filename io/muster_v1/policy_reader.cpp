// policy
#include <array>
#include <limits>
#include <utility>

#include "io/muster_v1/policy_overrides.h"
#include "io/muster_v1/shared_fields.h"
#include "io/muster_v1/snapshot_input.h"

namespace muster::muster_v1 {

namespace {

constexpr std::array<std::pair<std::string_view, PlacementPolicy>, 2> kPlacements = {
    {{"binpack", PlacementPolicy::kBinpack}, {"spread", PlacementPolicy::kSpread}}};

bool read_actions(SnapshotInput& in, json::JsonValue list, Policy& policy) {
  if (!in.expect(list, json::JsonKind::kArray)) return false;
  policy.actions = {false, false, false, false, false};
  for (const json::JsonValue element : list.elements()) {
    bool Actions::*action = nullptr;
    if (!json::read_choice(in, element, kActionNames, action)) return false;
    policy.actions.*action = true;
  }
  return true;
}

// An expected pod: its template and the keys from `resources` on.
struct ExpectedDraft {
  json::JsonValue template_name;
  SpecValues values;
};

template <std::size_t Key>
bool note_spec(SnapshotInput&, json::JsonValue v, ExpectedDraft& draft) {
  draft.values[Key] = v;
  return true;
}

constexpr std::array<json::Field<SnapshotInput, ExpectedDraft>, 11> kExpectedPodFields = {
    {{"template",
      [](SnapshotInput& in, json::JsonValue v, ExpectedDraft& draft) {
        draft.template_name = v;
        return in.expect(v, json::JsonKind::kString);
      }},
     {kSpecKeys[0], note_spec<0>},
     {kSpecKeys[1], note_spec<1>},
     {kSpecKeys[2], note_spec<2>},
     {kSpecKeys[3], note_spec<3>},
     {kSpecKeys[4], note_spec<4>},
     {kSpecKeys[5], note_spec<5>},
     {kSpecKeys[6], note_spec<6>},
     {kSpecKeys[7], note_spec<7>},
     {kSpecKeys[8], note_spec<8>},
     {kSpecKeys[9], note_spec<9>}}};

bool read_expected_pod(SnapshotInput& in, json::JsonValue object, ExpectedPod& expected) {
  ExpectedDraft draft;
  return json::read_fields(in, object, kExpectedPodFields, draft) &&
         resolve_spec(in, draft.template_name, draft.values, expected.spec);
}

constexpr std::array<json::Field<SnapshotInput, ExpectedPod>, 2> kExpectedFields = {
    {{"pod", read_expected_pod, true}, {"weight", [](SnapshotInput& in, json::JsonValue v, ExpectedPod& e) {
                                          return in.read_weight(v, json::Reading::Zero::kAllowed, e.weight);
                                        }}}};

constexpr std::array<std::pair<std::string_view, SeniorityRule>, 2> kSeniorityRules = {
    {{"expectedDuration", SeniorityRule::kExpectedDuration}, {"waited", SeniorityRule::kWaited}}};

bool read_reserve_after(SnapshotInput& in, json::JsonValue v, OverTime& over_time) {
  if (v.is(json::JsonKind::kString) && v.string() == "never") {
    over_time.reserve_after = kNever;
    return true;
  }
  return in.read_duration(v, over_time.reserve_after);
}

constexpr std::array<json::Field<SnapshotInput, OverTime>, 5> kOverTimeFields = {
    {{"order", [](SnapshotInput& in, json::JsonValue v,
                  OverTime& o) { return json::read_choice(in, v, kSeniorityRules, o.order); }},
     {"reserveAfter", read_reserve_after},
     {"holds",
      [](SnapshotInput& in, json::JsonValue v, OverTime& o) {
        std::int64_t holds = 0;
        const bool is_read = in.read_integer(v, 0, std::numeric_limits<std::int32_t>::max(), holds);
        o.holds = static_cast<std::int32_t>(holds);
        return is_read;
      }},
     {"evictionPrice",
      [](SnapshotInput& in, json::JsonValue v, OverTime& o) {
        return in.read_weight(v, json::Reading::Zero::kAllowed, o.eviction_price.emplace());
      }},
     {"usageFactor", [](SnapshotInput& in, json::JsonValue v, OverTime& o) {
        return in.read_weight(v, json::Reading::Zero::kAllowed, o.usage_factor);
      }}}};

bool read_expected_durations(SnapshotInput& in, json::JsonValue list, Policy& policy) {
  return json::read_list(in, list, kDurationHistoryFields<SnapshotInput>,
                         policy.over_time.expected_durations.emplace());
}

bool read_max_moves(SnapshotInput& in, json::JsonValue v, Policy& policy) {
  return in.read_integer(v, 0, std::numeric_limits<std::int64_t>::max(), policy.max_moves.emplace());
}

// A list without any names would plan nothing at all, which is never intended.
bool read_schedulers(SnapshotInput& in, json::JsonValue v, Policy& policy) {
  if (!in.read_names(v, policy.schedulers)) return false;
  return !policy.schedulers.empty() || in.fail_value(v, "the list is empty; name a scheduler or omit the key");
}

bool read_protect(SnapshotInput& in, json::JsonValue v, Policy& policy) {
  return read_label_selector(in, v, policy.protect.emplace_back());
}

constexpr std::array<json::Field<SnapshotInput, Policy>, 12> kPolicyFields = {
    {{"actions", read_actions},
     {"placement", [](SnapshotInput& in, json::JsonValue v,
                      Policy& p) { return json::read_choice(in, v, kPlacements, p.placement); }},
     {"wholeNodes", [](SnapshotInput& in, json::JsonValue v, Policy& p) { return in.read(v, p.whole_nodes); }},
     {"nonPreemptibleWithinQuota",
      [](SnapshotInput& in, json::JsonValue v, Policy& p) { return in.read(v, p.non_preemptible_within_quota); }},
     {"maxMoves", read_max_moves},
     {"protect", read_protect},
     {"schedulers", read_schedulers},
     {"agingInterval",
      [](SnapshotInput& in, json::JsonValue v, Policy& p) { return in.read_duration(v, p.aging_interval); }},
     {"expectedWorkload",
      [](SnapshotInput& in, json::JsonValue v, Policy& p) {
        return json::read_list(in, v, kExpectedFields, p.expected_workload.emplace());
      }},
     {"overTime", [](SnapshotInput& in, json::JsonValue v,
                     Policy& p) { return json::read_fields(in, v, kOverTimeFields, p.over_time); }},
     {"expectedDurations", read_expected_durations},
     {"budget",
      [](SnapshotInput& in, json::JsonValue v, Policy& p) { return in.read_duration(v, p.budget.emplace()); }}}};

}  // namespace

bool read_policy(SnapshotInput& input, json::JsonValue object) {
  return json::read_fields(input, object, kPolicyFields, input.snapshot.policy);
}

void add_policy_objects(std::vector<json::KnownObject>& out) {
  out.push_back(json::known_object("policy", kPolicyFields));
  out.push_back(json::known_object("expectedWorkload", kExpectedFields));
  out.push_back(json::known_object("overTime", kOverTimeFields));
  out.push_back(json::known_object("durationHistory", kDurationHistoryFields<SnapshotInput>));
  out.push_back(json::known_object("expectedPod", kExpectedPodFields));
}

}  // namespace muster::muster_v1
