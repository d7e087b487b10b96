#include "io/report/simulation.h"

#include <algorithm>

#include "io/json/reading.h"
#include "io/report/block.h"
#include "io/report/line.h"

namespace muster::reporting {

bool ReportedSimulation::is_header(json::JsonDocument& document) {
  const json::JsonValue event = member_of(document.root(), "event");
  return event && event.is(json::JsonKind::kString) && event.string() == "simulation";
}

std::optional<InputError> ReportedSimulation::take(json::JsonDocument& document) {
  StringPool names;
  json::Reading in{true, &names, {}};
  if (take(in, document.root())) return std::nullopt;
  return std::move(in.error);
}

bool ReportedSimulation::take(json::Reading& in, json::JsonValue line) {
  EventHead head;
  if (!read_event(in, line, head)) return false;
  if (head.event == "simulation") return take_header(in, line, head.time);
  if (!has_header_) {
    return in.fail(member_of(line, "event"), ErrorCode::kInvalidValue,
                   "the first event of a simulation must be its header, simulation");
  }
  if (head.time < last_) return in.fail_value(member_of(line, "time"), "earlier than the previous event");
  last_ = head.time;
  figures_.pass(now(), gangs_.running_gpus());
  return take_after_header(in, line, head);
}

bool ReportedSimulation::take_after_header(json::Reading& in, json::JsonValue line, const EventHead& head) {
  if (head.event == "submit") return take_submit(in, line);
  if (head.event == "cycle") return take_cycle(in, line);
  if (head.event == "node") return take_node(in, line);
  return take_of_gang(in, line, head.event);
}

bool ReportedSimulation::take_header(json::Reading& in, json::JsonValue line, double time) {
  HeaderEvent event;
  if (!read_event(in, line, event)) return false;
  has_header_ = true;
  start_ = last_ = time;
  policy_ = event.policy;
  cycle_ = event.cycle;
  for (const QueueSample& queue : event.queues) queue_number(queue.name);
  return true;
}

std::int32_t ReportedSimulation::queue_number(std::string_view name) {
  const auto [entry, is_new] = queue_numbers_.try_emplace(std::string(name), static_cast<std::int32_t>(queues_.size()));
  if (is_new) queues_.emplace_back(name);
  return entry->second;
}

bool ReportedSimulation::take_submit(json::Reading& in, json::JsonValue line) {
  SubmitEvent event;
  if (!read_event(in, line, event)) return false;
  gangs_.submit(event, queue_number(event.queue), now());
  figures_.note_submission();
  return true;
}

bool ReportedSimulation::take_cycle(json::Reading& in, json::JsonValue line) {
  CycleEvent event;
  if (!read_event(in, line, event)) return false;
  CyclePoint point{now(),
                   event.capacity,
                   event.allocated,
                   event.fragmentation,
                   event.running,
                   event.pending,
                   event.placed,
                   event.evicted,
                   event.moved,
                   event.waiting.gangs,
                   event.waiting.gpus,
                   {},
                   {}};
  for (const QueueSample& sample : event.queues) {
    const auto at = static_cast<std::size_t>(queue_number(sample.name));
    point.fair_share.resize(std::max(point.fair_share.size(), at + 1));
    point.used.resize(point.fair_share.size());
    point.fair_share[at] = sample.fair_share.value_or(0);
    point.used[at] = sample.allocated.value_or(0);
  }
  cycles_.add(std::move(point));
  figures_.add(event, gangs_.running_gpus());
  return true;
}

bool ReportedSimulation::take_node(json::Reading& in, json::JsonValue line) {
  NodeEvent event;
  if (!read_event(in, line, event)) return false;
  node_changes_.push_back({now(), std::string(event.name), std::string(event.change)});
  return true;
}

bool ReportedSimulation::take_of_gang(json::Reading& in, json::JsonValue line, std::string_view what) {
  GangEvent event;
  if (!read_event(in, line, event)) return false;
  figures_.add(what, event);
  if (gangs_.take(what, event, now())) return true;
  return in.fail(event.gang_value ? event.gang_value : line, ErrorCode::kUnknownName,
                 "no gang \"" + std::string(event.gang) + "\" has been submitted");
}

void ReportedSimulation::write(json::JsonWriter& json) const {
  json.object().member("label", label_).member("policy", policy_).member("cycle", cycle_);
  write_number(json.key("start"), start_);
  write_number(json.key("end"), now());
  json.key("queues").array();
  for (const std::string& queue : queues_) json.value(queue);
  json.end();
  gangs_.write(json, now());
  cycles_.write(json, queues_);
  figures_.write(json, gangs_.outcomes(now()));
  write_node_changes(json);
  json.end();
}

void ReportedSimulation::write_node_changes(json::JsonWriter& json) const {
  TextTable texts;
  json.key("nodeChanges").object().member("count", node_changes_.size());
  write_numbers(json, "time", node_changes_, [](const NodeChange& change) { return change.time; });
  write_column(json, "node", node_changes_, [&](const NodeChange& change) { return texts.number(change.name); });
  write_column(json, "change", node_changes_, [&](const NodeChange& change) { return texts.number(change.change); });
  texts.write(json.key("texts"));
  json.end();
}

}  // namespace muster::reporting
