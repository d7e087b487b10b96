// The large gang that each queue with a quota keeps room for, while gangs end and start (docs/semantics.md,
// "Reservations").
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "model/problem/next_snapshot.h"
#include "model/problem/problem.h"

namespace muster::forecast {

// What a gang that is expected to start later waits for (docs/semantics.md, "Expected starts"). Codes here, text in
// plan lines.
//
// In the order of the list in docs/semantics.md; of two that last equally long, the first counts.
enum class StartObstacle : std::uint8_t {
  kQuota,      // of what is not preemptible
  kLimit,      // of a queue
  kNodes,      // nodes that are more than half empty
  kDevices,    // devices on nodes, for pods of up to half a node
  kResources,  // cpu or memory
  kReserved,   // the start of a gang that it would hold up
  kOther       // there is room by these counts; another rule or a level is against it
};
inline constexpr std::size_t kStartObstacles = static_cast<std::size_t>(StartObstacle::kOther) + 1;

// "Quota".
std::string_view start_obstacle_text(StartObstacle obstacle);

// The obstacle with this text; none if there is no such obstacle.
std::optional<StartObstacle> find_start_obstacle(std::string_view text);

// What is left of quotas and limits while gangs end and start.
//
// What pods of one gang take of its queue and of those above it.
struct QueueDemand {
  QueueAmounts amounts{};
  std::vector<Amount> limited;  // by position in Queue::other_limits of the gang's queue; empty: nothing

  // One pod of the gang, whose queue exists.
  void add(const Problem& problem, const Gang& gang, const PodClass& pod_class, const QueueAmounts& of_pod);
  void add(const QueueDemand& more);
};

class QueueSlack {
 public:
  // Nothing is used yet.
  explicit QueueSlack(const Problem& problem);

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

class QuotaHeads {
 public:
  // `room` must outlive the object.
  QuotaHeads(const Problem& problem, const QueueSlack& room);

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
  const QueueSlack& room_;
  Indexed<QueueIndex, Quota> quotas_;
};

// What a waiting gang needs to start: pods by class, and what they take of their queues.
struct PodDemand {
  PodClassIndex pod_class;
  std::int32_t pods = 0;
};

struct GangDemand {
  std::vector<PodDemand> pods;  // those with the most work first, then by class
  QueueDemand of_queue;         // of them all; a memory request on the smallest device that it accepts
};

// What the gang lacks of its minimum at the end of a plan: the pods with the least work that complete it, pending
// ones and those that the plan evicts. None if it lacks nothing, or has too few such pods (others are gated or do not
// exist). Pods that have succeeded count as present. Cost: O(pods log pods) of the gang.
std::optional<GangDemand> demand_of(const Problem& problem, const EndState& end, const Gang& gang);

}  // namespace muster::forecast
