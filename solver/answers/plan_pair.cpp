#include "solver/answers/plan_pair.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"
#include "heuristics/state/groups.h"
#include "heuristics/state/plan_of.h"
#include "model/objective/evaluation.h"
#include "model/objective/levels.h"
#include "solver/answers/plan_mix.h"
#include "solver/portfolio/offer.h"

namespace muster::answers {
namespace {

using portfolio::Clock;

// A run whose plan may be exchanged for another one.
class Side {
 public:
  explicit Side(Run& run)
      : run_(run),
        shares_(compute_fair_shares(run.problem)),
        ids_(level_ids(run.problem)),
        plan_{run.solution.plan, evaluate(run.problem, shares_, run.solution.plan)},
        presence_(static_cast<std::size_t>(levels_of_presence(run.problem))) {}

  const Problem& problem() const { return run_.problem; }
  const FairShares& shares() const { return shares_; }
  const Candidate& plan() const { return plan_; }
  Plan plan_of(const Side& other) const { return translated(other.problem(), other.plan().plan, problem()); }

  void take(Candidate plan) {
    plan_ = std::move(plan);
    is_changed_ = true;
  }

  // In the levels that tell which pods run, leave and move.
  bool is_worse(const Candidate& a, const Candidate& b) const { return compared(a, b) < 0; }
  bool is_better(const Candidate& a, const Candidate& b) const { return compared(a, b) > 0; }

  // Gangs that have their minimum once the plan is carried out.
  std::unordered_set<std::string_view> admitted(const Candidate& candidate) const {
    const ClusterState state = state_after(candidate.plan);
    std::unordered_set<std::string_view> names;
    for (const GangIndex gang : problem().gangs.indices())
      if (is_anything_present(state, gang) && is_satisfied(state, gang)) names.insert(problem().gangs[gang].name);
    return names;
  }

  // With waiting gangs that fit beside it.
  Candidate filled(const Candidate& candidate) const {
    ClusterState state = state_after(candidate.plan);
    const QueueBounds bounds = queue_bounds(problem(), ClusterState(problem(), ClusterState::Releasing::kFreed));
    placement::NodeChooser chooser(state, bounds, placement::usual_rule(problem()));
    placement::GangPlacer placer(state, bounds, chooser);
    std::vector<GangIndex> gangs;
    for (const GangIndex gang : problem().gangs.indices())
      if (placer.may_place(gang) && fit::min_resources(state, gang)) gangs.push_back(gang);
    std::ranges::stable_sort(gangs, {}, [&](GangIndex gang) { return problem().gangs[gang].rank; });
    placer.fill_up(gangs, {});
    std::vector<PlannedEviction> evictions;
    for (const Eviction& eviction : candidate.plan.evictions)
      evictions.push_back({eviction.pod, eviction.reason, eviction.for_gang});
    const OrderedPlan made = ordered_plan_of(problem(), state, evictions);
    std::optional<Candidate> better = made.unbound.empty() ? checked(problem(), shares_, made.plan) : std::nullopt;
    return better && is_better(*better, candidate) ? *std::move(better) : candidate;
  }

  // The run says what it says of its plan.
  void finish(double gap) {
    if (!is_changed_) return;
    portfolio::Solution& solution = run_.solution;
    portfolio::Offer before, now{plan_, solution.origin, {}, false};
    for (const explain::LevelReport& level : solution.report.objective) {
      before.candidate.levels.values.push_back(level.value);
      now.bounds.push_back(level.bound);
    }
    portfolio::forget_bounds_after_change(before, now);
    std::ranges::move(portfolio::drop_refuted_bounds(now, ids_), std::back_inserter(solution.defects));
    const bool is_proven = portfolio::is_settled(now);
    const PlacementPolicy policy = run_.snapshot->policy.placement;
    solution.report = explain::describe(problem(), shares_, {plan_.plan, plan_.levels, now.bounds, is_proven});
    solution.gap = explain::gap_of(solution.report.objective, policy);
    solution.proof = portfolio::proof_of(now, ids_, gap, policy);
    const bool does_nothing = plan_.plan.placements.empty() && plan_.plan.evictions.empty();
    if (does_nothing != (solution.origin == Origin::kNone))
      solution.origin = does_nothing ? Origin::kNone : Origin::kSearch;
    solution.plan = plan_.plan;
  }

 private:
  std::strong_ordering compared(const Candidate& a, const Candidate& b) const {
    const auto first = [&](const Candidate& candidate) {
      return Levels{
          {candidate.levels.values.begin(), candidate.levels.values.begin() + static_cast<std::ptrdiff_t>(presence_)}};
    };
    return compare(first(a), first(b), {ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(presence_)});
  }

  ClusterState state_after(const Plan& plan) const {
    ClusterState state(problem(), ClusterState::Releasing::kFreed);
    carry_out(plan, state);
    return state;
  }

  Run& run_;
  FairShares shares_;
  std::vector<LevelId> ids_;
  Candidate plan_;
  std::size_t presence_;  // levels
  bool is_changed_ = false;
};

// Brings both plans together.
class Comparison {
 public:
  Comparison(Side& before, Side& after, StopRequest stop) : before_(before), after_(after), stop_(std::move(stop)) {}

  void run() {
    translate_first();
    keep_the_first();
    leave_out_what_does_not_matter();
    while (!stop_() && share()) {
      translate_first();
      leave_out_what_does_not_matter();
    }
  }

  // After `run`. Parts of the difference in which a gang loses its room are left out of the second plan; what would be
  // exchanged.
  PlanPair::Trade keep_room() {
    if (!is_first_possible_) return {};
    const Plan second = after_.plan().plan;
    const PlanMix mix(after_.problem(), after_.shares(), first_.plan, second);
    const std::unordered_set<std::string_view> had_room = before_.admitted(before_.plan()),
                                               has_room = after_.admitted(after_.plan());
    const auto name_of = [&](GangIndex gang) { return after_.problem().gangs[gang].name; };
    const auto keeps_room = [&](const GangSet& part) {
      return std::ranges::none_of(
          part, [&](GangIndex gang) { return had_room.contains(name_of(gang)) && !has_room.contains(name_of(gang)); });
    };
    if (std::ranges::all_of(mix.parts(), keeps_room)) return {};
    GangSet kept;
    Candidate best = first_;
    PlanPair::Trade trade;
    for (const GangSet& part : mix.parts()) {
      if (keeps_room(part)) {
        GangSet more = kept;
        more.insert(part.begin(), part.end());
        std::optional<Candidate> found = stop_() ? std::nullopt : mix.with(more);
        if (!found || after_.is_worse(*found, best)) continue;
        kept = std::move(more);
        best = *std::move(found);
        continue;
      }
      for (const GangIndex gang : part) {
        const bool had = had_room.contains(name_of(gang)), has = has_room.contains(name_of(gang));
        if (had != has) (has ? trade.more : trade.fewer).emplace_back(name_of(gang));
      }
    }
    after_.take(after_.filled(best));
    return trade;
  }

 private:
  // What the first plan says of the second cluster; if possible so that it is a plan of that.
  void translate_first() {
    first_ = {after_.plan_of(before_), {}};
    std::optional<Candidate> allowed =
        PlanMix(after_.problem(), after_.shares(), first_.plan, first_.plan).first_by_right(stop_);
    is_first_possible_ = allowed.has_value();
    if (allowed) first_ = *std::move(allowed);
  }

  // The second plan is no worse than what is left of the first, with all that fits beside it.
  void keep_the_first() {
    if (!is_first_possible_) return;
    Candidate kept = after_.filled(first_);
    if (!after_.is_better(after_.plan(), kept)) after_.take(std::move(kept));
  }

  // Gangs for which the second plan need not do otherwise than the first.
  void leave_out_what_does_not_matter() {
    const Candidate second = after_.plan();
    const PlanMix mix(after_.problem(), after_.shares(), first_.plan, second.plan);
    std::vector<GangIndex> gangs;
    for (const GangSet& part : mix.parts()) gangs.insert(gangs.end(), part.begin(), part.end());
    if (gangs.empty()) return;
    GangSet kept = mix.with_what_is_in_the_way(mix.of_other_presence(), stop_);
    std::optional<Candidate> best = mix.with(kept);
    if (!best || after_.is_worse(*best, second)) {
      kept = mix.all();
      best = std::nullopt;
    }
    const auto leave_out = [&](std::span<const GangIndex> some) {
      GangSet fewer = kept;
      for (const GangIndex gang : some) fewer.erase(gang);
      std::optional<Candidate> found = fewer.size() < kept.size() ? mix.with(fewer) : std::nullopt;
      if (!found || after_.is_worse(*found, second)) return false;
      kept = std::move(fewer);
      best = std::move(found);
      return true;
    };
    for (const GangSet& part : mix.parts()) {
      const std::vector<GangIndex> whole(part.begin(), part.end());
      if (!stop_()) leave_out(whole);
    }
    // Halves of what is left, as long as they can be left out; in the end single gangs.
    const std::function<void(std::span<const GangIndex>)> thin_out = [&](std::span<const GangIndex> some) {
      if (some.empty() || stop_() || leave_out(some) || some.size() == 1) return;
      thin_out(some.first(some.size() / 2));
      thin_out(some.subspan(some.size() / 2));
    };
    std::erase_if(gangs, [&](GangIndex gang) { return !kept.contains(gang); });
    thin_out(gangs);
    if (best) after_.take(*std::move(best));
  }

  // What the second plan has found and the first may do as well. Returns whether there is anything.
  bool share() {
    const Plan first = before_.plan().plan, second = before_.plan_of(after_);
    const PlanMix mix(before_.problem(), before_.shares(), first, second);
    GangSet shared;
    Candidate best = before_.plan();
    const auto try_with = [&](const GangSet& more) {
      GangSet with = shared;
      with.insert(more.begin(), more.end());
      std::optional<Candidate> found = mix.with(with);
      if (!found || !before_.is_better(*found, best)) return;
      shared = std::move(with);
      best = *std::move(found);
    };
    try_with(mix.all());
    if (shared.empty()) {
      for (const GangSet& part : mix.parts())
        if (!stop_()) try_with(part);
    }
    if (shared.empty()) return false;
    before_.take(std::move(best));
    return true;
  }

  Side &before_, &after_;
  StopRequest stop_;
  Candidate first_;  // without levels if it is not possible
  bool is_first_possible_ = false;
};

}  // namespace

Result<PlanPair::Side> solve_side(const Snapshot& snapshot, portfolio::Portfolio& portfolio,
                                  const ExperimentOptions& options) {
  Experiment experiment(snapshot, portfolio, options);
  const auto begin = Clock::now();
  Result<std::unique_ptr<Run>> run = experiment.solve({});
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  if (!run) return run.error();
  return PlanPair::Side{*std::move(run), ms};
}

bool only_adds_room(const change::Change& change) {
  return std::holds_alternative<change::Uncordon>(change) || std::holds_alternative<change::AddNodes>(change) ||
         std::holds_alternative<change::AddShapedNodes>(change);
}

Result<PlanPair> solve_pair(const Snapshot& original, const Snapshot& changed, bool only_adds_room,
                            portfolio::Portfolio& portfolio, const ExperimentOptions& options) {
  PlanPair pair;
  Result<PlanPair::Side> first = solve_side(original, portfolio, options);
  if (!first) return first.error();
  pair.before = *std::move(first);
  portfolio.start_from(pair.before.run->problem, pair.before.run->solution.plan);
  Result<PlanPair::Side> second = solve_side(changed, portfolio, options);
  if (!second) return second.error();
  pair.after = *std::move(second);
  const bool is_proven = pair.before.run->is_choice_proven() && pair.after.run->is_choice_proven();
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(options.budget);
  const bool has_clock = !options.solve.deterministic;
  Side before(*pair.before.run), after(*pair.after.run);
  Comparison comparison(before, after, [has_clock, end] { return has_clock && Clock::now() >= end; });
  comparison.run();
  if (only_adds_room) {
    PlanPair::Trade trade = comparison.keep_room();
    if (is_proven) pair.trade = std::move(trade);
  }
  before.finish(options.solve.gap);
  after.finish(options.solve.gap);
  return pair;
}

}  // namespace muster::answers
