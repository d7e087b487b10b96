#include "model/forecast/gang_demand.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "model/base/saturating.h"

namespace muster::forecast {
namespace {

// Of a group: the pods that complete its minimum.
struct Completion {
  bool is_possible = true;
  Work work = 0;
  std::vector<PodIndex> pods;
};

class Completions {
 public:
  Completions(const Problem& problem, const EndState& end) : problem_(problem), end_(end) {}

  // Groups of a gang are adjacent, parents first: from the back, children are known before their parents.
  Completion of(const Gang& gang) const {
    if (gang.groups.size() == 1) return of_leaf(problem_.groups[gang.root]);
    std::vector<std::vector<Completion>> of_children(gang.groups.size());
    for (std::size_t i = gang.groups.size(); i-- > 0;) {
      const Group& group = problem_.groups[gang.groups[i]];
      Completion completion = group.is_leaf() ? of_leaf(group) : of_inner(group, of_children[i]);
      if (group.parent.is_none()) return completion;
      of_children[group.parent.value() - gang.root.value()].push_back(std::move(completion));
    }
    return {};
  }

 private:
  bool is_there(PodIndex pod) const {
    return end_.is_present(pod) || problem_.pods[pod].status == PodStatus::kSucceeded;
  }
  bool may_start(PodIndex pod) const {
    const PodStatus status = problem_.pods[pod].status;
    return (status == PodStatus::kPending || status == PodStatus::kRunning) && !end_.is_present(pod);
  }
  Work work(PodIndex pod) const { return problem_.class_of(pod).work; }

  Completion of_leaf(const Group& group) const {
    Completion completion;
    std::ptrdiff_t missing = group.minimum;
    for (const PodIndex pod : group.pods) {
      if (is_there(pod)) --missing;
      if (may_start(pod)) completion.pods.push_back(pod);
    }
    completion.is_possible = missing <= std::ssize(completion.pods);
    if (missing < std::ssize(completion.pods)) {
      std::ranges::stable_sort(completion.pods, {}, [&](PodIndex pod) { return work(pod); });
      completion.pods.resize(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, missing)));
    }
    for (const PodIndex pod : completion.pods) completion.work = saturating_add(completion.work, work(pod));
    return completion;
  }

  static Completion of_inner(const Group& group, std::vector<Completion>& children) {
    std::ranges::stable_sort(children, {},
                             [](const Completion& child) { return std::pair(!child.is_possible, child.work); });
    Completion completion;
    const auto wanted = static_cast<std::size_t>(std::max(0, group.minimum));
    completion.is_possible = wanted <= children.size();
    children.resize(std::min(wanted, children.size()));
    for (const Completion& child : children) {
      completion.is_possible = completion.is_possible && child.is_possible;
      completion.work = saturating_add(completion.work, child.work);
      completion.pods.insert(completion.pods.end(), child.pods.begin(), child.pods.end());
    }
    return completion;
  }

  const Problem& problem_;
  const EndState& end_;
};

}  // namespace

std::optional<GangDemand> demand_of(const Problem& problem, const EndState& end, const Gang& gang) {
  Completion completion = Completions(problem, end).of(gang);
  if (!completion.is_possible || completion.pods.empty()) return std::nullopt;
  std::ranges::sort(completion.pods, {},
                    [&](PodIndex pod) { return std::pair(-problem.class_of(pod).work, problem.pods[pod].pod_class); });
  GangDemand demand;
  for (const PodIndex pod : completion.pods) {
    const PodClassIndex pod_class = problem.pods[pod].pod_class;
    if (demand.pods.empty() || demand.pods.back().pod_class != pod_class) demand.pods.push_back({pod_class, 0});
    ++demand.pods.back().pods;
    const PodClass& c = problem.pod_classes[pod_class];
    const QueueAmounts one = {c.smallest_gpu_usage, c.request[kCpu.value()], c.request[kMemory.value()]};
    demand.of_queue.add(problem, gang, c, one);
  }
  return demand;
}

}  // namespace muster::forecast
