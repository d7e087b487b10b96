#include "model/forecast/expected_starts.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "model/base/interning.h"
#include "model/base/saturating.h"
#include "model/base/semantics.h"
#include "model/forecast/node_residual.h"
#include "model/forecast/quota_heads.h"
#include "model/problem/next_snapshot.h"
#include "model/problem/quota_queue.h"

namespace muster::forecast {
namespace {

// Ends are taken together that differ by a small part of the time ahead, or by no more than gangs run.
constexpr Nanoseconds kStepsAhead = kSemantics.forecast_steps;
constexpr Nanoseconds kShortestStep = kSemantics.shortest_seconds * kNanosecondsPerSecond;
// Gangs are ranked again whenever the time ahead has doubled, from this on.
constexpr Nanoseconds kFirstRanking = kSemantics.ranking_seconds * kNanosecondsPerSecond;

// Gangs that are equal in what decides whether there is room for them.
struct Kind {
  GangDemand demand;
  QueueIndex quota_queue;                          // none: no quota counts
  StartObstacle obstacle = StartObstacle::kOther;  // of the last pass, since then
  Nanoseconds since = 0;
  std::array<Nanoseconds, kStartObstacles> lasted{};
};

struct Waiting {
  GangIndex gang;
  std::uint32_t kind = 0;
  std::int32_t priority = 0;
  Nanoseconds duration = 0, waited = 0;
  double seniority = 0;  // at the time of the last ranking
  bool has_started = false, may_be_head = false;
};

// In that pass, what is expected to run for so long or longer found no room.
struct Failure {
  int pass = -1;
  Nanoseconds from = 0;
};

// Of what runs: when it ends and what it gives back.
struct Run {
  Nanoseconds end = 0;
  QueueDemand of_queue;
  QueueIndex quota_queue;
  std::vector<NodeResidual::Place> places;  // if it started in the forecast
};

struct Kinds {
  SequenceTable numbers;  // of their content
  std::vector<Kind> all;
  std::vector<Failure> failures;  // the last one of each; often asked
};

struct End {
  Nanoseconds time = 0;
  GangIndex gang;
  friend auto operator<=>(const End&, const End&) = default;
};

// Ends in order: those known at first are sorted once, which is faster than a heap of them all.
class Ends {
 public:
  // Requires that begin() has not been called.
  void add_first(const End& end) { first_.push_back(end); }
  void begin() { std::ranges::sort(first_); }
  void add(const End& end) { later_.push(end); }
  bool empty() const { return next_ == first_.size() && later_.empty(); }
  const End& next() const { return is_first_next() ? first_[next_] : later_.top(); }
  void pop() {
    if (is_first_next())
      ++next_;
    else
      later_.pop();
  }

 private:
  bool is_first_next() const { return next_ < first_.size() && (later_.empty() || first_[next_] < later_.top()); }

  std::vector<End> first_;
  std::size_t next_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> later_;
};

class Forecast {
 public:
  Forecast(const Problem& problem, const Plan& plan)
      : problem_(problem),
        end_(end_state_of(problem, plan)),
        now_(problem.snapshot->time),
        queues_(problem),
        heads_(problem, queues_),
        runs_(problem.gangs.size()),
        starts_(problem.gangs.size()) {}

  ExpectedStarts run(const std::function<bool()>& stop) {
    for (const GangIndex gang : problem_.gangs.indices()) collect(gang);
    if (waiting_.empty()) return std::move(starts_);
    nodes_.emplace(problem_, asking_classes());
    for (const GangIndex gang : problem_.gangs.indices()) note_present(gang);
    ends_.begin();
    look_around();
    while (!ends_.empty() && !waiting_.empty() && !(stop && stop())) start_in_turn(pass_time());
    return std::move(starts_);
  }

 private:
  Nanoseconds ahead_of(Nanoseconds time) const { return saturating_subtract(time, now_); }

  void collect(GangIndex index) {
    const Gang& gang = problem_.gangs[index];
    if (gang.queue.is_none() || !gang.queue_is_leaf || gang.times.timed_out) return;
    std::optional<GangDemand> demand = demand_of(problem_, end_, gang);
    if (!demand) return;
    std::vector<std::uint64_t> key{gang.queue.value(), gang.preemptible ? 1U : 0U};
    for (const PodDemand& item : demand->pods) {
      key.push_back(item.pod_class.value());
      key.push_back(static_cast<std::uint64_t>(item.pods));
    }
    const auto [kind, is_new] = kinds_.numbers.intern(key);
    if (is_new) {
      const QueueIndex quota_queue = muster::quota_queue(problem_, gang);
      heads_.note_waiting(quota_queue, demand->of_queue.amounts[kQueueGpu]);
      kinds_.all.push_back({*std::move(demand), quota_queue});
      kinds_.all.back().since = now_;
      kinds_.failures.emplace_back();
    }
    const Nanoseconds waited = saturating_multiply(gang.times.waited_seconds, kNanosecondsPerSecond);
    waiting_.push_back({index, kind, gang.priority, gang.times.expected_duration, waited});
    waiting_.back().may_be_head =
        heads_.may_be_head(kinds_.all[kind].quota_queue, kinds_.all[kind].demand.of_queue.amounts[kQueueGpu]);
  }

  std::vector<PodClassIndex> asking_classes() const {
    std::vector<PodClassIndex> classes;
    for (const Kind& kind : kinds_.all)
      for (const PodDemand& item : kind.demand.pods) classes.push_back(item.pod_class);
    std::ranges::sort(classes);
    const auto repeated = std::ranges::unique(classes);
    classes.erase(repeated.begin(), repeated.end());
    return classes;
  }

  // What is there after the plan takes room until it ends.
  void note_present(GangIndex index) {
    const Gang& gang = problem_.gangs[index];
    Run& run = runs_[index];
    bool is_there = false;
    for (const PodIndex pod : gang.pods) {
      const NodeIndex node = end_.node_of[pod];
      if (node.is_none()) continue;
      is_there = true;
      nodes_->put(problem_.pods[pod].pod_class, node);
      const QueueAmounts amounts = queue_usage(problem_.class_of(pod), problem_.class_of(node));
      run.of_queue.add(problem_, gang, problem_.class_of(pod), amounts);
    }
    if (!is_there) return;
    queues_.take(gang, run.of_queue);
    const Nanoseconds known = gang.times.expected_end;
    run.quota_queue = muster::quota_queue(problem_, gang);
    run.end = known != 0 ? known : saturating_add(now_, gang.times.expected_duration);
    heads_.note_running(run.quota_queue, run.end, run.of_queue.amounts[kQueueGpu]);
    ends_.add_first({run.end, index});
  }

  // What stands in the way now; nothing starts that the plan leaves.
  void look_around() {
    for (Waiting& waiting : waiting_) {
      if (std::exchange(kinds_.failures[waiting.kind].pass, 0) == 0) continue;
      const bool is_kept_back = !problem_.gangs[waiting.gang].times.kept_back_for.is_none();
      const StartObstacle other = is_kept_back ? StartObstacle::kReserved : StartObstacle::kOther;
      kinds_.all[waiting.kind].obstacle = obstacle_of(waiting).value_or(other);
      for (const NodeResidual::Place& place : places_) nodes_->give_back(place);
    }
  }

  // Releases the next ends. Returns the instant.
  Nanoseconds pass_time() {
    Nanoseconds time = ends_.next().time;
    const Nanoseconds last = saturating_add(time, std::max(kShortestStep, ahead_of(time) / kStepsAhead));
    while (!ends_.empty() && ends_.next().time <= last) {
      time = ends_.next().time;
      release(ends_.next());
      ends_.pop();
    }
    return time;
  }

  void release(const End& end) {
    Run& run = runs_[end.gang];
    if (run.end != end.time) return;  // it has another end since
    const Gang& gang = problem_.gangs[end.gang];
    queues_.give_back(gang, run.of_queue);
    heads_.note_ended(run.quota_queue, run.end, run.of_queue.amounts[kQueueGpu]);
    for (const NodeResidual::Place& place : run.places) nodes_->give_back(place);
    for (const PodIndex pod : gang.pods) {
      if (end_.is_present(pod)) nodes_->take(problem_.pods[pod].pod_class, end_.node_of[pod]);
    }
    run = {};
  }

  void rank(Nanoseconds time) {
    const double ahead = static_cast<double>(ahead_of(time)) / 1e9;
    for (Waiting& waiting : waiting_) {
      const GangTimes& times = problem_.gangs[waiting.gang].times;
      const double counted = static_cast<double>(times.waited_seconds + kSemantics.added_seconds);
      waiting.seniority = static_cast<double>(times.seniority) * (counted + ahead) / counted;
    }
    std::ranges::sort(waiting_, {}, [](const Waiting& waiting) {
      return std::tuple(-std::int64_t{waiting.priority}, -waiting.seniority, waiting.gang);
    });
  }

  void start_in_turn(Nanoseconds time) {
    if (ahead_of(time) >= ranked_until_) {
      rank(time);
      ranked_until_ = std::max(kFirstRanking, saturating_multiply(2, ahead_of(time)));
    }
    ++pass_;
    heads_.clear();
    bool any = false;
    for (Waiting& waiting : waiting_) {
      const Failure& failure = kinds_.failures[waiting.kind];
      if (failure.pass != pass_ || waiting.duration < failure.from)
        any = try_start(waiting, time) || any;
      else if (waiting.may_be_head)
        propose_head(waiting, time);
    }
    if (any) std::erase_if(waiting_, [](const Waiting& waiting) { return waiting.has_started; });
  }

  bool try_start(Waiting& waiting, Nanoseconds time) {
    Kind& kind = kinds_.all[waiting.kind];
    const Gang& gang = problem_.gangs[waiting.gang];
    const Nanoseconds end = saturating_add(time, waiting.duration);
    places_.clear();
    std::optional<StartObstacle> obstacle = queues_.obstacle(gang, kind.demand.of_queue);
    if (!obstacle && heads_.is_held_up(kind.quota_queue, end, kind.demand.of_queue.amounts[kQueueGpu])) {
      kinds_.failures[waiting.kind] = {pass_, waiting.duration};
      change_obstacle(kind, StartObstacle::kReserved, time);
      return false;
    }
    if (!obstacle) obstacle = nodes_->place(kind.demand, places_);
    if (!obstacle) {
      start(waiting, time, end);
      return true;
    }
    kinds_.failures[waiting.kind] = {pass_, 0};
    change_obstacle(kind, *obstacle, time);
    if (waiting.may_be_head) propose_head(waiting, time);
    return false;
  }

  // If the quota has no room for it, others may be kept back for it.
  void propose_head(const Waiting& waiting, Nanoseconds time) {
    const Kind& kind = kinds_.all[waiting.kind];
    if (kind.obstacle != StartObstacle::kQuota) return;
    heads_.propose(kind.quota_queue, kind.demand.of_queue.amounts[kQueueGpu],
                   saturating_add(waiting.waited, ahead_of(time)));
  }

  // None: its pods are at `places_`.
  std::optional<StartObstacle> obstacle_of(const Waiting& waiting) {
    const GangDemand& demand = kinds_.all[waiting.kind].demand;
    places_.clear();
    if (const auto obstacle = queues_.obstacle(problem_.gangs[waiting.gang], demand.of_queue)) return obstacle;
    return nodes_->place(demand, places_);
  }

  static void change_obstacle(Kind& kind, StartObstacle obstacle, Nanoseconds time) {
    Nanoseconds& lasted = kind.lasted[static_cast<std::size_t>(kind.obstacle)];
    lasted = saturating_add(lasted, saturating_subtract(time, kind.since));
    kind.since = time;
    kind.obstacle = obstacle;
  }

  void start(Waiting& waiting, Nanoseconds time, Nanoseconds end) {
    Kind& kind = kinds_.all[waiting.kind];
    const Gang& gang = problem_.gangs[waiting.gang];
    change_obstacle(kind, kind.obstacle, time);
    const auto longest = std::ranges::max_element(kind.lasted);
    const auto waits_for = static_cast<StartObstacle>(longest - kind.lasted.begin());
    starts_[waiting.gang] = {time, waits_for};
    waiting.has_started = true;
    queues_.take(gang, kind.demand.of_queue);
    heads_.note_started(kind.quota_queue, end, kind.demand.of_queue.amounts[kQueueGpu]);
    add_run(waiting.gang, kind, end);
  }

  // What ran of the gang before, below its minimum, ends with the rest.
  void add_run(GangIndex gang, const Kind& kind, Nanoseconds end) {
    Run& run = runs_[gang];
    if (run.end != 0) heads_.note_ended(run.quota_queue, run.end, run.of_queue.amounts[kQueueGpu]);
    run.of_queue.add(kind.demand.of_queue);
    run.quota_queue = kind.quota_queue;
    run.places = places_;
    run.end = end;
    heads_.note_running(run.quota_queue, end, run.of_queue.amounts[kQueueGpu]);
    ends_.add({end, gang});
  }

  const Problem& problem_;
  const EndState end_;
  const Nanoseconds now_;
  QueueSlack queues_;
  QuotaHeads heads_;
  std::optional<NodeResidual> nodes_;  // once it is known which pods wait
  Kinds kinds_;
  std::vector<Waiting> waiting_;  // in turn
  Indexed<GangIndex, Run> runs_;
  Ends ends_;
  std::vector<NodeResidual::Place> places_;  // of the last gang that was tried
  int pass_ = 0;
  Nanoseconds ranked_until_ = 0;  // ahead of now
  ExpectedStarts starts_;
};

}  // namespace

ExpectedStarts expected_starts(const Problem& problem, const Plan& plan, const std::function<bool()>& stop) {
  const bool is_known = !problem.gangs.empty() && problem.gangs.raw().front().times.expected_duration > 0;
  return is_known ? Forecast(problem, plan).run(stop) : ExpectedStarts();
}

}  // namespace muster::forecast
