#include "solver/milp_engine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>

#include "heuristics/fit.h"
#include "heuristics/gang_placement.h"
#include "heuristics/groups.h"
#include "heuristics/node_choice.h"
#include "solver/anti_affinity.h"
#include "solver/column_pool.h"
#include "solver/decode.h"
#include "solver/demand.h"
#include "solver/formulation.h"
#include "solver/room.h"

namespace muster {
namespace {

constexpr std::int64_t kNodeLimit = 2000;  // branch-and-bound nodes of one level in deterministic mode
constexpr int kMostRounds = 2000;          // of pricing
constexpr int kThorough = 5;               // effort of pricing where the quick one finds no column any more
constexpr std::array kDiveShares{1.0, 0.8, 0.5};
constexpr int kMostDives = 6;  // smaller and smaller problems after the whole one
constexpr int kDeterministicRounds = 60;
constexpr double kNear = 1;             // nodes that CBC may take from or add to what the LP gives a configuration
constexpr double kPricingShare = 0.35;  // of the time left, for the pricing of one level

// Gangs that the incumbent evicts as stale: what they hold is free, and nothing of them is placed.
std::vector<bool> stale_evictions(const Problem& problem, const Plan& plan, ClusterState& base) {
  std::vector<bool> evicted(problem.gangs.size(), false);
  for (const Eviction& eviction : plan.evictions) {
    if (eviction.reason != EvictionReason::kStale) continue;
    evicted[problem.pods[eviction.pod].gang.value()] = true;
    base.take(eviction.pod);
  }
  return evicted;
}

// The terms of an expression, summed up by column: the same terms mean the same level but for a constant.
using Terms = std::map<std::int32_t, std::int64_t>;
Terms terms_of(const LinearExpression& expression) {
  Terms terms;
  for (const auto& [column, coefficient] : expression.terms)
    if ((terms[column] += coefficient) == 0) terms.erase(column);
  return terms;
}

// What may still be placed beside a state, on nodes that are not reserved, as a formulation with its columns.
struct Subproblem {
  Subproblem(const Problem& problem, const FairShares& shares, const ClusterState& state,
             const std::vector<bool>& excluded, const std::vector<bool>& reserved)
      : base(state),
        demand(collect_demand(problem, excluded, base)),
        atoms(collect_atoms(problem, demand)),
        supply(collect_supply(problem, demand, atoms, base, reserved)),
        anti_affinity(problem, base),
        configuration_input{problem, demand, anti_affinity},
        pool(configuration_input, supply),
        problem_(problem),
        shares_(shares) {}
  Subproblem(const Subproblem&) = delete;
  Subproblem& operator=(const Subproblem&) = delete;

  void formulate(bool exact) {
    formulation.emplace(FormulationInput{problem_, shares_, demand, atoms, supply, anti_affinity, base, exact});
    columns.assign(supply.rooms.size(), 0);
    add_new_columns();
  }

  // Gives every configuration of the pool that has none yet its column.
  void add_new_columns() {
    for (RoomClassIndex room : supply.rooms.indices()) add_new_columns(room);
  }
  void add_new_columns(RoomClassIndex room) {
    const std::vector<Configuration>& all = pool.configurations()[room];
    for (std::size_t& j = columns[room.value()]; j < all.size(); ++j) formulation->add_configuration(room, all[j]);
  }

  ClusterState base;
  Demand demand;
  Atoms atoms;
  Supply supply;
  AntiAffinityRules anti_affinity;
  ConfigurationInput configuration_input;
  ColumnPool pool;
  std::optional<Formulation> formulation;
  std::vector<std::size_t> columns;  // by room class: configurations that have a column

 private:
  const Problem& problem_;
  const FairShares& shares_;
};

// Nodes that a solution fills: of each room class the first ones, as decoding takes them.
void reserve(const Subproblem& sub, const FormulationSolution& solution, std::vector<bool>& reserved) {
  for (RoomClassIndex room : sub.supply.rooms.indices()) {
    std::size_t next = 0;
    for (const auto& [position, nodes] : solution.configurations[room.value()])
      for (std::int64_t n = 0; n < nodes; ++n) reserved[sub.supply.rooms[room].nodes[next++].value()] = true;
  }
}

class Engine {
 public:
  Engine(const Problem& problem, const FairShares& shares, const Candidate& incumbent, Backend& backend,
         const MilpEngineOptions& options)
      : problem_(problem),
        shares_(shares),
        backend_(backend),
        options_(options),
        ids_(level_ids(problem)),
        base_(problem, ClusterState::Releasing::kFreed),
        excluded_(stale_evictions(problem, incumbent.plan, base_)),
        none_reserved_(problem.nodes.size(), false),
        whole_(problem, shares, base_, excluded_, none_reserved_),
        bounds_(queue_bounds(problem, ClusterState(problem, ClusterState::Releasing::kFreed))),
        bounds_hold_(!may_evict(problem)) {
    outcome_.best = incumbent;
    outcome_.bounds.resize(ids_.size());
    for (const Eviction& eviction : incumbent.plan.evictions)
      if (eviction.reason == EvictionReason::kStale)
        stale_.push_back({eviction.pod, EvictionReason::kStale, GangIndex::none()});
  }

  MilpOutcome run() {
    exact_ = whole_.pool.list_all(options_.most_states);
    if (!exact_) whole_.pool.add_contents(outcome_.best.plan, base_);
    whole_.formulate(exact_);
    Formulation& formulation = *whole_.formulation;
    const std::vector<std::int64_t> trivial = trivial_bounds(problem_, shares_);
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      solving_ = solving_ && !options_.deadline.passed();
      solve_level(formulation, i, trivial[i]);
    }
    if (!bounds_hold_) std::fill(outcome_.bounds.begin(), outcome_.bounds.end(), std::nullopt);
    return std::move(outcome_);
  }

 private:
  std::int64_t value(std::size_t level) const { return outcome_.best.levels.values[level]; }

  // Proves, improves or passes over one level. Once one is left open, the later ones only get the bounds that follow
  // from it.
  void solve_level(Formulation& formulation, std::size_t i, std::int64_t trivial) {
    const LevelId id = ids_[i];
    const std::optional<LinearExpression> expression = formulation.level(id);
    if (!expression) {
      if (id.kind == LevelKind::kEvicted || id.kind == LevelKind::kMoved) outcome_.bounds[i] = 0;
      return;
    }
    Terms terms = terms_of(*expression);
    if (terms.empty()) {  // every solution is worth the same, yet the incumbent may be worth less
      outcome_.bounds[i] = expression->constant;
      if (exact_ && solving_ && value(i) != expression->constant) improve(formulation, i, *expression);
      return;
    }
    if (const auto same = held_.find(terms); same != held_.end()) {
      outcome_.bounds[i] = same->second + expression->constant;
      return;
    }
    if (value(i) == trivial)
      outcome_.bounds[i] = trivial;
    else if (solving_)
      outcome_.bounds[i] = improve(formulation, i, *expression);
    if (outcome_.bounds[i]) held_.emplace(std::move(terms), *outcome_.bounds[i] - expression->constant);
    formulation.hold(id, *expression, value(i));
    solving_ = solving_ && (exact_ || (outcome_.bounds[i] && is_close(value(i), *outcome_.bounds[i])));
  }

  bool is_close(std::int64_t value, std::int64_t bound) const {
    const auto difference = static_cast<double>(std::abs(bound - value));
    return difference <= options_.gap * std::max(1.0, std::abs(static_cast<double>(bound)));
  }

  // Solves one level given those that are held, makes a plan of it, keeps it if it is better; returns a bound.
  std::optional<std::int64_t> improve(Formulation& formulation, std::size_t i, const LinearExpression& expression) {
    const int sign = is_maximised(ids_[i].kind) ? 1 : -1;
    std::optional<std::int64_t> bound;
    const auto tighten = [&](double limit) {  // of sign x (expression - constant), which is an integer
      if (!std::isfinite(limit) || std::abs(limit) > 9e18) return;
      const auto integral = static_cast<std::int64_t>(std::floor(limit + 1e-6));
      const std::int64_t told = sign * integral + expression.constant;
      if (!bound || sign * told < sign * *bound) bound = told;
    };
    LinearExpression scaled = expression;
    std::int64_t divisor = 0;
    for (const auto& [column, coefficient] : expression.terms) divisor = std::gcd(divisor, coefficient);
    divisor = std::max<std::int64_t>(1, divisor);
    for (auto& [column, coefficient] : scaled.terms) coefficient /= divisor;
    const auto factor = static_cast<double>(divisor);
    if (!exact_) {
      whole_.pool.add_contents(outcome_.best.plan, base_);
      whole_.add_new_columns();
      const Priced priced = price_columns(whole_, scaled, sign, kPricingShare);
      tighten(factor * priced.limit);
      relaxed_ = priced.x;
      if (!relaxed_.empty()) take(whole_.formulation->round(relaxed_));
      for (const double share : kDiveShares)
        if (!relaxed_.empty() && !(bound && is_close(value(i), *bound))) dive(i, share);
    }
    if (options_.deadline.passed() || (bound && is_close(value(i), *bound))) return bound;
    Milp milp = formulation.model().build(scaled, sign);
    write_first(milp);
    if (!exact_) keep_near(formulation, milp);
    MilpRequest request;
    request.deadline = options_.deadline.after(exact_ ? 1.0 : 0.6);
    request.relative_gap = exact_ ? 0 : std::max(1e-6, options_.gap / 4);
    if (options_.deadline.is_deterministic()) request.node_limit = kNodeLimit;
    MilpAnswer answer = backend_.solve(milp, request);
    if (has_failed(answer, request)) {  // once more, another way
      request.without_preprocessing = true;
      answer = backend_.solve(milp, request);
    }
    note_failure(answer, request);
    if (exact_) tighten(factor * std::floor(answer.bound + 1e-6));
    if (!answer.x.empty()) take(formulation.read(answer.x));
    return bound;
  }

  // A worker that was stopped because its time was up is no defect; one that broke before is.
  static bool has_failed(const MilpAnswer& answer, const MilpRequest& request) {
    return answer.status == SolveStatus::kFailed && Deadline::Clock::now() < request.deadline;
  }
  void note_failure(const MilpAnswer& answer, const MilpRequest& request) {
    if (has_failed(answer, request)) outcome_.defects.push_back(answer.message);
  }

  // Leaves CBC the neighbourhood of the LP's solution: of each configuration about as many nodes as there, and only
  // columns that are there or were worth nearly their price. Solved to the end this is a large neighbourhood search,
  // not a proof.
  void keep_near(const Formulation& formulation, Milp& milp) const {
    if (relaxed_.empty()) return;
    for (RoomClassIndex room : whole_.supply.rooms.indices())
      for (const std::int32_t column : formulation.configuration_columns(room)) {
        const auto j = static_cast<std::size_t>(column);
        const double nodes = j < relaxed_.size() ? relaxed_[j] : 0;
        milp.lower[j] = std::max(milp.lower[j], std::floor(nodes + 1e-6) - kNear);
        milp.upper[j] = std::min(milp.upper[j], std::ceil(nodes - 1e-6) + kNear);
      }
  }

  void write_first(const Milp& milp) {
    if (options_.write_model.empty() || written_) return;
    written_ = true;
    std::ofstream file(options_.write_model);
    write_mps(milp, file);
    if (!file) outcome_.defects.push_back("cannot write " + options_.write_model);
  }

  void take(const FormulationSolution& solution) {
    ClusterState state = base_;
    place(whole_, solution, state);
    offer(std::move(state));
  }

  void place(const Subproblem& sub, const FormulationSolution& solution, ClusterState& state) const {
    decode({problem_, sub.demand, sub.atoms, sub.supply, bounds_, sub.pool.configurations()}, solution, state);
  }

  // Makes plans of an end state: as it is where the model was whole (one pod more can make a gang's minimum another
  // one, and lower its share), and filled up.
  void offer(ClusterState state) {
    if (exact_) keep_if_best(state);
    complete(state);
    keep_if_best(state);
  }

  void keep_if_best(const ClusterState& state) {
    Candidate candidate{plan_of(problem_, state, stale_), {}};
    candidate.levels = evaluate(problem_, shares_, candidate.plan);
    if (compare(candidate.levels, outcome_.best.levels, ids_) <= 0) return;
    outcome_.best = std::move(candidate);
    outcome_.improved = true;
  }

  // Diving: what the LP's solution is sure of is placed, and what remains, nodes and pods, is priced anew as a smaller
  // problem, until little is left. `share`: of each configuration's nodes, how many are taken from the first solution.
  // Source: diving with column generation (Sadykov et al., INFORMS Journal on Computing 2019), without backtracking.
  void dive(std::size_t level, double share) {
    ClusterState state = base_;
    std::vector<bool> reserved = none_reserved_;
    FormulationSolution sure = whole_.formulation->floor(relaxed_, share);
    reserve(whole_, sure, reserved);
    place(whole_, sure, state);
    for (int depth = 0; depth < kMostDives && !options_.deadline.passed(); ++depth) {
      Subproblem rest(problem_, shares_, state, excluded_, reserved);
      if (rest.demand.cells.empty() || rest.supply.rooms.empty()) break;
      rest.formulate(false);
      const std::optional<LinearExpression> expression = rest.formulation->level(ids_[level]);
      if (!expression || expression->terms.empty()) break;
      const Priced priced = price_columns(rest, *expression, is_maximised(ids_[level].kind) ? 1 : -1, kPricingShare);
      if (priced.x.empty()) break;
      sure = depth + 1 < kMostDives ? rest.formulation->floor(priced.x, 1) : rest.formulation->round(priced.x);
      const std::vector<bool> before = reserved;
      reserve(rest, sure, reserved);
      if (before == reserved) {  // nothing is whole any more
        sure = rest.formulation->round(priced.x);
        depth = kMostDives;
      }
      place(rest, sure, state);
    }
    offer(std::move(state));
  }

  // What the solution left out and still fits: minimums by priority, more work first; then what is elastic.
  void complete(ClusterState& state) const {
    const bool spread = problem_.snapshot->policy.placement == PlacementPolicy::kSpread;
    NodeChooser chooser(state, bounds_, spread ? NodeRule::kSpread : NodeRule::kKeepCpu);
    GangPlacer placer(state, bounds_, chooser);
    std::vector<std::pair<Work, GangIndex>> left;
    for (const GangClass& gang_class : whole_.demand.gang_classes)
      for (GangIndex gang : gang_class.gangs) {
        Work work = 0;
        for (PodIndex pod : problem_.gangs[gang].pods)
          if (problem_.pods[pod].status == PodStatus::kPending && !state.is_present(pod))
            work += problem_.pods[pod].weighted_work;
        if (work > 0 && placer.may_place(gang)) left.emplace_back(work, gang);
      }
    std::stable_sort(left.begin(), left.end(), [&](const auto& a, const auto& b) {
      const std::int32_t p = problem_.gangs[a.second].priority, q = problem_.gangs[b.second].priority;
      return p != q ? p > q : a.first > b.first;
    });
    for (const auto& [work, gang] : left)
      if (!options_.deadline.passed()) placer.place_minimum(gang);
    for (const auto& [work, gang] : left)
      while (!options_.deadline.passed() && is_satisfied(state, gang) && placer.place_one_more(gang)) {
      }
  }

  struct Priced {
    double limit = kInfinity;  // of sign x expression, without its constant; infinity: none was reached
    std::vector<double> x;     // the LP's solution; empty: none
  };

  // Column generation on the LP relaxation, for at most a share of the time that is left.
  Priced price_columns(Subproblem& sub, const LinearExpression& expression, int sign, double share) {
    MilpRequest request;
    request.relax = true;
    request.deadline = options_.deadline.after(share);
    MilpAnswer answer = backend_.open_lp(sub.formulation->model().build(expression, sign), request);
    Priced priced;
    const int rounds = options_.deadline.is_deterministic() ? kDeterministicRounds : kMostRounds;
    for (int round = 0; round < rounds && answer.status == SolveStatus::kOptimal; ++round) {
      priced.x = answer.x;
      Milp more;
      more.row_lower.assign(static_cast<std::size_t>(sub.formulation->model().rows()), 0);
      more.row_upper = more.row_lower;
      double slack = price_round(sub, answer.row_price, 1, more);
      if (more.columns() == 0) slack = std::min(slack, price_round(sub, answer.row_price, kThorough, more));
      priced.limit = std::min(priced.limit, answer.objective + slack + 1e-7 * std::abs(answer.objective));
      if (more.columns() == 0 || slack <= std::max(1e-7, 1e-5 * std::abs(answer.objective))) break;
      if (!options_.deadline.is_deterministic() && Deadline::Clock::now() >= request.deadline) break;
      answer = backend_.extend_lp(more, request);
    }
    note_failure(answer, request);
    return priced;
  }

  // Prices every room class at these row prices; what is worth more than its node's price becomes a column. Returns how
  // much the LP's value could still rise: sum over room classes of nodes x (limit - price of the node).
  double price_round(Subproblem& sub, const std::vector<double>& row_price, int effort, Milp& more) {
    double slack = 0;
    std::vector<double> price(sub.demand.classes.size());
    for (RoomClassIndex room : sub.supply.rooms.indices()) {
      const RoomClass& r = sub.supply.rooms[room];
      for (DemandIndex d : r.demands)
        price[d.value()] = std::max(0.0, row_price[static_cast<std::size_t>(sub.formulation->supply_row(d, r.atom))]);
      const double node = std::max(0.0, row_price[static_cast<std::size_t>(sub.formulation->room_row(room))]);
      Pricing::Result priced = sub.pool.pricing(room).price(price, effort);
      slack += static_cast<double>(r.count()) * std::max(0.0, priced.limit - node);
      for (std::size_t j = 0; j < priced.configurations.size(); ++j) {
        if (priced.worth[j] <= node + 1e-7 * std::max(1.0, node)) continue;
        const std::vector<Entry> entries = sub.formulation->entries_of(room, priced.configurations[j]);
        if (!sub.pool.add(room, std::move(priced.configurations[j]))) continue;
        more.add_column({0, 0, static_cast<double>(r.count()), true}, entries);
      }
      sub.add_new_columns(room);
    }
    return slack;
  }

  const Problem& problem_;
  const FairShares& shares_;
  Backend& backend_;
  const MilpEngineOptions& options_;
  std::vector<LevelId> ids_;
  ClusterState base_;
  std::vector<bool> excluded_;
  std::vector<bool> none_reserved_;
  Subproblem whole_;
  QueueBounds bounds_;
  bool bounds_hold_;
  bool exact_ = false, written_ = false, solving_ = true;
  std::vector<double> relaxed_;  // the LP's last solution
  std::vector<PlannedEviction> stale_;
  std::map<Terms, std::int64_t> held_;
  MilpOutcome outcome_;
};

}  // namespace

bool may_evict(const Problem& problem) {
  const Actions& actions = problem.snapshot->policy.actions;
  const bool acts = actions.consolidate || actions.reclaim || actions.preempt;
  for (const Gang& gang : problem.gangs) {
    if (gang.stale && actions.stale) return true;
    if (!acts || !gang.preemptible) continue;
    for (PodIndex pod : gang.pods)
      if (problem.pods[pod].status == PodStatus::kRunning) return true;
  }
  return false;
}

MilpOutcome solve_milp(const Problem& problem, const FairShares& shares, const Candidate& incumbent, Backend& backend,
                       const MilpEngineOptions& options) {
  return Engine(problem, shares, incumbent, backend, options).run();
}

}  // namespace muster
