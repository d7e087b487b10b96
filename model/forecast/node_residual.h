// What is free on nodes while gangs end and start, coarsely: devices by node as a sum, next to cpu and memory.
//
// Left out: which device of a node a part is on, resources other than devices, cpu and memory, topology, ports, and
// rules that relate pods to each other. Pods without devices count on the sums of cpu and memory of groups of nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/forecast/quota_heads.h"
#include "model/problem/problem.h"

namespace muster::forecast {

class NodeResidual {
 public:
  // A pod that was put somewhere; no node: on the sums of its group.
  struct Place {
    PodClassIndex pod_class;
    NodeIndex node;
    std::uint32_t group = 0;
  };

  // All nodes are empty. `asking`: the classes that place() will be asked for; of their different filters the first 63
  // count. Cost: O(nodes + node classes x filters).
  NodeResidual(const Problem& problem, std::span<const PodClassIndex> asking);

  // A pod is on the node, or leaves it. Cost: O(1).
  void put(PodClassIndex pod_class, NodeIndex node) { change(pod_class, node, -1); }
  void take(PodClassIndex pod_class, NodeIndex node) {
    ++departures_;
    change(pod_class, node, 1);
  }

  // Puts the pods where the fewest devices are left over, and appends their places; or changes nothing and says what is
  // lacking. Cost: O(groups of nodes x devices of a node) for each pod; O(1) if as many or fewer pods of its first
  // class have found no room since something left.
  std::optional<StartObstacle> place(const GangDemand& demand, std::vector<Place>& places);
  // Takes away what place() has put.
  void give_back(const Place& place) {
    ++departures_;
    undo(place);
  }

 private:
  // What a pod takes, its filters, and how many found no room when `departures` was that.
  struct Shape {
    std::int64_t thousandths = 0;  // of devices
    Amount cpu = 0, memory = 0;
    std::uint32_t filter = 0;
    std::int32_t failed_pods = 0;
    std::int64_t failed_at = -1;
    StartObstacle obstacle = StartObstacle::kDevices;
  };
  struct NodeState {
    std::uint32_t group = 0, level = 0, position = 0;  // its place in Group::levels
    std::int64_t thousandths = 0;
    Amount cpu = 0, memory = 0;
  };
  // Nodes with equally many devices that the same filters let in.
  struct Group {
    std::uint64_t filters = 0;
    std::int32_t devices = 0;
    Amount cpu = 0, memory = 0;                  // free, summed up
    std::vector<std::vector<NodeIndex>> levels;  // by whole free devices
  };

  void number_filters(std::span<const PodClassIndex> asking);
  void group_nodes();
  Shape shape_of(const PodClass& pod_class) const;
  void change(PodClassIndex pod_class, NodeIndex node, int sign);
  void move_to_level(NodeIndex node);
  void undo(const Place& place);
  std::optional<StartObstacle> place_item(const PodDemand& item, std::vector<Place>& places);
  std::optional<StartObstacle> place_one(PodClassIndex pod_class, Place& place);
  std::optional<StartObstacle> place_on_node(const Shape& shape, Place& place);
  std::optional<StartObstacle> place_on_sums(const Shape& shape, Place& place);
  NodeIndex find_on_level(const Group& group, std::size_t level, const Shape& shape, bool& lacks_others) const;

  const Problem& problem_;
  Indexed<PodClassIndex, Shape> shapes_;
  std::vector<const std::vector<bool>*> filters_;             // by number
  std::vector<std::vector<std::uint32_t>> groups_of_filter_;  // those with few devices first
  std::vector<Group> groups_;
  Indexed<NodeIndex, NodeState> nodes_;
  std::int64_t departures_ = 0;
};

}  // namespace muster::forecast
