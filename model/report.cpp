#include "model/report.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "model/gang_tree.h"
#include "model/reasons.h"
#include "model/reasons_room.h"

namespace muster {
namespace {

class GangReporter {
 public:
  GangReporter(const Problem& problem, const FairShares& shares, const AfterPlan& end, const ReportInput& input)
      : problem_(problem), shares_(shares), end_(end), plan_(input.plan), proven_(input.proven), stop_(input.stop) {
    waits_.assign(problem.pods.size(), false);
    moved_.assign(problem.pods.size(), false);
    for (const Placement& placement : plan_.placements) {
      if (!placement.after.empty()) waits_[placement.pod] = true;
      if (problem.pods[placement.pod].status == PodStatus::kRunning) moved_[placement.pod] = true;
    }
    for (const Eviction& eviction : plan_.evictions) {
      if (!moved_[eviction.pod]) first_eviction_.try_emplace(problem.pods[eviction.pod].gang, &eviction);
    }
  }

  // Adds all but why a pod of it waits: nothing where none is pending, placed, moved or evicted.
  void count(GangIndex index, std::vector<GangReport>& out) const {
    GangReport report;
    report.gang = index;
    bool has_moved = false;
    for (const PodIndex pod : problem_.gangs[index].pods) {
      count(pod, report);
      has_moved = has_moved || moved_[pod];
    }
    if (report.placed + report.evicted + report.pending == 0 && !has_moved) return;
    if (report.pending == 0) conclude(report, runs_at_the_end(index, report));
    out.push_back(std::move(report));
  }

  // Of a gang of which a pod waits: why, as long as there is time.
  void explain(GangReport& report) {
    const GangIndex index = report.gang;
    const bool is_met = runs_at_the_end(index, report);
    if (should_stop()) {
      report.reason = reason_at_a_glance(index);
    } else {
      if (!teller_) teller_.emplace(problem_, shares_, end_, proven_);
      Verdict verdict = teller_->tell(index, !is_met);
      report.reason = std::move(verdict.reason);
      report.make_room = std::move(verdict.make_room);
      report.message = std::move(verdict.message);
      report.blockers = std::move(verdict.blockers);
    }
    conclude(report, is_met);
  }

 private:
  void conclude(GangReport& report, bool is_met) const {
    report.phase = phase(report.gang, report, is_met);
    if (report.message.empty()) report.message = eviction_message(report.gang);
  }

  // Once there is no time, there is none later.
  bool should_stop() {
    has_stopped_ = has_stopped_ || (stop_ && stop_());
    return has_stopped_;
  }

  PodStatus status(PodIndex pod) const { return problem_.pods[pod].status; }

  // What can be told of a gang without a look at any node.
  std::string reason_at_a_glance(GangIndex index) const {
    const Gang& gang = problem_.gangs[index];
    if (gang.timed_out) return "SchedulingTimeout";
    const bool waits = std::ranges::any_of(
        gang.pods, [&](PodIndex pod) { return status(pod) == PodStatus::kPending && !end_.is_present(pod); });
    return waits ? "OutOfTime" : "Gated";
  }

  void count(PodIndex pod, GangReport& report) const {
    const bool is_present = end_.is_present(pod);
    if (status(pod) == PodStatus::kRunning) ++(is_present ? report.running : report.evicted);
    if (status(pod) == PodStatus::kPending) ++(is_present ? report.placed : report.pending);
    if (status(pod) == PodStatus::kGated) ++report.pending;
  }

  bool runs_at_the_end(GangIndex index, const GangReport& report) const {
    return report.running + report.placed > 0 && meets_minimum(problem_, problem_.gangs[index], [&](PodIndex pod) {
             return end_.is_present(pod) || status(pod) == PodStatus::kSucceeded;
           });
  }

  bool ran_before(GangIndex index) const {
    const Gang& gang = problem_.gangs[index];
    const auto counts = [&](PodIndex pod) {
      return status(pod) == PodStatus::kRunning || status(pod) == PodStatus::kSucceeded;
    };
    return std::ranges::any_of(gang.pods, counts) && meets_minimum(problem_, gang, counts);
  }

  bool has_to_wait(GangIndex index) const {
    const Gang& gang = problem_.gangs[index];
    const auto is_there = [&](PodIndex pod) { return end_.is_present(pod) && !waits_[pod]; };
    return std::ranges::none_of(gang.pods, is_there) || !meets_minimum(problem_, gang, [&](PodIndex pod) {
             return is_there(pod) || status(pod) == PodStatus::kSucceeded;
           });
  }

  GangPhase phase(GangIndex index, const GangReport& report, bool is_met) const {
    const auto eviction = first_eviction_.find(index);
    if (eviction != first_eviction_.end() && eviction->second->reason == EvictionReason::kStale)
      return GangPhase::kStale;
    if (is_met) {
      if (ran_before(index)) return GangPhase::kRunning;
      return has_to_wait(index) ? GangPhase::kWaiting : GangPhase::kScheduled;
    }
    if (report.evicted > 0 && report.running + report.placed == 0) return GangPhase::kEvicted;
    if (report.reason == "SchedulingTimeout") return GangPhase::kTimedOut;
    return report.reason == "Gated" ? GangPhase::kGated : GangPhase::kUnschedulable;
  }

  std::string eviction_message(GangIndex index) const {
    const auto at = first_eviction_.find(index);
    if (at == first_eviction_.end()) return "";
    const Eviction& eviction = *at->second;
    if (eviction.reason == EvictionReason::kStale) return "below its minimum for longer than its grace period";
    return "makes room for " + std::string(problem_.gangs[eviction.for_gang].name) + " (" +
           std::string(eviction_reason_name(eviction.reason)) + ")";
  }

  const Problem& problem_;
  const FairShares& shares_;
  const AfterPlan& end_;
  const Plan& plan_;
  bool proven_;
  std::function<bool()> stop_;
  bool has_stopped_ = false;
  std::optional<ReasonTeller> teller_;  // made for the first gang that is left over
  Indexed<PodIndex, std::uint8_t> waits_, moved_;
  std::map<GangIndex, const Eviction*> first_eviction_;  // of pods that are gone
};

std::vector<QueueReport> report_queues(const Problem& problem, const FairShares& shares, const AfterPlan& end) {
  std::vector<QueueReport> reports;
  for (const QueueIndex queue : problem.queues.indices()) {
    reports.push_back({queue, problem.queues[queue].quota, shares.share[queue], end.usage[queue]});
  }
  return reports;
}

std::vector<LevelReport> report_levels(const Problem& problem, const ReportInput& input) {
  const std::vector<LevelId> ids = level_ids(problem);
  std::vector<LevelReport> reports;
  for (std::size_t i = 0; i < std::min(ids.size(), input.levels.values.size()); ++i) {
    reports.push_back({ids[i], input.levels.values[i], i < input.bounds.size() ? input.bounds[i] : std::nullopt});
  }
  return reports;
}

}  // namespace

std::string_view phase_name(GangPhase phase) {
  switch (phase) {
    case GangPhase::kRunning:
      return "Running";
    case GangPhase::kScheduled:
      return "Scheduled";
    case GangPhase::kWaiting:
      return "Waiting";
    case GangPhase::kEvicted:
      return "Evicted";
    case GangPhase::kUnschedulable:
      return "Unschedulable";
    case GangPhase::kTimedOut:
      return "TimedOut";
    case GangPhase::kStale:
      return "Stale";
    case GangPhase::kGated:
      break;
  }
  return "Gated";
}

double gap_of(const std::vector<LevelReport>& objective, PlacementPolicy policy) {
  for (const LevelReport& level : objective) {
    if (!level.bound) continue;
    const double scale = static_cast<double>(level_scale(level.id.kind, policy));
    const double value = static_cast<double>(level.value) / scale, bound = static_cast<double>(*level.bound) / scale;
    const bool is_short = is_maximised(level.id.kind) ? level.value < *level.bound : level.value > *level.bound;
    if (is_short) return std::abs(bound - value) / std::max(1.0, std::abs(bound));
  }
  return 0;
}

Report describe(const Problem& problem, const FairShares& shares, const ReportInput& input) {
  const AfterPlan end = after_plan(problem, input.plan);
  Report report;
  GangReporter reporter(problem, shares, end, input);
  report.gangs.reserve(problem.gangs.size());
  for (const GangIndex gang : problem.gangs.indices()) reporter.count(gang, report.gangs);
  report.queues = report_queues(problem, shares, end);
  report.objective = report_levels(problem, input);
  if (input.only_reasons_left) input.only_reasons_left();
  for (GangReport& gang : report.gangs) {
    if (gang.pending > 0) reporter.explain(gang);
  }
  return report;
}

}  // namespace muster
