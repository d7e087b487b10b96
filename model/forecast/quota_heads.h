// The large gang that each queue with a quota keeps room for, while gangs end and start (docs/semantics.md,
// "Reservations").
#pragma once

#include <map>

#include "model/forecast/queue_room.h"
#include "model/problem/problem.h"

namespace muster::forecast {

class QuotaHeads {
 public:
  // `room` must outlive the object.
  QuotaHeads(const Problem& problem, const QueueRoom& room);

  // A gang that waits: only queues with a large one need the ends of their gangs.
  void note_waiting(QueueIndex queue, MicroGpu gpus);
  // Whether it is large enough, and the quota large enough for it.
  bool may_be_head(QueueIndex queue, MicroGpu gpus) const;
  // What is not preemptible in the queue runs until then, or has ended then. Cost: O(log running).
  void note_running(QueueIndex queue, Nanoseconds end, MicroGpu gpus);
  void note_ended(QueueIndex queue, Nanoseconds end, MicroGpu gpus);

  // Nothing is kept for any gang. Cost: O(queues).
  void clear();
  // If the queue has no head yet: the gang, for which its quota has no room now, becomes it if it is large, has waited
  // long enough, and the ends make room for it. Cost: O(ends until then).
  void propose(QueueIndex queue, MicroGpu gpus, Nanoseconds waited);
  // Whether the head would have to wait for a gang that ends then. If not and it starts, its part of what the head
  // leaves over is gone.
  bool is_held_up(QueueIndex queue, Nanoseconds end, MicroGpu gpus) const;
  void note_started(QueueIndex queue, Nanoseconds end, MicroGpu gpus);

 private:
  struct Quota {
    bool has_large = false, has_head = false;
    Nanoseconds start = 0;  // of the head
    MicroGpu spare = 0;     // that it leaves over then
    std::multimap<Nanoseconds, MicroGpu> ends;
  };

  const Problem& problem_;
  const QueueRoom& room_;
  Indexed<QueueIndex, Quota> quotas_;
};

}  // namespace muster::forecast
