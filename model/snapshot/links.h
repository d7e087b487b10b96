// What is known of a snapshot that is kept between cycles: where its names lead, and which of its nodes have been
// checked. With it, build_problem looks up and checks only what has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "model/base/index.h"

namespace muster {

// Of one pod, the numbers of what it names. kNothing: it names none, or nothing had that name when the pod was set.
struct PodLinks {
  static constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t node = kNothing, nominated_node = kNothing, gang = kNothing;
};

// Pods by the node that they are on, ascending: of node n `pods[begin[n] .. begin[n + 1]]`.
struct PodsByNode {
  std::vector<std::size_t> begin;
  std::vector<PodIndex> pods;

  std::size_t node_count() const { return begin.empty() ? 0 : begin.size() - 1; }
  std::span<const PodIndex> of(NodeIndex node) const {
    return {pods.data() + begin[node.value()], pods.data() + begin[node.value() + 1]};
  }
};

// Nodes that hold all that is on them. `versions`: of the node when that was found; 0: it was not.
struct NodeChecks {
  PodsByNode on_nodes;
  std::vector<std::uint64_t> versions;
  // Devices that were given to the pods on the node that list none, one pod after the other.
  std::vector<std::vector<std::int32_t>> given;
};

// The last checks of the nodes of one kept snapshot. From any thread.
class LastNodeChecks {
 public:
  // None: nothing has been checked.
  std::shared_ptr<const NodeChecks> get() const {
    const std::scoped_lock lock(mutex_);
    return checks_;
  }
  void set(std::shared_ptr<const NodeChecks> checks) {
    const std::scoped_lock lock(mutex_);
    checks_ = std::move(checks);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const NodeChecks> checks_;
};

// Links are of names, and hold only if what they lead to has that name: objects come and go without those that name
// them. Nodes, gangs and pods must not be changed before the problem is built, which drops the links.
struct SnapshotLinks {
  std::vector<PodLinks> pods;
  std::vector<std::uint32_t> node_at, gang_at;  // by number: the position in the snapshot's list, or kNothing
  // Of each node: differs from all earlier ones if the node has changed, or one of the pods that name it.
  std::vector<std::uint64_t> node_versions;
  std::shared_ptr<LastNodeChecks> checks;
  bool names_differ = false;  // those of pods; and no pod without a gang is named as a gang
  std::size_t gang_count = 0;
};

}  // namespace muster
