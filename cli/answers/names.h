// What a user calls a gang, a node or a queue -> its name in the snapshot.
#pragma once

#include <string>
#include <string_view>

#include "model/base/error_code.h"
#include "model/snapshot/snapshot.h"

namespace muster::cli {

// The gang that `typed` names, in this order:
//   1. a gang of exactly this name;
//   2. `NAME` or `NAMESPACE/NAME` of a gang; of a pod, for its gang; of a Workload with one gang; of an object that has
//      created the pods of one gang (Job, Deployment, PyTorchJob, ...), by their `owner`, else as far as their labels
//      and names tell;
//   3. the same as `KIND/NAME` or `KIND/NAMESPACE/NAME`, of this kind only: pod, podgroup, job, deploy, and any
//      kind of owner.
// Without a namespace, `default_namespace` is searched first, then all; empty: all together. A pod without a gang is
// the gang of its own name. Errors: UnknownName, with the nearest name; InvalidValue, with the candidates, if several
// gangs fit. Cost: O(gangs + pods).
Result<std::string> resolve_gang(const Snapshot& snapshot, std::string_view typed, std::string_view default_namespace);

// `NAME` or `node/NAME`; also the part of one node's name before a dot. Errors: as above.
Result<std::string> resolve_node(const Snapshot& snapshot, std::string_view typed);

// `NAME` or `queue/NAME`; also without the `@` and what follows it. A snapshot without queues has `default`. Errors: as
// above; the message names the queues that there are.
Result<std::string> resolve_queue(const Snapshot& snapshot, std::string_view typed);

// The queues that gangs may be in, in the order of their names: "a, b, c"; at most ten, the rest is counted.
std::string queue_list(const Snapshot& snapshot);
// Whether gangs may be in the queue with exactly this name.
bool is_queue_of_gangs(const Snapshot& snapshot, std::string_view name);

}  // namespace muster::cli
