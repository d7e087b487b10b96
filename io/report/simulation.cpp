#include "io/report/simulation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "io/json/reading.h"
#include "io/report/block.h"
#include "io/report/line.h"

namespace muster {

// One line of any kind; keys that an event does not have stay empty.
struct ReportedSimulation::Event {
  double time = 0;
  std::string_view event, gang, queue, policy, cycle, reason, name, change;
  std::int64_t priority = 0, pods = 0, running = 0, pending = 0, placed = 0, evicted = 0, moved = 0;
  double gpus = 0, capacity = 0, allocated = 0, fragmentation = -1;
  JsonValue gang_value;
  struct QueueSample {
    std::string_view name;
    std::optional<double> quota, fair_share, allocated;
  };
  std::vector<QueueSample> queues;
  struct Waiting {
    std::int64_t gangs = 0;
    double gpus = 0;
  } waiting;
};

// The keys that are read; others are ignored, since a simulation may report more than a page shows.
struct EventFields {
  using Event = ReportedSimulation::Event;
  using QueueSample = Event::QueueSample;
  using Waiting = Event::Waiting;

  template <class Target, std::string_view Target::*Member>
  static bool text(Reading& in, JsonValue v, Target& target) {
    return in.read(v, target.*Member);
  }
  template <class Target, double Target::*Member>
  static bool number(Reading& in, JsonValue v, Target& target) {
    return in.read_weight(v, Reading::Zero::kAllowed, target.*Member);
  }
  template <std::optional<double> QueueSample::*Member>
  static bool amount(Reading& in, JsonValue v, QueueSample& sample) {
    return in.read_weight(v, Reading::Zero::kAllowed, (sample.*Member).emplace());
  }
  template <class Target, std::int64_t Target::*Member>
  static bool count(Reading& in, JsonValue v, Target& target) {
    return in.read_integer(v, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int64_t>::max(),
                           target.*Member);
  }
  // A number in `submit`, a list in other events.
  static bool pods(Reading& in, JsonValue v, Event& event) {
    return v.is(JsonKind::kArray) || count<Event, &Event::pods>(in, v, event);
  }
  // The number of the cycle, or how cycles come in the header.
  static bool cycle(Reading& in, JsonValue v, Event& event) {
    return !v.is(JsonKind::kString) || in.read(v, event.cycle);
  }
  static bool gang(Reading& in, JsonValue v, Event& event) {
    event.gang_value = v;
    return in.read(v, event.gang);
  }

  static constexpr std::array<Field<Reading, QueueSample>, 4> kQueue = {
      {{"name", text<QueueSample, &QueueSample::name>, true},
       {"quota", amount<&QueueSample::quota>},
       {"fairShare", amount<&QueueSample::fair_share>},
       {"allocated", amount<&QueueSample::allocated>}}};
  static constexpr std::array<Field<Reading, Waiting>, 2> kWaiting = {
      {{"gangs", count<Waiting, &Waiting::gangs>, true}, {"gpus", number<Waiting, &Waiting::gpus>, true}}};
  static constexpr std::array<Field<Reading, Event>, 22> kEvent = {
      {{"time", number<Event, &Event::time>, true},
       {"event", text<Event, &Event::event>, true},
       {"gang", gang},
       {"queue", text<Event, &Event::queue>},
       {"policy", text<Event, &Event::policy>},
       {"cycle", cycle},
       {"reason", text<Event, &Event::reason>},
       {"name", text<Event, &Event::name>},
       {"change", text<Event, &Event::change>},
       {"priority", count<Event, &Event::priority>},
       {"pods", pods},
       {"running", count<Event, &Event::running>},
       {"pending", count<Event, &Event::pending>},
       {"placed", count<Event, &Event::placed>},
       {"evicted", count<Event, &Event::evicted>},
       {"moved", count<Event, &Event::moved>},
       {"gpus", number<Event, &Event::gpus>},
       {"capacity", number<Event, &Event::capacity>},
       {"allocated", number<Event, &Event::allocated>},
       {"fragmentation", number<Event, &Event::fragmentation>},
       {"queues", [](Reading& in, JsonValue v, Event& event) { return read_list(in, v, kQueue, event.queues); }},
       {"waiting", [](Reading& in, JsonValue v, Event& event) {
          return !v.is(JsonKind::kObject) || read_fields(in, v, kWaiting, event.waiting);
        }}}};
};

bool ReportedSimulation::is_header(JsonDocument& document) {
  const JsonValue event = member_of(document.root(), "event");
  return event && event.is(JsonKind::kString) && event.string() == "simulation";
}

std::optional<InputError> ReportedSimulation::take(JsonDocument& document) {
  StringPool names;
  Reading in{document, true, &names, {}};
  Event event;
  const JsonValue root = document.root();
  if (!read_fields(in, root, EventFields::kEvent, event)) return std::move(in.error);
  if (event.event == "simulation") {
    take_header(event);
    return std::nullopt;
  }
  if (!has_header_) {
    (void)in.fail(member_of(root, "event"), "InvalidValue",
                  "the first event of a simulation must be its header, simulation");
    return std::move(in.error);
  }
  if (event.time < last_) {
    (void)in.fail_value(member_of(root, "time"), "earlier than the previous event");
    return std::move(in.error);
  }
  last_ = event.time;
  if (event.event == "submit") {
    take_submit(event);
  } else if (event.event == "cycle") {
    take_cycle(event);
  } else if (event.event == "node") {
    node_changes_.push_back({event.time - start_, std::string(event.name), std::string(event.change)});
  } else {
    const auto gang = gang_numbers_.find(std::string(event.gang));
    if (gang == gang_numbers_.end()) {
      (void)in.fail(event.gang_value ? event.gang_value : root, "UnknownName",
                    "no gang \"" + std::string(event.gang) + "\" has been submitted");
      return std::move(in.error);
    }
    take_of_gang(event, gang->second);
  }
  return std::nullopt;
}

void ReportedSimulation::take_header(const Event& event) {
  has_header_ = true;
  start_ = last_ = event.time;
  policy_ = event.policy;
  cycle_ = event.cycle;
  for (const Event::QueueSample& queue : event.queues) {
    queues_[static_cast<std::size_t>(queue_number(queue.name))].quota = queue.quota;
  }
}

std::int32_t ReportedSimulation::queue_number(std::string_view name) {
  const auto [entry, is_new] = queue_numbers_.try_emplace(std::string(name), static_cast<std::int32_t>(queues_.size()));
  if (is_new) queues_.push_back({std::string(name), {}});
  return entry->second;
}

void ReportedSimulation::take_submit(const Event& event) {
  const auto [entry, is_new] = gang_numbers_.try_emplace(std::string(event.gang), gangs_.size());
  if (!is_new) entry->second = gangs_.size();  // the name has been used before, by one that is gone
  Gang& gang = gangs_.emplace_back();
  gang.name = event.gang;
  gang.queue = queue_number(event.queue);
  gang.priority = event.priority;
  gang.pods = event.pods;
  gang.gpus = event.gpus;
  gang.submitted = event.time - start_;
}

void ReportedSimulation::take_of_gang(const Event& event, std::size_t number) {
  Gang& gang = gangs_[number];
  const double time = event.time - start_;
  if (event.event == "start") {
    gang.runs_since = time;
    gang.evicted_for.clear();
  } else if (event.event == "evict") {
    gang.evicted_for = event.reason;
  } else if (event.event == "interrupt") {
    end_run(number, time, gang.evicted_for.empty() ? "interrupt" : gang.evicted_for);
  } else if (event.event == "finish" || event.event == "drop") {
    end_run(number, time, event.event);
    gang.left = time;
    gang.is_dropped = event.event == "drop";
  }
}

void ReportedSimulation::end_run(std::size_t number, double time, std::string_view how) {
  Gang& gang = gangs_[number];
  if (!gang.runs_since) return;
  runs_.push_back({number, *gang.runs_since, time, std::string(how)});
  gang.runs_since.reset();
}

void ReportedSimulation::take_cycle(const Event& event) {
  Cycle cycle{event.time - start_,
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
  for (const Event::QueueSample& sample : event.queues) {
    const auto at = static_cast<std::size_t>(queue_number(sample.name));
    cycle.fair_share.resize(std::max(cycle.fair_share.size(), at + 1));
    cycle.used.resize(cycle.fair_share.size());
    cycle.fair_share[at] = sample.fair_share.value_or(0);
    cycle.used[at] = sample.allocated.value_or(0);
  }
  cycle.placed += std::exchange(passed_over_.placed, 0);
  cycle.evicted += std::exchange(passed_over_.evicted, 0);
  cycle.moved += std::exchange(passed_over_.moved, 0);
  if (++since_kept_ < stride_) {
    passed_over_ = cycle;
    return;
  }
  since_kept_ = 0;
  cycles_.push_back(std::move(cycle));
  if (cycles_.size() >= 2 * kMostCycles) thin();
}

void ReportedSimulation::thin() {
  std::vector<Cycle> kept;
  for (std::size_t i = 1; i < cycles_.size(); i += 2) {
    const Cycle& before = cycles_[i - 1];
    Cycle& cycle = kept.emplace_back(std::move(cycles_[i]));
    cycle.placed += before.placed;
    cycle.evicted += before.evicted;
    cycle.moved += before.moved;
  }
  cycles_ = std::move(kept);
  stride_ *= 2;
}

namespace {

// To thousandths, which no curve shows.
void write_number(JsonWriter& json, double value) { json.decimal(std::llround(value * 1000), 1000); }

template <class Range, class Value>
void write_numbers(JsonWriter& json, std::string_view key, const Range& items, const Value& value) {
  json.raw(",").string(key).raw(":[");
  bool first = true;
  for (const auto& item : items) {
    json.separate(first);
    write_number(json, value(item));
  }
  json.raw("]");
}

template <class Range, class Value>
void write_counts(JsonWriter& json, std::string_view key, const Range& items, const Value& value) {
  json.raw(",");
  write_column(json, key, items, value);
}

}  // namespace

void ReportedSimulation::write(JsonWriter& json) const {
  json.raw(R"({"label":)").string(label_).raw(R"(,"policy":)").string(policy_).raw(R"(,"cycle":)").string(cycle_);
  json.raw(R"(,"start":)");
  write_number(json, start_);
  json.raw(R"(,"end":)");
  write_number(json, last_ - start_);
  json.raw(R"(,"queues":[)");
  bool first = true;
  for (const Queue& queue : queues_) json.separate(first).string(queue.name);
  json.raw("]");
  write_gangs(json);
  write_runs(json);
  write_cycles(json);
  TextTable texts;
  json.raw(R"(,"nodeChanges":{"count":)").integer(std::ssize(node_changes_));
  write_numbers(json, "time", node_changes_, [](const NodeChange& change) { return change.time; });
  write_counts(json, "node", node_changes_, [&](const NodeChange& change) { return texts.number(change.name); });
  write_counts(json, "change", node_changes_, [&](const NodeChange& change) { return texts.number(change.change); });
  json.raw(R"(,"texts":)");
  texts.write(json);
  json.raw("}}");
}

void ReportedSimulation::write_gangs(JsonWriter& json) const {
  std::vector<std::string_view> names(gangs_.size());
  std::ranges::transform(gangs_, names.begin(), &Gang::name);
  json.raw(R"(,"gangs":{"name":)");
  write_names(json, names);
  write_counts(json, "queue", gangs_, [](const Gang& gang) { return gang.queue; });
  write_counts(json, "priority", gangs_, [](const Gang& gang) { return gang.priority; });
  write_counts(json, "pods", gangs_, [](const Gang& gang) { return gang.pods; });
  write_numbers(json, "gpus", gangs_, [](const Gang& gang) { return gang.gpus; });
  write_numbers(json, "submitted", gangs_, [](const Gang& gang) { return gang.submitted; });
  write_numbers(json, "left", gangs_, [](const Gang& gang) { return gang.left.value_or(-1); });
  write_counts(json, "dropped", gangs_, [](const Gang& gang) { return gang.is_dropped ? 1 : 0; });
  json.raw("}");
}

// What still runs at the end runs until then.
void ReportedSimulation::write_runs(JsonWriter& json) const {
  std::vector<Run> runs = runs_;
  for (std::size_t i = 0; i < gangs_.size(); ++i) {
    if (gangs_[i].runs_since) runs.push_back({i, *gangs_[i].runs_since, last_ - start_, "end"});
  }
  std::ranges::stable_sort(runs, {}, &Run::gang);
  TextTable texts;
  json.raw(R"(,"runs":{)");
  write_column(json, "gang", runs, [](const Run& run) { return run.gang; });
  write_numbers(json, "from", runs, [](const Run& run) { return run.from; });
  write_numbers(json, "to", runs, [](const Run& run) { return run.to; });
  write_counts(json, "end", runs, [&](const Run& run) { return texts.number(run.end); });
  json.raw(R"(,"texts":)");
  texts.write(json);
  json.raw("}");
}

void ReportedSimulation::write_cycles(JsonWriter& json) const {
  json.raw(R"(,"cycles":{"every":)").integer(static_cast<std::int64_t>(stride_));
  write_numbers(json, "time", cycles_, [](const Cycle& cycle) { return cycle.time; });
  write_numbers(json, "capacity", cycles_, [](const Cycle& cycle) { return cycle.capacity; });
  write_numbers(json, "allocated", cycles_, [](const Cycle& cycle) { return cycle.allocated; });
  write_numbers(json, "fragmentation", cycles_, [](const Cycle& cycle) { return cycle.fragmentation; });
  write_counts(json, "running", cycles_, [](const Cycle& cycle) { return cycle.running; });
  write_counts(json, "pending", cycles_, [](const Cycle& cycle) { return cycle.pending; });
  write_counts(json, "placed", cycles_, [](const Cycle& cycle) { return cycle.placed; });
  write_counts(json, "evicted", cycles_, [](const Cycle& cycle) { return cycle.evicted; });
  write_counts(json, "moved", cycles_, [](const Cycle& cycle) { return cycle.moved; });
  write_counts(json, "waitingGangs", cycles_, [](const Cycle& cycle) { return cycle.waiting_gangs; });
  write_numbers(json, "waitingGpus", cycles_, [](const Cycle& cycle) { return cycle.waiting_gpus; });
  json.raw(R"(,"queues":[)");
  for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
    const auto of = [&](const std::vector<double>& values) { return queue < values.size() ? values[queue] : 0.0; };
    json.raw(queue == 0 ? R"({"name":)" : R"(,{"name":)").string(queues_[queue].name);
    write_numbers(json, "fairShare", cycles_, [&](const Cycle& cycle) { return of(cycle.fair_share); });
    write_numbers(json, "allocated", cycles_, [&](const Cycle& cycle) { return of(cycle.used); });
    json.raw("}");
  }
  json.raw("]}");
}

}  // namespace muster
