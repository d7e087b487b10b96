// The terms of a gang: what its pods say about it together, and what follows from that, its group and its queue.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "io/kubernetes/grouping/groups.h"
#include "io/kubernetes/grouping/kai.h"
#include "io/kubernetes/import/queues.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

// What its pods say of a queue; of each system one of them.
struct GangQueues {
  std::string_view kai, runai, kueue;
};

// What the pods of a gang say about it together.
struct GangPods {
  std::int64_t count = 0, succeeded = 0;
  std::int64_t running = 0;  // on a node, without placeholders of YuniKorn
  std::int32_t highest_priority = std::numeric_limits<std::int32_t>::min();
  bool never_preempts = true, has_fixed = false, has_protected = false, forbids_preemption = false;
  bool evicts_nothing = false;  // by the policy of its queue
  std::optional<std::int32_t> min_available;
  std::optional<Nanoseconds> expected_duration;  // the longest
  Nanoseconds protected_until = 0;               // an instant: the latest end of a cooldown of Volcano
  std::string_view created;                      // of the first one
  GangQueues queues;
  DialectLabels dialect;

  // Counts one more pod. The order of the pods does not matter.
  void add(const KubernetesPod& pod, std::int32_t priority);
};

// What follows for a gang from its group and its pods.
struct GangSettlement {
  std::string queue;
  std::int32_t priority = 0;
  bool preemptible = true;
  NodeTerm nodes;  // what its group or its queue asks of nodes; empty: nothing
};

// The cluster around it. `now`: the time of the snapshot.
struct GangSurroundings {
  KubernetesQueues& queues;
  const KaiNodePools& pools;
  Nanoseconds now = 0;
};

// KAI is going to make the group: it has no object yet.
bool is_expected_of_kai(GroupSystem system);
bool is_of_kai(GroupSystem system);

// Sets all of `settled` but the priority, which is known; the group may be held by its queue. Returns why no scheduler
// places it; empty: one does.
std::string settle_terms(KubernetesGroup& group, const GangPods& pods, const GangSurroundings& around,
                         GangSettlement& settled);

// Why the plan spares it, or evicts nothing for it, although its priority would allow more.
void remark_on_preemption(const KubernetesGroup& group, const GangPods& pods, Nanoseconds now, const std::string& name,
                          KubernetesRemarks& remarks);

}  // namespace muster::kubernetes
