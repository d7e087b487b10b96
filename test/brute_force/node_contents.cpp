#include "test/brute_force/node_contents.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/objective/evaluation.h"
#include "model/problem/exceeded.h"

namespace muster::brute_force {
namespace {

// What is free on the node, and how it came to be.
struct Arrangement {
  std::vector<DeviceUnits> devices;
  std::vector<PutPod> pods;
};

class Enumeration {
 public:
  Enumeration(const Problem& problem, const std::vector<PodKind>& kinds, NodeIndex node,
              const std::vector<bool>& allowed)
      : problem_(problem),
        kinds_(kinds),
        node_class_(problem.class_of(node)),
        node_class_index_(problem.nodes[node].node_class),
        allowed_(allowed) {
    const NodeClass& reported = as_reported(problem, node_class_);
    free_ = reported.capacity;
    Arrangement start;
    start.devices.assign(static_cast<std::size_t>(reported.device_count), problem.device_capacity(node));
    start.devices.resize(static_cast<std::size_t>(node_class_.device_count), 0);
    for (const PodIndex pod : problem.pods.indices()) {
      if (problem.pods[pod].status != PodStatus::kRunning || problem.pods[pod].node != node) continue;
      const PodClass& pod_class = problem.class_of(pod);
      for (std::size_t r = 0; r < free_.size(); ++r) free_[r] -= pod_class.request[r];
      for (const std::int32_t device : problem.devices_of(pod)) {
        start.devices[static_cast<std::size_t>(device)] -= share_units(pod_class, node_class_);
      }
    }
    capacity_ = problem.device_capacity(node);
    extend(0, Counts{}, {start});
  }
  std::vector<NodeContent> take() { return std::move(contents_); }

 private:
  // `arrangements`: all ways to have `counts` of the kinds before `kind`, one for each multiset of free device units.
  void extend(std::size_t kind, Counts counts, std::vector<Arrangement> arrangements) {
    if (kind == kinds_.size()) return keep(counts, arrangements);
    extend(kind + 1, counts, arrangements);
    if (!allowed_[kind]) return;
    const PodClass& pod_class = problem_.pod_classes[kinds_[kind].pod_class];
    if (pod_class.gpu.kind == GpuRequestKind::kMemory && node_class_.device_memory_mib == 0) return;
    const std::vector<Amount> before = free_;
    for (std::int64_t n = 1; n <= std::ssize(kinds_[kind].pods); ++n) {
      bool fits = true;
      for (std::size_t r = 0; r < free_.size(); ++r) {
        fits = fits && (pod_class.request[r] == 0 || free_[r] >= pod_class.request[r]);
        free_[r] -= pod_class.request[r];
      }
      if (fits) arrangements = with_one_more(kind, pod_class, arrangements);
      if (!fits || arrangements.empty()) break;
      counts.set(kind, n);
      extend(kind + 1, counts, arrangements);
    }
    free_ = before;
  }

  std::vector<Arrangement> with_one_more(std::size_t kind, const PodClass& pod_class,
                                         const std::vector<Arrangement>& arrangements) const {
    std::vector<Arrangement> next;
    std::set<std::vector<DeviceUnits>> seen;  // equal devices are never distinguished
    for (const Arrangement& arrangement : arrangements) {
      PutPod pod{kind, {}};
      choose(pod_class, arrangement, 0, pod, [&](const PutPod& chosen) {
        Arrangement result = arrangement;
        for (const std::int32_t device : chosen.devices) {
          result.devices[static_cast<std::size_t>(device)] -= share_units(pod_class, node_class_);
        }
        result.pods.push_back(chosen);
        std::vector<DeviceUnits> sorted = result.devices;
        std::ranges::sort(sorted);
        if (seen.insert(sorted).second) next.push_back(std::move(result));
      });
    }
    return next;
  }

  // All sets of distinct devices that have the room.
  template <class Found>
  void choose(const PodClass& pod_class, const Arrangement& arrangement, std::int32_t first, PutPod& pod,
              const Found& found) const {
    if (static_cast<std::int32_t>(pod.devices.size()) == pod_class.gpu.devices) return found(pod);
    const DeviceUnits share = share_units(pod_class, node_class_);
    for (std::int32_t device = first; device < node_class_.device_count; ++device) {
      if (arrangement.devices[static_cast<std::size_t>(device)] < share) continue;
      pod.devices.push_back(device);
      choose(pod_class, arrangement, device + 1, pod, found);
      pod.devices.pop_back();
    }
  }

  void keep(Counts counts, const std::vector<Arrangement>& arrangements) {
    NodeContent best;
    best.counts = counts;
    bool is_first = true;
    for (const Arrangement& arrangement : arrangements) {
      const std::int64_t value = last_level_of(problem_, {node_class_index_, free_, arrangement.devices});
      if (!is_first && value >= best.last_level) continue;
      is_first = false;
      best.last_level = value;
      best.pods = arrangement.pods;
    }
    contents_.push_back(std::move(best));
  }

  const Problem& problem_;
  const std::vector<PodKind>& kinds_;
  const NodeClass& node_class_;
  NodeClassIndex node_class_index_;
  const std::vector<bool>& allowed_;
  std::vector<Amount> free_;
  DeviceUnits capacity_ = 0;
  std::vector<NodeContent> contents_;
};

}  // namespace

std::vector<NodeContent> contents_of(const Problem& problem, const std::vector<PodKind>& kinds, NodeIndex node,
                                     const std::vector<bool>& allowed) {
  return Enumeration(problem, kinds, node, allowed).take();
}

}  // namespace muster::brute_force
