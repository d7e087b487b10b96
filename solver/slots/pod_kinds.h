// The pods of a task by what distinguishes them: what they take of devices, and on which nodes they may be.
#pragma once

#include <cstdint>
#include <vector>

#include "model/base/index.h"
#include "model/base/require.h"
#include "model/problem/problem.h"
#include "solver/slots/slot_task.h"

namespace muster::slots {

using SizeIndex = Index<struct SizeTag>;
using KindIndex = Index<struct KindTag>;
using FilterIndex = Index<struct FilterTag>;
using KeptIndex = Index<struct KeptTag>;  // position in SlotTask::kept
using NewIndex = Index<struct NewTag>;    // position in SlotTask::placed
using RankIndex = Index<struct RankTag>;

// Which nodes pods of some pod classes may be on.
struct Filter {
  const std::vector<bool>* allowed = nullptr;  // PodClass::allowed
  NodeFilter nodes = nullptr;
  bool accepts(const Problem& problem, NodeIndex node) const {
    return (*allowed)[problem.nodes[node].node_class.value()] && (nodes == nullptr || (*nodes)[node.value()]);
  }
};

struct Kind {
  SizeIndex size;
  FilterIndex filter;
  friend auto operator<=>(const Kind&, const Kind&) = default;
};

// Sizes are what pods take of devices: whole ones first, the largest first; then shares of several devices, shares of
// one, and none. All of a task's pods belong to a size and a kind; no other pods do.
class PodKinds {
 public:
  // Cost: O(pods of the problem + pods of the task x log kinds).
  explicit PodKinds(const SlotTask& task);

  const Indexed<SizeIndex, GpuRequest>& sizes() const { return sizes_; }
  const Indexed<KindIndex, Kind>& kinds() const { return kinds_; }
  const Indexed<FilterIndex, Filter>& filters() const { return filters_; }
  const GpuRequest& request(KindIndex kind) const { return sizes_[kinds_[kind].size]; }

  bool is_known(PodIndex pod) const { return !pods_[pod].kind.is_none(); }
  KindIndex kind_of(PodIndex pod) const { return pods_[pod].kind; }
  SizeIndex size_of(PodIndex pod) const { return kinds_[kind_of(pod)].size; }
  const Filter& filter_of(PodIndex pod) const { return filters_[kinds_[kind_of(pod)].filter]; }
  KeptIndex kept_of(PodIndex pod) const { return pods_[pod].kept; }  // none: it is not one of them
  NewIndex new_of(PodIndex pod) const { return pods_[pod].unit; }    // the same

  // The order in which pods are dealt: by size, by how many nodes they may be on, by cores and memory, large ones
  // first. Pods of one rank are of one size and class. Requires that the pod is known.
  RankIndex rank(PodIndex pod) const {
    MUSTER_REQUIRE_SLOW(is_known(pod));
    return pods_[pod].rank;
  }
  RankIndex first_rank(SizeIndex size) const { return first_ranks_[size]; }

 private:
  struct Known {
    KindIndex kind;
    KeptIndex kept;
    NewIndex unit;
    RankIndex rank;
  };
  void order_sizes();
  void order_pods();

  const Problem& problem_;
  Indexed<SizeIndex, GpuRequest> sizes_;
  Indexed<KindIndex, Kind> kinds_;
  Indexed<FilterIndex, Filter> filters_;
  Indexed<FilterIndex, std::int64_t> accepting_;  // nodes
  Indexed<SizeIndex, RankIndex> first_ranks_;
  Indexed<PodIndex, Known> pods_;
};

inline bool is_whole(const GpuRequest& size) { return size.kind == GpuRequestKind::kWhole; }
inline bool is_shared(const GpuRequest& size) {
  return size.kind == GpuRequestKind::kFraction || size.kind == GpuRequestKind::kMemory;
}

}  // namespace muster::slots
