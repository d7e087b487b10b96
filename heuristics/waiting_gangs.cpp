#include "heuristics/waiting_gangs.h"

#include <algorithm>
#include <array>
#include <optional>

#include "heuristics/fit.h"
#include "model/interning.h"
#include "model/levels_parts.h"
#include "model/saturating.h"

namespace muster {

namespace {

// Where one that ran has gone already it counts no longer.
bool is_of_equal_pods(const ClusterState& state, const Gang& gang) {
  if (gang.groups.size() > 1 || gang.pods.empty()) return false;
  const Problem& problem = state.problem();
  const PodClassIndex pod_class = problem.pods[gang.pods.front()].pod_class;
  return std::ranges::all_of(gang.pods, [&](PodIndex pod) {
    const Pod& p = problem.pods[pod];
    return p.pod_class == pod_class && (fit::is_pending(p) || state.is_present(pod));
  });
}

// Of a gang of one leaf group of equal pods, of which none is present: those of the same queue, class, level and
// minimum fail alike.
std::int64_t shape_of(const Problem& problem, const Gang& gang, SequenceTable& shapes) {
  if (!gang.min_resources.empty() || gang.min_resources_gpu > 0) return -1;
  const Group& root = problem.groups[gang.root];
  const std::array<std::uint64_t, 5> key{gang.queue.value(), gang.preemptible,
                                         problem.pods[gang.pods.front()].pod_class.value(), root.required_level.value(),
                                         static_cast<std::uint64_t>(root.minimum)};
  return shapes.intern(key).first;
}

// None: it has too few pods, whatever is done.
std::optional<WaitingGang> look_at(const ClusterState& state, GangIndex index, SequenceTable& shapes) {
  const Problem& problem = state.problem();
  const Gang& gang = problem.gangs[index];
  WaitingGang found;
  found.gang = index;
  found.queue = gang.queue;
  found.priority = gang.priority;
  bool is_any_present = false;
  for (const PodIndex pod : gang.pods) {
    found.waits = found.waits || (fit::is_pending(problem.pods[pod]) && !state.is_present(pod));
    is_any_present = is_any_present || state.is_present(pod);
  }
  if (is_of_equal_pods(state, gang)) {
    found.leaf = gang.root;
    found.pods = static_cast<std::int32_t>(gang.pods.size());
    found.needed = problem.groups[gang.root].minimum;
    if (found.pods < found.needed) return std::nullopt;
    found.unit = work_pair(problem.class_of(gang.pods.front()));
    for (std::size_t side = 0; side < 2; ++side)
      found.minimum[side] = saturating_multiply(found.unit[side], std::max(0, found.needed));
    if (!is_any_present) found.shape = shape_of(problem, gang, shapes);
    return found;
  }
  std::vector<PodIndex> candidates;
  for (const PodIndex pod : gang.pods) {
    if (fit::is_pending(problem.pods[pod]) || state.is_present(pod) ||
        problem.pods[pod].status == PodStatus::kSucceeded)
      candidates.push_back(pod);
  }
  const auto units = gang_units(problem, index, candidates);
  if (units.empty()) return std::nullopt;
  found.minimum = units.front();
  return found;
}

}  // namespace

WaitingGangs::WaitingGangs(const ClusterState& state, std::span<const GangIndex> gangs) {
  SequenceTable shapes;
  all_.reserve(gangs.size());
  for (const GangIndex gang : gangs) {
    if (!fit::queue_exists(state.problem().gangs[gang])) continue;
    if (const auto found = look_at(state, gang, shapes)) all_.push_back(*found);
  }
  shapes_ = shapes.size();
}

}  // namespace muster
