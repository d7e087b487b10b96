#include "model/explain/report.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

#include "model/base/words.h"
#include "model/explain/reasons.h"
#include "model/explain/reasons_plain.h"
#include "model/explain/remaining_capacity.h"
#include "model/problem/gang_tree.h"
#include "model/problem/gates.h"

namespace muster::explain {

namespace {

class GangReporter {
 public:
  GangReporter(const Problem& problem, const FairShares& shares, const AfterPlan& end, const ReportInput& input)
      : problem_(problem),
        shares_(shares),
        end_(end),
        changes_(problem, input.plan),
        proven_(input.proven),
        stop_(input.stop) {
    waits_.assign(problem.pods.size(), false);
    for (const Placement& placement : input.plan.placements) {
      if (!placement.after.empty()) waits_[placement.pod] = true;
    }
  }

  // Adds everything except the reason why a pod of it waits; nothing if no pod is pending, placed, moved or evicted.
  void count(GangIndex index, std::vector<GangReport>& out) const {
    GangReport report;
    report.gang = index;
    bool has_moved = false;
    for (const PodIndex pod : problem_.gangs[index].pods) {
      count(pod, report);
      has_moved = has_moved || changes_.is_moved(pod);
    }
    if (report.placed + report.evicted + report.pending == 0 && !has_moved) return;
    if (report.pending == 0) conclude(report, runs_at_the_end(index, report));
    out.push_back(std::move(report));
  }

  // The reason of a gang with a waiting pod, as long as there is time.
  void explain(GangReport& report) {
    const GangIndex index = report.gang;
    const bool is_met = runs_at_the_end(index, report);
    Verdict verdict = should_stop() ? hurried_verdict(index, !is_met) : teller().tell(index, !is_met);
    report.reason = std::move(verdict.reason);
    report.make_room = verdict.make_room;
    report.message = std::move(verdict.message);
    report.blockers = std::move(verdict.blockers);
    conclude(report, is_met);
  }

  // There was no time for some reason.
  bool has_stopped() const { return has_stopped_; }

 private:
  void conclude(GangReport& report, bool is_met) const {
    report.phase = phase(report.gang, report, is_met);
    say_changes(report);
    if (is_met || report.running == 0) return;
    const std::string part = partial_sentence(problem_, problem_.gangs[report.gang], report.running);
    const std::string_view between = report.message.empty() ? "" : report.message.ends_with('.') ? " " : "; ";
    report.message += std::string(between) + part + ".";
  }

  void say_changes(GangReport& report) const {
    const std::string changes = changes_.message(report.gang);
    if (changes.empty()) return;
    const bool is_gone = report.phase == GangPhase::kEvicted || report.phase == GangPhase::kStale;
    if (is_gone) report.reason = {changes_.eviction_code(report.gang)};
    const std::string& first = is_gone ? changes : report.message;
    const std::string& second = is_gone ? report.message : changes;
    const std::string_view between = first.empty() || second.empty() ? "" : first.ends_with('.') ? " " : "; ";
    report.message = first + std::string(between) + second;
  }

  // Once there is no time, there is none later.
  bool should_stop() {
    has_stopped_ = has_stopped_ || (stop_ && stop_());
    return has_stopped_;
  }

  PodStatus status(PodIndex pod) const { return problem_.pods[pod].status; }

  ReasonTeller& teller() {
    if (!teller_) teller_.emplace(problem_, shares_, end_, proven_);
    return *teller_;
  }

  // If there is no time: only what costs next to nothing. On small clusters all pods are counted nevertheless; on
  // others, only pods of classes that have been counted already. The messages of very many gangs would take long to
  // write.
  Verdict hurried_verdict(GangIndex index, bool left_over) {
    constexpr std::size_t kSmall = 4'096, kMostMessages = 1'024;
    const bool is_small = problem_.nodes.size() + problem_.pods.size() <= kSmall;
    if (hurried_ < kMostMessages && (is_small || (teller_ && teller_->has_counted(index)))) {
      ++hurried_;
      return teller().tell_in_a_hurry(index, left_over);
    }
    if (PlainReason plain = reason_of_gang(problem_, end_, index); plain.code != ReasonCode::kNone)
      return {{plain.code}, MakeRoomCode::kNone, std::move(plain.sentence), {}};
    return {{ReasonCode::kOutOfTime},
            MakeRoomCode::kNone,
            hurried_++ < kMostMessages ? "Undetermined: the time budget ran out." : "",
            {}};
  }

  void count(PodIndex pod, GangReport& report) const {
    const bool is_present = end_.is_present(pod);
    if (status(pod) == PodStatus::kRunning) ++(is_present ? report.running : report.evicted);
    if (status(pod) == PodStatus::kPending) ++(is_present ? report.placed : report.pending);
    if (status(pod) == PodStatus::kGated) ++report.pending;
  }

  bool runs_at_the_end(GangIndex index, const GangReport& report) const {
    return report.running + report.placed > 0 &&
           is_minimum_met(index, [&](PodIndex pod) { return end_.is_present(pod); });
  }

  // According to `counts(pod)` and the pods that have succeeded.
  template <class Counts>
  bool is_minimum_met(GangIndex index, const Counts& counts) const {
    return meets_minimum(problem_, problem_.gangs[index],
                         [&](PodIndex pod) { return status(pod) == PodStatus::kSucceeded || counts(pod); });
  }

  bool ran_before(GangIndex index) const {
    return is_minimum_met(index, [&](PodIndex pod) { return status(pod) == PodStatus::kRunning; });
  }

  bool starts_at_once(GangIndex index) const {
    const auto is_there = [&](PodIndex pod) { return end_.is_present(pod) && !waits_[pod]; };
    return std::ranges::any_of(problem_.gangs[index].pods, is_there) && is_minimum_met(index, is_there);
  }

  // The table "Phases" of docs/semantics.md, row by row.
  GangPhase phase(GangIndex index, const GangReport& report, bool is_met) const {
    if (changes_.is_stale(index)) return GangPhase::kStale;
    if (report.evicted > 0 && report.running + report.placed == 0) return GangPhase::kEvicted;
    if (is_met) {
      if (report.running > 0 && ran_before(index)) return GangPhase::kRunning;
      return starts_at_once(index) ? GangPhase::kScheduled : GangPhase::kWaiting;
    }
    if (problem_.gangs[index].times.timed_out) return GangPhase::kTimedOut;
    switch (gate(index)) {
      case GateKind::kGated:
        return GangPhase::kGated;
      case GateKind::kHeld:
        return GangPhase::kHeld;
      case GateKind::kNone:
        break;
    }
    return GangPhase::kUnschedulable;
  }

  GateKind gate(GangIndex index) const {
    return gate_of(problem_, problem_.gangs[index], [&](PodIndex pod) { return end_.is_present(pod); });
  }

  const Problem& problem_;
  const FairShares& shares_;
  const AfterPlan& end_;
  GangChanges changes_;
  bool proven_;
  std::function<bool()> stop_;
  bool has_stopped_ = false;
  std::size_t hurried_ = 0;             // messages written without time for them
  std::optional<ReasonTeller> teller_;  // made for the first gang that is left over
  Indexed<PodIndex, std::uint8_t> waits_;
};

// Whether it may still start: with a reason that passes by itself.
bool may_start_later(const GangReport& gang) {
  switch (gang.phase) {
    case GangPhase::kUnschedulable:
      break;
    case GangPhase::kEvicted:
    case GangPhase::kStale:
      return true;
    default:
      return false;
  }
  return gang.reason.code != ReasonCode::kNeverFits && gang.reason.code != ReasonCode::kNodeMismatch;
}

// Expected starts come last: reasons matter more if time is short.
void add_expected_starts(const Problem& problem, const ReportInput& input, std::vector<GangReport>& gangs) {
  if (std::ranges::none_of(gangs, may_start_later)) return;
  const forecast::ExpectedStarts starts = forecast::expected_starts(problem, input.plan, input.stop);
  if (starts.empty()) return;
  for (GangReport& gang : gangs) {
    if (may_start_later(gang)) gang.expected_start = starts[gang.gang];
  }
}

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
      return "Gated";
    case GangPhase::kHeld:
      break;
  }
  return "Held";
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
  if (!reporter.has_stopped()) add_expected_starts(problem, input, report.gangs);
  return report;
}

namespace {

constexpr std::size_t kMostNames = 3;  // names listed; the rest is counted

bool is_move(const Eviction& eviction) { return eviction.reason == EvictionReason::kConsolidate; }

// "a, b and c", "a, b, c and 4 more".
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t told = std::min(names.size(), kMostNames);
  for (std::size_t i = 0; i < told; ++i) {
    const bool is_last = i + 1 == told && told == names.size();
    text += (i == 0 ? "" : is_last ? " and " : ", ") + names[i];
  }
  return told == names.size() ? text : text + " and " + std::to_string(names.size() - told) + " more";
}

}  // namespace

std::string partial_sentence(const Problem& problem, const Gang& gang, std::int64_t running) {
  const std::string run = counted(running, "pod") + " of it " + (running == 1 ? "runs" : "run") + ", below ";
  if (gang.groups.size() > 1) return run + "the minimum of the gang or of its subgroups";
  return run + "its minimum of " + std::to_string(problem.groups[gang.root].minimum);
}

GangChanges::GangChanges(const Problem& problem, const Plan& plan)
    : problem_(problem), new_node_(problem.pods.size(), NodeIndex::none()) {
  for (const Placement& placement : plan.placements) {
    if (problem.pods[placement.pod].status == PodStatus::kRunning) new_node_[placement.pod] = placement.node;
  }
  for (const Eviction& eviction : plan.evictions) evictions_[problem.pods[eviction.pod].gang].push_back(&eviction);
}

bool GangChanges::is_stale(GangIndex gang) const {
  const auto at = evictions_.find(gang);
  return at != evictions_.end() && std::ranges::any_of(at->second, [](const Eviction* eviction) {
           return eviction->reason == EvictionReason::kStale;
         });
}

ReasonCode GangChanges::eviction_code(GangIndex gang) const {
  if (is_stale(gang)) return ReasonCode::kStale;
  const auto at = evictions_.find(gang);
  const bool is_reclaimed = at != evictions_.end() && std::ranges::any_of(at->second, [](const Eviction* eviction) {
                              return eviction->reason == EvictionReason::kReclaim;
                            });
  return is_reclaimed ? ReasonCode::kReclaimed : ReasonCode::kPreempted;
}

std::string GangChanges::message(GangIndex gang) const {
  const auto at = evictions_.find(gang);
  if (at == evictions_.end()) return "";
  std::vector<const Eviction*> gone, moves;
  for (const Eviction* eviction : at->second) (is_moved(eviction->pod) ? moves : gone).push_back(eviction);
  if (gone.empty()) return moves_text(moves);
  return moves.empty() ? evictions_text(gone) : evictions_text(gone) + "; " + moves_text(moves);
}

std::string GangChanges::evictions_text(const std::vector<const Eviction*>& evictions) const {
  const std::string pods =
      counted(std::ssize(evictions), "pod") + (evictions.size() == 1 ? " is evicted" : " are evicted");
  if (evictions.front()->reason == EvictionReason::kStale)
    return pods + ": the gang has run below its minimum for longer than its grace period";
  return pods + " to make room for " + claimants_text(evictions);
}

std::string GangChanges::moves_text(const std::vector<const Eviction*>& moves) const {
  const auto node_name = [&](NodeIndex node) { return std::string(problem_.snapshot->nodes[node.value()].name); };
  const bool is_one = problem_.gangs[problem_.pods[moves.front()->pod].gang].pods.size() == 1;
  std::vector<std::string> ways;
  for (const Eviction* move : moves) {
    const std::string_view pod = problem_.snapshot->pods[move->pod.value()].name;
    ways.push_back((is_one ? "" : std::string(pod) + " ") + node_name(problem_.pods[move->pod].node) + " -> " +
                   node_name(new_node_[move->pod]));
  }
  return "moves " + listed(ways) + (moves.size() == 1 ? " (restarts the pod)" : " (restarts the pods)") +
         " to make room for " + claimants_text(moves);
}

// Each with its reason: "ns/a (preempt) and ns/b (reclaim)"; a move needs no reason.
std::string GangChanges::claimants_text(const std::vector<const Eviction*>& evictions) const {
  std::set<std::string> names;
  for (const Eviction* eviction : evictions) {
    if (eviction->for_gang.is_none()) continue;
    const std::string name(problem_.gangs[eviction->for_gang].name);
    names.insert(is_move(*eviction) ? name : name + " (" + std::string(eviction_reason_name(eviction->reason)) + ")");
  }
  return listed({names.begin(), names.end()});
}

}  // namespace muster::explain
