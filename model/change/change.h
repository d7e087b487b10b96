// Changes to a snapshot: what an administrator or a user could do to a cluster, for asking what would follow.
//
// Names are those of the snapshot. Units as in model/snapshot/snapshot.h. A change edits the snapshot as it was read,
// before build_problem has settled what does not add up, and so works on a copy of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/base/error_code.h"
#include "model/snapshot/snapshot.h"

namespace muster::change {

// A workload that the cluster has no example of: pods of one shape that start together, by names.
struct PodShape {
  std::vector<std::pair<std::string, Amount>> resources;  // by name: cpu in thousandths, memory in bytes; without GPUs
  GpuRequest gpu;
  std::vector<std::string> gpu_models;  // empty: any
  // Keys of taints that it tolerates, whatever their value and effect. If it asks for GPUs, also `nvidia.com/gpu`, as
  // the admission plugin ExtendedResourceToleration adds it.
  std::vector<std::string> tolerated;

  friend bool operator==(const PodShape&, const PodShape&) = default;
};

struct GangShape {
  std::int32_t pods = 1;       // all of which start together
  PodShape pod;                // of each of them
  std::string required_level;  // as SetRequiredLevel::level: all pods in one domain; empty: none

  friend bool operator==(const GangShape&, const GangShape&) = default;
};

// `count` more gangs that wait, created at the time of the snapshot. One is called `gang`, more of them `gang+1`,
// `gang+2`, ...; the pods of each have its name and a number.
struct AddGang {
  std::string gang;
  std::string queue = "default";
  std::int32_t priority = 0;
  GangShape shape;
  std::int64_t count = 1;
  std::optional<bool> preemptible;  // none: as its priority says
};

// The request of a pod of the shape, in the names of the snapshot, which keeps its texts.
PodSpec spec_of(const PodShape& shape, Snapshot& snapshot);

// The same with `devices` GPUs for each pod, and all other requests reduced alike, rounded up. Requires whole GPUs, and
// no more of them than it has.
GangShape reduced(GangShape shape, std::int32_t devices);

// "16x8,model=H100,cpu=4,memory=16Gi": a text of which parse_shape makes the same shape (cli/answers/shape.h).
std::string text_of(const GangShape& shape);

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

// Nodes as an operator, or a new machine, would have them.
//
// Whether Kubernetes gives this taint to nodes that are cordoned, not ready or short of something.
bool is_of_trouble(const Taint& taint);

// Without its cordon, as a flag and as a taint.
void uncordon(SnapshotNode& node);

// As a node in good order: not cordoned and without taints of trouble.
void make_ready(SnapshotNode& node);

}  // namespace muster::change
