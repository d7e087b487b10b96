// What is left of quotas and limits while gangs end and start.
#pragma once

#include <optional>
#include <vector>

#include "model/forecast/start_obstacle.h"
#include "model/problem/problem.h"

namespace muster::forecast {

// What pods of one gang take of its queue and of those above it.
struct QueueDemand {
  QueueAmounts amounts{};
  std::vector<Amount> limited;  // by position in Queue::other_limits of the gang's queue; empty: nothing

  // One pod of the gang, whose queue exists.
  void add(const Problem& problem, const Gang& gang, const PodClass& pod_class, const QueueAmounts& of_pod);
  void add(const QueueDemand& more);
};

class QueueRoom {
 public:
  // Nothing is used yet.
  explicit QueueRoom(const Problem& problem);

  // What keeps the gang from taking as much; none: nothing. The rules Limit and Quota of docs/semantics.md. Cost, here
  // and below: O(depth of the queue).
  std::optional<StartObstacle> obstacle(const Gang& gang, const QueueDemand& demand) const;
  void take(const Gang& gang, const QueueDemand& demand) { change(gang, demand, 1); }
  void give_back(const Gang& gang, const QueueDemand& demand) { change(gang, demand, -1); }

  // GPUs that are left of the quota of a queue that has one.
  MicroGpu quota_left(QueueIndex queue) const;

 private:
  void change(const Gang& gang, const QueueDemand& demand, int sign);

  const Problem& problem_;
  Indexed<QueueIndex, QueueAmounts> usage_, non_preemptible_usage_;
  Indexed<OtherLimitIndex, Amount> limited_;
};

}  // namespace muster::forecast
