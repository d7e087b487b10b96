// Data about pods and nodes that a plan line lacks and export formats need: from the line that it answers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "io/kubernetes/import/named_objects.h"
#include "io/muster_v1/plan_line.h"
#include "model/base/error_code.h"
#include "model/problem/problem.h"
#include "model/snapshot/snapshot.h"

namespace muster::exporting {

// Fields of Kubernetes objects that a snapshot does not keep.
struct ObjectIdentities {
  // A card that Volcano's device plugin shares.
  struct Card {
    std::string id;
    std::int64_t memory_mib = 0;
  };
  // What a pod asks for of each card: MiB or a percentage of its memory (neither: all), and percent of its computing.
  struct CardRequest {
    std::int64_t memory_mib = 0, percent = 0, cores = 0;
  };
  bool is_kubernetes = false;                         // the line holds Kubernetes objects
  std::unordered_map<std::string, std::string> uids;  // by the pod's namespace/name
  std::unordered_map<std::string, std::vector<std::string>>
      groups;                                                  // KAI's, of the devices that the pod shares; sorted
  std::unordered_map<std::string, std::vector<Card>> cards;    // by node, as the plan numbers them
  std::unordered_map<std::string, CardRequest> card_requests;  // by pod
};

// Of a line as SnapshotReader takes it; of muster/v1 there are none. Errors: as it has them, without the object's name.
Result<ObjectIdentities> read_identities(std::string_view line);

// Of objects that are kept; of the uids, at least those of the plan's pods.
Result<ObjectIdentities> identities_of(const kubernetes::KeptObjects& objects, const muster_v1::NamedPlan& plan);

// Refers to the problem's snapshot. Every query accepts every name; the answer for an unknown one is empty.
class ExportCluster {
 public:
  // Nothing is known.
  ExportCluster() = default;
  // Requires the identities of the line that became the problem's snapshot.
  ExportCluster(ObjectIdentities identities, const Problem& problem);

  // Devices of Kubernetes objects have no numbers there: the import assigns those of the plan.
  bool is_kubernetes() const { return identities_.is_kubernetes; }
  Nanoseconds time() const { return snapshot_ == nullptr ? 0 : snapshot_->time; }

  std::string_view uid(std::string_view pod) const;            // only of Kubernetes objects
  std::string_view pod_namespace(std::string_view pod) const;  // as the snapshot gives it
  // Its own name if it is a gang by itself, or if it is unknown.
  std::string_view gang(std::string_view pod) const;
  bool has_unbound_volumes(std::string_view pod) const;
  std::string_view scheduler(std::string_view pod) const;  // also empty if the policy names the planned schedulers
  const PodSpec* spec(std::string_view pod) const;         // none: not known
  // The nodes on which pods of schedulers run that the policy does not name, DaemonSets' and static pods aside.
  std::unordered_set<std::string_view> nodes_of_others() const;
  bool asks_for(std::string_view pod, std::string_view resource_prefix) const;
  const SnapshotNode* node(std::string_view node) const;  // none: not known
  // The node's label kubernetes.io/hostname; its name if that is not known.
  std::string_view hostname(std::string_view node) const;
  // Whether the devices of the placement are known outside of the plan: by ids, or by numbers that the snapshot gives.
  bool names_devices(const muster_v1::NamedPlan::Placement& placement) const;
  // Volcano's words for them, `UUID,NVIDIA,MIB,PERCENT:` for each. Requires Kubernetes objects and names_devices().
  std::string card_ids(const muster_v1::NamedPlan::Placement& placement) const;
  // KAI's name of the group of pods that shares the device now.
  std::string_view device_group(std::string_view node, std::int64_t device) const;

 private:
  const Snapshot* snapshot_ = nullptr;
  ObjectIdentities identities_;
  std::unordered_map<std::string_view, const SnapshotPod*> pods_;
  std::unordered_map<std::string_view, const SnapshotNode*> nodes_;
  std::map<std::pair<std::string_view, std::int64_t>, std::string> device_groups_;
};

}  // namespace muster::exporting
