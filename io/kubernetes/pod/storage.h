// PersistentVolumeClaim, PersistentVolume and StorageClass: what each means for the pods that use it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/kubernetes/object/node_terms.h"
#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

// accessModes: the requested ones of a claim, the offered ones of a volume.
using AccessModes = std::uint8_t;
inline constexpr AccessModes kReadWriteOnce = 1, kReadWriteOncePod = 2, kReadOnlyMany = 4, kReadWriteMany = 8;

struct StorageClaim {
  std::string_view volume;         // spec.volumeName; empty: none
  std::string_view storage_class;  // empty: none
  std::string_view phase, selected_node;
  std::string_view owner_kind, owner_name;
  AccessModes modes = 0;
  bool is_bound = false;    // to `volume`, and both sides confirm it
  bool is_deleted = false;  // being deleted
  bool is_block = false;    // volumeMode
  bool has_selector = false;
  std::int64_t bytes = 0;
};

struct StorageVolume {
  std::string_view name, storage_class, phase;
  std::string_view driver, handle;      // of CSI; empty: it is of no CSI driver
  std::string claimed_by;               // namespace/name; empty: not claimed
  std::optional<NodeTerms> node_terms;  // spec.nodeAffinity.required, and the zones that its labels name
  AccessModes modes = 0;
  bool is_block = false;
  std::int64_t bytes = 0;
};

struct StorageClassFacts {
  bool waits_for_consumer = false;  // volumeBindingMode
  bool provisions = false;          // by a provisioner, not by hand
  std::string_view provisioner;
  std::optional<NodeTerms> allowed;  // allowedTopologies
};

// Views into the document.
class KubernetesStorage {
 public:
  [[nodiscard]] bool add_claim(KubernetesReading& reading, const KubernetesObject& object);
  [[nodiscard]] bool add_volume(KubernetesReading& reading, const KubernetesObject& object);
  [[nodiscard]] bool add_class(KubernetesReading& reading, const KubernetesObject& object);

  // Whether the list has objects of the kind at all.
  bool has_claims() const { return !claims_.empty(); }
  bool has_volumes() const { return !volumes_.empty(); }

  // Null: not in the list.
  const StorageClaim* claim(const std::string& namespace_and_name) const;
  const StorageVolume* volume(std::string_view name) const;
  const StorageClassFacts* storage_class(std::string_view name) const;
  const std::vector<StorageVolume>& volumes() const { return volumes_; }

 private:
  std::unordered_map<std::string, StorageClaim> claims_;
  std::vector<StorageVolume> volumes_;
  std::unordered_map<std::string_view, std::size_t> volume_positions_;
  std::unordered_map<std::string_view, StorageClassFacts> classes_;
};

// Whether kube-scheduler may bind the claim, named as KubernetesStorage::claim has it, to the volume:
// FindMatchingVolume of k8s.io/component-helpers/storage/volume. A claim with a selector: never.
bool could_bind(const StorageVolume& volume, const StorageClaim& claim, std::string_view claim_name);

}  // namespace muster::kubernetes
