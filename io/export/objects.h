// One step of a plan as an object in the formats of Kubernetes, KAI, Volcano and readers of deltas.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/export/cluster.h"
#include "io/json/json_writer.h"
#include "io/muster_v1/plan_line.h"

namespace muster::exporting {

// A pod as Kubernetes names it.
struct ExportedPod {
  std::string_view namespace_name, name;
  std::string_view uid;  // empty: not known, or that of a pod that will have gone by then
};

// {"apiVersion":"v1","kind":"Binding",...}
void write_binding(json::JsonWriter& writer, const ExportedPod& pod, std::string_view node);

// The same with the annotations that Volcano's device plugins read: the indices of the devices or, if the node reports
// the ids of its devices, the value that Volcano itself writes for its virtual GPUs.
void write_volcano_binding(json::JsonWriter& writer, const ExportedPod& pod,
                           const muster_v1::NamedPlan::Placement& placement, const ExportCluster& cluster);

// {"apiVersion":"policy/v1","kind":"Eviction",...}
void write_eviction(json::JsonWriter& writer, const ExportedPod& pod);

// A node and its label kubernetes.io/hostname.
struct PinnedNode {
  std::string_view name, hostname;
};

// A strategic merge patch that removes scheduling gates (empty: all) and pins the pod to the node, whose name the
// annotation `muster/node` keeps.
void write_patch(json::JsonWriter& writer, const ExportedPod& pod, const PinnedNode& node,
                 const std::vector<std::string>& gates);

// KAI's names of groups of pods that share a device: the existing one, else one derived from the uid of the plan's
// first pod on it. The same for every phase of a plan.
class KaiGroups {
 public:
  KaiGroups(const muster_v1::NamedPlan& plan, const ExportCluster& cluster);
  // Requires a device of a placement of the plan.
  std::string_view name(std::string_view node, std::int64_t device) const;

 private:
  std::map<std::pair<std::string_view, std::int64_t>, std::string> names_;
};

// {"apiVersion":"scheduling.run.ai/v1alpha2","kind":"BindRequest",...}. Requires the pod's uid.
void write_bind_request(json::JsonWriter& writer, const ExportedPod& pod,
                        const muster_v1::NamedPlan::Placement& placement, const ExportCluster& cluster,
                        const KaiGroups& groups);

// {"type":"PLACE"|"PREEMPT"|"MIGRATE",...}: no eviction is a placement, no placement an eviction; one of the two at
// least.
void write_delta(json::JsonWriter& writer, std::string_view plan_id, const muster_v1::NamedPlan::Placement* placement,
                 const muster_v1::NamedPlan::Eviction* eviction);

// What is exported of a plan, and in which shape. See docs/export.md.
enum class ExportFormat : std::uint8_t { kBindings, kPatches, kVolcano, kKai, kDeltas };

// What may be carried out when: placements that wait for nothing; evictions, those of moves included; placements that
// wait for evictions or for pods on their way out, and the new places of moved pods.
enum class ExportPhase : std::uint8_t { kNow, kEvictions, kAfterEvictions, kAll };

// Whether Bindings are written for pods that share devices, which a Binding does not reserve.
enum class SharedDevices : std::uint8_t { kLeaveOut, kAllow };

struct ExportOptions {
  ExportFormat format = ExportFormat::kBindings;
  ExportPhase phase = ExportPhase::kAll;
  std::vector<std::string> gates = {};  // scheduling gates that patches take away; empty: all that there are
  SharedDevices shared = SharedDevices::kLeaveOut;
  // Leaves out gangs that are placed on nodes where pods run that a scheduler which the policy does not name has
  // placed, other than those of DaemonSets and static pods: the two schedulers would overcommit the nodes.
  bool own_nodes_only = false;
};

}  // namespace muster::exporting
