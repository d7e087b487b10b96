#include "solver/slots/pod_kinds.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/snapshot/snapshot.h"

namespace muster::slots {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

// A fraction of 1 needs an idle device, as a whole user does.
GpuRequest normalised(const GpuRequest& request) {
  if (request.kind == GpuRequestKind::kFraction && request.share == kMillion)
    return {GpuRequestKind::kWhole, request.devices, 0};
  return request;
}

std::int64_t largest_memory(const Problem& problem) {
  std::int64_t largest = 1;
  for (const NodeClass& node_class : problem.node_classes) largest = std::max(largest, node_class.device_memory_mib);
  return largest;
}

// Numbers pairs of nodes that are allowed by the class of a pod and by the task; equal ones once.
class FilterNumbers {
 public:
  explicit FilterNumbers(Indexed<FilterIndex, Filter>& filters) : filters_(filters) {}

  FilterIndex number(const PodClass& pod_class, NodeFilter nodes) {
    const auto part = parts_.emplace(nodes, parts_.size()).first->second;
    const auto [found, is_new] = numbers_.emplace(std::pair(part, pod_class.allowed), FilterIndex(filters_.size()));
    if (is_new) filters_.push_back({&pod_class.allowed, nodes});
    return found->second;
  }

 private:
  Indexed<FilterIndex, Filter>& filters_;
  std::unordered_map<NodeFilter, std::size_t> parts_;  // by first appearance
  std::map<std::pair<std::size_t, std::vector<bool>>, FilterIndex> numbers_;
};

// Numbers sizes and kinds by first appearance.
class KindNumbers {
 public:
  KindNumbers(const Problem& problem, Indexed<SizeIndex, GpuRequest>& sizes, Indexed<KindIndex, Kind>& kinds,
              Indexed<FilterIndex, Filter>& filters)
      : problem_(problem), sizes_(sizes), kinds_(kinds), filter_numbers_(filters) {}

  // The pods of one list mostly have one class.
  KindIndex number(PodIndex pod, NodeFilter nodes) {
    const PodClassIndex pod_class = problem_.pods[pod].pod_class;
    if (!last_.is_none() && pod_class == last_class_ && nodes == last_nodes_) return last_;
    last_class_ = pod_class;
    last_nodes_ = nodes;
    const PodClass& shape = problem_.pod_classes[pod_class];
    const Kind kind{size_of(normalised(shape.gpu)), filter_numbers_.number(shape, nodes)};
    const auto [found, is_new] = known_.emplace(kind, KindIndex(kinds_.size()));
    if (is_new) kinds_.push_back(kind);
    return last_ = found->second;
  }

 private:
  SizeIndex size_of(const GpuRequest& request) {
    const auto found = std::ranges::find(sizes_.raw(), request);
    if (found != sizes_.raw().end()) return SizeIndex(static_cast<std::size_t>(found - sizes_.raw().begin()));
    return sizes_.push_back(request);
  }

  const Problem& problem_;
  Indexed<SizeIndex, GpuRequest>& sizes_;
  Indexed<KindIndex, Kind>& kinds_;
  FilterNumbers filter_numbers_;
  std::map<Kind, KindIndex> known_;
  PodClassIndex last_class_;
  NodeFilter last_nodes_ = nullptr;
  KindIndex last_;
};

}  // namespace

PodKinds::PodKinds(const SlotTask& task) : problem_(task.problem), pods_(task.problem.pods.size()) {
  KindNumbers numbers(problem_, sizes_, kinds_, filters_);
  for (std::size_t k = 0; k < task.kept.size(); ++k)
    for (const PodIndex pod : task.kept[k].pods)
      pods_[pod] = {numbers.number(pod, task.kept[k].nodes), KeptIndex(k), NewIndex::none(), RankIndex::none()};
  for (std::size_t u = 0; u < task.placed.size(); ++u)
    for (const PodIndex pod : task.placed[u].pods)
      pods_[pod] = {numbers.number(pod, task.placed[u].nodes), KeptIndex::none(), NewIndex(u), RankIndex::none()};
  order_sizes();
  for (const Filter& filter : filters_) {
    std::int64_t count = 0;
    for (const NodeIndex node : problem_.nodes.indices()) count += filter.accepts(problem_, node) ? 1 : 0;
    accepting_.push_back(count);
  }
  order_pods();
}

void PodKinds::order_sizes() {
  const std::int64_t memory = largest_memory(problem_);
  const auto key = [&](SizeIndex size) {
    const GpuRequest& request = sizes_[size];
    const std::int64_t share =
        request.kind == GpuRequestKind::kMemory ? request.share * kMillion / memory : request.share;
    const int order = is_whole(request) ? 0 : request.devices > 1 ? 1 : request.devices == 1 ? 2 : 3;
    return std::tuple(order, -request.devices, -share, size);
  };
  std::vector<SizeIndex> order(sizes_.size());
  std::iota(order.begin(), order.end(), SizeIndex(0));
  std::ranges::sort(order, {}, key);
  Indexed<SizeIndex, GpuRequest> sorted;
  Indexed<SizeIndex, SizeIndex> position(sizes_.size());
  for (const SizeIndex size : order) position[size] = sorted.push_back(sizes_[size]);
  for (Kind& kind : kinds_) kind.size = position[kind.size];
  sizes_ = std::move(sorted);
}

void PodKinds::order_pods() {
  const auto shape_of = [&](PodIndex pod) {
    return pods_[pod].kind.value() * problem_.pod_classes.size() + problem_.pods[pod].pod_class.value();
  };
  const auto place_of = [&](PodIndex pod) {
    const Kind& kind = kinds_[pods_[pod].kind];
    const PodClass& pod_class = problem_.class_of(pod);
    return std::tuple(kind.size, accepting_[kind.filter], -pod_class.request[kCpu.value()],
                      -pod_class.request[kMemory.value()], problem_.pods[pod].pod_class);
  };
  std::unordered_map<std::size_t, RankIndex> ranks;
  std::vector<PodIndex> examples;
  for (const PodIndex pod : problem_.pods.indices())
    if (is_known(pod) && ranks.try_emplace(shape_of(pod)).second) examples.push_back(pod);
  std::ranges::sort(examples, {}, place_of);
  std::size_t next = 0;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (i > 0 && place_of(examples[i - 1]) != place_of(examples[i])) ++next;
    ranks[shape_of(examples[i])] = RankIndex(next);
    while (first_ranks_.size() <= size_of(examples[i]).value()) first_ranks_.push_back(RankIndex(next));
  }
  for (const PodIndex pod : problem_.pods.indices())
    if (is_known(pod)) pods_[pod].rank = ranks.at(shape_of(pod));
}

}  // namespace muster::slots
