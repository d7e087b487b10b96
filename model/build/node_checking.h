// Which nodes need not be checked again, since neither they nor what is on them has changed since the last problem of
// the same kept snapshot. Internal to build_problem.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/build/stages.h"

namespace muster {

// Of a draft without links, no node is known. From several threads, each with its own nodes.
class NodeChecking {
 public:
  // What checking a node is to find out besides.
  struct Unlisted {
    std::vector<PodIndex> pods;  // those that list no devices, but ask for some
    bool is_reordered = false;   // some pod lists devices out of order, which checking changes
  };

  NodeChecking(ProblemDraft& draft, PodsByNode&& on_nodes);

  std::span<const PodIndex> pods_on(NodeIndex node) const { return next_.on_nodes.of(node); }
  // Then the pods on it have their devices, too.
  bool is_as_before(NodeIndex node);
  // Before the node is checked. None: nothing need be remembered.
  std::optional<Unlisted> unlisted(NodeIndex node) const;
  // The node holds what is on it, and all pods have their devices.
  void remember(NodeIndex node, const Unlisted& unlisted);
  // For the next problem, once all nodes are checked.
  void keep();

 private:
  std::vector<std::int32_t>& devices_of(PodIndex pod) const { return draft_.snapshot.pods[pod.value()].devices; }
  std::size_t devices_asked(PodIndex pod) const {
    return static_cast<std::size_t>(draft_.problem.class_of(pod).gpu.devices);
  }

  ProblemDraft& draft_;
  std::shared_ptr<const NodeChecks> last_;  // none: there are none
  NodeChecks next_;
};

}  // namespace muster
