#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/preemption/candidate_index.h"

namespace muster::preemption {
namespace {

NodeCandidate candidate(std::size_t node, Work moved) {
  NodeCandidate candidate;
  candidate.node = NodeIndex(node);
  candidate.cost.moved = moved;
  return candidate;
}

std::vector<std::size_t> nodes_of(const CandidateShortlist& list) {
  std::vector<std::size_t> nodes;
  for (const NodeCandidate* one : list.in_order()) nodes.push_back(one->node.value());
  return nodes;
}

using Nodes = std::vector<std::size_t>;

TEST(CandidateShortlist, KeepsTheCheapestFewInOrder) {
  CandidateShortlist list(2);
  EXPECT_TRUE(list.is_empty());
  for (const auto& [node, moved] : {std::pair{0, 7}, {1, 3}, {2, 9}, {3, 5}})
    list.add_own(candidate(static_cast<std::size_t>(node), moved));
  EXPECT_EQ(nodes_of(list), (Nodes{1, 3}));
}

TEST(CandidateShortlist, PrefersTheFirstNodeAmongEqualCosts) {
  CandidateShortlist list(2);
  for (const std::size_t node : {5U, 4U, 6U}) list.add_own(candidate(node, 1));
  EXPECT_EQ(nodes_of(list), (Nodes{4, 5}));
}

TEST(CandidateShortlist, ExcludesNothingUntilItIsFull) {
  CandidateShortlist list(1);
  EXPECT_FALSE(list.excludes(candidate(9, 100).cost, NodeIndex(9)));
  const NodeCandidate only = candidate(3, 4);
  list.add(only);
  EXPECT_TRUE(list.excludes(candidate(9, 5).cost, NodeIndex(9)));
  EXPECT_TRUE(list.excludes(only.cost, NodeIndex(4))) << "a later node at the same cost";
  EXPECT_FALSE(list.excludes(only.cost, NodeIndex(2)));
}

}  // namespace
}  // namespace muster::preemption
