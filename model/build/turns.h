// When a waiting gang comes to its turn: what nodes free when their pods end, and bounds of turns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/problem/problem.h"

namespace muster {

// When nodes are expected to be empty, and which of them large gangs take (docs/semantics.md, "Reservations").
//
// Nodes for one gang: those that are expected to be empty first.
struct TakenNodes {
  Nanoseconds empty_at = 0;      // an instant: the last of them is empty
  std::vector<NodeIndex> nodes;  // empty: it needs no nodes of its own, and may start now
};

class NodeEnds {
 public:
  // The problem outlives the object, and expects ends of the gangs that run. Cost: O(pods + nodes).
  explicit NodeEnds(const Problem& problem);

  // The nodes for the pods of the gang that need more than half a node each; no gang after it gets them. It takes none
  // if there are too few, but larger ones. None if there are no larger ones, either. Requires a pending pod. Cost:
  // O(pods), and O(nodes log nodes) for the first gang with such a pod.
  std::optional<TakenNodes> take(const Gang& gang);

 private:
  // The nodes for pods of one class, those first that are empty first; those before `next` are taken.
  struct NodeQueue {
    std::vector<NodeIndex> nodes;
    std::size_t next = 0;
  };

  NodeQueue& queue_for(PodIndex pod);
  std::vector<NodeIndex> first_of(NodeQueue& queue, std::size_t wanted) const;
  std::int32_t devices(PodIndex pod) const { return problem_.class_of(pod).gpu.devices; }
  std::int32_t reported_devices(NodeClassIndex node_class) const;
  bool fits_beside_others(PodIndex pod) const;

  const Problem& problem_;
  Indexed<NodeIndex, Nanoseconds> ends_;
  Indexed<NodeIndex, bool> taken_;
  std::map<PodClassIndex, NodeQueue> queues_;
};

// Whether limits and quotas have room for all gangs that have their turn (docs/semantics.md, "Reservations").
class TurnBounds {
 public:
  // The problem outlives the object. Cost: O(pods x depth of the queues).
  explicit TurnBounds(const Problem& problem);

  // The minimum of a gang that is not preemptible and has its turn. Requires a queue. Cost: O(pods log pods) of the
  // gang, and O(depth).
  void add(const Gang& gang);
  // Whether what runs and all that was added stays within the limits and quotas on the way from the queue to its root.
  // Cost: O(depth).
  bool hold(QueueIndex queue) const;

 private:
  struct Sums {
    QueueAmounts all{}, non_preemptible{};
  };
  void add(QueueIndex queue, const QueueAmounts& amounts, bool preemptible);
  template <class AmountOf>
  void add_limited(QueueIndex queue, const AmountOf& amount_of);

  const Problem& problem_;
  Indexed<QueueIndex, Sums> sums_;
  Indexed<OtherLimitIndex, Amount> limited_;
};

}  // namespace muster
