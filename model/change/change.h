// Changes to a snapshot: what an administrator or a user could do to a cluster, for asking what would follow.
//
// Names are those of the snapshot. Units as in model/snapshot/snapshot.h. A change edits the snapshot as it was read,
// before build_problem has settled what does not add up, and so works on a copy of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "model/base/error.h"
#include "model/change/gang_shape.h"
#include "model/snapshot/snapshot.h"

namespace muster::change {

// `count` more nodes with the resources, devices, labels and taints of the node `like`, but ready: not cordoned, and
// without the taints that Kubernetes gives to nodes in trouble (`node.kubernetes.io/...`). A label whose value is the
// node's own name has the new node's name. They are called `LIKE+1`, `LIKE+2`, ...
struct AddNodes {
  std::string like;
  std::int64_t count = 1;
};

// A node that the cluster has no example of.
struct NodeShape {
  std::vector<std::pair<std::string, Amount>> resources;  // by name: cpu in thousandths, memory in bytes
  std::int32_t gpus = 0;
  std::string gpu_model;            // empty: unknown
  std::int64_t gpu_memory_mib = 0;  // 0: unknown
  std::vector<std::pair<std::string, std::string>> labels;
};
// They are called `PREFIX+1`, `PREFIX+2`, ...
struct AddShapedNodes {
  NodeShape shape;
  std::int64_t count = 1;
  std::string prefix = "new-node";
};

// The node is gone. Its running pods are pending again, those that were leaving are gone.
struct RemoveNode {
  std::string node;
};
// No pod may be placed there any more; those that run stay.
struct Cordon {
  std::string node;
};
// The opposite: it is neither cordoned nor has it the taint of a cordon.
struct Uncordon {
  std::string node;
};
// Cordoned, and its running pods are pending again; those that are leaving go on leaving.
struct Drain {
  std::string node;
};

enum class QueueResourceKind : std::uint8_t { kGpu, kCpu, kMemory, kOther };
enum class QueueAmountKind : std::uint8_t { kQuota, kLimit };
// GPUs in millionths of a device, cpu in thousandths, memory in bytes, other resources in their own unit; kUnlimited.
struct SetQueue {
  std::string queue;
  QueueResourceKind resource = QueueResourceKind::kGpu;
  QueueAmountKind kind = QueueAmountKind::kQuota;
  Amount amount = kUnlimited;
  std::string other = {};  // name of the resource, if it is another one
};

// Of a gang, or of a pod that is a gang by itself. What its priority class says besides the value stays, and so does
// whether it may be preempted unless its class or its terms say so.
struct SetPriority {
  std::string gang;
  std::int32_t priority = 0;
};
// The gang, all its pods included, is gone.
struct RemoveGang {
  std::string gang;
};
// A running pod, or all running pods of a gang, are pending again.
struct Evict {
  std::string pod_or_gang;
};
// All pods of the gang tolerate the taint.
struct TaintText {
  std::string key, value;
  TaintEffect effect = TaintEffect::kNoSchedule;
};
struct Tolerate {
  std::string gang;
  TaintText taint;
  bool any_value = false, any_effect = false;  // instead of those of the taint
};
// The gang starts once so many pods have room, or so many of the subgroup. Of a gang with subgroups only theirs are
// set; that of a subgroup with subgroups counts these.
struct SetMinimum {
  std::string gang;
  std::int32_t minimum = 1;
  std::string subgroup = "";  // empty: the gang itself
};
// The level that the gang, or one of its subgroups, requires; empty: none. "pool-a:rack": that of the topology pool-a.
struct SetRequiredLevel {
  std::string gang;
  std::string subgroup;  // empty: the gang itself
  std::string level;
};

using Change = std::variant<AddNodes, AddShapedNodes, RemoveNode, Cordon, Uncordon, Drain, SetQueue, SetPriority,
                            RemoveGang, Evict, Tolerate, SetMinimum, SetRequiredLevel, AddGang>;

// Edits the snapshot. Errors: UnknownName, UnknownQueue, InvalidValue, DuplicateName; the message names the object, the
// path is "$". Then the snapshot may have been edited in part. Cost: O(nodes + pods + gangs) for each change, and for
// all gangs that are removed one after another.
std::optional<InputError> apply(const Change& change, Snapshot& snapshot);
std::optional<InputError> apply(std::span<const Change> changes, Snapshot& snapshot);

// The change as an option of `muster what-if`, quoted for a shell: "--cordon n1".
std::string text_of(const Change& change);

// An amount of a queue in units of so many, exactly: "2.5", "unlimited". Decimals are exact
// for units that are powers of ten. Requires unit > 0.
std::string amount_text(Amount amount, Amount unit);

}  // namespace muster::change
