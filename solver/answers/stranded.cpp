#include "solver/answers/stranded.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/explain/reasons_room.h"
#include "model/problem/holds.h"

namespace muster::answers {
namespace {

using explain::FilterCode;

// Classes of pods that wait for GPUs.
std::vector<PodClassIndex> waiting_classes(const Problem& problem, const explain::AfterPlan& end) {
  std::set<PodClassIndex> classes;
  for (const PodIndex pod : problem.pods.indices()) {
    if (problem.pods[pod].status != PodStatus::kPending || end.is_present(pod)) continue;
    const PodClassIndex index = problem.pods[pod].pod_class;
    if (problem.pod_classes[index].gpu.kind != GpuRequestKind::kNone) classes.insert(index);
  }
  return {classes.begin(), classes.end()};
}

MicroGpu free_on(const Problem& problem, const explain::RemainingRoom& room, NodeIndex node, std::int64_t* whole) {
  const DeviceUnits capacity = problem.device_capacity(node);
  MicroGpu sum = 0;
  for (const std::int64_t free : room.devices(node)) {
    sum += static_cast<MicroGpu>(static_cast<__int128>(free) * 1'000'000 / capacity);
    if (whole && free == capacity) ++*whole;
  }
  return sum;
}

std::pair<FilterCode, std::string> furthest(const Problem& problem, const explain::RemainingRoom& room,
                                            const std::vector<PodClassIndex>& classes, NodeIndex node) {
  std::pair<FilterCode, std::string> best{FilterCode::kUnschedulable, ""};
  for (const PodClassIndex index : classes) {
    const PodClass& pod_class = problem.pod_classes[index];
    const NodeClassIndex node_class = problem.nodes[node].node_class;
    std::pair<FilterCode, std::string> met;
    if (pod_class.allowed[node_class.value()]) {
      ResourceIndex other;
      met.first = explain::filter_on(problem, room, pod_class, node, &other);
      if (met.first == FilterCode::kInsufficient) met.second = problem.resource_name(other);
    } else if (is_closed_by_hold(problem, pod_class, node_class)) {
      met.first = FilterCode::kReserved;
    } else {
      met = explain::static_blocker(problem, pod_class, problem.node_classes[node_class]);
    }
    if (met.first >= best.first) best = std::move(met);
    if (best.first == FilterCode::kAvailable) break;
  }
  return best;
}

}  // namespace

std::vector<StrandedCapacity> stranded_capacity(const Run& run) {
  const explain::AfterPlan end = explain::after_plan(run.problem, run.solution.plan);
  const explain::RemainingRoom room = explain::RemainingRoom::after(run.problem, end);
  const std::vector<PodClassIndex> classes = waiting_classes(run.problem, end);
  std::map<std::pair<FilterCode, std::string>, StrandedCapacity> by_cause;
  for (const NodeIndex node : room.nodes()) {
    std::int64_t whole = 0;
    const MicroGpu gpus = free_on(run.problem, room, node, &whole);
    if (gpus == 0 || classes.empty()) continue;
    auto cause = furthest(run.problem, room, classes, node);
    StrandedCapacity& stranded = by_cause[cause];
    stranded.filter = cause.first;
    stranded.detail = std::move(cause.second);
    ++stranded.nodes;
    stranded.gpus += gpus;
    stranded.whole += whole;
  }
  std::vector<StrandedCapacity> list;
  for (auto& [cause, stranded] : by_cause) list.push_back(std::move(stranded));
  std::ranges::stable_sort(list, std::greater<>(), &StrandedCapacity::gpus);
  return list;
}

MicroGpu free_gpus(const Run& run) {
  const explain::RemainingRoom room =
      explain::RemainingRoom::after(run.problem, explain::after_plan(run.problem, run.solution.plan));
  MicroGpu sum = 0;
  for (const NodeIndex node : room.nodes()) sum += free_on(run.problem, room, node, nullptr);
  return sum;
}

}  // namespace muster::answers
