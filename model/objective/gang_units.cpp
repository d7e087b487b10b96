// Units of a gang: the least work that satisfies it, and every pod beyond.
#include "model/objective/gang_units.h"

#include <algorithm>

#include "model/base/saturating.h"
#include "model/objective/level_values.h"

namespace muster {
namespace {

void add(WorkByKind& sum, const PodClass& pod_class) {
  Work& work = sum[kind_of(pod_class)];
  work = saturating_add(work, pod_class.work);
}

// Fewest pods first among equals: by work, then by index. The available pods of a group, and the cost of its cheapest
// minimum.
struct GroupState {
  std::vector<PodIndex> present;
  std::int32_t succeeded = 0;
  bool is_met = false;
  bool is_chosen = false;
  Work cost = 0;
};

class UnitFinder {
 public:
  UnitFinder(const Problem& problem, const Gang& gang) : problem_(problem), gang_(gang), states_(gang.groups.size()) {}

  std::vector<WorkByKind> find(std::span<const PodIndex> present) {
    for (const PodIndex pod : gang_.pods) {
      if (problem_.pods[pod].status == PodStatus::kSucceeded) ++state_of(problem_.pods[pod].group).succeeded;
    }
    for (const PodIndex pod : present) state_of(problem_.pods[pod].group).present.push_back(pod);
    for (std::size_t i = gang_.groups.size(); i-- > 0;) price(gang_.groups[i]);
    if (!states_.front().is_met) return {};
    states_.front().is_chosen = true;
    for (const GroupIndex group : gang_.groups) choose_children(group);
    return units();
  }

 private:
  // Groups of a gang lie side by side, its root first.
  GroupState& state_of(GroupIndex group) { return states_[group.value() - gang_.root.value()]; }

  std::size_t needed(const Group& group, const GroupState& state) const {
    return static_cast<std::size_t>(std::max(group.minimum - state.succeeded, 0));
  }

  void price(GroupIndex index) {
    const Group& group = problem_.groups[index];
    GroupState& state = state_of(index);
    if (group.is_leaf()) {
      std::ranges::sort(state.present, [&](PodIndex a, PodIndex b) {
        const Work work_a = problem_.class_of(a).work, work_b = problem_.class_of(b).work;
        return work_a != work_b ? work_a < work_b : a < b;
      });
      state.is_met = state.present.size() >= needed(group, state);
      if (!state.is_met) return;
      for (std::size_t i = 0; i < needed(group, state); ++i) {
        state.cost = saturating_add(state.cost, problem_.class_of(state.present[i]).work);
      }
      return;
    }
    const std::vector<GroupIndex> cheapest = cheapest_children(group);
    state.is_met = std::ssize(cheapest) >= group.minimum;
    for (const GroupIndex child : cheapest) state.cost = saturating_add(state.cost, state_of(child).cost);
  }

  // As many as the group needs, or all that are met if these are fewer.
  std::vector<GroupIndex> cheapest_children(const Group& group) {
    std::vector<GroupIndex> met;
    for (const GroupIndex child : group.children) {
      if (state_of(child).is_met) met.push_back(child);
    }
    std::ranges::stable_sort(met, {}, [&](GroupIndex child) { return state_of(child).cost; });
    met.resize(std::min(met.size(), static_cast<std::size_t>(std::max(group.minimum, 0))));
    return met;
  }

  void choose_children(GroupIndex index) {
    const Group& group = problem_.groups[index];
    if (group.is_leaf() || !state_of(index).is_chosen) return;
    for (const GroupIndex child : cheapest_children(group)) state_of(child).is_chosen = true;
  }

  std::vector<WorkByKind> units() {
    std::vector<WorkByKind> result(1, WorkByKind{});
    for (const GroupIndex index : gang_.groups) {
      const GroupState& state = state_of(index);
      const std::size_t in_core = state.is_chosen ? needed(problem_.groups[index], state) : 0;
      for (std::size_t i = 0; i < state.present.size(); ++i) {
        if (i >= in_core) result.push_back({});
        add(i < in_core ? result.front() : result.back(), problem_.class_of(state.present[i]));
      }
    }
    return result;
  }

  const Problem& problem_;
  const Gang& gang_;
  std::vector<GroupState> states_;
};

bool are_alike(const Problem& problem, std::span<const PodIndex> pods) {
  return std::ranges::all_of(
      pods, [&](PodIndex pod) { return problem.pods[pod].pod_class == problem.pods[pods.front()].pod_class; });
}

// For a gang of one leaf group: whichever of the pods are its core.
std::vector<WorkByKind> units_of_alike(const Problem& problem, const Gang& gang, std::span<const PodIndex> present) {
  const auto succeeded =
      std::ranges::count_if(gang.pods, [&](PodIndex pod) { return problem.pods[pod].status == PodStatus::kSucceeded; });
  const std::int64_t core = std::max<std::int64_t>(problem.groups[gang.root].minimum - succeeded, 0);
  if (std::ssize(present) < core) return {};
  std::vector<WorkByKind> result(1 + present.size() - static_cast<std::size_t>(core), WorkByKind{});
  for (std::size_t i = 0; i < present.size(); ++i) {
    const std::size_t unit = i < static_cast<std::size_t>(core) ? 0 : i - static_cast<std::size_t>(core) + 1;
    add(result[unit], problem.class_of(present[i]));
  }
  return result;
}

}  // namespace

std::vector<std::array<Work, 2>> gang_units(const Problem& problem, GangIndex gang_index,
                                            std::span<const PodIndex> present) {
  const Gang& gang = problem.gangs[gang_index];
  const Group& root = problem.groups[gang.root];
  if (gang.pods.size() == 1 && present.size() == 1 && root.is_leaf() && root.minimum <= 1) {
    std::vector<WorkByKind> alone(1, WorkByKind{});
    if (root.minimum < 1) alone.push_back({});
    add(alone.back(), problem.class_of(present.front()));
    return alone;
  }
  return are_alike(problem, present) && gang.groups.size() == 1 ? units_of_alike(problem, gang, present)
                                                                : UnitFinder(problem, gang).find(present);
}

}  // namespace muster
