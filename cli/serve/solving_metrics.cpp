#include "cli/serve/solving_metrics.h"

#include <vector>

namespace muster::cli {
namespace {

// The gap over the levels that determine what runs. The choice among equal nodes often remains unproven.
double gap_of_what_runs(const SolvedLine& line) {
  std::vector<explain::LevelReport> levels = line.solution.report.objective;
  std::erase_if(levels, [](const explain::LevelReport& level) { return level.id.kind > LevelKind::kSeniority; });
  return explain::gap_of(levels, line.problem.snapshot->policy.placement);
}

}  // namespace

void SolvingMetrics::solved(const SolvedLine& line, portfolio::Clock::duration waited) {
  ++solves_[{origin_name(line.statement.origin), proof_name(line.statement.proof)}];
  duration_.observe(seconds_of(line.elapsed));
  gap_.observe(gap_of_what_runs(line));
  if (line.statement.deadline_missed) {
    ++deadlines_missed_;
    overshoot_.observe(seconds_of(line.elapsed - line.budget));
  }
  referee_rejections_ += line.solution.rejected_plans;
  for (const auto& [rule, times] : line.solution.refused) refused_[static_cast<std::size_t>(rule)] += times;
  stages_.observe("queue", seconds_of(waited));
  for (const auto& [stage, milliseconds] : line.statement.phases_ms) stages_.observe(stage, milliseconds / 1e3);
}

void SolvingMetrics::refused_input(ErrorCode code) { ++input_errors_[code]; }

void SolvingMetrics::write(http::PrometheusText& out) const {
  out.family("muster_solves_total", "counter", "Plans, by the engine that made them and by proof.");
  for (const auto& [key, count] : solves_) {
    out.sample({{"origin", key.first}, {"proof", key.second}}, static_cast<double>(count));
  }
  out.family("muster_solve_duration_seconds", "histogram",
             "Time from receipt of the line to its plan, including time in the queue.")
      .histogram({}, duration_);
  out.family("muster_stage_duration_seconds", "histogram",
             "Time per stage of a solve; stage queue is the waiting time.");
  stages_.write(out, "stage");
  out.family("muster_deadline_missed_total", "counter", "Plans that exceeded their budget.")
      .sample({}, static_cast<double>(deadlines_missed_));
  out.family("muster_deadline_overshoot_seconds", "histogram", "By how much late plans exceeded their budget.")
      .histogram({}, overshoot_);
  out.family("muster_gap_ratio", "histogram", "Gap of the first level up to seniority that is not proven optimal.")
      .histogram({}, gap_);
  out.family("muster_referee_rejections_total", "counter", "Plans that broke a rule and were not sent: defects.")
      .sample({}, static_cast<double>(referee_rejections_));
  out.family("muster_refused_candidates_total", "counter",
             "Rules that better plans broke, which an engine made and gave up, by rule.");
  for (std::size_t rule = 0; rule < referee::kRuleCount; ++rule) {
    out.sample({{"rule", referee::rule_name(static_cast<referee::Rule>(rule))}}, static_cast<double>(refused_[rule]));
  }
  out.family("muster_input_errors_total", "counter", "Invalid lines and requests, by error code.");
  for (const auto& [code, count] : input_errors_)
    out.sample({{"code", error_code_text(code)}}, static_cast<double>(count));
}

}  // namespace muster::cli
