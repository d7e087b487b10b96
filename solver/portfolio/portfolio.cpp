#include "solver/portfolio/portfolio.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "heuristics/greedy/greedy.h"
#include "heuristics/local_search/gathering.h"
#include "heuristics/local_search/search.h"
#include "heuristics/state/candidate.h"
#include "heuristics/state/stop_request.h"
#include "model/base/parallel.h"
#include "model/objective/evaluation.h"
#include "model/objective/level_bounds.h"
#include "solver/budget/deadline.h"
#include "solver/budget/forecast.h"
#include "solver/cbc/backend.h"
#include "solver/engine/milp_engine.h"
#include "solver/formulation/leaving_kinds.h"
#include "solver/lp/sum_bounds.h"
#include "solver/portfolio/plan_memory.h"

namespace muster {
namespace {

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Deadline::Clock::duration as_duration(double milliseconds) {
  return std::chrono::duration_cast<Deadline::Clock::duration>(std::chrono::duration<double, std::milli>(milliseconds));
}

constexpr double kGreedyShare = 0.2, kFirstStartShare = 0.7;  // of the budget, if another engine follows
constexpr double kEvictingShare = 0.94;                       // if greedy has little use for the rest
constexpr double kClaimingShare = 0.85;                       // of a start's time; then it fills and chooses victims

// Of the remaining budget: the search before the MILP engine; and then the minimum and maximum for that engine. In
// between it gets time as long as it finds much on blocks of nodes.
constexpr double kFirstSearchShare = 0.03, kLeastMilpShare = 0.7, kMostMilpShare = 0.94;
// Microseconds for each pod or node that the MILP engine needs for a first plan; as long as it still finds much more
// than the search; and until it stops finding much. Measured on 1,213 nodes, most of them equal, and half occupied.
struct MilpTimes {
  std::int64_t first_plan, alone, all;
};
constexpr MilpTimes kAlikeNodes{5, 50, 100}, kOccupiedNodes{14, 150, 300};
constexpr std::int64_t kManyOccupied = 300;  // nodes: nearly all differ
// Pods and nodes of a cluster that is large to the MILP engine, and to further starts of greedy.
constexpr std::int64_t kManyLooks = 5'000, kVeryManyLooks = 30'000;
constexpr double kFull = 0.001;  // short of a bound by sums by no more than this
// Of the time left, for a plan with the oldest gangs first; and the limit if the MILP engine would need all of it.
constexpr double kOldestShare = 0.3, kMostOldestShare = 0.9;
// Nanoseconds for each gang, to report that there was no time for a reason; milliseconds for each pod or node, for the
// first reason.
constexpr std::int64_t kGlance = 100;
constexpr double kToTheFirstReason = 0.00008;
constexpr double kToBeginAndEnd = 0.0004;  // milliseconds a pod or node, of a search that finds nothing
constexpr double kToWriteAName = 0.00002;  // milliseconds; 12 bytes at 600 MB/s
constexpr int kSearchAgain = 3;            // times what the first search took, for the last one
// For an integer program without a clock: units of WorkLimit for each node, and the minimum number of nodes counted.
// Measured on 108 random clusters of 4 to 99 nodes: a unit takes 12 to 50 ns, a solve up to 10.3 s of CPU time.
constexpr std::int64_t kWorkANode = 2'000'000, kLeastNodes = 100;
// For a search without a clock: the maximum, and the number for each pod and node.
constexpr std::int64_t kMostTrials = 100'000, kTrialsALook = 20, kTrialsOfEquals = 2;

// A plan that may leave, in the order of preference.
struct Offer {
  Candidate candidate;
  std::string_view origin;
  std::vector<std::optional<std::int64_t>> bounds;
  bool is_gathered = false;  // gathering would change nothing
};

}  // namespace

struct Portfolio::Implementation {
  explicit Implementation(BackendOptions options) : backend(std::move(options)) {}
  Backend backend;
  PriceMemory prices;
  PlanMemory plan;
  EndForecast forecast;
  // Frees what a cycle has built for a large cluster while its plan is already being written: up to a quarter of a
  // second was measured. Waits for the previous one.
  std::jthread clearing_away;
};

Portfolio::Portfolio(std::string worker_program) : Portfolio(BackendOptions{std::move(worker_program), {}}) {}
Portfolio::Portfolio(BackendOptions options) : implementation_(std::make_unique<Implementation>(std::move(options))) {}
Portfolio::~Portfolio() = default;

namespace {

// One cycle. The greedy plan comes first and is checked first, so that there is always a plan to return.
class Cycle {
 public:
  // What outlives the cycle.
  struct Lasting {
    Backend& backend;
    PriceMemory& prices;
    PlanMemory& plan;
    EndForecast& forecast;
  };

  Cycle(const Snapshot& snapshot, const Problem& problem, const SolveOptions& options, const Lasting& lasting)
      : snapshot_(snapshot),
        problem_(problem),
        options_(options),
        backend_(lasting.backend),
        known_prices_(lasting.prices),
        known_plan_(lasting.plan),
        forecast_(lasting.forecast),
        ids_(level_ids(problem)),
        shares_(compute_fair_shares(problem)),
        rooms_(most_rooms(problem)),
        is_occupied_(occupied_nodes(problem) > kManyOccupied),
        milp_times_(is_occupied_ ? kOccupiedNodes : kAlikeNodes),
        most_leaving_(most_leaving(problem)),
        leaving_of_kinds_(most_leaving_ > 0 ? leaving_of_kinds(problem) : 0),
        sum_bounds_(problem, shares_, trivial_),
        deadline_(options.deadline, options.deterministic),
        whole_ms_(std::chrono::duration<double, std::milli>(deadline_.left()).count()),
        tracer_(ids_, options.trace) {}

  // After the run: what was built for the MILP engine, if so large that it should be freed during the next step.
  std::unique_ptr<MilpGroundwork> take_large_groundwork() {
    return looks() > kManyLooks ? std::move(groundwork_) : nullptr;
  }

  Solution run() {
    if (options_.engine != Engine::kGreedy) backend_.prepare();  // the worker starts while greedy runs
    run_greedy();
    if (may_search()) recall_plan();
    gather_best();
    if (options_.engine != Engine::kGreedy && !is_proven()) improve();
    const Clock::time_point start = Clock::now();
    const double between_ms = milliseconds_since(last_engine_ended_);
    Offer& offer = settle();
    if (gathering_ms_ > 0) solution_.phases_ms.emplace_back("gather", gathering_ms_);
    solution_.phases_ms.emplace_back("verify", verify_ms_ + milliseconds_since(start));
    Solution solution = conclude(offer);
    forecast_.learn(looks(), between_ms + milliseconds_since(start) - only_reasons_ms_, only_reasons_ms_);
    return solution;
  }

 private:
  void run_greedy() {
    const Clock::time_point start = Clock::now();
    const GreedyOptions greedy = greedy_options();
    std::optional<Candidate> candidate;
    // Next to a single start a core is free for the preparation of the MILP engine, too.
    const bool milp_follows = options_.engine != Engine::kGreedy && greedy.starts == 1 && !is_short_for_milp();
    parallel_for(2, options_.threads, [&](std::size_t task) {
      if (task == 0) {  // first if they run one after another: greedy alone knows when to stop
        trivial_ = trivial_bounds(problem_, shares_);
        if (options_.threads > 1 && milp_follows)
          groundwork_ = std::make_unique<MilpGroundwork>(problem_, shares_, deadline_.part(kFormulatingShare));
      } else {
        candidate = solve_greedy(problem_, shares_, greedy);
      }
    });
    ran_out_ = deadline_.passed() || candidate->ran_out;
    tracer_.tell("greedy", candidate->levels, {});
    offers_.insert(offers_.begin(), {*std::move(candidate), "greedy", {}});
    greedy_ms_ = milliseconds_since(start);
    if (const Clock::rep stopped = greedy_stopped_.load(); stopped != 0)
      forecast_.learn_stopping(looks(), milliseconds_since(Clock::time_point(Clock::duration(stopped))));
    solution_.phases_ms.emplace_back("greedy", greedy_ms_);
    last_engine_ended_ = Clock::now();
  }

  GreedyOptions greedy_options() {
    GreedyOptions greedy;
    greedy.seed = options_.seed;
    greedy.threads = options_.threads;
    greedy.on_placed = [this](Candidate placed) {
      tracer_.tell("greedy", placed.levels, {});
      offers_.assign(1, {std::move(placed), "greedy", {}});
    };
    if (options_.trace) greedy.on_first = [this](const Candidate& first) { tracer_.tell("greedy", first.levels, {}); };
    // On very large clusters the first two orders found the best plan (the first alone if most nodes are idle), and an
    // engine that follows makes better use of the time.
    const bool follows = options_.engine != Engine::kGreedy && !is_short_for_milp();
    // On small clusters all starts finish before another engine begins: the plan is then never worse than that of
    // greedy alone, even if a busy machine leaves it very little time.
    const bool has_all_the_time = options_.engine == Engine::kGreedy || looks() <= kManyLooks;
    if (looks() > kVeryManyLooks) greedy.starts = follows || !is_occupied_ ? 1 : 2;
    if (!options_.deterministic) {
      // The MILP may find what greedy has not found in its part of the time. But one start should finish.
      const auto stops_after = [&](double share) -> StartStops {
        const Clock::time_point now = Clock::now();
        const Clock::time_point until =
            (has_all_the_time ? options_.deadline : deadline_.after(share)) - end_of_start();
        const Clock::time_point claims_until =
            now + std::chrono::duration_cast<Clock::duration>(kClaimingShare * (until - now));
        return {[until] { return Clock::now() >= until; }, [claims_until] { return Clock::now() >= claims_until; }};
      };
      greedy.first_alone = is_short();
      const bool evicts = is_short_for_evictions();
      greedy.stop = stops_after(is_short() ? 1 : evicts ? kEvictingShare : kFirstStartShare);
      greedy.stop_more = stops_after(evicts ? kEvictingShare : kGreedyShare);
      greedy.stop.all = [this, stops = std::move(greedy.stop.all)] {
        const bool is_due = stops();
        if (is_due) note_stop();
        return is_due;
      };
    }
    return greedy;
  }

  void note_stop() {
    Clock::rep never = 0;
    greedy_stopped_.compare_exchange_strong(never, Clock::now().time_since_epoch().count());
  }

  // A start with evictions finishes its current claim and reprieves unneeded victims.
  Clock::duration end_of_start() const { return (most_leaving_ > 0 ? reserve() : Clock::duration()) + end_of_search(); }
  Clock::duration end_of_search() const { return reserve() + as_duration(forecast_.stopping(looks())); }

  // The rest of the last plan, if that is better.
  void recall_plan() {
    if (options_.deterministic || deadline_.passed()) return;
    const Clock::time_point start = Clock::now();
    const Clock::time_point until = options_.deadline - 2 * end_of_search();  // a plan costs as much as ending
    if (start >= until) return;
    auto candidate = known_plan_.recall(problem_, shares_, [until] { return Clock::now() >= until; });
    search_ms_ += milliseconds_since(start);
    last_engine_ended_ = Clock::now();
    if (!candidate || compare(candidate->levels, offers_.front().candidate.levels, ids_) <= 0) return;
    tracer_.tell("search", candidate->levels, {});
    offers_.insert(offers_.begin(), {*std::move(candidate), "search", {}});
  }

  // Leaves more nodes whole if that changes no earlier level; known bounds remain valid as long as the values before
  // their level do.
  void gather_best() {
    if (!snapshot_.policy.has_whole_nodes() || offers_.empty() || offers_.front().is_gathered) return;
    const Clock::time_point start = Clock::now(), until = deadline_.after(kFirstSearchShare) - reserve();
    if (!options_.deterministic && start >= until) return;
    const StopRequest stop = [&] { return !options_.deterministic && Clock::now() >= until; };
    Offer& best = offers_.front();
    const WholenessValues bounds = sum_bounds_.wholeness(best.candidate.levels);
    Gathered gathered = gather(problem_, shares_, best.candidate, bounds, stop);
    gathering_ms_ += milliseconds_since(start);
    last_engine_ended_ = Clock::now();
    best.is_gathered = gathered.is_complete && !gathered.better;
    if (!gathered.better) return;
    Offer found{*std::move(gathered.better), best.origin, best.bounds, gathered.is_complete};
    forget_bounds_after_change(best, found);
    tracer_.tell(found.origin, found.candidate.levels, found.bounds);
    offers_.insert(offers_.begin(), std::move(found));
  }

  void forget_bounds_after_change(const Offer& before, Offer& now) const {
    now.bounds.resize(ids_.size());
    std::size_t same = 0;
    while (same < ids_.size() && now.candidate.levels.values[same] == before.candidate.levels.values[same]) ++same;
    for (std::size_t i = same + 1; i < ids_.size(); ++i) now.bounds[i].reset();
  }

  // Bounds by sums alone: an empty problem, or one in which everything fits, needs no more.
  bool is_proven() {
    offers_.front().bounds = sum_bounds_.reached(offers_.front().candidate.levels);
    return is_settled(offers_.front());
  }

  // If it is proven that nothing better than the empty plan is placed, evicted or moved, the remaining levels are
  // decided by this plan alone.
  void settle_nothing(Offer& offer) const {
    const Plan& plan = offer.candidate.plan;
    const bool all_count = std::all_of(problem_.pods.begin(), problem_.pods.end(), [](const Pod& pod) {
      return pod.status != PodStatus::kPending || pod.weighted_work > 0;
    });
    if (!plan.placements.empty() || !plan.evictions.empty() || !all_count) return;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (ids_[i].kind > LevelKind::kMoved)
        offer.bounds[i] = offer.candidate.levels.values[i];
      else if (offer.bounds[i] != offer.candidate.levels.values[i])
        return;
    }
  }

  // Whether the budget is so short that a start of greedy is likely to take most of it, or more if it evicts: 0.5 to
  // 2.5 microseconds a pod were measured, 33 with evictions.
  bool is_short() const {
    const std::int64_t microseconds_a_pod = most_leaving_ > 0 ? 10 : 4;
    return deadline_.left() < std::chrono::microseconds(microseconds_a_pod * std::ssize(problem_.pods));
  }

  // Whether the budget is so short that the MILP engine will not reach a good plan with evictions. Running all starts
  // of greedy to the end achieves more.
  bool is_short_for_evictions() const { return deadline_.left() < 3 * time_to_leave(); }

  // The time that engine needs for a first plan: 2 s for 4,000 pods that may leave, on nodes of which nearly all hold
  // different pods.
  Clock::duration time_to_leave() const { return std::chrono::microseconds(500 * leaving_of_kinds_); }

  static std::int64_t most_leaving(const Problem& problem) {
    const Actions& actions = problem.snapshot->policy.actions;
    if (!actions.consolidate && !actions.preempt && !actions.reclaim) return 0;
    return std::ranges::count_if(problem.pods, [&](const Pod& pod) {
      return pod.status == PodStatus::kRunning && problem.gangs[pod.gang].preemptible;
    });
  }

  // Whether the budget is so short that the MILP engine will not reach a plan if it prices blocks of nodes, or if pods
  // may leave; or that it needs all of it.
  bool is_short_for_milp() const {
    return is_short_to_formulate() || is_large_with(milp_times_.first_plan) ||
           (looks() > kManyLooks && deadline_.left() < time_to_leave());
  }
  // 25 to 50 ns were measured for each class of pods at each kind of node, before there is a formulation.
  bool is_short_to_formulate() const {
    const auto supply = std::chrono::nanoseconds(50 * rooms_ * std::ssize(problem_.pod_classes));
    return deadline_.left() * kFormulatingShare < supply;
  }
  bool is_milp_alone() const { return !may_search() || is_large_with(milp_times_.alone); }
  static std::int64_t occupied_nodes(const Problem& problem) {
    std::vector<bool> is_occupied(problem.nodes.size(), false);
    for (const Pod& pod : problem.pods)
      if (!pod.node.is_none()) is_occupied[pod.node.value()] = true;
    return std::ranges::count(is_occupied, true);
  }
  // Kinds of nodes that the MILP engine may have to distinguish.
  static std::int64_t most_rooms(const Problem& problem) {
    if (!problem.anti_affinities.empty()) return std::ssize(problem.nodes);
    return std::min(std::ssize(problem.nodes), std::ssize(problem.node_classes) + occupied_nodes(problem));
  }
  bool is_large_with(std::int64_t microseconds_a_look) const {
    return looks() > kManyLooks && deadline_.left() < std::chrono::microseconds(microseconds_a_look * looks());
  }
  std::int64_t looks() const { return static_cast<std::int64_t>(problem_.pods.size() + problem_.nodes.size()); }

  bool may_search() const { return options_.engine == Engine::kAuto; }

  // To begin one and to finish it.
  bool has_time_for_search() const {
    const Clock::duration least = as_duration(kToBeginAndEnd * static_cast<double>(looks()));
    return options_.deterministic || Clock::now() + least < options_.deadline - reserve();
  }

  // After the MILP engine, if it has not proven its plan optimal.
  Clock::duration time_for_search() const {
    if (is_milp_alone()) return {};
    const Clock::duration left = std::max(Clock::duration::zero(), deadline_.left() - reserve());
    const auto part = [&](double share) { return std::chrono::duration_cast<Clock::duration>(left * share); };
    const std::chrono::microseconds wanted(milp_times_.all * looks());
    const Clock::duration rest =
        left - std::clamp<Clock::duration>(wanted, part(kLeastMilpShare), part(kMostMilpShare));
    // If the first search finished by itself, another one will not take much longer.
    return search_ran_out_ ? rest : std::min<Clock::duration>(rest, kSearchAgain * as_duration(search_ms_));
  }

  // The integer program between two searches: it starts from a better plan, and its result is improved by the second
  // search.
  void improve() {
    if (may_search() && is_full_of_the_young() && has_time_for_another_start()) put_oldest_first();
    const bool is_left_to_search = may_search() && is_short_for_milp();
    if (worth_a_milp() && !is_left_to_search) {
      if (!is_milp_alone()) run_search({deadline_.after(kFirstSearchShare), kFirstSearchShare});
      run_milp();
    } else if (may_search() && has_time_for_search()) {
      measure_verifying();
    }
    gather_best();
    if (may_search() && has_time_for_search()) run_search({options_.deadline - reserve(), 1 - kFirstSearchShare});
    if (is_left_to_search && has_search_left_most_of_it()) run_milp();
    last_engine_ended_ = Clock::now();
    if (may_search()) solution_.phases_ms.emplace_back("search", search_ms_ + oldest_ms_);
  }

  // Whether the only likely gain left is to place gangs that have waited longer.
  bool is_full_of_the_young() const {
    const std::vector<std::int64_t>& values = offers_.front().candidate.levels.values;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const double gap = std::abs(static_cast<double>(trivial_[i] - values[i])) /
                         std::max(1.0, std::abs(static_cast<double>(trivial_[i])));
      if (ids_[i].kind == LevelKind::kSeniority) return gap > kFull;
      if (gap > kFull) return false;
    }
    return false;
  }

  // And for as much again to improve it.
  bool has_time_for_another_start() const {
    return options_.deterministic || deadline_.left() - reserve() > as_duration(2 * greedy_ms_);
  }

  // Restarts with the oldest gangs first, which leaves a little idle; a search may fill that and improve the plan.
  void put_oldest_first() {
    const Clock::time_point start = Clock::now();
    const double share = is_milp_alone() ? kMostOldestShare : kOldestShare;
    const SearchTime time{deadline_.after(share) - reserve(), share};
    GreedyOptions greedy = greedy_options();
    greedy.oldest_first = true;
    greedy.on_placed = nullptr;
    if (!options_.deterministic) greedy.stop = {[until = time.until] { return Clock::now() >= until; }, {}};
    Candidate candidate = solve_greedy(problem_, shares_, greedy);
    if (options_.deterministic || Clock::now() < time.until)
      candidate = search(problem_, shares_, candidate, options_of_search(time));
    oldest_ms_ = milliseconds_since(start);
    if (compare(candidate.levels, offers_.front().candidate.levels, ids_) <= 0) return;
    tracer_.tell("search", candidate.levels, {});
    std::vector<std::optional<std::int64_t>> bounds = sum_bounds_.reached(candidate.levels);
    offers_.insert(offers_.begin(), {std::move(candidate), "search", std::move(bounds)});
  }

  // The search has nothing left to find, and the rest of the budget would be idle.
  bool has_search_left_most_of_it() const {
    return !options_.deterministic && !search_ran_out_ && worth_a_milp() && !is_short_to_formulate() &&
           deadline_.left() > as_duration(whole_ms_ / 2);
  }

  // Below this the MILP engine gives no result: setup and an aggregate bound took 5 ms on tiny problems, 0.1 s on 9,704
  // nodes and 65,000 pods.
  bool worth_a_milp() const { return deadline_.left() - reserve() > std::chrono::microseconds(5'000 + 2 * looks()); }

  // Reserved for the end: as forecast, but at least three times the verification time of this line. The names of pods
  // that must be gone first are written for each placement; forecasts by the snapshot's size omit them.
  Clock::duration reserve() const {
    std::size_t names = 0;
    if (!offers_.empty())
      for (const Placement& placement : offers_.front().candidate.plan.placements) names += placement.after.size();
    return as_duration(std::max(forecast_.of(looks(), whole_ms_), 3 * verify_ms_) +
                       kToWriteAName * static_cast<double>(names));
  }

  // Puts a plan that passes in front, and measures how long checking takes.
  bool measure_verifying() {
    bool has_passed = false;
    while (!has_passed && !offers_.empty()) {
      const Clock::time_point before = Clock::now();
      has_passed = passes(offers_.front());
      verify_ms_ = milliseconds_since(before);
      if (!has_passed) offers_.erase(offers_.begin());
    }
    if (has_passed) return true;
    offers_.push_back(least());  // no place to start from
    return passes(offers_.front());
  }

  std::int64_t work() const { return kWorkANode * std::max(kLeastNodes, std::ssize(problem_.nodes)); }

  void run_milp() {
    if (!measure_verifying()) return;
    const Clock::time_point start = Clock::now();
    const Clock::time_point until =
        options_.deterministic ? options_.deadline : options_.deadline - reserve() - time_for_search();
    MilpEngineOptions milp{options_.deterministic ? Deadline(until, WorkLimit(work())) : Deadline(until, false),
                           options_.gap,
                           options_.threads,
                           options_.write_model,
                           &tracer_,
                           options_.deterministic ? nullptr : &known_prices_,
                           trivial_};
    milp.sums = &sum_bounds_;
    if (!groundwork_)
      groundwork_ = std::make_unique<MilpGroundwork>(problem_, shares_, milp.deadline.part(kFormulatingShare));
    MilpOutcome outcome = solve_milp(*groundwork_, offers_.front().candidate, backend_, milp);
    ran_out_ = !options_.deterministic && milp.deadline.passed();
    if (ran_out_) forecast_.learn_coming_back(milliseconds_since(until));
    solution_.phases_ms.emplace_back("milp", milliseconds_since(start));
    solution_.defects.insert(solution_.defects.end(), outcome.defects.begin(), outcome.defects.end());
    if (outcome.improved)
      offers_.insert(offers_.begin(), {std::move(outcome.best), "milp", std::move(outcome.bounds)});
    else
      merge_bounds(outcome.bounds, offers_.front().bounds);
  }

  struct SearchTime {
    Clock::time_point until;
    double share = 1;  // of the work limit, in deterministic mode
  };

  // From now on: a search stops earlier by the time that it took to begin, which is about the time it takes to end.
  static StopRequest stop_of_search(Clock::time_point until) {
    const auto end = std::make_shared<std::optional<Clock::time_point>>();
    return [until, begun = Clock::now(), end] {
      const Clock::time_point now = Clock::now();
      if (!*end) *end = until - (now - begun);
      return now >= **end;
    };
  }

  SearchOptions options_of_search(const SearchTime& time) const {
    SearchOptions search_options;
    search_options.seed = options_.seed;
    search_options.threads = options_.threads;
    if (options_.deterministic)
      search_options.most_trials =
          static_cast<std::int64_t>(time.share * static_cast<double>(std::min(kMostTrials, kTrialsALook * looks())));
    else
      search_options.stop = stop_of_search(time.until);
    return search_options;
  }

  // Reports the search's result under its own name; known bounds hold as long as the values before their level do.
  void run_search(const SearchTime& time) {
    const Clock::time_point start = Clock::now();
    if (!options_.deterministic && start >= time.until) return;
    SearchOptions search_options = options_of_search(time);
    const Offer& best = offers_.front();
    // If all levels are proven, the search only distinguishes plans that are equal in all of them.
    if (is_settled(best)) search_options.most_trials = std::min(kMostTrials, kTrialsOfEquals * looks());
    Offer found{search(problem_, shares_, best.candidate, search_options), "search", best.bounds};
    search_ms_ += milliseconds_since(start);
    search_ran_out_ = !options_.deterministic && Clock::now() >= time.until;
    if (found.candidate.plan == best.candidate.plan) return;
    forget_bounds_after_change(best, found);
    tracer_.tell("search", found.candidate.levels, found.bounds);
    offers_.insert(offers_.begin(), std::move(found));
  }

  bool is_settled(const Offer& offer) const {
    for (std::size_t i = 0; i < ids_.size(); ++i)
      if (i >= offer.bounds.size() || offer.bounds[i] != offer.candidate.levels.values[i]) return false;
    return true;
  }

  void merge_bounds(const std::vector<std::optional<std::int64_t>>& more,
                    std::vector<std::optional<std::int64_t>>& bounds) const {
    for (std::size_t i = 0; i < bounds.size(); ++i)
      if (!bounds[i]) bounds[i] = more[i];
  }

  bool passes(const Offer& offer) {
    const std::vector<Violation> violations =
        check_plan(snapshot_, problem_, shares_, offer.candidate.plan, options_.threads);
    if (violations.empty()) return true;
    ++solution_.rejected_plans;
    solution_.defects.push_back("a " + std::string(offer.origin) +
                                " plan was rejected: " + std::string(rule_name(violations[0].rule)) + ", " +
                                violations[0].subject + ": " + violations[0].message);
    return false;
  }

  // The best offer that the referee passes, and the report on it; the minimal plan if there is none.
  Offer& settle() {
    for (Offer& offer : offers_)
      if (passes_and_is_told(offer)) return offer;
    offers_.push_back(least());
    show(offers_.back());
    tell(offers_.back());
    return offers_.back();
  }

  // The referee, the report, the caller and the plan memory read the plan concurrently; the report on a rejected plan
  // is not used. If they run one after another, the report comes last: it alone knows when to stop.
  bool passes_and_is_told(Offer& offer) {
    if (options_.threads <= 1 || !is_well_formed(snapshot_, problem_, offer.candidate.plan)) {
      if (!passes(offer)) return false;
      show(offer);
      only_reasons_ms_ = milliseconds_since(tell(offer));
      return true;
    }
    bool has_passed = false;
    Clock::time_point only_reasons_left, is_checked, is_shown;
    parallel_for(3, options_.threads, [&](std::size_t task) {
      if (task == 0) {
        has_passed = passes(offer);
        is_checked = Clock::now();
      } else if (task == 1) {
        only_reasons_left = tell(offer);
      } else {
        show(offer);
        is_shown = Clock::now();
      }
    });
    only_reasons_ms_ = milliseconds_since(std::max({only_reasons_left, is_checked, is_shown}));
    return has_passed;
  }

  void show(const Offer& offer) const {
    if (options_.verifying) options_.verifying(offer.candidate.plan);
    if (may_search() && !options_.deterministic) known_plan_.keep(problem_, offer.candidate.plan);
  }

  // Returns when only the reasons were left.
  Clock::time_point tell(Offer& offer) {
    complete_bounds(offer);
    drop_refuted_bounds(offer);
    Clock::time_point only_reasons_left;
    ReportInput input{offer.candidate.plan, offer.candidate.levels, offer.bounds, is_settled(offer) || !ran_out_};
    // Finding the first reason takes the longest; each one has to be written, too; and marking those without time takes
    // very little.
    if (!options_.deterministic)
      input.stop = [until = options_.deadline - std::chrono::nanoseconds(kGlance * problem_.gangs.size()),
                    first = as_duration(kToTheFirstReason * static_cast<double>(looks())),
                    told = std::int64_t{0}]() mutable {
        const Clock::duration rest = told == 0 ? first : as_duration(kToWriteAReason * static_cast<double>(told));
        ++told;
        return Clock::now() + rest >= until;
      };
    input.only_reasons_left = [&] { only_reasons_left = Clock::now(); };
    solution_.report = describe(problem_, shares_, input);
    return only_reasons_left;
  }

  // A bound that the plan itself exceeds is a defect of the solver, whichever engine found it: logged, not reported.
  void drop_refuted_bounds(Offer& offer) {
    for (std::size_t i = 0; i < offer.bounds.size(); ++i) {
      const std::int64_t value = offer.candidate.levels.values[i];
      std::optional<std::int64_t>& bound = offer.bounds[i];
      if (!bound || (is_maximised(ids_[i].kind) ? value <= *bound : value >= *bound)) continue;
      bound_defects_.push_back("a bound of " + std::to_string(*bound) + " of the level " +
                               std::string(level_name(ids_[i].kind)) + " was refuted by a plan with " +
                               std::to_string(value));
      bound.reset();
    }
  }

  void complete_bounds(Offer& offer) const {
    offer.bounds.resize(ids_.size());
    merge_bounds(sum_bounds_.reached(offer.candidate.levels), offer.bounds);
    sum_bounds_.tighten(offer.candidate.levels, offer.bounds);
    settle_nothing(offer);
  }

  // Nothing is placed, and only stale pods are evicted.
  Offer least() const {
    Plan plan;
    for (PodIndex pod : problem_.pods.indices()) {
      const bool must_go = problem_.snapshot->policy.actions.stale && problem_.gangs[problem_.pods[pod].gang].stale;
      if (must_go && problem_.pods[pod].status == PodStatus::kRunning)
        plan.evictions.push_back({pod, EvictionReason::kStale, GangIndex::none()});
    }
    Levels levels = evaluate(problem_, shares_, plan);
    return {{std::move(plan), std::move(levels)}, "none", {}};
  }

  Solution conclude(Offer& offer) {
    std::ranges::move(bound_defects_, std::back_inserter(solution_.defects));
    tracer_.tell(offer.origin, offer.candidate.levels, offer.bounds);
    solution_.gap = gap_of(solution_.report.objective, snapshot_.policy.placement);
    solution_.origin =
        offer.candidate.plan.placements.empty() && offer.candidate.plan.evictions.empty() ? "none" : offer.origin;
    solution_.proof = is_settled(offer) ? "optimal" : (is_within_gap(offer) ? "withinGap" : "heuristic");
    solution_.plan = std::move(offer.candidate.plan);
    return std::move(solution_);
  }

  // The first level that is short of its bound is short by no more than the requested gap.
  bool is_within_gap(const Offer& offer) const {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (!offer.bounds[i]) return false;
      if (*offer.bounds[i] != offer.candidate.levels.values[i])
        return options_.gap > 0 && solution_.gap <= options_.gap;
    }
    return true;
  }

  const Snapshot& snapshot_;
  const Problem& problem_;
  const SolveOptions& options_;
  Backend& backend_;
  PriceMemory& known_prices_;
  PlanMemory& known_plan_;
  EndForecast& forecast_;
  std::vector<LevelId> ids_;
  FairShares shares_;
  const std::int64_t rooms_;
  const bool is_occupied_;
  const MilpTimes& milp_times_;
  const std::int64_t most_leaving_;      // pods that may be evicted or moved
  const std::int64_t leaving_of_kinds_;  // of them, those on one node of each kind
  std::vector<std::int64_t> trivial_;    // bounds of the levels
  const SumBounds sum_bounds_;
  Deadline deadline_;
  const double whole_ms_;  // what is left when the cycle begins
  Tracer tracer_;
  std::unique_ptr<MilpGroundwork> groundwork_;
  std::vector<Offer> offers_;  // best first
  double greedy_ms_ = 0, verify_ms_ = 0, search_ms_ = 0, oldest_ms_ = 0, gathering_ms_ = 0;
  std::atomic<Clock::rep> greedy_stopped_{0};  // when its first start was asked to stop; 0: it was not
  Clock::time_point last_engine_ended_;
  double only_reasons_ms_ = 0;  // of the end: nothing else was done then
  std::vector<std::string> bound_defects_;  // found concurrently with the referee, which adds to those of the solution
  bool search_ran_out_ = false;
  bool ran_out_ = false;  // of time, before the last engine had finished
  Solution solution_;
};

}  // namespace

Solution Portfolio::solve(const Snapshot& snapshot, const Problem& problem, const SolveOptions& options) {
  Implementation& lasting = *implementation_;
  Cycle cycle(snapshot, problem, options, {lasting.backend, lasting.prices, lasting.plan, lasting.forecast});
  Solution solution = cycle.run();
  if (auto large = cycle.take_large_groundwork())
    lasting.clearing_away = std::jthread([all = std::move(large)]() mutable { all.reset(); });
  return solution;
}

void Portfolio::tidy() { implementation_->backend.tidy(); }

std::int64_t Portfolio::worker_failures() const { return implementation_->backend.failures(); }

}  // namespace muster
