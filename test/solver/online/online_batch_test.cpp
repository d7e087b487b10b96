// The search within a batch, over nodes that are made up.
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "solver/online/online_bids.h"

namespace muster::online {
namespace {

// Any number of nodes; the best one for a pod is always the next.
struct Nodes {
  double gain = 0;  // by which each is better than the one before
  policies::OnlineClass pod{1, 4, 1, policies::kDeviceLevels, ~std::uint64_t{0}};
  std::size_t next = 0;
  std::vector<double> reduced_profits = std::vector<double>(10'000, 0);

  const policies::OnlineClass& pod_of(std::size_t) const { return pod; }
  std::optional<OnlinePlace> best_place(std::size_t) { return OnlinePlace{next++, {0}}; }
  void change(std::size_t, const OnlinePlace& place, std::int32_t sign) {
    reduced_profits[place.node] = sign > 0 ? gain * static_cast<double>(place.node) : 0;
  }
  double worth(std::size_t node) const { return reduced_profits[node]; }
  double worth_of_nodes() const { return 0; }
  double balance() const { return 0; }
  double weight() const { return 1; }
  void price_hosts() {}
};

std::vector<std::size_t> nodes_of(double gain) {
  Nodes nodes{gain};
  std::vector<std::size_t> result;
  for (const auto& place : OnlineBatch(nodes, {0, 0, 0, 0}).place(1)) result.push_back(place->node);
  return result;
}

const std::vector<std::size_t> kSecondPlan{4, 5, 6, 7};

TEST(OnlineBatch, LeavesAPodWhereAnotherPlaceIsJustAsGood) { EXPECT_EQ(nodes_of(0), kSecondPlan); }

TEST(OnlineBatch, MovesAPodToABetterPlace) {
  for (const std::size_t node : nodes_of(0.01)) EXPECT_GT(node, kSecondPlan.back());
}

}  // namespace
}  // namespace muster::online
