#include "solver/answers/funnel.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/problem/exceeded.h"

namespace muster::answers {
namespace {

using explain::FilterCode;

using Charges = std::map<std::pair<FilterCode, std::string>, std::int64_t>;

std::vector<explain::BlockerTally::Charge> listed(const Charges& charges) {
  std::vector<explain::BlockerTally::Charge> list;
  for (const auto& [key, nodes] : charges) list.push_back({key.first, key.second, nodes});
  return list;
}

class FunnelMaker {
 public:
  explicit FunnelMaker(const WaitingGang& gang)
      : problem_(gang.problem()),
        empty_(explain::RemainingCapacity::empty_cluster(problem_)),
        room_(explain::RemainingCapacity::after(problem_, gang.end())) {}

  Funnel make(PodClassIndex index, std::int64_t pods) {
    funnel_ = {};
    funnel_.pod_class = index;
    funnel_.pods = pods;
    funnel_.nodes = std::ssize(room_.nodes());
    unsuitable_.clear();
    full_.clear();
    const PodClass& pod_class = problem_.pod_classes[index];
    for (const NodeClassIndex node_class : problem_.node_classes.indices()) {
      if (!problem_.node_classes[node_class].nodes.empty()) take_class(pod_class, node_class);
    }
    funnel_.unsuitable = listed(unsuitable_);
    funnel_.full = listed(full_);
    return std::move(funnel_);
  }

 private:
  // Nodes of a class have equal capacity.
  void take_class(const PodClass& pod_class, NodeClassIndex index) {
    const NodeClass& node_class = problem_.node_classes[index];
    const std::int64_t nodes = std::ssize(node_class.nodes);
    if (!pod_class.allowed[index.value()]) {
      const auto key = is_closed_by_hold(problem_, pod_class, index)
                           ? std::pair(FilterCode::kReserved, std::string())
                           : explain::static_blocker(problem_, pod_class, node_class);
      unsuitable_[key] += nodes;
      return;
    }
    const NodeIndex first = node_class.nodes.front();
    const std::int64_t most = empty_.count(pod_class, first, funnel_.pods);
    if (most == 0) {
      unsuitable_[key_on(empty_, pod_class, first)] += nodes;
      const bool is_unknown = pod_class.gpu.kind == GpuRequestKind::kMemory && node_class.device_memory_mib == 0;
      if (is_unknown && !empty_.devices(first).empty()) funnel_.nodes_of_unknown_memory += nodes;
      return;
    }
    funnel_.suitable += nodes;
    funnel_.pods_when_empty = std::min(funnel_.pods, funnel_.pods_when_empty + most * nodes);
    const std::int64_t needed = (funnel_.pods + most - 1) / most;
    funnel_.nodes_needed = funnel_.nodes_needed == 0 ? needed : std::min(funnel_.nodes_needed, needed);
    for (const NodeIndex node : node_class.nodes) take_node(pod_class, node);
  }

  void take_node(const PodClass& pod_class, NodeIndex node) {
    const auto key = key_on(room_, pod_class, node);
    if (key.first != FilterCode::kAvailable) {
      ++full_[key];
      return;
    }
    ++funnel_.open;
    if (funnel_.pods_now < funnel_.pods)
      funnel_.pods_now += room_.count(pod_class, node, funnel_.pods - funnel_.pods_now);
  }

  std::pair<FilterCode, std::string> key_on(const explain::RemainingCapacity& room, const PodClass& pod_class,
                                            NodeIndex node) const {
    ResourceIndex other;
    const FilterCode filter = explain::filter_on(problem_, room, pod_class, node, &other);
    return {filter, filter == FilterCode::kInsufficient ? std::string(problem_.resource_name(other)) : std::string()};
  }

  const Problem& problem_;
  explain::RemainingCapacity empty_, room_;
  Funnel funnel_;
  Charges unsuitable_, full_;
};

}  // namespace

std::vector<Funnel> funnels(const WaitingGang& gang) {
  FunnelMaker maker(gang);
  std::map<PodClassIndex, std::int64_t> pods;
  for (const explain::NeedItem& item : gang.need().items) pods[item.pod_class] += std::ssize(item.pods);
  std::vector<Funnel> all;
  for (const auto& [pod_class, count] : pods) all.push_back(maker.make(pod_class, count));
  return all;
}

}  // namespace muster::answers
