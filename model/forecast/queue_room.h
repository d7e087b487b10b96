// What is left of quotas and limits while gangs end and start.
#pragma once

#include <optional>

#include "model/forecast/start_obstacle.h"
#include "model/problem/problem.h"

namespace muster::forecast {

class QueueRoom {
 public:
  // Nothing is used yet.
  explicit QueueRoom(const Problem& problem);

  // What keeps the gang from taking as much; none: nothing. The rules Limit and Quota of docs/semantics.md. Cost, here
  // and below: O(depth of the queue).
  std::optional<StartObstacle> obstacle(const Gang& gang, const QueueAmounts& amounts) const;
  void take(const Gang& gang, const QueueAmounts& amounts) { change(gang, amounts, 1); }
  void give_back(const Gang& gang, const QueueAmounts& amounts) { change(gang, amounts, -1); }

  // GPUs that are left of the quota of a queue that has one.
  MicroGpu quota_left(QueueIndex queue) const;

 private:
  void change(const Gang& gang, const QueueAmounts& amounts, int sign);

  const Problem& problem_;
  Indexed<QueueIndex, QueueAmounts> usage_, non_preemptible_usage_;
};

}  // namespace muster::forecast
