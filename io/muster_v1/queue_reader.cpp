// queues[] and priorityClasses[]
#include <array>

#include "io/muster_v1/gang_terms_reader.h"
#include "io/muster_v1/snapshot_input.h"

namespace muster {

namespace {

// Quotas and limits are capacities: what is below a unit is cut off.
template <QuantityUnit Unit>
bool read_share_amount(SnapshotInput& in, JsonValue v, Amount& out) {
  if (v.is(JsonKind::kString) && v.string() == "unlimited") {
    out = kUnlimited;
    return true;
  }
  return in.read_amount(v, {Unit, Rounding::kDown}, out);
}

template <QuantityUnit Unit>
constexpr std::array<Field<SnapshotInput, QueueResource>, 3> kQueueResourceFields = {
    {{"quota",
      [](SnapshotInput& in, JsonValue v, QueueResource& r) { return read_share_amount<Unit>(in, v, r.quota); }},
     {"limit",
      [](SnapshotInput& in, JsonValue v, QueueResource& r) { return read_share_amount<Unit>(in, v, r.limit); }},
     {"weight", [](SnapshotInput& in, JsonValue v, QueueResource& r) {
        return in.read_weight(v, Reading::Zero::kAllowed, r.weight);
      }}}};

template <QuantityUnit Unit, QueueResource SnapshotQueue::*Member>
bool read_queue_resource(SnapshotInput& in, JsonValue v, SnapshotQueue& queue) {
  return read_fields(in, v, kQueueResourceFields<Unit>, queue.*Member);
}

constexpr std::array<Field<SnapshotInput, SnapshotQueue>, 8> kQueueFields = {
    {{"name", [](SnapshotInput& in, JsonValue v, SnapshotQueue& q) { return in.read_name(v, q.name); }, true},
     {"parent", [](SnapshotInput& in, JsonValue v, SnapshotQueue& q) { return in.read_name(v, q.parent); }},
     {"priority",
      [](SnapshotInput& in, JsonValue v, SnapshotQueue& q) { return read_priority_number(in, v, q.priority); }},
     {"gpu", read_queue_resource<QuantityUnit::kMillionth, &SnapshotQueue::gpu>},
     {"cpu", read_queue_resource<QuantityUnit::kThousandth, &SnapshotQueue::cpu>},
     {"memory", read_queue_resource<QuantityUnit::kOne, &SnapshotQueue::memory>},
     {"preemptMinRuntime", [](SnapshotInput& in, JsonValue v,
                              SnapshotQueue& q) { return in.read_duration(v, q.preempt_min_runtime.emplace()); }},
     {"reclaimMinRuntime", [](SnapshotInput& in, JsonValue v, SnapshotQueue& q) {
        return in.read_duration(v, q.reclaim_min_runtime.emplace());
      }}}};

constexpr std::array<Field<SnapshotInput, SnapshotPriorityClass>, 4> kPriorityClassFields = {
    {{"name", [](SnapshotInput& in, JsonValue v, SnapshotPriorityClass& c) { return in.read_name(v, c.name); }, true},
     {"value",
      [](SnapshotInput& in, JsonValue v, SnapshotPriorityClass& c) { return read_priority_number(in, v, c.value); },
      true},
     {"preemptible",
      [](SnapshotInput& in, JsonValue v, SnapshotPriorityClass& c) { return in.read(v, c.preemptible.emplace()); }},
     {"preemptionPolicy", [](SnapshotInput& in, JsonValue v, SnapshotPriorityClass& c) {
        return read_choice(in, v, kPreemptionPolicies, c.preemption_policy.emplace());
      }}}};

}  // namespace

bool read_queues(SnapshotInput& input, JsonValue list) {
  const auto finish = [](JsonValue, SnapshotQueue&) { return true; };
  const auto recover = [&](JsonValue element, InputError error) {
    warn_of(input, {"queue", element}, std::move(error), "it is ignored, and its gangs wait");
  };
  std::vector<SnapshotQueue>& queues = input.snapshot.queues;
  if (!read_objects(input, list, kQueueFields, queues, finish, recover)) return false;
  // Without any there would be one for all gangs.
  if (queues.empty() && list.size() > 0) queues.emplace_back().name = "(none of the queues can be read)";
  return true;
}

bool read_priority_classes(SnapshotInput& input, JsonValue list) {
  const auto finish = [](JsonValue, SnapshotPriorityClass&) { return true; };
  const auto recover = [&](JsonValue element, InputError error) {
    warn_of(input, {"priorityClass", element}, std::move(error), "it is ignored");
  };
  return read_objects(input, list, kPriorityClassFields, input.snapshot.priority_classes, finish, recover);
}

void add_queue_objects(std::vector<KnownObject>& out) {
  out.push_back(known_object("queue", kQueueFields));
  out.push_back(known_object("queueResource", kQueueResourceFields<QuantityUnit::kOne>));
  out.push_back(known_object("priorityClass", kPriorityClassFields));
}

}  // namespace muster
