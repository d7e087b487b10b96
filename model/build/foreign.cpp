// Pods of schedulers that the policy does not name.
//
// A waiting one is no part of the plan. If its scheduler has nominated it for a node, its resources there are taken: it
// counts as a running pod, matches no terms of other pods, and stays, as all pods of other schedulers do.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "model/build/stages.h"

namespace muster {
namespace {

class Reservation {
 public:
  explicit Reservation(Snapshot& snapshot) : snapshot_(snapshot) {}

  // False if the pod is nominated for no node of the snapshot, or its gang is not there.
  bool reserve(SnapshotPod& pod) {
    if (pod.nominated_node.empty()) return false;
    list_names();
    if (!nodes_.contains(pod.nominated_node) || (!pod.gang.empty() && !leave_gang(pod))) return false;
    pod.status = PodStatus::kRunning;
    pod.node = pod.nominated_node;
    pod.labels.clear();
    return true;
  }

 private:
  void list_names() {
    if (!nodes_.empty()) return;
    for (const SnapshotNode& node : snapshot_.nodes) nodes_.insert(node.name);
    for (std::size_t i = 0; i < snapshot_.gangs.size(); ++i) gangs_.emplace(snapshot_.gangs[i].name, i);
  }

  // It does not count towards the minimum of its gang: it joins an auxiliary gang, which has no minimum.
  bool leave_gang(SnapshotPod& pod) {
    const auto own = gangs_.find(pod.gang);
    if (own == gangs_.end()) return false;
    std::string_view& beside = beside_[pod.gang];
    if (beside.empty()) {
      std::string name = std::string(pod.gang) + "@nominated";
      while (gangs_.contains(name)) name += '+';
      beside = snapshot_.text.store(name);
      SnapshotGang gang;
      gang.name = beside;
      gang.terms = snapshot_.gangs[own->second].terms;
      gang.min_member = 0;
      snapshot_.gangs.push_back(std::move(gang));
    }
    pod.gang = beside;
    pod.subgroup = {};
    return true;
  }

  Snapshot& snapshot_;
  std::unordered_set<std::string_view> nodes_;
  std::unordered_map<std::string_view, std::size_t> gangs_;        // positions
  std::unordered_map<std::string_view, std::string_view> beside_;  // the gang for nominated pods of each gang
};

}  // namespace

bool plans(const Policy& policy, const SnapshotPod& pod) {
  const std::vector<std::string_view>& ours = policy.schedulers;
  return ours.empty() || std::ranges::find(ours, scheduler_of(pod)) != ours.end();
}

void leave_out_foreign_pods(Snapshot& snapshot) {
  if (snapshot.policy.schedulers.empty()) return;
  Reservation reservation(snapshot);
  for (SnapshotPod& pod : snapshot.pods) {
    const bool waits = pod.status == PodStatus::kPending || pod.status == PodStatus::kGated;
    if (waits && !plans(snapshot.policy, pod) && !reservation.reserve(pod)) pod.status = PodStatus::kFailed;
  }
}

}  // namespace muster
