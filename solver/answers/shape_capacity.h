// How many gangs of equal pods a cluster has room for, counted node by node: an answer without a search.
//
// Pods of one shape take nothing from each other across nodes, so a node's count stands by itself, and a domain takes
// the whole gangs in the sum of its nodes. This is exact if no rule relates the pods to others; else it is an upper
// bound.
#pragma once

#include <cstdint>
#include <string>

#include "model/explain/remaining_capacity.h"
#include "model/problem/problem.h"

namespace muster::answers {

struct ShapeCapacity {
  std::int64_t pods = 0;       // that fit at the same time
  std::int64_t in_domain = 0;  // the most of them in one domain of the level that the gang requires; `pods` if none
  std::int64_t gangs = 0;      // whole ones that fit at the same time
  std::int64_t idle_devices = 0, most_idle_devices = 0;  // on nodes that let the pods in: in total, on one node
};

// Requires a gang of equal pods without subgroups. Queues are not looked at. Cost: O(nodes x (resources + devices)).
ShapeCapacity shape_capacity(const Problem& problem, const explain::RemainingCapacity& room, GangIndex gang);

// The same by sums over all nodes: valid, too, if pods on the nodes may be moved elsewhere. Cost: as above.
std::int64_t gangs_by_sums(const Problem& problem, const explain::RemainingCapacity& room, GangIndex gang);

// What the limits of the gang's queues, and the quotas for what is not preemptible, leave.
struct QueueSlack {
  std::int64_t gangs = 0;  // kLargest: nothing bounds them
  std::string bound_by;    // "limit: gpu", of a queue above "limit of queue \"a\": gpu"; empty: nothing
};
// `end`: what stays. An upper bound if the pods ask for device memory and the devices differ. Cost: O(depth).
QueueSlack queue_room(const Problem& problem, const explain::AfterPlan& end, GangIndex gang);

}  // namespace muster::answers
