// Whether limits and quotas have room for all gangs that have their turn (docs/semantics.md, "Reservations").
#pragma once

#include "model/problem/problem.h"

namespace muster {

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
