// What the pods that run (and stay) or are placed use of their queues.
#pragma once

#include <cstdint>
#include <vector>

#include "model/problem/problem.h"

namespace muster {

// Of every queue, inner ones included. Cheap to copy; the problem must outlive it.
class QueueUsage {
 public:
  // Nothing is used.
  explicit QueueUsage(const Problem& problem);

  const Indexed<QueueIndex, QueueAmounts>& usage() const { return usage_; }
  const Indexed<QueueIndex, QueueAmounts>& non_preemptible_usage() const { return non_preemptible_usage_; }
  // What counts against each of the limits on other resources.
  const Indexed<OtherLimitIndex, Amount>& limited_usage() const { return limited_usage_; }
  // The part of a queue's usage by pods of effective priority `priority` or more. Exact for up to
  // HeuristicsTuning::priorities; beyond that, adjacent ones are counted together. Cost:
  // O(HeuristicsTuning::priorities).
  QueueAmounts usage_from(QueueIndex queue, std::int32_t priority) const;

  // A pod of the gang comes to the node (`by` 1) or leaves it (-1). Cost: O(depth of the queue).
  void count(const Gang& gang, const PodClass& pod_class, NodeIndex node, std::int32_t by);

 private:
  std::size_t bucket_of(std::int32_t priority) const;

  const Problem* problem_;
  Indexed<QueueIndex, QueueAmounts> usage_, non_preemptible_usage_;
  Indexed<OtherLimitIndex, Amount> limited_usage_;
  std::vector<QueueAmounts> usage_by_priority_;  // queue x bucket, highest priorities first
  std::size_t buckets_;
};

}  // namespace muster
