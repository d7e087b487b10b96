// The node that a pod is dealt to: of those where it fits, the one that it leaves the least useful rest on.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "solver/slots/dealt_state.h"

namespace muster::slots {

class NodeSearch {
 public:
  // The state outlives the object. Cost: O(pods of the task).
  explicit NodeSearch(const DealtState& dealt);

  // None: it fits nowhere. Whole users go where the fewest devices are idle, sharers to the device with the least room
  // left, other pods where the fewest devices are idle; equal ones where cores are left as devices need them. Cost:
  // O(nodes); if the last pod had the same rank, O(log nodes) for each node that has changed since, and for each that
  // is tried: the exact fit test comes on top.
  std::optional<NodeIndex> find(PodIndex pod);
  // To be called if the state is replaced by an earlier one.
  void forget() { rank_ = RankIndex::none(); }
  // Whether some node that the pod may use has the devices for it.
  bool lacks_only_resources(PodIndex pod) const;

 private:
  using Score = std::array<std::int64_t, 3>;  // lowest first
  struct Listed {
    Score score;
    NodeIndex node;
    std::uint32_t version;  // of the node; its score may be another one since
    friend auto operator<=>(const Listed&, const Listed&) = default;
  };
  bool list(PodIndex pod, NodeIndex node);
  std::optional<Score> score(PodIndex pod, NodeIndex node) const;
  std::int64_t rest_of_cores(NodeIndex node, Amount request, std::int64_t idle) const;

  const DealtState& dealt_;
  RankIndex rank_;              // of the last pod
  std::vector<Listed> best_;    // for pods of that rank: a heap, the best one on top
  std::size_t read_ = 0;        // of the state's changes
  Amount cores_of_device_ = 0;  // that pods of the task need for each
};

}  // namespace muster::slots
