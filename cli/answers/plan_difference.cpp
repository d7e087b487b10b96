#include "cli/answers/plan_difference.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "cli/answers/answers.h"
#include "model/base/require.h"

namespace muster::cli {
namespace {

using Action = PlanDifference::Action;
using Better = PlanDifference::Better;

// The name of the gang that a pod of this name belongs to by convention; empty: none of them. A pod without a gang is
// one of its own name, or of `NAME@pod`.
std::string gang_by_name(const std::string& pod, const std::set<std::string, std::less<>>& gangs) {
  for (const std::string& own : {pod + "@pod", pod}) {
    if (gangs.contains(own)) return own;
  }
  for (std::size_t end = pod.find_last_of("-._/"); end != std::string::npos && end > 0;
       end = pod.find_last_of("-._/", end - 1)) {
    if (const auto gang = gangs.find(std::string_view(pod).substr(0, end)); gang != gangs.end()) return *gang;
  }
  return {};
}

template <class Take>
void for_each_pod(const muster_v1::ReadPlan& plan, const Take& take) {
  for (const auto& placement : plan.named.placements) take(placement.pod);
  for (const auto& eviction : plan.named.evictions) take(eviction.pod);
}

void find_gangs_by_name(ComparedPlan& compared) {
  std::set<std::string, std::less<>> gangs;
  for (const muster_v1::GangClaim& gang : compared.plan.gangs) gangs.insert(gang.name);
  for_each_pod(compared.plan, [&](const std::string& pod) {
    std::string gang = gang_by_name(pod, gangs);
    if (!gang.empty()) compared.gang_of.emplace(pod, std::move(gang));
  });
}

void find_gangs(const Problem& problem, ComparedPlan& compared) {
  std::unordered_map<std::string_view, std::string_view> gang_of;
  for (const PodIndex pod : problem.pods.indices()) {
    gang_of.emplace(problem.snapshot->pods[pod.value()].name, problem.gangs[problem.pods[pod].gang].name);
  }
  for_each_pod(compared.plan, [&](const std::string& pod) {
    if (const auto found = gang_of.find(pod); found != gang_of.end()) compared.gang_of.emplace(pod, found->second);
  });
}

// --- pods ---

using PlannedActions = std::map<std::string_view, Action>;

PlannedActions actions_of(const muster_v1::NamedPlan& plan) {
  PlannedActions actions;
  for (const auto& eviction : plan.evictions) {
    Action& action = actions[eviction.pod];
    action.action = PodAction::kEvict;
    action.from = eviction.node;
    action.reason = eviction_reason_name(eviction.reason);
    action.for_gang = eviction.for_gang;
  }
  for (const auto& placement : plan.placements) {
    Action& action = actions[placement.pod];
    action.action = action.action == PodAction::kEvict ? PodAction::kMove : PodAction::kStart;
    action.node = placement.node;
    action.devices = placement.devices;
    action.after = placement.after;
    action.step = placement.step;
  }
  return actions;
}

bool same_devices(const Action& a, const Action& b) {
  return std::ranges::equal(a.devices, b.devices,
                            [](const auto& x, const auto& y) { return x.index == y.index && x.share == y.share; });
}

// None: the plans do the same.
std::optional<PodChange> change_of(const Action& before, const Action& after) {
  if (before.action != after.action) {
    switch (after.action) {
      case PodAction::kStart:
        return PodChange::kStarted;
      case PodAction::kEvict:
        return PodChange::kEvicted;
      case PodAction::kMove:
        return PodChange::kMoved;
      case PodAction::kNone:
        break;
    }
    return before.action == PodAction::kStart   ? PodChange::kNotStarted
           : before.action == PodAction::kEvict ? PodChange::kNotEvicted
                                                : PodChange::kNotMoved;
  }
  if (before.node != after.node) return PodChange::kOtherNode;
  if (!same_devices(before, after)) return PodChange::kOtherGpus;
  const auto eviction = [](const Action& action) { return std::tie(action.from, action.reason, action.for_gang); };
  if (eviction(before) != eviction(after)) return PodChange::kOtherEviction;
  const auto order = [](const Action& action) { return std::tie(action.after, action.step); };
  if (order(before) != order(after)) return PodChange::kOtherOrder;
  return std::nullopt;
}

std::string gang_of(std::string_view pod, const ComparedPlan& before, const ComparedPlan& after) {
  for (const ComparedPlan* plan : {&after, &before}) {
    if (const auto found = plan->gang_of.find(pod); found != plan->gang_of.end()) return found->second;
  }
  return {};
}

std::vector<PlanDifference::Pod> pods_that_differ(const ComparedPlan& before, const ComparedPlan& after) {
  std::map<std::string_view, std::pair<Action, Action>> both;
  for (auto& [pod, action] : actions_of(before.plan.named)) both[pod].first = std::move(action);
  for (auto& [pod, action] : actions_of(after.plan.named)) both[pod].second = std::move(action);
  std::vector<PlanDifference::Pod> pods;
  for (auto& [pod, actions] : both) {
    const std::optional<PodChange> change = change_of(actions.first, actions.second);
    if (!change) continue;
    pods.push_back(
        {std::string(pod), gang_of(pod, before, after), *change, std::move(actions.first), std::move(actions.second)});
  }
  return pods;
}

// --- gangs ---

PlanDifference::GangState state_of(const muster_v1::GangClaim& claim) {
  return {std::string(explain::phase_name(claim.phase)),
          muster_v1::claimed_text(claim.reason, explain::reason_text),
          claim.running,
          claim.placed,
          claim.evicted,
          claim.pending,
          claim.expected_start};
}

bool same_state(const PlanDifference::GangState& a, const PlanDifference::GangState& b) {
  const auto decided = [](const PlanDifference::GangState& state) {
    return std::tie(state.phase, state.reason, state.running, state.placed, state.evicted, state.pending);
  };
  return decided(a) == decided(b);
}

std::vector<PlanDifference::Gang> gangs_that_differ(const ComparedPlan& before, const ComparedPlan& after,
                                                    const std::vector<PlanDifference::Pod>& pods) {
  std::map<std::string, PlanDifference::Gang> all;
  for (const muster_v1::GangClaim& gang : before.plan.gangs) all[gang.name].before = state_of(gang);
  for (const muster_v1::GangClaim& gang : after.plan.gangs) all[gang.name].after = state_of(gang);
  for (const PlanDifference::Pod& pod : pods) {
    PlanDifference::Gang& gang = all[pod.gang];
    gang.changes.resize(kPodChanges);
    ++gang.changes[static_cast<std::size_t>(pod.change)];
    ++gang.pods_changed;
  }
  std::vector<PlanDifference::Gang> gangs;
  for (auto& [name, gang] : all) {
    if (gang.pods_changed == 0 && same_state(gang.before, gang.after)) continue;
    gang.name = name;
    gang.changes.resize(kPodChanges);
    gangs.push_back(std::move(gang));
  }
  std::ranges::stable_sort(gangs, std::ranges::greater(), &PlanDifference::Gang::pods_changed);
  return gangs;
}

void sort_by_gang(const std::vector<PlanDifference::Gang>& gangs, std::vector<PlanDifference::Pod>& pods) {
  std::map<std::string_view, std::size_t> rank;
  for (std::size_t i = 0; i < gangs.size(); ++i) rank.emplace(gangs[i].name, i);
  std::ranges::stable_sort(pods, {}, [&](const PlanDifference::Pod& pod) {
    return std::tuple(rank.at(pod.gang), pod.change, std::string_view(pod.name));
  });
}

// --- levels ---

using LevelClaim = muster_v1::ReadPlan::LevelClaim;
using LevelKey = std::pair<std::string, std::optional<std::int32_t>>;

LevelKey key_of(const LevelClaim& level) { return {level.level, level.priority}; }

std::optional<bool> more_is_better(std::string_view level) {
  for (int kind = 0; kind <= static_cast<int>(LevelKind::kFragmentation); ++kind) {
    if (level_name(static_cast<LevelKind>(kind)) == level) return muster::is_maximised(static_cast<LevelKind>(kind));
  }
  return std::nullopt;
}

// Which value of a level is better. Unknown: not both plans have the level, or it is one of another version.
Better better_of(const PlanDifference::Level& level) {
  const std::optional<bool> maximised = more_is_better(level.name);
  if (!level.before || !level.after || !maximised) return Better::kUnknown;
  const std::int64_t more = subtract(*level.after, *level.before).value;
  if (more == 0) return Better::kNeither;
  return (more > 0) == *maximised ? Better::kAfter : Better::kBefore;
}

void compare_levels(const ComparedPlan& before, const ComparedPlan& after, PlanDifference& found) {
  const auto& a = before.plan.objective;
  const auto& b = after.plan.objective;
  std::map<LevelKey, std::size_t> position;
  for (const auto* side : {&a, &b}) {
    for (const LevelClaim& level : *side) {
      if (!position.emplace(key_of(level), found.levels.size()).second) continue;
      found.levels.push_back({level.level, level.priority, {}, {}, {}, {}});
    }
  }
  for (const LevelClaim& level : a) {
    PlanDifference::Level& row = found.levels[position.at(key_of(level))];
    row.before = decimal_in(level.value);
    row.bound_before = decimal_in(level.bound);
  }
  for (const LevelClaim& level : b) {
    PlanDifference::Level& row = found.levels[position.at(key_of(level))];
    row.after = decimal_in(level.value);
    row.bound_after = decimal_in(level.bound);
  }
  for (PlanDifference::Level& level : found.levels) level.better = better_of(level);
  const auto differs = [](const PlanDifference::Level& row) { return differ(row.before, row.after); };
  const auto first = std::ranges::find_if(found.levels, differs);
  if (first != found.levels.end()) found.first_level = first - found.levels.begin();
}

Better better_of(const PlanDifference& found, const ComparedPlan& before, const ComparedPlan& after) {
  if (!std::ranges::equal(before.plan.objective, after.plan.objective, {}, key_of, key_of)) return Better::kUnknown;
  return found.first_level ? found.levels[*found.first_level].better : Better::kNeither;
}

// --- queues ---

std::vector<PlanDifference::Queue> queues_that_differ(const ComparedPlan& before, const ComparedPlan& after) {
  using Claim = muster_v1::ReadPlan::QueueClaim;
  constexpr std::array<std::pair<const char*, Claim::Amounts Claim::*>, kQueueResources> kResources = {
      {{"gpu", &Claim::gpu}, {"cpu", &Claim::cpu}, {"memory", &Claim::memory}}};
  std::map<std::string, std::pair<const Claim*, const Claim*>> both;
  for (const Claim& queue : before.plan.queues) both[queue.name].first = &queue;
  for (const Claim& queue : after.plan.queues) both[queue.name].second = &queue;
  std::vector<PlanDifference::Queue> queues;
  for (const auto& [name, sides] : both) {
    for (const auto& [resource, member] : kResources) {
      PlanDifference::Queue row{name, resource, {}, {}, {}, {}};
      if (sides.first != nullptr) {
        row.allocated_before = decimal_in((sides.first->*member).allocated);
        row.share_before = decimal_in((sides.first->*member).fair_share);
      }
      if (sides.second != nullptr) {
        row.allocated_after = decimal_in((sides.second->*member).allocated);
        row.share_after = decimal_in((sides.second->*member).fair_share);
      }
      const bool differs =
          differ(row.allocated_before, row.allocated_after) || differ(row.share_before, row.share_after);
      if (differs) queues.push_back(std::move(row));
    }
  }
  return queues;
}

PlanDifference::Side side_of(const muster_v1::ReadPlan& plan) {
  if (plan.is_error) return {plan.id, muster_v1::claimed_text(plan.error.code, error_code_text), {}, {}, {}, false};
  return {plan.id,
          {},
          std::string(origin_name(plan.solver.origin)),
          std::string(proof_name(plan.solver.proof)).append(plan.solver.of_what_was_read ? " of what was read" : ""),
          plan.solver.elapsed_ms,
          plan.solver.deadline_missed};
}

}  // namespace

Result<ComparedPlan> compared_plan(std::string_view line, const Problem* problem) {
  Result<muster_v1::ReadPlan> plan = muster_v1::read_plan(line, nullptr);
  if (!plan) return plan.error();
  ComparedPlan compared{std::move(*plan), {}};
  problem != nullptr ? find_gangs(*problem, compared) : find_gangs_by_name(compared);
  return compared;
}

ComparedPlan compared_plan(const Problem& problem, const portfolio::Solution& solution) {
  std::string line;
  muster_v1::SolverStatement statement;
  statement.origin = solution.origin;
  statement.proof = solution.proof;
  statement.gap = solution.gap;
  muster_v1::write_plan({problem, solution.plan, solution.report, statement, false}, line);
  Result<ComparedPlan> compared = compared_plan(line, &problem);
  MUSTER_REQUIRE(compared);  // the reader reads what the writer writes
  return std::move(*compared);
}

bool PlanDifference::is_empty() const {
  return pods.empty() && gangs.empty() && !first_level && before.error == after.error;
}

PlanDifference difference_of(const ComparedPlan& before, const ComparedPlan& after) {
  PlanDifference found;
  found.before = side_of(before.plan);
  found.after = side_of(after.plan);
  found.pods = pods_that_differ(before, after);
  found.gangs = gangs_that_differ(before, after, found.pods);
  sort_by_gang(found.gangs, found.pods);
  compare_levels(before, after, found);
  found.queues = queues_that_differ(before, after);
  found.better = better_of(found, before, after);
  return found;
}

}  // namespace muster::cli
