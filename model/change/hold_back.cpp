#include "model/change/hold_back.h"

namespace muster::change {

void hold_back_waiting(Snapshot& snapshot) {
  for (SnapshotPod& pod : snapshot.pods) {
    if (pod.status == PodStatus::kPending && pod.nominated_node.empty()) pod.status = PodStatus::kGated;
  }
}

}  // namespace muster::change
