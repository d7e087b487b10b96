#include "solver/portfolio/portfolio.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "heuristics/greedy/greedy.h"
#include "heuristics/local_search/repacking.h"
#include "heuristics/local_search/search.h"
#include "heuristics/state/candidate.h"
#include "model/base/parallel.h"
#include "model/base/tuning.h"
#include "model/objective/evaluation.h"
#include "model/objective/level_bounds.h"
#include "solver/budget/deadline.h"
#include "solver/budget/forecast.h"
#include "solver/budget/time_plan.h"
#include "solver/cbc/backend.h"
#include "solver/engine/milp_engine.h"
#include "solver/lp/sum_bounds.h"
#include "solver/portfolio/first_plan.h"
#include "solver/portfolio/instance_size.h"
#include "solver/portfolio/offer.h"
#include "solver/portfolio/plan_memory.h"
#include "solver/portfolio/search_clock.h"
#include "solver/portfolio/search_turns.h"

namespace muster::portfolio {
namespace {

double milliseconds_since(Clock::time_point start, Clock::time_point end = Clock::now()) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

Deadline::Clock::duration as_duration(double milliseconds) {
  return std::chrono::duration_cast<Deadline::Clock::duration>(std::chrono::duration<double, std::milli>(milliseconds));
}

}  // namespace

struct Portfolio::Implementation {
  explicit Implementation(cbc::BackendOptions options) : backend(std::move(options)) {}
  cbc::Backend backend;
  column_generation::PriceMemory prices;
  PlanMemory plan;
  EndForecast forecast;
  EngineForecast engines;
  // Frees what a cycle has built for a large cluster while its plan is already being written: up to a quarter of a
  // second was measured. Waits for the previous one.
  std::jthread clearing_away;
};

Portfolio::Portfolio(std::string worker_program) : Portfolio(cbc::BackendOptions{std::move(worker_program), {}}) {}
Portfolio::Portfolio(cbc::BackendOptions options)
    : implementation_(std::make_unique<Implementation>(std::move(options))) {}
Portfolio::~Portfolio() = default;

namespace {

// One cycle. The greedy plan comes first and is checked first, so that there is always a plan to return.
class Cycle {
 public:
  // What outlives the cycle.
  struct Lasting {
    cbc::Backend& backend;
    column_generation::PriceMemory& prices;
    PlanMemory& plan;
    EndForecast& forecast;
    EngineForecast& engines;
  };

  Cycle(const Snapshot& snapshot, const Problem& problem, const SolveOptions& options, const Lasting& lasting)
      : snapshot_(snapshot),
        problem_(problem),
        options_(options),
        backend_(lasting.backend),
        known_prices_(lasting.prices),
        known_plan_(lasting.plan),
        forecast_(lasting.forecast),
        engine_forecast_(lasting.engines),
        ids_(level_ids(problem)),
        shares_(compute_fair_shares(problem)),
        size_(instance_size(problem)),
        sum_bounds_(problem, shares_, trivial_),
        deadline_(options.deadline, options.deterministic),
        plan_(make_time_plan(size_, learnt_times(), budget())),
        tracer_(ids_, options.trace) {}

  // After the run: what was built for the MILP engine, if so large that it should be freed during the next step.
  std::unique_ptr<engine::MilpPreparation> take_large_preparation() {
    return plan_.is_large ? std::move(preparation_) : nullptr;
  }

  Solution run() {
    if (options_.time_plan) options_.time_plan(allotments(plan_, budget()));
    if (options_.engine != Engine::kGreedy) backend_.prepare();  // the worker starts while greedy runs
    run_greedy();
    if (may_search()) recall_plan();
    if (is_repacking_due() && !options_.left_out.contains("gather")) repack_best();
    if (options_.engine != Engine::kGreedy && !is_proven()) improve();
    const Clock::time_point start = Clock::now();
    const double between_ms = milliseconds_since(last_engine_ended_);
    Offer& offer = settle();
    if (repacking_ms_ > 0) solution_.phases_ms.emplace_back("gather", repacking_ms_);
    solution_.phases_ms.emplace_back("verify", verify_ms_ + milliseconds_since(start));
    Solution solution = conclude(offer);
    forecast_.learn(size_.items(), between_ms + milliseconds_since(start) - only_reasons_ms_, only_reasons_ms_);
    return solution;
  }

 private:
  TimeBudget budget() const {
    return {left_ms(), !options_.deterministic, options_.engine != Engine::kGreedy, may_search(), options_.threads};
  }

  // Without a clock nothing is learnt, so that a plan depends on no earlier one.
  LearntTimes learnt_times() const {
    const bool has_clock = !options_.deterministic;
    const EndForecast& end = has_clock ? forecast_ : EndForecast();
    const EngineForecast& engines = has_clock ? engine_forecast_ : EngineForecast();
    return {end.of(size_.items(), left_ms()),
            end.checking(size_.items()),
            end.stopping(size_.items()),
            engines.greedy_start(size_.pods, size_.leaving > 0),
            engines.first_plan(size_.items(), size_.nodes_differ()),
            engines.choice(size_.kinds)};
  }

  double left_ms() const { return std::chrono::duration<double, std::milli>(deadline_.left()).count(); }

  void run_greedy() {
    const Clock::time_point start = Clock::now();
    const greedy::GreedyOptions greedy = greedy_options();
    std::optional<Candidate> candidate;
    // Next to a single start a core is free for the preparation of the MILP engine, too.
    const bool milp_follows = options_.engine != Engine::kGreedy && greedy.starts == 1 && !is_short_for_milp();
    double start_ms = 0;
    if (size_.kinds > 0 && !options_.deterministic && plan_.whole_ms < engine_forecast_.choice(size_.kinds))
      engine_forecast_.note_choice_left_out();
    std::future<void> choosing;
    if (plan_.chooses_beside_greedy && !options_.left_out.contains("choice"))
      choosing = std::async(std::launch::async, [this] { choose_if_needed(); });
    parallel_for(2, options_.threads, [&](std::size_t task) {
      if (task == 0) {  // first if they run one after another: greedy alone knows when to stop
        if (choosing.valid()) return;
        trivial_ = trivial_bounds(problem_, shares_);
        if (options_.threads > 1 && milp_follows)
          preparation_ =
              std::make_unique<engine::MilpPreparation>(problem_, shares_, deadline_.part(plan_.milp.formulating));
      } else {
        const Clock::time_point begun = Clock::now();
        const FirstPlan::Ending ending(first_plan_, candidate);
        candidate = greedy::solve_greedy(problem_, shares_, greedy);
        start_ms = milliseconds_since(begun);
      }
    });
    greedy_ms_ = milliseconds_since(start);
    if (choosing.valid()) choosing.get();
    // More starts than threads take longer than the first.
    if (greedy.starts <= std::max(1, options_.threads))
      engine_forecast_.learn_greedy_start(size_.pods, size_.leaving > 0, start_ms);
    ran_out_ = deadline_.passed() || candidate->ran_out;
    tracer_.tell(Origin::kGreedy, candidate->levels, {});
    offers_.insert(offers_.begin(), {*std::move(candidate), Origin::kGreedy, {}});
    if (const Clock::rep stopped = greedy_stopped_.load(); stopped != 0)
      forecast_.learn_stopping(size_.items(), milliseconds_since(Clock::time_point(Clock::duration(stopped))));
    solution_.phases_ms.emplace_back("greedy", greedy_ms_);
    if (choice_) take_choice();
    choosing_ms_ = milliseconds_since(start) - greedy_ms_;
    last_engine_ended_ = Clock::now();
  }

  // It begins with the plan of greedy's first start, unless that settles every level; with its placements alone if
  // evicting takes long.
  void choose_if_needed() {
    trivial_ = trivial_bounds(problem_, shares_);
    const std::optional<Candidate> first = first_plan_.wait(begun_ + as_duration(kTuning.parts.aside * plan_.whole_ms));
    if (first && !is_settled({*first, Origin::kGreedy, sum_bounds_.reached(first->levels)})) choose(*first);
  }

  void choose(const Candidate& start) {
    engine::MilpEngineOptions milp = milp_options(options_.deadline - as_duration(plan_.end_ms));
    preparation_ =
        std::make_unique<engine::MilpPreparation>(problem_, shares_, milp.deadline.part(plan_.milp.formulating));
    if (!preparation_->candidates.any || preparation_->took_too_long) return;
    milp.trace = nullptr;  // greedy uses it
    milp.parts.choosing = kTuning.parts.most;
    // An earlier choice evicts more, and so finds places for more: it needs time, too.
    milp.parts.placing = kTuning.parts.side;
    milp.parts.dealing = kTuning.parts.half;
    milp.newer = [this] { return first_plan_.later(); };
    const Clock::time_point begun = Clock::now();
    choice_ = engine::choose_and_place(*preparation_, start, backend_, milp);
    const double ms = milliseconds_since(begun, choice_->outcome.first_improved.value_or(Clock::now()));
    engine_forecast_.learn_choice(size_.kinds, ms, choice_->outcome.improved || !milp.deadline.passed());
  }

  void take_choice() {
    note_faults(choice_->outcome);
    choice_->outcome.defects.clear();
    choice_->outcome.refused.clear();
    engine::MilpOutcome outcome = engine::outcome_for(offers_.front().candidate, *choice_, ids_);
    if (outcome.improved)
      offers_.insert(offers_.begin(), {std::move(outcome.best), Origin::kMilp, std::move(outcome.bounds)});
    else
      offers_.front().bounds = std::move(outcome.bounds);
    tracer_.tell(offers_.front().origin, offers_.front().candidate.levels, offers_.front().bounds);
  }

  engine::MilpEngineOptions milp_options(Clock::time_point until) {
    engine::MilpEngineOptions milp{
        options_.deterministic ? Deadline(until, WorkLimit(plan_.milp_work)) : Deadline(until, false),
        options_.gap,
        options_.threads,
        options_.write_model,
        &tracer_,
        options_.deterministic ? nullptr : &known_prices_,
        trivial_};
    milp.sums = &sum_bounds_;
    milp.parts = plan_.milp;
    milp.left_out = options_.left_out;
    return milp;
  }

  greedy::GreedyOptions greedy_options() {
    greedy::GreedyOptions greedy;
    greedy.threads = options_.threads;
    greedy.on_placed = [this](Candidate placed) {
      if (plan_.chooses_beside_greedy) first_plan_.set_placed(placed);
      tracer_.tell(Origin::kGreedy, placed.levels, {});
      offers_.assign(1, {std::move(placed), Origin::kGreedy, {}});
    };
    if (options_.trace || plan_.chooses_beside_greedy)
      greedy.on_first = [this](const Candidate& first) {
        tracer_.tell(Origin::kGreedy, first.levels, {});
        first_plan_.set(first);
      };
    // All starts of small clusters finish before another engine begins: the plan is then never worse than that of
    // greedy alone, even if a busy machine leaves it very little time.
    greedy.starts = plan_.greedy.starts;
    if (!options_.deterministic) {
      const auto stops_after = [&](double ms) -> greedy::StartStops {
        const Clock::time_point now = Clock::now(), until = begun_ + as_duration(ms);
        const Clock::time_point claims_until =
            now + std::chrono::duration_cast<Clock::duration>(plan_.greedy.claiming * (until - now));
        return {[until] { return Clock::now() >= until; }, [claims_until] { return Clock::now() >= claims_until; }};
      };
      greedy.first_alone = plan_.greedy.first_alone;
      greedy.stop = stops_after(plan_.greedy.first_ms);
      greedy.stop_more = stops_after(plan_.greedy.more_ms);
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

  // The rest of the last plan, if that is better.
  void recall_plan() {
    if ((options_.deterministic && !known_plan_.is_given()) || deadline_.passed()) return;
    const Clock::time_point start = Clock::now();
    // A plan costs as much as ending.
    const Clock::time_point until =
        options_.deadline - as_duration(kTuning.forecast.margin * (reserve_ms() + forecast_.stopping(size_.items())));
    if (!options_.deterministic && start >= until) return;
    auto candidate = known_plan_.recall(
        problem_, shares_, [has_clock = !options_.deterministic, until] { return has_clock && Clock::now() >= until; });
    search_ms_ += milliseconds_since(start);
    last_engine_ended_ = Clock::now();
    if (!candidate || compare(candidate->levels, offers_.front().candidate.levels, ids_) <= 0) return;
    tracer_.tell(Origin::kSearch, candidate->levels, {});
    offers_.insert(offers_.begin(), {*std::move(candidate), Origin::kSearch, {}});
  }

  bool is_repacking_due() {
    return snapshot_.policy.has_whole_nodes() && !offers_.empty() && !offers_.front().is_repacked;
  }

  // Leaves more nodes whole if that changes no earlier level; known bounds remain valid as long as the values before
  // their level do.
  void repack_best() {
    const Clock::time_point start = Clock::now(), until = deadline_.after(kTuning.parts.aside) - reserve();
    if (!options_.deterministic && start >= until) return;
    const StopRequest stop = [&] { return !options_.deterministic && Clock::now() >= until; };
    Offer& best = offers_.front();
    const WholenessValues bounds = sum_bounds_.wholeness(best.candidate.levels);
    local_search::Repacked repacked = local_search::repack(problem_, shares_, best.candidate, bounds, stop);
    repacking_ms_ += milliseconds_since(start);
    last_engine_ended_ = Clock::now();
    best.is_repacked = repacked.is_complete && !repacked.better;
    if (!repacked.better) return;
    Offer found{*std::move(repacked.better), best.origin, best.bounds, repacked.is_complete};
    forget_bounds_after_change(best, found);
    tracer_.tell(found.origin, found.candidate.levels, found.bounds);
    offers_.insert(offers_.begin(), std::move(found));
  }

  // By what is known without another engine, as where everything or nothing fits.
  bool is_proven() {
    add_known_bounds(offers_.front());
    return is_settled(offers_.front());
  }
  // Bounds by sums that the plan reaches, and what follows if it is empty.
  void add_known_bounds(Offer& offer) const {
    merge_bounds(sum_bounds_.reached(offer.candidate.levels), ids_, offer.bounds);
    settle_nothing(offer);
  }

  // If nothing better than the empty plan is placed, evicted or moved, it decides the remaining levels alone.
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

  // Whether the MILP engine is left out, as it would reach no plan.
  bool is_short_for_milp() const { return plan_.is_short_for_milp(left_ms()); }
  bool is_milp_alone() const { return plan_.is_milp_alone(left_ms()); }

  bool may_search() const { return options_.engine == Engine::kAuto; }

  // After the MILP engine, if it has not proven its plan optimal.
  Clock::duration time_for_search() const {
    return is_milp_alone() ? Clock::duration{} : as_duration(time_for_last_search(plan_, left_ms() - reserve_ms()));
  }

  // What may follow greedy, in this order. The MILP engine starts from the plan that it finds, and its result is
  // improved by the search.
  struct Stage {
    std::string_view name;
    bool (Cycle::*is_due)();
    void (Cycle::*run)();
  };
  static constexpr auto stages() {
    return std::to_array<Stage>({{"still", &Cycle::is_without_moves_due, &Cycle::run_without_moves},
                                 {"milp", &Cycle::is_milp_due, &Cycle::run_milp},
                                 {"gather", &Cycle::is_repacking_due, &Cycle::repack_best},
                                 {"search", &Cycle::is_search_due, &Cycle::run_search},
                                 {"milp", &Cycle::is_late_milp_due, &Cycle::run_milp}});
  }

  void improve() {
    for (const Stage& stage : stages())
      if (!options_.left_out.contains(stage.name) && (this->*stage.is_due)()) (this->*stage.run)();
    last_engine_ended_ = Clock::now();
    if (may_search()) solution_.phases_ms.emplace_back("search", search_ms_);
  }

  // A level before `moved` is open, though a choice with moves was made: where pods may move, a choice knows sums, and
  // may find no places; where they stay, it knows each node.
  bool is_without_moves_due() {
    if (!choice_ || !size_.may_move || !worth_a_milp() || (may_search() && is_short_for_milp())) return false;
    const Offer& best = offers_.front();
    const std::vector<std::int64_t>& values = best.candidate.levels.values;
    for (std::size_t i = 0; i < ids_.size() && ids_[i].kind < LevelKind::kEvicted; ++i)
      if (i >= best.bounds.size() || best.bounds[i] != values[i]) return true;
    return false;
  }

  // A plan that moves nothing is a plan, too: more freedom is no worse than less.
  void run_without_moves() {
    if (!measure_verifying()) return;
    const Clock::time_point start = Clock::now();
    engine::MilpEngineOptions milp =
        milp_options(std::min(options_.deadline - reserve(), deadline_.after(kTuning.parts.half)));
    engine::MilpPreparation still(problem_, shares_, milp.deadline.part(plan_.milp.formulating), false);
    if (still.candidates.any && !still.took_too_long) {
      engine::MilpOutcome found = engine::solve_milp(still, offers_.front().candidate, backend_, milp);
      note_faults(found);
      if (found.improved) {
        Offer better{std::move(found.best), Origin::kMilp, offers_.front().bounds};
        forget_bounds_after_change(offers_.front(), better);
        tracer_.tell(better.origin, better.candidate.levels, better.bounds);
        offers_.insert(offers_.begin(), std::move(better));
      }
    }
    choosing_ms_ += milliseconds_since(start);
  }

  bool is_milp_due() {
    is_left_to_search_ = may_search() && is_short_for_milp();
    if (is_left_to_search_ && !options_.deterministic) engine_forecast_.note_left_out(size_.nodes_differ());
    return worth_a_milp() && !is_left_to_search_;
  }
  // To begin one and to finish it.
  bool is_search_due() {
    return may_search() && (options_.deterministic || left_ms() - reserve_ms() > plan_.needs.search);
  }
  // The search has nothing left to find, and the rest of the budget would be idle.
  bool is_late_milp_due() {
    return is_left_to_search_ && !options_.deterministic && !search_ran_out_ && worth_a_milp() &&
           left_ms() > kTuning.parts.half * plan_.whole_ms;
  }

  // With less the MILP engine gives no result.
  bool worth_a_milp() const { return left_ms() - reserve_ms() > plan_.needs.first_bound; }

  // Kept for the end: as forecast, but at least a multiple of the verification time of this line. The names of pods
  // that must be gone first are written for each placement; forecasts by the snapshot's size omit them.
  double reserve_ms() const {
    std::size_t names = 0;
    if (!offers_.empty())
      for (const Placement& placement : offers_.front().candidate.plan.placements) names += placement.after.size();
    return forecast_.coming_back(plan_.whole_ms) +
           std::max(forecast_.ending(size_.items(), plan_.whole_ms), kTuning.forecast.repeat * verify_ms_) +
           kTuning.forecast.glance_ns * static_cast<double>(names) / 1e6;
  }
  Clock::duration reserve() const { return as_duration(reserve_ms()); }

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
    offers_.push_back(least_offer(problem_, shares_));  // no place to start from
    return passes(offers_.front());
  }

  void note_faults(const engine::MilpOutcome& outcome) {
    solution_.defects.insert(solution_.defects.end(), outcome.defects.begin(), outcome.defects.end());
    for (const auto& [rule, times] : outcome.refused) solution_.refused[rule] += times;
  }

  void run_milp() {
    if (!measure_verifying()) return;
    const Clock::time_point start = Clock::now();
    const Clock::time_point until =
        options_.deterministic ? options_.deadline : options_.deadline - reserve() - time_for_search();
    engine::MilpEngineOptions milp = milp_options(until);
    if (!preparation_)
      preparation_ =
          std::make_unique<engine::MilpPreparation>(problem_, shares_, milp.deadline.part(plan_.milp.formulating));
    engine::MilpOutcome outcome =
        engine::solve_milp(*preparation_, offers_.front().candidate, backend_, milp, choice_ ? &*choice_ : nullptr);
    ran_out_ = !options_.deterministic && milp.deadline.passed();
    if (ran_out_) forecast_.learn_coming_back(milliseconds_since(until));
    if (outcome.first_improved && size_.leaving == 0 && !options_.deterministic)
      engine_forecast_.learn_first_plan(
          size_.items(), size_.nodes_differ(),
          std::chrono::duration<double, std::milli>(*outcome.first_improved - start).count());
    solution_.phases_ms.emplace_back("milp", choosing_ms_ + milliseconds_since(start));
    note_faults(outcome);
    if (outcome.improved)
      offers_.insert(offers_.begin(), {std::move(outcome.best), Origin::kMilp, std::move(outcome.bounds)});
    else
      merge_bounds(outcome.bounds, ids_, offers_.front().bounds);
  }

  // With a clock, a stop request is still to be added.
  local_search::SearchOptions options_of_search() const {
    local_search::SearchOptions search_options;
    search_options.seed = options_.seed;
    search_options.threads = options_.threads;
    if (options_.deterministic) search_options.most_trials = plan_.search.most_trials;
    return search_options;
  }

  // With a clock again and again, as a search ends after many changes in vain: while there is something left to prove.
  // Without, once for each aim.
  void run_search() {
    if (verify_ms_ == 0) measure_verifying();
    const Clock::time_point start = Clock::now();
    SearchClock clock(options_.deadline - reserve());
    if (!options_.deterministic && !clock.has_time()) return;
    local_search::SearchOptions search_options = options_of_search();
    // If all levels are proven, the search only distinguishes plans that are equal in all of them.
    if (is_proven()) search_options.most_trials = plan_.search.settled_trials;
    SearchTurns turns;
    std::vector<local_search::SearchAim> aims = possible_aims(offers_.front(), ids_, size_.may_move);
    bool goes_on = true;
    while (goes_on) {
      if (!options_.deterministic) search_options.stop = clock.next();
      search_options.aim = turns.next(aims);
      turns.note(search_options.aim, search_once(search_options));
      ++search_options.seed;
      aims = possible_aims(offers_.front(), ids_, size_.may_move);
      goes_on = options_.deterministic ? turns.number() < aims.size()
                                       : !is_left_to_search_ && clock.has_time() && !is_good_enough();
    }
    search_ran_out_ = clock.has_stopped();
    search_ms_ += milliseconds_since(start);
  }

  // Reports its result under its own name; known bounds hold as long as the values before their level do.
  bool search_once(const local_search::SearchOptions& search_options) {
    Offer& best = offers_.front();
    Offer found{local_search::search(problem_, shares_, best.candidate, search_options), Origin::kSearch, best.bounds};
    if (found.candidate.plan == best.candidate.plan) return false;
    const bool is_better = found.candidate.levels.values != best.candidate.levels.values;
    forget_bounds_after_change(best, found);
    tracer_.tell(Origin::kSearch, found.candidate.levels, found.bounds);
    if (best.origin == Origin::kSearch && offers_.size() > 1)
      best = std::move(found);
    else
      offers_.insert(offers_.begin(), std::move(found));
    return is_better;
  }

  // Nothing better than the best plan is asked for.
  bool is_good_enough() {
    Offer& best = offers_.front();
    add_known_bounds(best);
    return is_within_gap(best, ids_, options_.gap, snapshot_.policy.placement);
  }

  bool passes(const Offer& offer) {
    const std::vector<referee::Violation> violations =
        referee::check_plan(snapshot_, problem_, shares_, offer.candidate.plan, options_.threads, 1);
    if (violations.empty()) return true;
    ++solution_.rejected_plans;
    solution_.defects.push_back("a " + std::string(origin_name(offer.origin)) +
                                " plan was rejected: " + std::string(referee::rule_name(violations[0].rule)) + ", " +
                                violations[0].subject + ": " + violations[0].message);
    return false;
  }

  // The best offer that the referee passes, and the report on it; the minimal plan if there is none.
  Offer& settle() {
    for (Offer& offer : offers_)
      if (passes_and_is_told(offer)) return offer;
    offers_.push_back(least_offer(problem_, shares_));
    remember(offers_.back());
    tell(offers_.back());
    return offers_.back();
  }

  // The referee, the report and the plan memory read the plan concurrently; the report on a rejected plan is not used.
  // If they run one after another, the report comes last: it alone knows when to stop.
  bool passes_and_is_told(Offer& offer) {
    if (options_.threads <= 1 || !referee::is_well_formed(snapshot_, problem_, offer.candidate.plan)) {
      if (!passes(offer)) return false;
      remember(offer);
      only_reasons_ms_ = milliseconds_since(tell(offer));
      return true;
    }
    bool has_passed = false;
    Clock::time_point only_reasons_left, is_checked, is_remembered;
    parallel_for(3, options_.threads, [&](std::size_t task) {
      if (task == 0) {
        has_passed = passes(offer);
        is_checked = Clock::now();
      } else if (task == 1) {
        only_reasons_left = tell(offer);
      } else {
        remember(offer);
        is_remembered = Clock::now();
      }
    });
    only_reasons_ms_ = milliseconds_since(std::max({only_reasons_left, is_checked, is_remembered}));
    return has_passed;
  }

  void remember(const Offer& offer) const {
    if (may_search() && !options_.deterministic) known_plan_.keep(problem_, offer.candidate.plan);
  }

  // Returns when only the reasons were left.
  Clock::time_point tell(Offer& offer) {
    complete_bounds(offer);
    std::ranges::move(drop_refuted_bounds(offer, ids_), std::back_inserter(bound_defects_));
    Clock::time_point only_reasons_left;
    explain::ReportInput input{offer.candidate.plan, offer.candidate.levels, offer.bounds,
                               is_settled(offer) || !ran_out_};
    // Finding the first reason takes the longest; each one has to be written, too; and marking those without time takes
    // very little.
    if (!options_.deterministic)
      input.stop = [until = options_.deadline - as_duration(plan_.glance_ms),
                    first = as_duration(plan_.first_reason_ms), told = std::int64_t{0}]() mutable {
        const Clock::duration rest = told == 0 ? first : as_duration(time_to_write_reasons(told));
        ++told;
        return Clock::now() + rest >= until;
      };
    input.only_reasons_left = [&] { only_reasons_left = Clock::now(); };
    solution_.report = explain::describe(problem_, shares_, input);
    return only_reasons_left;
  }

  void complete_bounds(Offer& offer) const {
    add_known_bounds(offer);
    sum_bounds_.tighten(offer.candidate.levels, offer.bounds);
  }

  Solution conclude(Offer& offer) {
    std::ranges::move(bound_defects_, std::back_inserter(solution_.defects));
    tracer_.tell(offer.origin, offer.candidate.levels, offer.bounds);
    solution_.gap = explain::gap_of(solution_.report.objective, snapshot_.policy.placement);
    const bool does_nothing = offer.candidate.plan.placements.empty() && offer.candidate.plan.evictions.empty();
    solution_.origin = does_nothing ? Origin::kNone : offer.origin;
    solution_.proof = proof_of(offer, ids_, options_.gap, snapshot_.policy.placement);
    solution_.plan = std::move(offer.candidate.plan);
    return std::move(solution_);
  }

  const Snapshot& snapshot_;
  const Problem& problem_;
  const SolveOptions& options_;
  cbc::Backend& backend_;
  column_generation::PriceMemory& known_prices_;
  PlanMemory& known_plan_;
  EndForecast& forecast_;
  EngineForecast& engine_forecast_;
  std::vector<LevelId> ids_;
  FairShares shares_;
  const InstanceSize size_;
  std::vector<std::int64_t> trivial_;  // bounds of the levels
  const lp::SumBounds sum_bounds_;
  Deadline deadline_;
  const Clock::time_point begun_ = Clock::now();
  const TimePlan plan_;
  Tracer tracer_;
  std::unique_ptr<engine::MilpPreparation> preparation_;
  std::vector<Offer> offers_;  // best first
  FirstPlan first_plan_;
  std::optional<engine::ChoiceOutcome> choice_;  // made beside greedy
  double greedy_ms_ = 0, choosing_ms_ = 0, verify_ms_ = 0, search_ms_ = 0, repacking_ms_ = 0;
  std::atomic<Clock::rep> greedy_stopped_{0};  // when its first start was asked to stop; 0: it was not
  Clock::time_point last_engine_ended_;
  double only_reasons_ms_ = 0;              // of the end: nothing else was done then
  std::vector<std::string> bound_defects_;  // found concurrently with the referee, which adds to those of the solution
  bool is_left_to_search_ = false;          // the MILP engine would reach no plan
  bool search_ran_out_ = true;              // of time, or it was not run
  bool ran_out_ = false;                    // of time, before the last engine had finished
  Solution solution_;
};

}  // namespace

Solution Portfolio::solve(const Snapshot& snapshot, const Problem& problem, const SolveOptions& options) {
  Implementation& lasting = *implementation_;
  Cycle cycle(snapshot, problem, options,
              {lasting.backend, lasting.prices, lasting.plan, lasting.forecast, lasting.engines});
  Solution solution = cycle.run();
  if (auto large = cycle.take_large_preparation())
    lasting.clearing_away = std::jthread([all = std::move(large)]() mutable { all.reset(); });
  return solution;
}

void Portfolio::start_from(const StartPlan& plan) { implementation_->plan.keep(plan); }

void Portfolio::start_from(const Problem& problem, const Plan& plan) {
  implementation_->plan.keep(problem, plan);
  implementation_->plan.give();
}

void Portfolio::tidy() { implementation_->backend.tidy(); }

std::int64_t Portfolio::worker_failures() const { return implementation_->backend.failures(); }

}  // namespace muster::portfolio
