// The room that a plan leaves, for single pods that come between two plans: which node takes one is decided by the
// online value function (solver/online), never by a solve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heuristics/policies/online_value.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"
#include "solver/online/online_placer.h"

namespace muster::cli {

// Not synchronized.
class SpareCapacity {
 public:
  // What is free once the plan's placements have started. Nodes from which pods leave, and those that are held for a
  // gang, are closed: their room is for others. The classes of the cluster's pods are what is expected to come. Cost:
  // O(nodes x devices + pods), and some milliseconds.
  SpareCapacity(const Problem& problem, const Plan& plan);

  // Whether pods of this queue may be placed here: neither it nor a parent has a quota or limit, by which a plan has to
  // decide.
  bool is_open_to(std::string_view queue) const { return queues_.contains(std::string(queue)); }
  // The position of the best of these nodes, which then has so much less; none: it fits on none of them. Cost:
  // O(nodes), under a millisecond for 5,000 of them (bench/extender.cpp).
  std::optional<std::size_t> place(const PodSpec& pod, std::span<const std::string_view> nodes);
  // Why the pod cannot be placed by its request alone; empty: it can be.
  static std::string_view obstacle(const PodSpec& pod);

 private:
  // Of an open node, as the placer has them; none: it is not open.
  std::optional<std::size_t> node_of(std::string_view name);

  std::unordered_map<std::string, std::size_t> node_of_name_;
  std::vector<std::string> names_;            // by node
  std::vector<std::size_t> next_;             // by node: the one that was asked for after it, the last time
  std::size_t last_ = 0;                      // that was asked for
  std::vector<policies::OnlineClass> known_;  // classes that the placer expects
  std::set<std::string> queues_;
  std::unique_ptr<online::OnlinePlacer> placer_;  // none: there are no nodes
};

}  // namespace muster::cli
