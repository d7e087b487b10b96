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
#include "model/referee.h"
#include "solver/aggregate.h"
#include "solver/anti_affinity.h"
#include "solver/block_generation.h"
#include "solver/column_generation.h"
#include "solver/decode.h"
#include "solver/demand.h"
#include "solver/formulation.h"
#include "solver/room.h"

namespace muster {
namespace {

constexpr std::int64_t kNodeLimit = 2000;  // branch-and-bound nodes of one level in deterministic mode
constexpr int kMostRounds = 2000;          // of pricing
constexpr std::array kDiveShares{1.0, 0.8, 0.5};
constexpr int kMostDives = 6;  // smaller and smaller problems after the whole one
constexpr int kDeterministicRounds = 60;
constexpr std::size_t kFewBlocks = 4;  // in a rougher sample, for a first plan: so many times fewer
constexpr double kRoughShare = 0.3, kRoughGap = 0.02;
constexpr double kSampleShare = 0.4;    // of the time left, for that
constexpr double kSampleGap = 0.01;     // good enough for a sample
constexpr double kBlocksShare = 0.9;    // of the time left, for one round of blocks
constexpr int kDealPause = 10;          // times what making a plan of a solution took, before the next one
constexpr double kNear = 1;             // nodes that CBC may take from or add to what the LP gives a configuration
constexpr double kPricingShare = 0.35;  // of the time left, for the pricing of one level
constexpr std::size_t kMicrosecondsAState = 10;  // listing takes 2-3 of them, so at most a third of the time
constexpr double kSumShare = 0.8;                // of the time left, for a first bound and columns
constexpr double kBranchingShare = 0.3;          // of the time left, for a better bound of one level
constexpr double kLeavingShare = 0.7;  // of the time, for the pass that decides who leaves, where it is not exact

// The terms of an expression, summed up by column: the same terms mean the same level but for a constant.
using Terms = std::map<std::int32_t, std::int64_t>;
Terms terms_of(const LinearExpression& expression) {
  Terms terms;
  for (const auto& [column, coefficient] : expression.terms)
    if ((terms[column] += coefficient) == 0) terms.erase(column);
  return terms;
}

// Nodes that a solution fills: of each room class the first ones, as decoding takes them.
void reserve(const Subproblem& sub, const FormulationSolution& solution, std::vector<bool>& reserved) {
  for (RoomClassIndex room : sub.supply.rooms.indices()) {
    std::size_t next = 0;
    for (const auto& [position, nodes] : solution.configurations[room.value()])
      for (std::int64_t n = 0; n < nodes; ++n) reserved[sub.supply.rooms[room].nodes[next++].value()] = true;
  }
}

// The cluster with a plan's evictions and moves carried out, but nothing newly placed.
struct SettledEvictions {
  ClusterState state;
  Leavers leavers;  // nobody; what has gone as stale is not placed
  std::vector<PlannedEviction> evictions;
};

SettledEvictions settle_evictions(const Problem& problem, const Plan& plan) {
  SettledEvictions settled{ClusterState(problem, ClusterState::Releasing::kFreed), no_leavers(problem), {}};
  for (const Eviction& eviction : plan.evictions) {
    settled.state.take(eviction.pod);
    settled.evictions.push_back({eviction.pod, eviction.reason, eviction.for_gang});
    if (eviction.reason == EvictionReason::kStale)
      settled.leavers.gangs[problem.pods[eviction.pod].gang].excluded = true;
  }
  for (const Placement& placement : plan.placements)
    if (problem.pods[placement.pod].status == PodStatus::kRunning)
      settled.state.put(placement.pod, placement.node, placement.devices);
  return settled;
}

class Engine {
 public:
  // `settled`: evictions that are decided already, and done in `state`.
  Engine(const Setting& setting, const ClusterState& state, const Leavers& leavers,
         std::vector<PlannedEviction> settled, const Candidate& incumbent, Backend& backend,
         const MilpEngineOptions& options)
      : setting_(setting),
        problem_(setting.problem),
        shares_(setting.shares),
        backend_(backend),
        options_(options),
        ids_(level_ids(setting.problem)),
        leavers_(leavers),
        settled_(std::move(settled)),
        none_reserved_(problem_.nodes.size(), false),
        nobody_(leavers.any ? no_leavers(problem_) : leavers),
        whole_(setting, state, leavers, none_reserved_),
        bounds_(queue_bounds(problem_, ClusterState(problem_, ClusterState::Releasing::kFreed))) {
    outcome_.best = incumbent;
    outcome_.bounds.resize(ids_.size());
  }

  MilpOutcome run() {
    exact_ = whole_.pool.list_all({most_states(), options_.most_columns});
    if (!exact_) add_known_contents();
    if (!exact_ && leavers_.any)
      options_.deadline = Deadline(options_.deadline.after(kLeavingShare), options_.deadline.is_deterministic());
    descend(0, exact_);
    // Where no plan came out of the best path, once more along the incumbent's values.
    if (const std::size_t left = levels_on_path(); left < ids_.size() && exact_ && !options_.deadline.passed())
      descend(left + 1, false);
    const bool bounds_hold = leavers_.complete && settled_.empty();
    if (!bounds_hold) std::fill(outcome_.bounds.begin(), outcome_.bounds.end(), std::nullopt);
    return std::move(outcome_);
  }

  bool is_exact() const { return exact_; }

 private:
  std::size_t most_states() const {
    if (options_.deadline.is_deterministic()) return options_.most_states;
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(options_.deadline.left()).count();
    return std::min(options_.most_states, static_cast<std::size_t>(left) / kMicrosecondsAState);
  }

  // Everybody where he is, and the incumbent.
  void add_known_contents() {
    whole_.pool.add_contents(whole_.before);
    ClusterState state = settle_evictions(problem_, outcome_.best.plan).state;
    for (const Placement& placement : outcome_.best.plan.placements)
      if (!state.is_present(placement.pod)) state.put(placement.pod, placement.node, placement.devices);
    whole_.pool.add_contents(state);
    knows_incumbent_ = true;
  }

  std::int64_t value(std::size_t level) const { return outcome_.best.levels.values[level]; }

  // Level after level, each given those before it; those before `first` are held at the incumbent's values. What each
  // is held at is the path: the proven optimum where `by_optimum`, even if no plan with it is known yet (one that
  // evicts more than it needs to is no plan, though a later level may make it one), else the incumbent's value.
  void descend(std::size_t first, bool by_optimum) {
    whole_.formulate(exact_);
    held_.clear();
    path_.clear();
    solving_ = true;
    by_optimum_ = by_optimum;
    if (options_.trivial.empty()) options_.trivial = trivial_bounds(problem_, shares_);
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      solving_ = solving_ && !options_.deadline.passed();
      if (i < first)
        path_.push_back(hold_incumbent(i));
      else
        path_.push_back(solve_level(*whole_.formulation, i, options_.trivial[i]));
    }
    // A bound is one given the plan's values before it.
    for (std::size_t i = levels_on_path() + 1; i < ids_.size(); ++i) outcome_.bounds[i].reset();
  }

  std::int64_t hold_incumbent(std::size_t i) {
    if (const auto expression = whole_.formulation->level(ids_[i]); expression && !expression->terms.empty())
      whole_.formulation->hold(ids_[i], *expression, value(i));
    return value(i);
  }

  // How many levels the incumbent has the path's values of, from the first on.
  std::size_t levels_on_path() const {
    std::size_t i = 0;
    while (i < path_.size() && value(i) == path_[i]) ++i;
    return i;
  }
  bool is_on_path() const { return levels_on_path() == path_.size(); }

  // Proves, improves or passes over one level; returns what it is held at from here on. Once one is left open, the
  // later ones only get the bounds that follow from it.
  std::int64_t solve_level(Formulation& formulation, std::size_t i, std::int64_t trivial) {
    const LevelId id = ids_[i];
    const std::optional<LinearExpression> expression = formulation.level(id);
    if (!expression) return value(i);
    Terms terms = terms_of(*expression);
    if (terms.empty()) {  // every solution is worth the same, yet the incumbent may be worth less
      outcome_.bounds[i] = expression->constant;
      const bool is_settled = !settled_.empty() && (id.kind == LevelKind::kEvicted || id.kind == LevelKind::kMoved);
      if (exact_ && solving_ && !is_settled && value(i) != expression->constant) improve(formulation, i, *expression);
      return by_optimum_ ? expression->constant : value(i);
    }
    if (const auto same = held_.find(terms); same != held_.end()) {
      outcome_.bounds[i] = same->second + expression->constant;
      return by_optimum_ ? *outcome_.bounds[i] : value(i);
    }
    std::optional<std::int64_t> reached;
    outcome_.bounds[i].reset();
    if (is_on_path() && value(i) == trivial) {
      outcome_.bounds[i] = trivial;
    } else if (solving_) {
      const Improvement improvement = improve_while_it_helps(formulation, i, *expression);
      outcome_.bounds[i] = improvement.bound;
      if (by_optimum_) reached = improvement.optimum;
    }
    const std::int64_t held = reached.value_or(value(i));
    if (outcome_.bounds[i])
      held_.emplace(std::move(terms), (by_optimum_ ? held : *outcome_.bounds[i]) - expression->constant);
    tell();
    formulation.hold(id, *expression, held);
    return held;
  }

  bool is_close(std::int64_t value, std::int64_t bound) const {
    const auto difference = static_cast<double>(std::abs(bound - value));
    return difference <= options_.gap * std::max(1.0, std::abs(static_cast<double>(bound)));
  }

  struct Improvement {
    std::optional<std::int64_t> bound;
    std::optional<std::int64_t> optimum;  // a solution of the formulation reaches the bound
  };

  // Priced problems again and again, each time from the columns found before, until the time is up or nothing moves.
  Improvement improve_while_it_helps(Formulation& formulation, std::size_t i, const LinearExpression& expression) {
    const bool is_maximised_level = is_maximised(ids_[i].kind);
    const auto is_tighter = [&](std::int64_t a, std::int64_t b) { return is_maximised_level ? a < b : a > b; };
    Improvement best = improve(formulation, i, expression);
    while (!exact_ && !options_.deadline.is_deterministic() && !options_.deadline.passed() &&
           !(best.bound && is_close(value(i), *best.bound))) {
      const std::int64_t before = value(i);
      const Improvement next = improve(formulation, i, expression);
      const bool is_bound_better = next.bound && (!best.bound || is_tighter(*next.bound, *best.bound));
      if (is_bound_better) best.bound = next.bound;
      if (!is_bound_better && value(i) == before) break;
    }
    return best;
  }

  // Solves one level given those that are held, makes a plan of it, keeps it if it is better.
  Improvement improve(Formulation& formulation, std::size_t i, const LinearExpression& expression) {
    const int sign = is_maximised(ids_[i].kind) ? 1 : -1;
    Improvement result;
    std::optional<std::int64_t>& bound = result.bound;
    const auto tighten = [&](double limit) {  // of sign x (expression - constant), which is an integer
      if (!std::isfinite(limit) || std::abs(limit) > 9e18) return;
      const auto integral = static_cast<std::int64_t>(std::floor(limit + 1e-6));
      const std::int64_t told = sign * integral + expression.constant;
      if (bound && sign * told >= sign * *bound) return;
      bound = told;
      tell(i, bound);
    };
    LinearExpression scaled = expression;
    std::int64_t divisor = 0;
    for (const auto& [column, coefficient] : expression.terms) divisor = std::gcd(divisor, coefficient);
    divisor = std::max<std::int64_t>(1, divisor);
    for (auto& [column, coefficient] : scaled.terms) coefficient /= divisor;
    // A limit of the scaled expression, which is an integer; a hair's breadth of rounding must not cost a whole one.
    const auto tighten_scaled = [&](double limit) { tighten(static_cast<double>(divisor) * std::floor(limit + 1e-6)); };
    if (!exact_) {
      if (!knows_incumbent_) add_known_contents();
      whole_.add_new_columns();
      const Deadline soon(options_.deadline.after(kSumShare), options_.deadline.is_deterministic());
      const PricingTask start{scaled, sign, soon, 1, options_.threads};
      if (whole_.center.size() != static_cast<std::size_t>(formulation.model().rows()))
        find_first_prices(i, start, static_cast<double>(divisor));
      if (!leavers_.any && whole_.supply.rooms.size() > options_.most_rooms) {
        const auto on_limit = [&](double limit) {
          tighten_scaled(limit);
          return bound && is_close(value(i), *bound);
        };
        improve_by_blocks(scaled, sign, on_limit);
        remember_prices(i, static_cast<double>(divisor));
        return result;
      }
      const Priced priced = price_columns(whole_, scaled, sign, kPricingShare);
      remember_prices(i, static_cast<double>(divisor));
      tighten_scaled(priced.limit);
      relaxed_ = priced.x;
      if (!relaxed_.empty()) take(whole_.formulation->round(relaxed_));
      for (const double share : kDiveShares)
        if (!leavers_.any && !relaxed_.empty() && !(bound && is_close(value(i), *bound))) dive(i, share);
      if (bound && !is_close(value(i), *bound) && !relaxed_.empty()) {
        const Deadline until(options_.deadline.after(kBranchingShare), options_.deadline.is_deterministic());
        const double known =
            static_cast<double>(sign * (value(i) - expression.constant)) / static_cast<double>(divisor);
        const PricingTask task{scaled, sign, until, most_rounds(), options_.threads};
        tighten_scaled(branch_on_gangs(whole_, task, priced, known, backend_,
                                       [&](const std::vector<double>& x) { take(whole_.formulation->round(x)); }));
      }
    }
    if (options_.deadline.passed() || (bound && is_close(value(i), *bound))) return result;
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
    const auto is_reached = [&] { return !answer.x.empty() && bound && value_of(expression, answer.x) == *bound; };
    if (exact_) tighten_scaled(answer.bound);
    if (exact_ && !is_reached() && !request.without_preprocessing && !options_.deadline.passed()) {
      // A proof without its point: preprocessing can lose it.
      request.without_preprocessing = true;
      MilpAnswer again = backend_.solve(milp, request);
      note_failure(again, request);
      tighten_scaled(again.bound);
      if (!again.x.empty() && (answer.x.empty() || again.objective > answer.objective)) answer = std::move(again);
    }
    if (answer.x.empty()) return result;
    take(formulation.read(answer.x));
    if (exact_ && is_reached()) result.optimum = bound;
    return result;
  }

  // Those of the last cycle, if it was alike.
  void find_first_prices(std::size_t i, const PricingTask& task, double divisor) {
    whole_.center.clear();
    if (options_.memory != nullptr) {
      std::vector<double> pods = options_.memory->recall(problem_, whole_.demand, ids_[i]);
      for (double& price : pods) price /= divisor;
      if (!pods.empty()) whole_.center = prices_of_pods(whole_, task, pods, backend_);
    }
    is_recalled_ = !whole_.center.empty();
    if (!is_recalled_) whole_.center = prices_in_sum(whole_, task, backend_);
  }

  void remember_prices(std::size_t i, double divisor) const {
    if (options_.memory == nullptr ||
        whole_.center.size() != static_cast<std::size_t>(whole_.formulation->model().rows()))
      return;
    std::vector<double> pods(whole_.demand.classes.size(), 0.0);
    for (const RoomClass& room : whole_.supply.rooms)
      for (const DemandIndex d : room.demands) {
        const auto row = static_cast<std::size_t>(whole_.formulation->supply_row(d, room.atom));
        pods[d.value()] = std::max(pods[d.value()], divisor * whole_.center[row]);
      }
    options_.memory->keep(problem_, whole_.demand, ids_[i], pods);
  }

  // Where there are too many rooms for a master with a row for each. First with a sample of them, for good prices soon;
  // then with all, making plans on the way. `on_limit` is told each limit, and says whether the incumbent is near it.
  void improve_by_blocks(const LinearExpression& expression, int sign, const std::function<bool(double)>& on_limit) {
    PricingTask task{expression, sign, options_.deadline, most_rounds(), options_.threads};
    const auto is_near = [](double gap) {
      return [gap](const Priced& now) { return now.limit - now.value <= gap * std::abs(now.limit); };
    };
    const auto price_sample = [&](Blocks& sample, double share, double gap) {
      task.deadline = Deadline(options_.deadline.after(share), options_.deadline.is_deterministic());
      price_blocks(whole_, sample, task, backend_, is_near(gap));
    };
    if (blocks_.blocks.empty()) {
      blocks_ = make_blocks(whole_, options_.most_blocks);
      const std::size_t rooms = whole_.supply.rooms.size(), sampled = options_.sampled_rooms;
      if (rooms > kFewBlocks * sampled * blocks_.blocks.size() / 4) {
        const Blocks few = make_blocks(whole_, options_.most_blocks / kFewBlocks + 1);
        Blocks rough = sample_of(whole_, few, sampled);
        if (!is_recalled_) price_sample(rough, kRoughShare, kRoughGap);
        start_like(whole_, rough, few, options_.threads);
        task.deadline = options_.deadline;
        const Priced filled = fill_blocks(whole_, blocks_, task, backend_);
        if (on_limit(filled.limit)) return;
        if (!filled.x.empty()) take(deal_blocks(whole_, blocks_, filled.x));
      }
      if (rooms > 2 * sampled * blocks_.blocks.size()) {
        Blocks sample = sample_of(whole_, blocks_, sampled);
        price_sample(sample, kSampleShare, kSampleGap);
        adopt_sample(whole_, sample, blocks_, options_.threads);
      }
    }
    task.deadline = Deadline(options_.deadline.after(kBlocksShare), options_.deadline.is_deterministic());
    using Clock = Deadline::Clock;
    Clock::time_point next = Clock::now();
    double dealt = -kInfinity;
    const auto deal = [&](const Priced& now) {
      if (now.x.empty() || now.value <= dealt) return;
      dealt = now.value;
      const Clock::time_point start = Clock::now();
      take(deal_blocks(whole_, blocks_, now.x));
      next = Clock::now() + kDealPause * (Clock::now() - start);
    };
    const Priced priced = price_blocks(whole_, blocks_, task, backend_, [&](const Priced& now) {
      if (options_.deadline.is_deterministic() || Clock::now() >= next) deal(now);
      return on_limit(now.limit);
    });
    if (!priced.defect.empty()) outcome_.defects.push_back(priced.defect);
    if (!on_limit(priced.limit)) deal(priced);
  }

  // A worker that was stopped because its time was up is no defect; one that broke before is.
  static bool has_failed(const MilpAnswer& answer, const MilpRequest& request) {
    return answer.status == SolveStatus::kFailed && Deadline::Clock::now() < request.deadline;
  }
  void note_failure(const MilpAnswer& answer, const MilpRequest& request) {
    if (has_failed(answer, request)) outcome_.defects.push_back(answer.message);
  }

  // The trace: the plan's values, and the bounds that hold given them, that is on the path so far. `bound`: of `level`,
  // which is being solved.
  void tell(std::size_t level = 0, std::optional<std::int64_t> bound = {}) const {
    if (options_.trace == nullptr) return;
    Tracer::Bounds bounds = outcome_.bounds;
    if (bound) bounds[level] = bound;
    const bool bounds_hold = leavers_.complete && settled_.empty();
    for (std::size_t i = bounds_hold ? levels_on_path() + 1 : 0; i < bounds.size(); ++i) bounds[i].reset();
    options_.trace->tell("milp", outcome_.best.levels, bounds);
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
    ClusterState state = whole_.base;
    std::vector<PlannedEviction> evictions = place(whole_, solution, state);
    evictions.insert(evictions.end(), settled_.begin(), settled_.end());
    offer(std::move(state), evictions);
  }

  std::vector<PlannedEviction> place(const Subproblem& sub, const FormulationSolution& solution,
                                     ClusterState& state) const {
    return decode({problem_, sub.demand, sub.atoms, sub.supply, bounds_, sub.pool.configurations(),
                   sub.formulation->channels()},
                  solution, state)
        .evictions;
  }

  // Makes plans of an end state: as it is where the model was whole (one pod more can make a gang's minimum another
  // one, and lower its share), and filled up, first by those who need not have gone.
  void offer(ClusterState state, const std::vector<PlannedEviction>& evictions) {
    if (exact_) keep_if_best(state, evictions);
    if (leavers_.any) {
      bring_back(state, evictions);
      if (exact_) keep_if_best(state, evictions);
    }
    complete(state);
    keep_if_best(state, evictions);
  }

  // Whoever can go on where he ran does: of a gang all, or so many that it has its minimum.
  void bring_back(ClusterState& state, const std::vector<PlannedEviction>& evictions) const {
    std::map<std::pair<std::int64_t, GangIndex>, std::vector<PodIndex>> by_gang;  // higher priorities first
    for (const PlannedEviction& eviction : evictions) {
      const GangIndex gang = problem_.pods[eviction.pod].gang;
      if (eviction.reason != EvictionReason::kStale)
        by_gang[{-static_cast<std::int64_t>(problem_.gangs[gang].priority), gang}].push_back(eviction.pod);
    }
    for (bool again = true; again;) {
      again = false;
      for (const auto& [key, pods] : by_gang) again = bring_back(state, key.second, pods) || again;
    }
  }

  bool bring_back(ClusterState& state, GangIndex gang, const std::vector<PodIndex>& pods) const {
    const ClusterState::Checkpoint before = state.checkpoint();
    bool any = false, all = true;
    for (const PodIndex pod : pods) {
      const Place home = snapshot_place(problem_, pod);
      if (state.is_present(pod) && state.place_of(pod) == home) continue;
      const ClusterState::Checkpoint here = state.checkpoint();
      if (state.is_present(pod)) state.take(pod);
      if (fits_at_home(state, pod, home)) {
        state.put(pod, home.node, home.devices);
        any = true;
      } else {
        state.rollback(here);
        all = all && state.is_present(pod);
      }
    }
    if (any && (all || is_satisfied(state, gang)) && keeps_min_resources(state) && keeps_domains(state, gang))
      return true;
    state.rollback(before);
    return false;
  }

  // Coming back in part must not tear a gang that was moved to another domain.
  bool keeps_domains(const ClusterState& state, GangIndex gang) const {
    return std::ranges::all_of(problem_.gangs[gang].groups, [&](GroupIndex group) {
      const TopologyLevelIndex level = problem_.groups[group].required_level;
      std::optional<DomainIndex> common;
      bool is_together = true;
      for_each_pod(problem_, group, [&](PodIndex pod) {
        if (level.is_none() || !state.is_present(pod)) return;
        const DomainIndex domain = problem_.nodes[state.place_of(pod).node].domains[level.value()];
        is_together = is_together && !domain.is_none() && domain == common.value_or(domain);
        common = domain;
      });
      return is_together;
    });
  }

  bool keeps_min_resources(const ClusterState& state) const {
    return std::ranges::all_of(whole_.demand.gang_classes, [&](const GangClass& gang_class) {
      const GangIndex gang = gang_class.gangs.front();
      return !gang_class.lacks_resources || !is_anything_present(state, gang) || fit::min_resources(state, gang);
    });
  }

  bool fits_at_home(const ClusterState& state, PodIndex pod, const Place& home) const {
    const PodClass& pod_class = problem_.class_of(pod);
    const NodeClass& node_class = problem_.class_of(home.node);
    if (!fit::capacity(room_of(state, home.node), pod_class) || !fit::anti_affinity(state, pod_class, home.node))
      return false;
    const DeviceUnits units = home.devices.empty() ? 0 : share_units(pod_class, node_class);
    const auto free = state.free_devices(home.node);
    if (!std::ranges::all_of(home.devices,
                             [&](std::int32_t device) { return free[static_cast<std::size_t>(device)] >= units; }))
      return false;
    const Gang& gang = problem_.gangs[problem_.pods[pod].gang];
    const QueueAmounts added = queue_usage(pod_class, node_class);
    return fit::limit(state, bounds_, gang, added) && fit::quota(state, bounds_, gang, added);
  }

  // Evictions obey rules that no single put can see, so the referee is asked about them here.
  void keep_if_best(const ClusterState& state, const std::vector<PlannedEviction>& evictions) {
    Candidate candidate{plan_of(problem_, state, evictions), {}};
    candidate.levels = evaluate(problem_, shares_, candidate.plan);
    if (compare(candidate.levels, outcome_.best.levels, ids_) <= 0) return;
    const Actions& actions = problem_.snapshot->policy.actions;
    if ((actions.preempt || actions.reclaim || actions.consolidate || actions.stale) &&
        !check_plan(*problem_.snapshot, problem_, shares_, candidate.plan).empty())
      return;
    outcome_.best = std::move(candidate);
    outcome_.improved = true;
    knows_incumbent_ = false;
    tell();
  }

  // Diving: what the LP's solution is sure of is placed, and what remains, nodes and pods, is priced anew as a smaller
  // problem, until little is left. `share`: of each configuration's nodes, how many are taken from the first solution.
  // Source: diving with column generation (Sadykov et al., INFORMS Journal on Computing 2019), without backtracking.
  void dive(std::size_t level, double share) {
    ClusterState state = whole_.base;
    std::vector<bool> reserved = none_reserved_;
    FormulationSolution sure = whole_.formulation->floor(relaxed_, share);
    reserve(whole_, sure, reserved);
    place(whole_, sure, state);
    for (int depth = 0; depth < kMostDives && !options_.deadline.passed(); ++depth) {
      Subproblem rest(setting_, state, nobody_, reserved);
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
    offer(std::move(state), settled_);
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

  int most_rounds() const { return options_.deadline.is_deterministic() ? kDeterministicRounds : kMostRounds; }

  // Column generation on the LP relaxation, for at most a share of the time that is left.
  Priced price_columns(Subproblem& sub, const LinearExpression& expression, int sign, double share) {
    const Deadline until(options_.deadline.after(share), options_.deadline.is_deterministic());
    const PricingTask task{expression, sign, until, most_rounds(), options_.threads};
    Priced priced = muster::price_columns(sub, task, backend_);
    if (!priced.defect.empty()) outcome_.defects.push_back(priced.defect);
    return priced;
  }

  const Setting& setting_;
  const Problem& problem_;
  const FairShares& shares_;
  Backend& backend_;
  MilpEngineOptions options_;
  std::vector<LevelId> ids_;
  const Leavers& leavers_;
  std::vector<PlannedEviction> settled_;
  std::vector<bool> none_reserved_;
  Leavers nobody_;  // for dives
  Subproblem whole_;
  Blocks blocks_;
  QueueBounds bounds_;
  bool is_recalled_ = false;      // the first prices are those of a cycle before
  bool knows_incumbent_ = false;  // the pool has its contents
  bool exact_ = false, written_ = false, solving_ = true, by_optimum_ = false;
  std::vector<std::int64_t> path_;  // what the levels so far are held at
  std::vector<double> relaxed_;     // the LP's last solution
  std::map<Terms, std::int64_t> held_;
  MilpOutcome outcome_;
};

}  // namespace

MilpOutcome solve_milp(const Problem& problem, const FairShares& shares, const Candidate& incumbent, Backend& backend,
                       const MilpEngineOptions& options) {
  const ClusterState before(problem, ClusterState::Releasing::kFreed);
  const EvictionRules rules(problem, shares, before);
  const Setting setting{problem, shares, rules};
  const Leavers leavers = find_leavers(problem, rules, before);
  MilpOutcome outcome;
  outcome.best = incumbent;
  outcome.bounds.resize(incumbent.levels.values.size());
  if (leavers.any || incumbent.plan.evictions.empty()) {
    Engine engine(setting, before, leavers, {}, incumbent, backend, options);
    outcome = engine.run();
    if (engine.is_exact() || !leavers.any) return outcome;
  }
  const SettledEvictions settled = settle_evictions(problem, outcome.best.plan);
  MilpOutcome second =
      Engine(setting, settled.state, settled.leavers, settled.evictions, outcome.best, backend, options).run();
  outcome.best = std::move(second.best);
  outcome.improved = outcome.improved || second.improved;
  outcome.defects.insert(outcome.defects.end(), second.defects.begin(), second.defects.end());
  return outcome;
}

}  // namespace muster
