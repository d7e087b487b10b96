#include "io/report/run_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "io/report/block.h"
#include "model/base/require.h"
#include "model/problem/gang_tree.h"

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

namespace {

// Gangs of one size, or all.
struct Group {
  std::int64_t submitted = 0, started = 0, finished = 0, dropped = 0;
  std::vector<double> waiting, completion;

  void add(const GangOutcome& gang) {
    ++submitted;
    started += gang.has_started ? 1 : 0;
    finished += gang.completed ? 1 : 0;
    dropped += gang.is_dropped ? 1 : 0;
    if (!gang.is_dropped) waiting.push_back(gang.waited);
    if (gang.completed) completion.push_back(*gang.completed);
  }
};

void write_spans(json::JsonWriter& json, std::string_view key, std::vector<double> spans) {
  json.key(key).object().member("count", spans.size());
  if (!spans.empty()) {
    std::ranges::sort(spans);
    const auto ranked = [&](std::size_t percent) { return spans[(spans.size() * percent + 99) / 100 - 1]; };
    const double sum = std::accumulate(spans.begin(), spans.end(), 0.0);
    json.member("mean", sum / static_cast<double>(spans.size()));
    json.member("p50", ranked(50)).member("p99", ranked(99)).member("max", spans.back());
  }
  json.end();
}

void write_group(json::JsonWriter& json, const Group& group) {
  json.member("submitted", group.submitted).member("started", group.started);
  json.member("finished", group.finished).member("dropped", group.dropped);
  write_spans(json, "waiting", group.waiting);
  write_spans(json, "completion", group.completion);
}

double part(double value, double of) { return of > 0 ? value / of : 0; }

}  // namespace

RunFigures::Fairness RunFigures::fairness_of(const std::vector<QueueSample>& queues) {
  Fairness fairness;
  double sum = 0, squares = 0, entitled = 0;
  for (const QueueSample& queue : queues) {
    const double share = queue.fair_share.value_or(0), used = queue.allocated.value_or(0);
    fairness.shortfall += std::max(0.0, share - used);
    if (share <= 0) continue;
    entitled += 1;
    sum += used / share;
    squares += used / share * (used / share);
  }
  if (squares > 0) fairness.jain = sum * sum / (entitled * squares);
  return fairness;
}

void RunFigures::pass(double time, double running) {
  MUSTER_REQUIRE(time >= time_);
  const double seconds = time - time_;
  time_ = time;
  whole_.capacity += capacity_ * seconds;
  whole_.allocated += std::clamp(beside_running_ + running, 0.0, capacity_) * seconds;
  if (!now_) return;
  sampled_seconds_ += seconds;
  sampled_gpu_seconds_ += capacity_ * seconds;
  shortfall_ += now_->shortfall * seconds;
  jain_ += now_->jain * seconds;
}

void RunFigures::add(const CycleEvent& event, double running) {
  capacity_ = event.capacity;
  beside_running_ = event.allocated - running;
  now_ = fairness_of(event.queues);
  moved_ += event.moved;
}

void RunFigures::add(std::string_view what, const GangEvent& event) {
  if (what == "interrupt") lost_ += event.lost;
  if (what != "evict") return;
  if (event.reason == "preempt") preempted_ += event.pods;
  if (event.reason == "reclaim") reclaimed_ += event.pods;
}

void RunFigures::write_use(json::JsonWriter& json) const {
  json.key("allocation").object().member("mean", part(whole_.allocated, whole_.capacity));
  json.member("whileArriving", part(until_last_arrival_.allocated, until_last_arrival_.capacity));
  json.member("useful", part(whole_.allocated - lost_, whole_.capacity)).end();
  json.key("evictions").object().member("preempt", preempted_).member("reclaim", reclaimed_).end();
  json.member("moves", moved_).member("lost", lost_);
  json.key("fairness").object().member("shortfall", part(shortfall_, sampled_gpu_seconds_));
  json.member("jain", sampled_seconds_ > 0 ? jain_ / sampled_seconds_ : 1.0).end();
}

void RunFigures::write(json::JsonWriter& json, const std::vector<GangOutcome>& gangs) const {
  Group all, large;
  std::array<Group, kGangSizes.size()> by_size;
  for (const GangOutcome& gang : gangs) {
    const Work gpus = std::llround(gang.gpus * 1000);
    all.add(gang);
    if (gpus >= kLargeGang) large.add(gang);
    by_size[gang_size(gpus)].add(gang);
  }
  json.key("figures").object();
  write_use(json);
  write_group(json.key("gangs").object(), all);
  write_group(json.end().key("large").object(), large);
  json.end().key("bySize").array();
  for (std::size_t i = 0; i < kGangSizes.size(); ++i) {
    if (by_size[i].submitted == 0) continue;
    write_group(json.object().member("gpus", kGangSizes[i].name), by_size[i]);
    json.end();
  }
  json.end().end();
}

namespace {

void add_counts_of(const CyclePoint& before, CyclePoint& point) {
  point.placed += before.placed;
  point.evicted += before.evicted;
  point.moved += before.moved;
}

}  // namespace

void CycleCurves::add(CyclePoint point) {
  add_counts_of(std::exchange(passed_over_, {}), point);
  if (++since_kept_ < stride_) {
    passed_over_ = std::move(point);
    return;
  }
  since_kept_ = 0;
  points_.push_back(std::move(point));
  if (points_.size() >= 2 * kMostCycles) thin();
}

void CycleCurves::thin() {
  std::vector<CyclePoint> kept;
  for (std::size_t i = 1; i < points_.size(); i += 2) {
    add_counts_of(points_[i - 1], points_[i]);
    kept.push_back(std::move(points_[i]));
  }
  points_ = std::move(kept);
  stride_ *= 2;
}

void CycleCurves::write(json::JsonWriter& json, const std::vector<std::string>& queues) const {
  using Point = CyclePoint;
  json.key("cycles").object().member("every", stride_);
  write_numbers(json, "time", points_, [](const Point& point) { return point.time; });
  write_numbers(json, "capacity", points_, [](const Point& point) { return point.capacity; });
  write_numbers(json, "allocated", points_, [](const Point& point) { return point.allocated; });
  write_numbers(json, "fragmentation", points_, [](const Point& point) { return point.fragmentation; });
  write_column(json, "running", points_, [](const Point& point) { return point.running; });
  write_column(json, "pending", points_, [](const Point& point) { return point.pending; });
  write_column(json, "placed", points_, [](const Point& point) { return point.placed; });
  write_column(json, "evicted", points_, [](const Point& point) { return point.evicted; });
  write_column(json, "moved", points_, [](const Point& point) { return point.moved; });
  write_column(json, "waitingGangs", points_, [](const Point& point) { return point.waiting_gangs; });
  write_numbers(json, "waitingGpus", points_, [](const Point& point) { return point.waiting_gpus; });
  json.key("queues").array();
  for (std::size_t queue = 0; queue < queues.size(); ++queue) {
    const auto of = [&](const std::vector<double>& values) { return queue < values.size() ? values[queue] : 0.0; };
    json.object().member("name", queues[queue]);
    write_numbers(json, "fairShare", points_, [&](const Point& point) { return of(point.fair_share); });
    write_numbers(json, "allocated", points_, [&](const Point& point) { return of(point.used); });
    json.end();
  }
  json.end().end();
}

void GangHistory::submit(const SubmitEvent& event, std::int32_t queue, double time) {
  numbers_.insert_or_assign(std::string(event.gang), gangs_.size());
  Gang& gang = gangs_.emplace_back();
  gang.name = event.gang;
  gang.queue = queue;
  gang.priority = event.priority;
  gang.pods = event.pods;
  gang.gpus = event.gpus;
  gang.submitted = time;
}

bool GangHistory::take(std::string_view what, const GangEvent& event, double time) {
  const auto known = numbers_.find(std::string(event.gang));
  if (known == numbers_.end()) return false;
  const std::size_t number = known->second;
  Gang& gang = gangs_[number];
  if (what == "start") {
    if (!gang.first_start) gang.first_start = time;
    if (!gang.runs_since) running_gpus_ += gang.gpus;
    gang.runs_since = time;
    gang.evicted_for.clear();
  } else if (what == "evict") {
    gang.evicted_for = event.reason;
  } else if (what == "interrupt") {
    end_run(number, time, gang.evicted_for.empty() ? "interrupt" : gang.evicted_for);
  } else if (what == "finish" || what == "drop") {
    end_run(number, time, what);
    gang.left = time;
    gang.is_dropped = what == "drop";
  }
  return true;
}

void GangHistory::end_run(std::size_t number, double time, std::string_view how) {
  Gang& gang = gangs_[number];
  if (!gang.runs_since) return;
  runs_.push_back({number, *gang.runs_since, time, std::string(how)});
  gang.runs_since.reset();
  running_gpus_ -= gang.gpus;
}

std::vector<GangOutcome> GangHistory::outcomes(double end) const {
  std::vector<GangOutcome> outcomes;
  outcomes.reserve(gangs_.size());
  for (const Gang& gang : gangs_) {
    GangOutcome& outcome = outcomes.emplace_back();
    outcome.gpus = gang.gpus;
    outcome.has_started = gang.first_start.has_value();
    outcome.is_dropped = gang.is_dropped;
    outcome.waited = gang.first_start.value_or(end) - gang.submitted;
    if (gang.left && !gang.is_dropped) outcome.completed = *gang.left - gang.submitted;
  }
  return outcomes;
}

void GangHistory::write(json::JsonWriter& json, double end) const {
  write_gangs(json);
  write_runs(json, end);
}

void GangHistory::write_gangs(json::JsonWriter& json) const {
  std::vector<std::string_view> names(gangs_.size());
  std::ranges::transform(gangs_, names.begin(), &Gang::name);
  write_names(json.key("gangs").object().key("name"), names);
  write_column(json, "queue", gangs_, [](const Gang& gang) { return gang.queue; });
  write_column(json, "priority", gangs_, [](const Gang& gang) { return gang.priority; });
  write_column(json, "pods", gangs_, [](const Gang& gang) { return gang.pods; });
  write_numbers(json, "gpus", gangs_, [](const Gang& gang) { return gang.gpus; });
  write_numbers(json, "submitted", gangs_, [](const Gang& gang) { return gang.submitted; });
  write_numbers(json, "left", gangs_, [](const Gang& gang) { return gang.left.value_or(-1); });
  write_column(json, "dropped", gangs_, [](const Gang& gang) { return gang.is_dropped ? 1 : 0; });
  json.end();
}

void GangHistory::write_runs(json::JsonWriter& json, double end) const {
  std::vector<Run> runs = runs_;
  for (std::size_t i = 0; i < gangs_.size(); ++i) {
    if (gangs_[i].runs_since) runs.push_back({i, *gangs_[i].runs_since, end, "end"});
  }
  std::ranges::stable_sort(runs, {}, &Run::gang);
  TextTable texts;
  json.key("runs").object();
  write_column(json, "gang", runs, [](const Run& run) { return run.gang; });
  write_numbers(json, "from", runs, [](const Run& run) { return run.from; });
  write_numbers(json, "to", runs, [](const Run& run) { return run.to; });
  write_column(json, "end", runs, [&](const Run& run) { return texts.number(run.end); });
  texts.write(json.key("texts"));
  json.end();
}

}  // namespace muster::reporting
