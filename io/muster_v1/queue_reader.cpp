// queues[] and priorityClasses[]
#include <algorithm>
#include <array>

#include "io/muster_v1/shared_fields.h"
#include "io/muster_v1/snapshot_input.h"

namespace muster::muster_v1 {

namespace {

// Quotas and limits are capacities: what is below a unit is cut off.
template <QuantityUnit Unit>
bool read_share_amount(SnapshotInput& in, json::JsonValue v, Amount& out) {
  if (v.is(json::JsonKind::kString) && v.string() == "unlimited") {
    out = kUnlimited;
    return true;
  }
  return in.read_amount(v, {Unit, Rounding::kDown}, out);
}

// An average, of which parts of a unit do not matter.
template <QuantityUnit Unit>
bool read_usage(SnapshotInput& in, json::JsonValue v, QueueResource& resource) {
  Amount usage = 0;
  if (!in.read_amount(v, {Unit, Rounding::kDown}, usage)) return false;
  constexpr Amount kMost = Amount{1} << 62;  // back from a double it is within 64 bits
  resource.usage = static_cast<double>(std::min(usage, kMost));
  return true;
}

template <QuantityUnit Unit>
constexpr std::array<json::Field<SnapshotInput, QueueResource>, 4> kQueueResourceFields = {
    {{"quota",
      [](SnapshotInput& in, json::JsonValue v, QueueResource& r) { return read_share_amount<Unit>(in, v, r.quota); }},
     {"limit",
      [](SnapshotInput& in, json::JsonValue v, QueueResource& r) { return read_share_amount<Unit>(in, v, r.limit); }},
     {"weight", [](SnapshotInput& in, json::JsonValue v,
                   QueueResource& r) { return in.read_weight(v, json::Reading::Zero::kAllowed, r.weight); }},
     {"usage", read_usage<Unit>}}};

template <QuantityUnit Unit, QueueResource SnapshotQueue::*Member>
bool read_queue_resource(SnapshotInput& in, json::JsonValue v, SnapshotQueue& queue) {
  return json::read_fields(in, v, kQueueResourceFields<Unit>, queue.*Member);
}

constexpr std::array<json::Field<SnapshotInput, OtherQueueResource>, 2> kOtherQueueResourceFields = {
    {{"quota", [](SnapshotInput& in, json::JsonValue v,
                  OtherQueueResource& r) { return read_share_amount<QuantityUnit::kOne>(in, v, r.quota); }},
     {"limit", [](SnapshotInput& in, json::JsonValue v, OtherQueueResource& r) {
        return read_share_amount<QuantityUnit::kOne>(in, v, r.limit);
      }}}};

bool read_other_resources(SnapshotInput& in, json::JsonValue object, SnapshotQueue& queue) {
  if (!in.expect(object, json::JsonKind::kObject)) return false;
  for (const json::JsonMember member : object.members()) {
    if (member.key == "gpu" || member.key == "cpu" || member.key == "memory") {
      return in.fail_value(member.value,
                           "set the queue's own key \"" + std::string(member.key) + "\" instead of this one");
    }
    OtherQueueResource& other = queue.other_resources.emplace_back();
    if (!in.find_resource(member.key, member.value, other.resource) ||
        !json::read_fields(in, member.value, kOtherQueueResourceFields, other))
      return false;
  }
  std::ranges::sort(queue.other_resources, {}, &OtherQueueResource::resource);
  return in.check_duplicates(object);
}

constexpr std::array<json::Field<SnapshotInput, SnapshotQueue>, 10> kQueueFields = {
    {{"name", [](SnapshotInput& in, json::JsonValue v, SnapshotQueue& q) { return in.read_name(v, q.name); }, true},
     {"parent", [](SnapshotInput& in, json::JsonValue v, SnapshotQueue& q) { return in.read_name(v, q.parent); }},
     {"priority",
      [](SnapshotInput& in, json::JsonValue v, SnapshotQueue& q) { return read_priority_number(in, v, q.priority); }},
     {"gpu", read_queue_resource<QuantityUnit::kMillionth, &SnapshotQueue::gpu>},
     {"cpu", read_queue_resource<QuantityUnit::kThousandth, &SnapshotQueue::cpu>},
     {"memory", read_queue_resource<QuantityUnit::kOne, &SnapshotQueue::memory>},
     {"resources", read_other_resources},
     {"preemptMinRuntime", [](SnapshotInput& in, json::JsonValue v,
                              SnapshotQueue& q) { return in.read_duration(v, q.preempt_min_runtime.emplace()); }},
     {"reclaimMinRuntime", [](SnapshotInput& in, json::JsonValue v,
                              SnapshotQueue& q) { return in.read_duration(v, q.reclaim_min_runtime.emplace()); }},
     {"reclaimable",
      [](SnapshotInput& in, json::JsonValue v, SnapshotQueue& q) { return in.read(v, q.reclaimable); }}}};

constexpr std::array<json::Field<SnapshotInput, SnapshotPriorityClass>, 4> kPriorityClassFields = {
    {{"name", [](SnapshotInput& in, json::JsonValue v, SnapshotPriorityClass& c) { return in.read_name(v, c.name); },
      true},
     {"value",
      [](SnapshotInput& in, json::JsonValue v, SnapshotPriorityClass& c) {
        return read_priority_number(in, v, c.value);
      },
      true},
     {"preemptible", [](SnapshotInput& in, json::JsonValue v,
                        SnapshotPriorityClass& c) { return in.read(v, c.preemptible.emplace()); }},
     {"preemptionPolicy", [](SnapshotInput& in, json::JsonValue v, SnapshotPriorityClass& c) {
        return json::read_choice(in, v, kPreemptionPolicies, c.preemption_policy.emplace());
      }}}};

}  // namespace

bool read_queues(SnapshotInput& input, json::JsonValue list) {
  const auto finish = [](json::JsonValue, SnapshotQueue&) { return true; };
  const auto recover = [&](json::JsonValue element, InputError error) {
    warn_of(input, {"queue", element}, std::move(error), "it is ignored, and its gangs wait");
  };
  std::vector<SnapshotQueue>& queues = input.snapshot.queues;
  if (!read_objects(input, list, kQueueFields, queues, finish, recover)) return false;
  // Without any there would be one for all gangs.
  if (queues.empty() && list.size() > 0) queues.emplace_back().name = "(none of the queues can be read)";
  return true;
}

bool read_priority_classes(SnapshotInput& input, json::JsonValue list) {
  const auto finish = [](json::JsonValue, SnapshotPriorityClass&) { return true; };
  const auto recover = [&](json::JsonValue element, InputError error) {
    warn_of(input, {"priorityClass", element}, std::move(error), "it is ignored");
  };
  return read_objects(input, list, kPriorityClassFields, input.snapshot.definitions.priority_classes, finish, recover);
}

void add_queue_objects(std::vector<json::KnownObject>& out) {
  out.push_back(json::known_object("queue", kQueueFields));
  out.push_back(json::known_object("queueResource", kQueueResourceFields<QuantityUnit::kOne>));
  out.push_back(json::known_object("otherQueueResource", kOtherQueueResourceFields));
  out.push_back(json::known_object("priorityClass", kPriorityClassFields));
}

}  // namespace muster::muster_v1
