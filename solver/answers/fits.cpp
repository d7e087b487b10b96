#include "solver/answers/fits.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "model/build/build_problem.h"
#include "model/change/hold_back.h"
#include "model/problem/next_snapshot.h"
#include "solver/answers/loss.h"

namespace muster::answers {
namespace {

using portfolio::Engine;

// A name that neither a gang nor a pod begins with.
std::string free_name(const Snapshot& snapshot) {
  std::string name = "new";
  const auto is_taken = [&](std::string_view other) { return other.starts_with(name); };
  for (bool taken = true; taken; name += taken ? "-" : "") {
    taken = std::ranges::any_of(snapshot.gangs, is_taken, &SnapshotGang::name);
    for (const SnapshotPod& pod : snapshot.pods) taken = taken || is_taken(pod.name) || is_taken(pod.gang);
  }
  return name;
}

bool moves_or_evicts(const Actions& actions) { return actions.consolidate || actions.reclaim || actions.preempt; }

// What makes the answers of two queues equal.
using Signature =
    std::tuple<std::uint32_t, std::int32_t, QueueAmounts, QueueAmounts, std::array<double, kQueueResources>,
               Nanoseconds, Nanoseconds, bool, QueueAmounts, QueueAmounts, std::vector<Amount>, Work>;

class Counting {
 public:
  Counting(const Snapshot& original, portfolio::Portfolio& portfolio, const ExperimentOptions& options,
           const FitsQuestion& question)
      : original_(original), portfolio_(portfolio), time_(options), question_(question), name_(free_name(original)) {}

  Result<Fits> run() {
    if (Failure failure = carry_out_plan()) return *std::move(failure);
    if (Failure failure = measure_room()) return *std::move(failure);
    Result<std::vector<QueueIndex>> queues = asked_queues();
    if (!queues) return queues.error();
    std::vector<QueueFits> answers;
    for (const QueueIndex queue : *queues) {
      if (Failure failure = add_answer(queue, answers)) return *std::move(failure);
    }
    const auto fits_none = [](const QueueFits& answer) { return answer.now.found == 0; };
    if (!answers.empty() && std::ranges::all_of(answers, fits_none)) {
      if (Failure failure = explain(queues->front())) return *std::move(failure);
    }
    if (Failure failure = add_policy(*queues, answers)) return *std::move(failure);
    for (QueueFits& answer : answers) join(std::move(answer));
    return std::move(fits_);
  }

 private:
  using Failure = std::optional<InputError>;

  // The cluster after the next plan, and the same with nothing that may be planned but the new gangs, without and
  // with evictions.
  Failure carry_out_plan() {
    if (question_.ignores_waiting) {
      after_ = Snapshot(original_);
      change::hold_back_waiting(after_);
      calm_ = Snapshot(after_);
    } else {
      Result<std::unique_ptr<Run>> solved = solve(original_, {}, time_.engine(), kTuning.answers.base);
      if (!solved) return solved.error();
      Run& base = **solved;
      for (const explain::GangReport& gang : base.solution.report.gangs) {
        fits_.started += gang.placed > 0 && gang.phase != explain::GangPhase::kRunning ? 1 : 0;
        fits_.waiting += base.admits(gang.gang) ? 0 : 1;
      }
      after_ = next_snapshot(std::move(*base.snapshot), base.problem, base.solution.plan, 0);
      calm_ = Snapshot(after_);
      // What is held for gangs that wait is held only while they wait.
      if (!has_reservations(base.problem)) change::hold_back_waiting(calm_);
    }
    calm_.policy.actions = {true, false, false, false, false};
    contended_ = Snapshot(after_);
    // The demand of what waits changes the shares of queues, by which one may take from another. Else it has had its
    // turn in the next plan, and would only be tried again.
    if (after_.queues.size() <= 1 || !after_.policy.actions.reclaim) change::hold_back_waiting(contended_);
    return {};
  }

  static bool has_reservations(const Problem& problem) {
    const auto is_held = [](const NodeClass& node_class) { return !node_class.held_for.is_none(); };
    const auto is_kept = [](const Gang& gang) { return !gang.times.kept_back_for.is_none(); };
    return std::ranges::any_of(problem.node_classes, is_held) || std::ranges::any_of(problem.gangs, is_kept);
  }

  change::AddGang new_gang(const std::string& name, const change::GangShape& shape) const {
    change::AddGang gang;
    gang.gang = name;
    gang.priority = question_.priority;
    gang.shape = shape;
    gang.preemptible = question_.preemptible.value_or(question_.priority < kFirstNonPreemptiblePriority);
    return gang;
  }

  // One problem for all counting: a gang of the shape, and those of smaller pods.
  Failure measure_room() {
    counted_ = Snapshot(after_);
    std::vector<change::Change> changes;
    const std::string queue(counted_.queues.empty() ? "default" : counted_.queues.front().name);
    const auto add = [&](const std::string& name, const change::GangShape& shape) {
      change::AddGang gang = new_gang(name, shape);
      gang.queue = queue;
      changes.emplace_back(std::move(gang));
    };
    add(name_, question_.shape);
    const GpuRequest& gpu = question_.shape.pod.gpu;
    const std::int32_t pieces = gpu.kind == GpuRequestKind::kWhole ? gpu.devices - 1 : 0;
    for (std::int32_t devices = pieces; devices > 0; --devices) {
      add(name_ + "/" + std::to_string(devices), change::reduced(question_.shape, devices));
    }
    if (Failure failure = change::apply(changes, counted_)) return failure;
    Result<Problem> problem = build_problem(counted_, time_.threads());
    if (!problem) return problem.error();
    problem_ = *std::move(problem);
    std::map<std::string_view, GangIndex> by_name;
    for (const GangIndex gang : problem_.gangs.indices()) {
      if (problem_.gangs[gang].name.starts_with(name_)) by_name.emplace(problem_.gangs[gang].name, gang);
    }
    asked_ = by_name.at(name_);
    staying_ = explain::after_plan(problem_, {});
    const explain::RemainingCapacity room = explain::RemainingCapacity::after(problem_, staying_);
    fits_.room = shape_capacity(problem_, room, asked_);
    for (std::int32_t devices = pieces; devices > 0 && !fits_.none.gpus && fits_.room.gangs == 0; --devices) {
      const GangIndex piece = by_name.at(name_ + "/" + std::to_string(devices));
      if (shape_capacity(problem_, room, piece).gangs > 0) fits_.none.gpus = devices;
    }
    const std::int64_t size = question_.shape.pods;
    if (size > 1) fits_.none.pods = std::min(fits_.room.in_domain, size - 1);
    return {};
  }

  Result<std::vector<QueueIndex>> asked_queues() const {
    std::vector<QueueIndex> queues;
    for (const QueueIndex index : problem_.queues.indices()) {
      const Queue& queue = problem_.queues[index];
      const bool is_asked =
          question_.queues.empty() || std::ranges::find(question_.queues, queue.name) != question_.queues.end();
      if (is_asked && queue.is_leaf()) queues.push_back(index);
    }
    for (const std::string& name : question_.queues) {
      const auto is_it = [&](QueueIndex queue) { return problem_.queues[queue].name == name; };
      if (std::ranges::none_of(queues, is_it))
        return InputError{ErrorCode::kUnknownQueue, "$", "there is no queue \"" + name + "\" without queues below it"};
    }
    return queues;
  }

  // ---- one queue, without evictions ----

  Failure add_answer(QueueIndex queue, std::vector<QueueFits>& answers) {
    set_queue(queue);
    const QueueSlack limit = queue_room(problem_, staying_, asked_);
    QueueFits answer;
    answer.queues = {std::string(problem_.queues[queue].name)};
    answer.now.bound = std::min(fits_.room.gangs, limit.gangs);
    if (limit.gangs < fits_.room.gangs) answer.bound_by = limit.bound_by;
    // In every queue with this bound, the same plan stands, unless what pods use depends on where they are.
    const bool is_even = question_.shape.pod.gpu.kind != GpuRequestKind::kMemory || answer.bound_by.empty();
    const auto [known, is_new] = now_.try_emplace({answer.now.bound, is_even ? QueueIndex::none() : queue});
    if (is_new) {
      if (Failure failure = search(calm_, queue, lowest_priority(), known->second, answer.now.bound)) return failure;
    }
    answer.now = known->second.count;
    answers.push_back(std::move(answer));
    return {};
  }

  std::int32_t lowest_priority() const {
    std::int32_t lowest = 0;
    for (const Gang& gang : problem_.gangs) lowest = std::min(lowest, gang.priority);
    return lowest == std::numeric_limits<std::int32_t>::min() ? lowest : lowest - 1;
  }

  struct Searched {
    FitCount count;
    Loss loss;
  };

  // Greedily; then, unless as many as possible have been found, with the rest of the time.
  Failure search(const Snapshot& snapshot, QueueIndex queue, std::int32_t priority, Searched& found, std::int64_t bound,
                 double share = 1) {
    found.count.bound = bound;
    const std::int64_t most = std::max<std::int64_t>(1, question_.most_pods / question_.shape.pods);
    const std::int64_t copies = std::min(bound, most);
    if (copies == 0) return {};
    change::AddGang gang = new_gang(name_, question_.shape);
    gang.queue = problem_.queues[queue].name;
    gang.priority = priority;
    gang.count = copies;
    for (const Engine engine : {Engine::kGreedy, time_.engine()}) {
      if (engine != Engine::kGreedy && (found.count.found == copies || time_.is_over())) break;
      const change::Change change = gang;
      Result<std::unique_ptr<Run>> solved =
          solve(snapshot, {&change, 1}, engine, engine == Engine::kGreedy ? 1 : share);
      if (!solved) return solved.error();
      const std::int64_t started = started_of(**solved);
      if (started > found.count.found) found = {{started, bound, false}, loss_of(**solved)};
      if (time_.engine() == Engine::kGreedy) break;
    }
    found.count.is_cut = copies < bound && found.count.found == copies;
    return {};
  }

  std::int64_t started_of(const Run& run) const {
    std::int64_t started = 0;
    for (const explain::GangReport& gang : run.solution.report.gangs) {
      const bool starts = gang.phase == explain::GangPhase::kScheduled || gang.phase == explain::GangPhase::kWaiting;
      started += starts && run.problem.gangs[gang.gang].name.starts_with(name_) ? 1 : 0;
    }
    return started;
  }

  // ---- with evictions and moves ----

  Failure add_policy(const std::vector<QueueIndex>& queues, std::vector<QueueFits>& answers) {
    if (!moves_or_evicts(after_.policy.actions) || may_leave({}, true).evictions.empty()) return {};
    std::map<Signature, Searched> known;
    std::map<Signature, std::int64_t> open;
    for (const QueueIndex queue : queues) open.try_emplace(signature(queue), 0);
    auto left = static_cast<double>(open.size());
    const explain::RemainingCapacity emptied =
        explain::RemainingCapacity::after(problem_, explain::after_plan(problem_, may_leave({}, true)));
    const std::int64_t by_nodes = shape_capacity(problem_, emptied, asked_).gangs;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      const auto [at, is_new] = known.try_emplace(signature(queues[i]));
      if (is_new) {
        if (time_.is_over() && known.size() > 1) {
          known.erase(at);
          fits_.is_late = true;
          continue;
        }
        const std::int64_t bound = std::max(answers[i].now.found, policy_bound(queues[i], by_nodes));
        if (Failure failure = search(contended_, queues[i], question_.priority, at->second, bound, 1 / left))
          return failure;
        left = std::max(1.0, left - 1);
      }
      answers[i].has_policy = true;
      answers[i].with_policy = at->second.count;
      answers[i].loss = at->second.loss;
      // What starts without evictions starts with them, too.
      if (answers[i].with_policy.found >= answers[i].now.found) continue;
      answers[i].with_policy.found = answers[i].now.found;
      answers[i].loss = {};
    }
    return {};
  }

  std::int64_t policy_bound(QueueIndex queue, std::int64_t by_nodes) {
    set_queue(queue);
    const explain::AfterPlan end = explain::after_plan(problem_, may_leave(queue, false));
    const explain::RemainingCapacity room = explain::RemainingCapacity::after(problem_, end);
    return std::min({by_nodes, gangs_by_sums(problem_, room, asked_), queue_room(problem_, end, asked_).gangs});
  }

  // All running pods that might be evicted for a gang of the queue, or be moved, too.
  Plan may_leave(QueueIndex queue, bool or_move) const {
    const Actions& actions = after_.policy.actions;
    Plan plan;
    for (const PodIndex index : problem_.pods.indices()) {
      const Pod& pod = problem_.pods[index];
      const Gang& gang = problem_.gangs[pod.gang];
      const bool is_stale = gang.stale && actions.stale;
      if (pod.status != PodStatus::kRunning || problem_.disruption_budgets.is_pinned(index)) continue;
      if (!gang.preemptible && !is_stale) continue;
      const bool leaves = gang.queue == queue ? actions.preempt && gang.priority < question_.priority : actions.reclaim;
      if (or_move || leaves || is_stale) plan.evictions.push_back({index, EvictionReason::kReclaim, asked_});
    }
    return plan;
  }

  Signature signature(QueueIndex index) const {
    const Queue& queue = problem_.queues[index];
    std::vector<Amount> limited;  // resource, limit, usage
    for (const OtherLimitIndex at : queue.other_limits) {
      const OtherLimit& limit = problem_.lists.other_limits[at];
      if (limit.queue == index)
        limited.insert(limited.end(), {limit.resource.value(), limit.limit, staying_.limited[at]});
    }
    Work waiting = 0;
    for (const Pod& pod : problem_.pods) {
      if (pod.status == PodStatus::kPending && problem_.gangs[pod.gang].queue == index && pod.gang != asked_)
        waiting += pod.weighted_work;
    }
    return {queue.parent.is_none() ? ~0U : static_cast<std::uint32_t>(queue.parent.value()),
            queue.priority,
            queue.quota,
            queue.limit,
            queue.weight,
            queue.preempt_min_runtime,
            queue.reclaim_min_runtime,
            queue.reclaimable,
            staying_.usage[index],
            staying_.non_preemptible_usage[index],
            std::move(limited),
            waiting};
  }

  // ---- all queues ----

  // Queues with equal answers are one row.
  void join(QueueFits&& answer) {
    const auto is_equal = [&](const QueueFits& other) {
      return other.now == answer.now && other.bound_by == answer.bound_by && other.has_policy == answer.has_policy &&
             other.with_policy == answer.with_policy && other.loss == answer.loss;
    };
    const auto known = std::ranges::find_if(fits_.queues, is_equal);
    if (known == fits_.queues.end()) return fits_.queues.push_back(std::move(answer));
    known->queues.push_back(std::move(answer.queues.front()));
  }

  Failure explain(QueueIndex queue) {
    change::AddGang gang = new_gang(name_, question_.shape);
    gang.queue = problem_.queues[queue].name;
    const change::Change change = gang;
    Result<std::unique_ptr<Run>> solved = solve(calm_, {&change, 1}, Engine::kGreedy, 1);
    if (!solved) return solved.error();
    const std::optional<GangIndex> found = (*solved)->find_gang(name_);
    const explain::GangReport* report = found ? (*solved)->report_on(*found) : nullptr;
    if (!report) return {};
    fits_.none.reason = report->reason;
    fits_.none.message = report->message;
    return {};
  }

  void set_queue(QueueIndex queue) {
    Gang& gang = problem_.gangs[asked_];
    gang.queue = queue;
    gang.queue_is_leaf = problem_.queues[queue].is_leaf();
  }

  Result<std::unique_ptr<Run>> solve(const Snapshot& snapshot, std::span<const change::Change> changes, Engine engine,
                                     double share) {
    Experiment experiment(snapshot, portfolio_, time_.for_plan(engine, share));
    ++fits_.runs;
    return experiment.solve(changes);
  }

  const Snapshot& original_;
  portfolio::Portfolio& portfolio_;
  AnswerTime time_;
  const FitsQuestion& question_;
  std::string name_;  // of the new gangs
  Snapshot after_, calm_, contended_, counted_;
  Problem problem_;  // of counted_
  explain::AfterPlan staying_;
  GangIndex asked_;
  std::map<std::pair<std::int64_t, QueueIndex>, Searched> now_;  // by bound
  Fits fits_;
};

}  // namespace

Result<Fits> count_fits(const Snapshot& original, portfolio::Portfolio& portfolio, const ExperimentOptions& options,
                        const FitsQuestion& question) {
  return Counting(original, portfolio, options, question).run();
}

}  // namespace muster::answers
