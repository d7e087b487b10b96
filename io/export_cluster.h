// What a plan line does not say of its pods and nodes, and users' shapes need: from the line that it answers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/error.h"
#include "model/problem.h"
#include "model/snapshot.h"

namespace muster {

// Refers to the snapshot that it was read with. Every question may be asked of every name; what is not known is empty.
class ExportCluster {
 public:
  // Nothing is known.
  ExportCluster() = default;
  // Of the line that became `problem`'s snapshot. Errors: those of the import of Kubernetes objects.
  static Result<ExportCluster> read(std::string_view line, const Problem& problem);

  bool is_known() const { return snapshot_ != nullptr; }
  // The line holds Kubernetes objects. Their devices have no numbers there: those of the plan are of the import.
  bool is_kubernetes() const { return is_kubernetes_; }
  Nanoseconds time() const { return snapshot_ == nullptr ? 0 : snapshot_->time; }

  std::string_view uid(std::string_view pod) const;            // only of Kubernetes objects
  std::string_view pod_namespace(std::string_view pod) const;  // as the snapshot says it
  const PodSpec* spec(std::string_view pod) const;             // none: not known
  bool asks_for(std::string_view pod, std::string_view resource_prefix) const;
  const SnapshotNode* node(std::string_view node) const;  // none: not known
  // The node's label kubernetes.io/hostname; its name where that is not known.
  std::string_view hostname(std::string_view node) const;
  // KAI's name of the group of pods that shares the device now.
  std::string_view device_group(std::string_view node, std::int64_t device) const;

 private:
  bool read_objects(std::string_view line, const Problem& problem, InputError& error);

  const Snapshot* snapshot_ = nullptr;
  bool is_kubernetes_ = false;
  std::unordered_map<std::string_view, const SnapshotPod*> pods_;
  std::unordered_map<std::string_view, const SnapshotNode*> nodes_;
  std::unordered_map<std::string, std::string> uids_;
  std::map<std::pair<std::string, std::int64_t>, std::string, std::less<>> device_groups_;
};

}  // namespace muster
