#include "io/snapshot_reader/event_reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <utility>

#include "io/muster_v1/snapshot_input.h"
#include "model/base/require.h"

namespace muster::muster_v1 {
namespace {

constexpr std::array<std::pair<std::string_view, WorkloadEventKind>, 6> kKinds = {
    {{"submit", WorkloadEventKind::kSubmit},
     {"addNodes", WorkloadEventKind::kAddNodes},
     {"removeNodes", WorkloadEventKind::kRemoveNodes},
     {"cordon", WorkloadEventKind::kCordon},
     {"uncordon", WorkloadEventKind::kUncordon},
     {"queues", WorkloadEventKind::kQueues}}};

// The values of an event line's keys.
struct EventKeys {
  json::JsonValue time, event, gangs, pods, duration, nodes, queues, names;
};

template <json::JsonValue EventKeys::*Member>
bool note(SnapshotInput&, json::JsonValue value, EventKeys& keys) {
  keys.*Member = value;
  return true;
}

constexpr std::array<json::Field<SnapshotInput, EventKeys>, 8> kEventFields = {
    {{"time", note<&EventKeys::time>, true},
     {"event", note<&EventKeys::event>, true},
     {"gangs", note<&EventKeys::gangs>},
     {"pods", note<&EventKeys::pods>},
     {"duration", note<&EventKeys::duration>},
     {"nodes", note<&EventKeys::nodes>},
     {"queues", note<&EventKeys::queues>},
     {"names", note<&EventKeys::names>}}};

// Which of them may occur in addition to `time` and `event`, by kind.
bool goes_with(WorkloadEventKind kind, std::string_view key) {
  switch (kind) {
    case WorkloadEventKind::kSubmit:
      return key == "gangs" || key == "pods" || key == "duration";
    case WorkloadEventKind::kAddNodes:
      return key == "nodes";
    case WorkloadEventKind::kQueues:
      return key == "queues";
    default:
      return key == "names";
  }
}

bool check_keys(SnapshotInput& input, json::JsonValue root, WorkloadEventKind kind) {
  for (const json::JsonMember member : root.members()) {
    if (member.key == "time" || member.key == "event" || goes_with(kind, member.key)) continue;
    return input.fail(member.value, ErrorCode::kUnknownKey,
                      "the key \"" + std::string(member.key) + "\" is not allowed in this kind of event");
  }
  return true;
}

// Templates are those of the first line, whose text is gone by now: their content cannot be merged with own keys.
bool check_templates(SnapshotInput& input, json::JsonValue pods) {
  if (!input.expect(pods, json::JsonKind::kArray)) return false;
  for (const json::JsonValue pod : pods.elements()) {
    if (!input.expect(pod, json::JsonKind::kObject)) return false;
    bool has_template = false;
    json::JsonValue own;
    for (const json::JsonMember member : pod.members()) {
      has_template = has_template || member.key == "template";
      if (std::ranges::find(kSpecKeys, member.key) != kSpecKeys.end()) own = member.value;
    }
    if (has_template && own) return input.fail_value(own, "both template and keys of a pod are set; keep one");
  }
  return true;
}

}  // namespace

struct EventReader::Implementation {
  ReaderOptions options;
  json::JsonDocument document;
  Workload workload;
  SnapshotInput input{false, workload.all};
  std::unordered_set<std::string_view> gang_names, pod_names, node_names;
  bool is_first = true;

  bool read_start();
  bool read_event(json::JsonValue root);
  bool read_kind(json::JsonValue root, const EventKeys& keys, WorkloadEvent& event);
  bool read_submit(json::JsonValue root, const EventKeys& keys, WorkloadEvent& event);
  bool check_names(json::JsonValue culprit, const PositionRange& gangs, const PositionRange& pods);
  bool check_pods(json::JsonValue list, const WorkloadEvent& event);
  bool check_nodes(json::JsonValue names);
  void note_nodes(const PositionRange& nodes);
  void keep_templates();
};

// The first line's templates by names and specs that stay.
void EventReader::Implementation::keep_templates() {
  std::unordered_map<std::string_view, PodTemplate> kept;
  for (const auto& [name, pod_template] : input.templates) {
    kept.emplace(input.keep(name), PodTemplate{{}, pod_template.spec});
  }
  input.templates = std::move(kept);
}

bool EventReader::Implementation::read_start() {
  if (!read_snapshot(input, document.root())) return false;
  apply(options.policy, input.snapshot);
  const Snapshot& all = workload.all;
  workload.start_gangs = {0, all.gangs.size()};
  workload.start_pods = {0, all.pods.size()};
  workload.start_nodes = {0, all.nodes.size()};
  workload.start_queues = {0, all.queues.size()};
  keep_templates();
  note_nodes(workload.start_nodes);
  return check_names(document.root(), workload.start_gangs, workload.start_pods);
}

bool EventReader::Implementation::check_names(json::JsonValue culprit, const PositionRange& gangs,
                                              const PositionRange& pods) {
  const auto fail = [&](std::string_view what, std::string_view name) {
    return input.fail(culprit, ErrorCode::kDuplicateName,
                      "duplicate " + std::string(what) + " \"" + std::string(name) + "\"");
  };
  for (std::size_t i = gangs.begin; i < gangs.end; ++i) {
    if (!gang_names.insert(workload.all.gangs[i].name).second) return fail("gang", workload.all.gangs[i].name);
  }
  for (std::size_t i = pods.begin; i < pods.end; ++i) {
    if (!pod_names.insert(workload.all.pods[i].name).second) return fail("pod", workload.all.pods[i].name);
  }
  return true;
}

void EventReader::Implementation::note_nodes(const PositionRange& nodes) {
  for (std::size_t i = nodes.begin; i < nodes.end; ++i) node_names.insert(workload.all.nodes[i].name);
}

// That there were such nodes, whether they are still there or not.
bool EventReader::Implementation::check_nodes(json::JsonValue names) {
  for (const json::JsonValue name : names.elements()) {
    if (node_names.contains(name.string())) continue;
    return input.fail(name, ErrorCode::kUnknownName,
                      "unknown node \"" + std::string(name.string()) + "\" at this event");
  }
  return true;
}

bool EventReader::Implementation::check_pods(json::JsonValue list, const WorkloadEvent& event) {
  std::unordered_set<std::string_view> gangs;
  for (std::size_t i = event.gangs.begin; i < event.gangs.end; ++i) gangs.insert(workload.all.gangs[i].name);
  std::size_t at = event.pods.begin;
  for (const json::JsonValue element : list.elements()) {
    const SnapshotPod& pod = workload.all.pods[at++];
    if (pod.status != PodStatus::kPending) return input.fail_value(element, "a submitted pod must be pending");
    if (!pod.gang.empty() && !gangs.contains(pod.gang)) {
      return input.fail(element, ErrorCode::kUnknownName,
                        "unknown gang \"" + std::string(pod.gang) + "\" in this event");
    }
  }
  return true;
}

bool EventReader::Implementation::read_submit(json::JsonValue root, const EventKeys& keys, WorkloadEvent& event) {
  if (!keys.pods) return input.fail_missing(root, "pods");
  Snapshot& all = workload.all;
  event.gangs.begin = all.gangs.size();
  event.pods.begin = all.pods.size();
  if (keys.gangs && !read_gangs(input, keys.gangs)) return false;
  if (!check_templates(input, keys.pods) || !read_pods(input, keys.pods)) return false;
  event.gangs.end = all.gangs.size();
  event.pods.end = all.pods.size();
  if (keys.duration) {
    if (!input.read_duration(keys.duration, event.duration.emplace())) return false;
    if (*event.duration == 0) return input.fail_value(keys.duration, "must be greater than 0");
  }
  return check_pods(keys.pods, event) && check_names(root, event.gangs, event.pods);
}

bool EventReader::Implementation::read_kind(json::JsonValue root, const EventKeys& keys, WorkloadEvent& event) {
  Snapshot& all = workload.all;
  switch (event.kind) {
    case WorkloadEventKind::kSubmit:
      return read_submit(root, keys, event);
    case WorkloadEventKind::kAddNodes:
      if (!keys.nodes) return input.fail_missing(root, "nodes");
      event.nodes.begin = all.nodes.size();
      if (!read_nodes(input, keys.nodes)) return false;
      event.nodes.end = all.nodes.size();
      note_nodes(event.nodes);
      return true;
    case WorkloadEventKind::kQueues:
      if (!keys.queues) return input.fail_missing(root, "queues");
      event.queues.begin = all.queues.size();
      if (!read_queues(input, keys.queues)) return false;
      event.queues.end = all.queues.size();
      return true;
    default:
      if (!keys.names) return input.fail_missing(root, "names");
      return input.read_names(keys.names, event.names) && check_nodes(keys.names);
  }
}

bool EventReader::Implementation::read_event(json::JsonValue root) {
  EventKeys keys;
  if (!json::read_fields(input, root, kEventFields, keys)) return false;
  WorkloadEvent event;
  if (!input.read_instant(keys.time, event.time)) return false;
  const Nanoseconds before = workload.events.empty() ? workload.all.time : workload.events.back().time;
  if (event.time < before) return input.fail_value(keys.time, "is earlier than the time of the previous line");
  if (!json::read_choice(input, keys.event, kKinds, event.kind) || !check_keys(input, root, event.kind)) return false;
  if (!read_kind(root, keys, event)) return false;
  workload.events.push_back(std::move(event));
  return true;
}

EventReader::EventReader(ReaderOptions options) : implementation_(std::make_unique<Implementation>()) {
  implementation_->input.lenient = options.lenient;
  implementation_->options = std::move(options);
}
EventReader::~EventReader() = default;

std::optional<InputError> EventReader::read(std::string_view line) {
  Implementation& it = *implementation_;
  if (auto error = it.document.parse(line, {it.options.max_line_bytes, it.options.max_depth})) return error;
  it.input.numbers.reset();
  const bool is_read = it.is_first ? it.read_start() : it.read_event(it.document.root());
  it.is_first = false;
  if (!is_read) return std::move(it.input.error);
  return std::nullopt;
}

Workload EventReader::take() {
  MUSTER_REQUIRE(!implementation_->is_first);
  return std::move(implementation_->workload);
}

}  // namespace muster::muster_v1
