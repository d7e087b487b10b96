// The nodes of one part of the search: what is free on them, and the pods on them that may move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/local_search/part/trial.h"
#include "heuristics/local_search/scope.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/device_list.h"
#include "heuristics/state/fit.h"
#include "model/problem/problem.h"

namespace muster::local_search {

// What is free on a node.
struct NodeContents {
  std::vector<Amount> free;
  std::vector<DeviceUnits> devices;

  Room room() const { return {free, devices}; }
  // A pod of the class comes to the devices, or leaves them. `node`: the one that this is of.
  void put(const Problem& problem, NodeIndex node, const PodClass& pod_class, const DeviceList& on) {
    add(problem, node, pod_class, on, -1);
  }
  void take(const Problem& problem, NodeIndex node, const PodClass& pod_class, const DeviceList& from) {
    add(problem, node, pod_class, from, +1);
  }

 private:
  void add(const Problem& problem, NodeIndex node, const PodClass& pod_class, const DeviceList& on, std::int64_t sign);
};

struct PartNode {
  struct Occupant {
    PodIndex pod;
    DeviceList devices;
  };
  NodeIndex node;
  NodeContents contents;
  std::vector<Occupant> pods;   // those that may move
  std::int64_t idle = 0;        // thousandths of its devices
  std::int64_t last_level = 0;  // its part of the last level
  std::int32_t breaking = 0;    // pods that keep the node from being whole
};

class PartNodes {
 public:
  // As they are in the state. `scope` must outlive it. Cost: O(pods on the nodes).
  PartNodes(const SearchScope& scope, const ClusterState& state, const std::vector<NodeIndex>& nodes);

  std::size_t size() const { return nodes_.size(); }
  const PartNode& operator[](std::size_t position) const { return nodes_[position]; }
  const std::vector<std::size_t>& with_idle_devices() const { return with_idle_devices_; }  // positions, ascending

  // The node is now as a trial leaves it. Call list_idle() after the last node of the trial. Cost: O(pods on the node x
  // pods of the trial).
  void change(std::size_t position, const NodeContents& contents, const Trial& trial, std::int32_t breaking_change);
  void list_idle();

 private:
  void add(const ClusterState& state, NodeIndex node);
  void value(PartNode& node) const;

  const SearchScope& scope_;
  const Problem& problem_;
  std::vector<PartNode> nodes_;
  std::vector<std::size_t> with_idle_devices_;
};

}  // namespace muster::local_search
