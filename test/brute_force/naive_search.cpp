#include "test/brute_force/naive_search.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/objective/evaluation.h"
#include "model/referee/referee.h"
#include "test/brute_force/outcomes.h"

namespace muster::brute_force {
namespace {

// What may become of one pod.
struct Fate {
  bool goes = false, comes = false;
  NodeIndex node;
  std::vector<std::int32_t> devices;
};

class NaiveSearch {
 public:
  NaiveSearch(const Problem& problem, const FairShares& shares) : problem_(problem), shares_(shares) {
    ids_ = level_ids(problem);
    ids_.resize(leading_levels(ids_));
    for (const PodIndex pod : problem.pods.indices()) {
      const PodStatus status = problem.pods[pod].status;
      if (status == PodStatus::kReleasing) releasing_.push_back(pod);
      if (status != PodStatus::kRunning && status != PodStatus::kPending) continue;
      pods_.push_back(pod);
      fates_.push_back(fates_of(pod, status == PodStatus::kRunning));
    }
  }

  std::int64_t end_states() const {
    std::int64_t product = 1;
    for (const auto& fates : fates_) product = std::min<std::int64_t>(product * std::ssize(fates), 1'000'000'000);
    return product;
  }

  Levels run() {
    choose(0, {});
    return best_;
  }

  std::set<std::vector<std::int64_t>> run_all() {
    collects_ = true;
    choose(0, {});
    return std::move(all_);
  }

 private:
  std::vector<Fate> fates_of(PodIndex pod, bool runs) const {
    std::vector<Fate> fates{{}};
    if (runs) fates.push_back({true, false, {}, {}});
    const std::int32_t wanted = problem_.class_of(pod).gpu.devices;
    for (const NodeIndex node : problem_.nodes.indices()) {
      const auto count = static_cast<std::uint32_t>(problem_.class_of(node).device_count);
      for (std::uint32_t set = 0; set < (1U << count); ++set) {
        if (std::popcount(set) != wanted) continue;
        Fate fate{runs, true, node, {}};
        for (std::uint32_t d = 0; d < count; ++d) {
          if (((set >> d) & 1U) != 0) fate.devices.push_back(static_cast<std::int32_t>(d));
        }
        fates.push_back(std::move(fate));
      }
    }
    return fates;
  }

  void choose(std::size_t at, const Plan& plan) {
    if (at == pods_.size()) return look_at(plan);
    for (const Fate& fate : fates_[at]) {
      Plan next = plan;
      if (fate.goes) next.evictions.push_back({pods_[at], EvictionReason::kConsolidate, GangIndex::none()});
      if (fate.comes) next.placements.push_back({pods_[at], fate.node, fate.devices, {}});
      choose(at + 1, next);
    }
  }

  // Pods that are not placed again cannot have left to be moved; reasons are tried in turn.
  void look_at(const Plan& end_state) {
    Plan at_best = end_state;
    for (Eviction& eviction : at_best.evictions) eviction.reason = EvictionReason::kStale;  // which counts for nothing
    if ((!collects_ && !is_better(at_best)) || !fits(end_state)) return;
    try_reasons(0, end_state);
  }

  // Whether nothing is wrong with it but, it may be, reasons: those rules alone ask for them.
  bool fits(const Plan& plan) const {
    const std::vector<referee::Violation> violations =
        referee::check_plan(*problem_.snapshot, problem_, shares_, with_after(plan, true));
    return std::ranges::all_of(violations, [](const referee::Violation& violation) {
      const bool may_be_by_order =
          violation.rule == referee::Rule::kAffinity || violation.rule == referee::Rule::kSpread;
      return may_be_by_order || violation.rule == referee::Rule::kAction || violation.rule == referee::Rule::kWho ||
             violation.rule >= referee::Rule::kPreempt;
    });
  }

  void try_reasons(std::size_t at, Plan plan) {
    if (at == plan.evictions.size()) return judge(plan);
    const bool is_move =
        std::ranges::find(plan.placements, plan.evictions[at].pod, &Placement::pod) != plan.placements.end();
    if (!is_move) {
      plan.evictions[at].reason = EvictionReason::kStale;
      plan.evictions[at].for_gang = GangIndex::none();
      try_reasons(at + 1, plan);
    }
    for (const EvictionReason reason :
         {EvictionReason::kPreempt, EvictionReason::kReclaim, EvictionReason::kConsolidate}) {
      if (is_move != (reason == EvictionReason::kConsolidate)) continue;
      for (const GangIndex gang : problem_.gangs.indices()) {
        const bool gang_is_placed = std::ranges::any_of(
            plan.placements, [&](const Placement& placement) { return problem_.pods[placement.pod].gang == gang; });
        plan.evictions[at].reason = reason;
        plan.evictions[at].for_gang = gang;
        try_reasons(at + 1, plan);
        if (is_move && gang_is_placed) break;  // a moved pod may move for any gang that is placed
      }
    }
  }

  Levels levels_of(const Plan& plan) const {
    Levels levels = evaluate(problem_, shares_, plan);
    levels.values.resize(ids_.size());
    return levels;
  }
  bool is_better(const Plan& plan) const { return best_.values.empty() || compare(levels_of(plan), best_, ids_) > 0; }

  void judge(Plan plan) {
    std::vector<std::int64_t> values = evaluate(problem_, shares_, plan).values;
    if (collects_ ? all_.contains(values) : !is_better(plan)) return;
    std::vector<std::int32_t> steps(plan.placements.size());
    std::iota(steps.begin(), steps.end(), 0);
    do {
      for (std::size_t i = 0; i < steps.size(); ++i) plan.placements[i].step = steps[i];
      if (!passes(plan)) continue;
      if (collects_)
        all_.insert(std::move(values));
      else
        best_ = levels_of(plan);
      return;
    } while (problem_.has_ordered_rules() && std::ranges::next_permutation(steps).found);
  }

  bool passes(const Plan& plan) const {
    const auto holds = [&](const Plan& one) {
      return referee::check_plan(*problem_.snapshot, problem_, shares_, one).empty();
    };
    return holds(plan) || holds(with_after(plan, false)) || holds(with_after(plan, true));
  }

  // Every placement waits for all that leaves.
  Plan with_after(Plan plan, bool itself_too) const {
    std::vector<PodIndex> leaving = releasing_;
    for (const Eviction& eviction : plan.evictions) leaving.push_back(eviction.pod);
    std::ranges::sort(leaving);
    for (Placement& placement : plan.placements) {
      placement.after = leaving;
      if (!itself_too) std::erase(placement.after, placement.pod);
    }
    return plan;
  }

  const Problem& problem_;
  const FairShares& shares_;
  std::vector<LevelId> ids_;
  std::vector<PodIndex> pods_, releasing_;
  std::vector<std::vector<Fate>> fates_;
  Levels best_;
  bool collects_ = false;  // all plans, not the best
  std::set<std::vector<std::int64_t>> all_;
};

}  // namespace

std::optional<Levels> solve_naively(const Problem& problem, const FairShares& shares, std::int64_t most_states) {
  NaiveSearch search(problem, shares);
  if (search.end_states() > most_states) return std::nullopt;
  return search.run();
}

std::optional<std::set<std::vector<std::int64_t>>> levels_of_all_plans(const Problem& problem, const FairShares& shares,
                                                                       std::int64_t most_states) {
  NaiveSearch search(problem, shares);
  if (search.end_states() > most_states) return std::nullopt;
  return search.run_all();
}

}  // namespace muster::brute_force
