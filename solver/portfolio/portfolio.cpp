#include "solver/portfolio/portfolio.h"

#include <array>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "model/base/tuning.h"
#include "solver/budget/forecast.h"
#include "solver/budget/time_plan.h"
#include "solver/cbc/backend.h"
#include "solver/portfolio/ending.h"
#include "solver/portfolio/greedy_stage.h"
#include "solver/portfolio/milp_runs.h"
#include "solver/portfolio/search_stage.h"

namespace muster::portfolio {
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
      : lasting_(lasting),
        task_(snapshot, problem, options),
        time_(task_, lasting.forecast, lasting.engines),
        offers_(task_),
        greedy_(task_, time_, offers_),
        milp_(task_, time_, offers_, lasting.backend, lasting.prices),
        gather_(task_, time_, offers_),
        search_(task_, time_, offers_),
        ending_(task_, time_, offers_, lasting.plan) {}

  // After the run: what was built for the MILP engine, if so large that it should be freed during the next step.
  std::unique_ptr<engine::MilpPreparation> take_large_preparation() {
    return time_.plan().is_large ? milp_.take_preparation() : nullptr;
  }

  Solution run() {
    const SolveOptions& options = task_.options();
    if (options.time_plan) options.time_plan(allotments(time_.plan(), time_.budget()));
    if (task_.has_milp()) lasting_.backend.prepare();  // the worker starts while greedy runs
    const bool greedy_ran_out = run_greedy();
    if (task_.may_search()) recall_plan();
    if (task_.has_stage("gather") && gather_.is_due()) gather_.run();
    last_engine_ended_ = Clock::now();
    if (task_.has_milp() && !offers_.is_proven()) improve();
    return end(milp_.ran_out().value_or(greedy_ran_out));
  }

 private:
  // Beside greedy the MILP engine chooses, or is prepared. Returns whether greedy ran out of time.
  bool run_greedy() {
    const Clock::time_point start = Clock::now();
    const TimePlan& plan = time_.plan();
    const std::int64_t kinds = task_.size().kinds;
    if (kinds > 0 && task_.has_clock() && plan.whole_ms < time_.engines().choice(kinds))
      time_.engines().note_choice_left_out();
    // Next to a single start a core is free for the preparation, too.
    const bool prepares =
        task_.options().threads > 1 && task_.has_milp() && plan.greedy.starts == 1 && !time_.is_short_for_milp();
    GreedyStage::Beside beside;
    if (plan.chooses_beside_greedy && task_.has_stage("choice"))
      beside.own_thread = [this](FirstPlan& first) {
        task_.find_trivial();
        milp_.choose_beside(first);
      };
    beside.free_core = [this, prepares] {
      task_.find_trivial();
      if (prepares) milp_.prepare();
    };
    const bool ran_out = greedy_.run(beside);
    milp_.take_choice();
    milp_.add_choosing(milliseconds_since(start) - greedy_.ms());
    return ran_out;
  }

  // The rest of the last plan, if that is better.
  void recall_plan() {
    const bool has_clock = task_.has_clock();
    if ((!has_clock && !lasting_.plan.is_given()) || time_.deadline().passed()) return;
    const Clock::time_point start = Clock::now();
    // A plan costs as much as ending.
    const double ending_ms = time_.reserve_ms(offers_) + time_.ends().stopping(task_.size().items());
    const Clock::time_point until = task_.options().deadline - as_duration(kTuning.forecast.margin * ending_ms);
    if (has_clock && start >= until) return;
    auto candidate = lasting_.plan.recall(task_.problem(), task_.shares(),
                                          [has_clock, until] { return has_clock && Clock::now() >= until; });
    search_.add(milliseconds_since(start));
    if (!candidate || compare(candidate->levels, offers_.best().candidate.levels, task_.ids()) <= 0) return;
    offers_.put_first({*std::move(candidate), Origin::kSearch, {}});
  }

  // What may follow greedy, in this order. The MILP engine starts from the plan that it finds, and its result is
  // improved by the search.
  struct Stage {
    std::string_view name;
    std::function<bool()> is_due;
    std::function<void()> run;
  };

  void improve() {
    const std::array<Stage, 5> stages = {
        {{"still", [this] { return milp_.is_due_without_moves(); }, [this] { milp_.run_without_moves(); }},
         {"milp", [this] { return milp_.is_due(); }, [this] { milp_.run(); }},
         {"gather", [this] { return gather_.is_due(); }, [this] { gather_.run(); }},
         {"search", [this] { return search_.is_due(); }, [this] { search_.run(milp_.is_left_to_search()); }},
         {"milp", [this] { return milp_.is_due_after_search(search_.is_over()); }, [this] { milp_.run(); }}}};
    for (const Stage& stage : stages)
      if (task_.has_stage(stage.name) && stage.is_due()) stage.run();
    last_engine_ended_ = Clock::now();
    was_improved_ = true;
  }

  Solution end(bool ran_out) {
    const Clock::time_point start = Clock::now();
    const double between_ms = milliseconds_since(last_engine_ended_);
    Solution solution = ending_.run(ran_out);
    const double ms = milliseconds_since(start);
    auto& phases = solution.phases_ms;
    phases.emplace_back("greedy", greedy_.ms());
    if (const auto milp = milp_.ms()) phases.emplace_back("milp", *milp);
    if (was_improved_ && task_.may_search()) phases.emplace_back("search", search_.ms());
    if (gather_.ms() > 0) phases.emplace_back("gather", gather_.ms());
    phases.emplace_back("verify", offers_.checking_ms() + ms);
    time_.ends().learn(task_.size().items(), between_ms + ms - ending_.only_reasons_ms(), ending_.only_reasons_ms());
    return solution;
  }

  Lasting lasting_;
  CycleTask task_;
  CycleTime time_;
  Offers offers_;
  GreedyStage greedy_;
  MilpRuns milp_;
  GatherStage gather_;
  SearchStage search_;
  Ending ending_;
  Clock::time_point last_engine_ended_;
  bool was_improved_ = false;  // other engines were asked
};

}  // namespace

Solution Portfolio::solve(const Snapshot& snapshot, const Problem& problem, const SolveOptions& options) {
  Implementation& lasting = *implementation_;
  Cycle cycle(snapshot, problem, options,
              {lasting.backend, lasting.prices, lasting.plan, lasting.forecast, lasting.engines});
  cbc::ModelFiles& files = lasting.backend.model_files();
  files.begin_cycle(options.write_model);
  Solution solution = cycle.run();
  if (files.has_failed()) solution.defects.push_back("cannot write " + options.write_model);
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
