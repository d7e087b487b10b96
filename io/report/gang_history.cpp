#include "io/report/gang_history.h"

#include <algorithm>

#include "io/report/block.h"
#include "io/report/columns.h"

namespace muster::reporting {

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
  json.raw(R"(,"gangs":{"name":)");
  write_names(json, names);
  add_counts(json, "queue", gangs_, [](const Gang& gang) { return gang.queue; });
  add_counts(json, "priority", gangs_, [](const Gang& gang) { return gang.priority; });
  add_counts(json, "pods", gangs_, [](const Gang& gang) { return gang.pods; });
  add_numbers(json, "gpus", gangs_, [](const Gang& gang) { return gang.gpus; });
  add_numbers(json, "submitted", gangs_, [](const Gang& gang) { return gang.submitted; });
  add_numbers(json, "left", gangs_, [](const Gang& gang) { return gang.left.value_or(-1); });
  add_counts(json, "dropped", gangs_, [](const Gang& gang) { return gang.is_dropped ? 1 : 0; });
  json.raw("}");
}

void GangHistory::write_runs(json::JsonWriter& json, double end) const {
  std::vector<Run> runs = runs_;
  for (std::size_t i = 0; i < gangs_.size(); ++i) {
    if (gangs_[i].runs_since) runs.push_back({i, *gangs_[i].runs_since, end, "end"});
  }
  std::ranges::stable_sort(runs, {}, &Run::gang);
  TextTable texts;
  json.raw(R"(,"runs":{)");
  write_column(json, "gang", runs, [](const Run& run) { return run.gang; });
  add_numbers(json, "from", runs, [](const Run& run) { return run.from; });
  add_numbers(json, "to", runs, [](const Run& run) { return run.to; });
  add_counts(json, "end", runs, [&](const Run& run) { return texts.number(run.end); });
  json.raw(R"(,"texts":)");
  texts.write(json);
  json.raw("}");
}

}  // namespace muster::reporting
