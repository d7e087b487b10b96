// For which pods of Kueue's queues nothing may be evicted, by `spec.preemption` of their ClusterQueue.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "io/kubernetes/kueue/queues.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

// Muster evicts for a gang what its own rules allow: lower priorities of its queue, and what others have above their
// quota (docs/semantics.md). Where Kueue's policy allows only a part of that, and the rest would be possible now,
// Muster evicts nothing for the gang.
class KueuePreemption {
 public:
  explicit KueuePreemption(const KueueQueues& queues) : queues_(queues) {}

  // A pod that runs in a queue of Kueue.
  void add_running(const KubernetesPod& pod, std::int32_t priority);

  // Whether nothing may be evicted for a pod of this priority, once all pods are added. Remarks if Kueue would evict
  // something. Cost: O(queues x priorities) for each queue and priority, once.
  bool forbids(const KubernetesPod& pod, std::int32_t priority, KubernetesRemarks& remarks);

 private:
  struct Usage {
    std::map<std::string_view, std::int64_t> amounts;  // thousandths of cores, ones
    std::map<std::int32_t, std::int64_t> by_priority;  // pods that can be evicted
  };
  bool may_borrow(const KueueQueue& queue, const Usage& usage) const;
  bool decide(const KueueQueue& queue, std::int32_t priority) const;

  const KueueQueues& queues_;
  std::map<const KueueQueue*, Usage> usages_;
  std::map<std::pair<const KueueQueue*, std::int32_t>, bool> decided_;
};

}  // namespace muster::kubernetes
