// gangs[] and their subgroups
#include <algorithm>
#include <array>

#include "io/muster_v1/shared_fields.h"
#include "io/muster_v1/snapshot_input.h"

namespace muster::muster_v1 {

namespace {

template <std::string_view TopologyRequest::*Member>
bool read_request_name(SnapshotInput& in, json::JsonValue value, TopologyRequest& request) {
  return in.read_name(value, request.*Member);
}

constexpr std::array<json::Field<SnapshotInput, TopologyRequest>, 3> kTopologyFields = {
    {{"name", read_request_name<&TopologyRequest::topology>},
     {"required", read_request_name<&TopologyRequest::required>},
     {"preferred", read_request_name<&TopologyRequest::preferred>}}};

template <class Target>
bool read_topology(SnapshotInput& in, json::JsonValue v, Target& target) {
  return json::read_fields(in, v, kTopologyFields, target.topology);
}

template <class Target>
bool read_min_member(SnapshotInput& in, json::JsonValue v, Target& target) {
  return in.read_count(v, 0, target.min_member.emplace());
}

template <class Target>
bool read_min_subgroups(SnapshotInput& in, json::JsonValue v, Target& target) {
  return in.read_count(v, 0, target.min_subgroups.emplace());
}

constexpr std::array<json::Field<SnapshotInput, SnapshotSubgroup>, 5> kSubgroupFields = {
    {{"name", [](SnapshotInput& in, json::JsonValue v, SnapshotSubgroup& s) { return in.read_name(v, s.name); }, true},
     {"parent", [](SnapshotInput& in, json::JsonValue v, SnapshotSubgroup& s) { return in.read_name(v, s.parent); }},
     {"minMember", read_min_member<SnapshotSubgroup>},
     {"minSubgroups", read_min_subgroups<SnapshotSubgroup>},
     {"topology", read_topology<SnapshotSubgroup>}}};

bool read_subgroups(SnapshotInput& in, json::JsonValue list, SnapshotGang& gang) {
  if (!json::read_list(in, list, kSubgroupFields, gang.subgroups)) return false;
  std::size_t at = 0;
  for (const json::JsonValue element : list.elements()) {
    const SnapshotSubgroup& subgroup = gang.subgroups[at++];
    if (subgroup.min_member && subgroup.min_subgroups) {
      return in.fail_value(
          element, "both minMember and minSubgroups are set; keep minMember for a leaf subgroup, else minSubgroups");
    }
  }
  return true;
}

// `gpu` counts devices and is kept in millionths; all others are resources. Requests are rounded up.
bool read_min_resources(SnapshotInput& in, json::JsonValue object, SnapshotGang& gang) {
  if (!in.expect(object, json::JsonKind::kObject)) return false;
  gang.has_min_resources = true;
  for (const json::JsonMember member : object.members()) {
    if (member.key == "gpu") {
      if (!in.read_amount(member.value, {QuantityUnit::kMillionth, Rounding::kUp}, gang.min_resources_gpu))
        return false;
      continue;
    }
    ResourceAmount amount;
    if (!in.read_resource(member, Rounding::kUp, amount)) return false;
    gang.min_resources.push_back(amount);
  }
  std::ranges::sort(gang.min_resources, {}, &ResourceAmount::resource);
  std::erase_if(gang.min_resources, [](const ResourceAmount& amount) { return amount.amount == 0; });
  return in.check_duplicates(object);
}

bool read_grace_period(SnapshotInput& in, json::JsonValue v, SnapshotGang& gang) {
  if (v.is(json::JsonKind::kString) && v.string() == "never") {
    gang.staleness_grace_period = kNever;
    return true;
  }
  return in.read_duration(v, gang.staleness_grace_period);
}

constexpr std::array<std::pair<std::string_view, Disruption>, 3> kDisruptions = {
    {{"pods", Disruption::kPods}, {"surplus", Disruption::kSurplus}, {"whole", Disruption::kWhole}}};

constexpr std::array<json::Field<SnapshotInput, SnapshotGang>, 21> kGangFields = {
    {{"name", [](SnapshotInput& in, json::JsonValue v, SnapshotGang& gang) { return in.read_name(v, gang.name); },
      true},
     {"queue", read_term_queue<SnapshotGang>},
     {"priorityClass", read_term_class<SnapshotGang>},
     {"priority", read_term_priority<SnapshotGang>},
     {"preemptible", read_term_preemptible<SnapshotGang>},
     {"preemptionPolicy", read_term_policy<SnapshotGang>},
     {"minMember", read_min_member<SnapshotGang>},
     {"minSubgroups", read_min_subgroups<SnapshotGang>},
     {"subgroups", read_subgroups},
     {"minResources", read_min_resources},
     {"topology", read_topology<SnapshotGang>},
     {"created", read_term_created<SnapshotGang>},
     {"timeout", read_term_timeout<SnapshotGang>},
     {"expectedDuration", read_term_expected_duration<SnapshotGang>},
     {"expectedEnd", read_term_expected_end<SnapshotGang>},
     {"checkpointed", read_term_checkpointed<SnapshotGang>},
     {"disruption", [](SnapshotInput& in, json::JsonValue v,
                       SnapshotGang& gang) { return json::read_choice(in, v, kDisruptions, gang.disruption); }},
     {"stalenessGracePeriod", read_grace_period},
     {"staleSince", [](SnapshotInput& in, json::JsonValue v,
                       SnapshotGang& gang) { return in.read_instant(v, gang.stale_since.emplace()); }},
     {"weight", read_term_weight<SnapshotGang>},
     {"unclear", [](SnapshotInput& in, json::JsonValue v, SnapshotGang&) { return read_unclear(in, v); }}}};

}  // namespace

bool check_gang(SnapshotInput& input, json::JsonValue element, const SnapshotGang& gang) {
  if (gang.min_member && !gang.subgroups.empty()) {
    return input.fail_value(element, "both minMember and subgroups are set; keep one");
  }
  if (gang.disruption == Disruption::kWhole && !gang.subgroups.empty()) {
    return input.fail_value(element, "disruption whole and subgroups are set; keep one");
  }
  return !gang.min_subgroups || !gang.subgroups.empty() || input.fail_value(element, "minSubgroups needs subgroups");
}

namespace {

// No pod is placed or evicted of a gang that is only partly understood.
void recover_gang(SnapshotInput& input, json::JsonValue element, InputError error) {
  const auto finish = [&](json::JsonValue e, const SnapshotGang& gang) { return check_gang(input, e, gang); };
  SnapshotGang gang;
  if (!read_again(input, element, kGangFields, gang, finish)) {
    gang = {};
    gang.name = input.keep(text_at(element, "name"));
    const std::string_view queue = text_at(element, "queue");
    if (!queue.empty()) gang.terms.queue = input.keep(queue);
  }
  const bool has_name = !gang.name.empty();
  warn_of(input, {"gang", element}, std::move(error), has_name ? "it is held" : "it is ignored");
  if (!has_name) return;
  input.snapshot.anomalies.held_gangs.push_back(gang.name);
  input.snapshot.gangs.push_back(std::move(gang));
}

}  // namespace

bool read_gangs(SnapshotInput& input, json::JsonValue list) {
  const auto finish = [&](json::JsonValue element, const SnapshotGang& gang) {
    return check_gang(input, element, gang);
  };
  const auto recover = [&](json::JsonValue element, InputError error) {
    recover_gang(input, element, std::move(error));
  };
  return read_objects(input, list, kGangFields, input.snapshot.gangs, finish, recover);
}

void add_gang_objects(std::vector<json::KnownObject>& out) {
  out.push_back(json::known_object("gang", kGangFields));
  out.push_back(json::known_object("subgroup", kSubgroupFields));
  out.push_back(json::known_object("topologyRequest", kTopologyFields));
}

}  // namespace muster::muster_v1
