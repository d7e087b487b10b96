// An instance under construction: the trace importer and the generator fill it in, and it becomes a snapshot, which is
// written as `muster/v1` text.
//
// Units: cpu in thousandths of a core, memory in MiB, fractions of a device in millionths, instants in whole seconds
// since the epoch. Positions are into the instance's own lists; -1: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/snapshot/snapshot.h"

namespace muster::generator {

// Label keys of generated nodes. `zone` and `rack` are the topology levels, coarse to fine.
inline constexpr std::string_view kZoneLabel = "zone", kRackLabel = "rack", kPoolLabel = "pool";
inline constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";
// The one taint there is: `dedicated=batch:NoSchedule`.
inline constexpr std::string_view kTaintKey = "dedicated", kTaintValue = "batch";

struct InstanceNode {
  std::string name;
  std::int64_t cpu_milli = 0, memory_mib = 0, pods = 110;
  std::int32_t gpu_count = 0;
  std::int64_t gpu_memory_mib = 0;  // of one device; 0: unknown
  std::string gpu_model;            // empty: unknown
  std::string zone, rack, pool;     // empty: without that label
  bool tainted = false, hostname_label = false;
};

// What pods have in common; each shape in use becomes one pod template.
struct PodShape {
  std::int64_t cpu_milli = 0, memory_mib = 0;
  GpuRequest gpu;
  std::vector<std::string> gpu_models;  // sorted, distinct; empty: any
  std::string pool;                     // node selector; empty: none
  bool tolerates_taint = false;
  bool one_a_node = false;  // no two pods of a gang on one node
  friend bool operator==(const PodShape&, const PodShape&) = default;
};

// The terms of a gang, or of a pod that is one by itself.
struct InstanceTerms {
  std::int32_t queue = -1, priority_class = -1;
  std::optional<std::int32_t> priority;
  std::optional<bool> preemptible;
  std::int64_t created = -1;
};

struct InstanceSubgroup {
  std::string name;
  std::int32_t min_member = 0;
};

struct InstanceGang {
  std::string name;
  InstanceTerms terms;
  std::int32_t min_member = -1;  // -1: not set
  std::vector<InstanceSubgroup> subgroups;
  std::string required_level, preferred_level;  // empty: none
};

struct InstancePod {
  std::string name;
  std::int32_t shape = 0;
  std::int32_t gang = -1, subgroup = -1;
  InstanceTerms terms;  // without a gang only
  PodStatus status = PodStatus::kPending;
  std::int32_t node = -1;
  std::vector<std::int32_t> devices;
  std::int64_t started = -1;
};

struct InstanceQueue {
  std::string name, parent;  // parent empty: a root
  std::int32_t priority = 100;
  std::int64_t gpu_quota = -1, gpu_limit = -1;  // whole devices; -1: unlimited
  std::int64_t weight = 1;
};

struct InstancePriorityClass {
  std::string name;
  std::int32_t value = 0;
};

struct Instance {
  std::string id;
  std::int64_t time = -1;
  bool place_only = false;  // the policy's only action is to place; else it does not set actions
  std::vector<std::string> topology;
  std::vector<InstanceNode> nodes;
  std::vector<InstanceQueue> queues;
  std::vector<InstancePriorityClass> priority_classes;
  std::vector<PodShape> shapes;
  std::vector<InstanceGang> gangs;
  std::vector<InstancePod> pods;
};

// Thousandths of a GPU that one pod asks for; a memory request counts on devices of `device_memory_mib`, rounded to the
// nearest, halves up. Requires device_memory_mib > 0 for a memory request.
std::int64_t gpu_thousandths(const GpuRequest& request, std::int64_t device_memory_mib);

// The instance as a snapshot, in the order of its lists. The texts are views into the instance, which must outlive it.
// Cost: linear.
Snapshot snapshot_of(const Instance& instance);

// Its line, without the line feed. Cost: linear; some hundreds of MB/s.
std::string write_instance(const Instance& instance);

}  // namespace muster::generator
