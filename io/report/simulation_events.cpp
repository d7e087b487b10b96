#include "io/report/simulation_events.h"

#include <array>
#include <limits>

namespace muster::reporting {
namespace {

template <class Target, std::string_view Target::*Member>
bool text(json::Reading& in, json::JsonValue v, Target& target) {
  return in.read(v, target.*Member);
}

template <class Target, double Target::*Member>
bool number(json::Reading& in, json::JsonValue v, Target& target) {
  return in.read_weight(v, json::Reading::Zero::kAllowed, target.*Member);
}

template <std::optional<double> QueueSample::*Member>
bool amount(json::Reading& in, json::JsonValue v, QueueSample& sample) {
  return in.read_weight(v, json::Reading::Zero::kAllowed, (sample.*Member).emplace());
}

template <class Target, std::int64_t Target::*Member>
bool count(json::Reading& in, json::JsonValue v, Target& target) {
  return in.read_integer(v, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int64_t>::max(),
                         target.*Member);
}

constexpr std::array<json::Field<json::Reading, EventHead>, 2> kHead = {
    {{"time", number<EventHead, &EventHead::time>, true}, {"event", text<EventHead, &EventHead::event>, true}}};

constexpr std::array<json::Field<json::Reading, QueueSample>, 3> kQueue = {
    {{"name", text<QueueSample, &QueueSample::name>, true},
     {"fairShare", amount<&QueueSample::fair_share>},
     {"allocated", amount<&QueueSample::allocated>}}};

template <class Event>
bool queues(json::Reading& in, json::JsonValue v, Event& event) {
  return json::read_list(in, v, kQueue, event.queues);
}

constexpr std::array<json::Field<json::Reading, HeaderEvent>, 3> kHeader = {
    {{"policy", text<HeaderEvent, &HeaderEvent::policy>},
     {"cycle", [](json::Reading& in, json::JsonValue v,
                  HeaderEvent& event) { return !v.is(json::JsonKind::kString) || in.read(v, event.cycle); }},
     {"queues", queues<HeaderEvent>}}};

constexpr std::array<json::Field<json::Reading, SubmitEvent>, 5> kSubmit = {
    {{"gang", text<SubmitEvent, &SubmitEvent::gang>},
     {"queue", text<SubmitEvent, &SubmitEvent::queue>},
     {"priority", count<SubmitEvent, &SubmitEvent::priority>},
     {"pods", count<SubmitEvent, &SubmitEvent::pods>},
     {"gpus", number<SubmitEvent, &SubmitEvent::gpus>}}};

constexpr std::array<json::Field<json::Reading, GangEvent>, 4> kGang = {
    {{"gang",
      [](json::Reading& in, json::JsonValue v, GangEvent& event) {
        event.gang_value = v;
        return in.read(v, event.gang);
      }},
     {"reason", text<GangEvent, &GangEvent::reason>},
     {"pods",
      [](json::Reading& in, json::JsonValue v, GangEvent& event) {
        event.pods = v.is(json::JsonKind::kArray) ? static_cast<std::int64_t>(v.size()) : 0;
        return in.expect(v, json::JsonKind::kArray);
      }},
     {"lost", number<GangEvent, &GangEvent::lost>}}};

constexpr std::array<json::Field<json::Reading, NodeEvent>, 2> kNode = {
    {{"name", text<NodeEvent, &NodeEvent::name>}, {"change", text<NodeEvent, &NodeEvent::change>}}};

using Waiting = CycleEvent::Waiting;
constexpr std::array<json::Field<json::Reading, Waiting>, 2> kWaiting = {
    {{"gangs", count<Waiting, &Waiting::gangs>, true}, {"gpus", number<Waiting, &Waiting::gpus>, true}}};

constexpr std::array<json::Field<json::Reading, CycleEvent>, 10> kCycle = {
    {{"running", count<CycleEvent, &CycleEvent::running>},
     {"pending", count<CycleEvent, &CycleEvent::pending>},
     {"placed", count<CycleEvent, &CycleEvent::placed>},
     {"evicted", count<CycleEvent, &CycleEvent::evicted>},
     {"moved", count<CycleEvent, &CycleEvent::moved>},
     {"capacity", number<CycleEvent, &CycleEvent::capacity>},
     {"allocated", number<CycleEvent, &CycleEvent::allocated>},
     {"fragmentation", number<CycleEvent, &CycleEvent::fragmentation>},
     {"queues", queues<CycleEvent>},
     {"waiting", [](json::Reading& in, json::JsonValue v, CycleEvent& event) {
        return !v.is(json::JsonKind::kObject) || json::read_fields(in, v, kWaiting, event.waiting);
      }}}};

}  // namespace

bool read_event(json::Reading& in, json::JsonValue line, EventHead& head) {
  return json::read_fields(in, line, kHead, head);
}
bool read_event(json::Reading& in, json::JsonValue line, HeaderEvent& event) {
  return json::read_fields(in, line, kHeader, event);
}
bool read_event(json::Reading& in, json::JsonValue line, SubmitEvent& event) {
  return json::read_fields(in, line, kSubmit, event);
}
bool read_event(json::Reading& in, json::JsonValue line, GangEvent& event) {
  return json::read_fields(in, line, kGang, event);
}
bool read_event(json::Reading& in, json::JsonValue line, NodeEvent& event) {
  return json::read_fields(in, line, kNode, event);
}
bool read_event(json::Reading& in, json::JsonValue line, CycleEvent& event) {
  return json::read_fields(in, line, kCycle, event);
}

}  // namespace muster::reporting
