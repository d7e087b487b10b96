#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/preemption/candidate_index.h"
#include "test/heuristics/preemption/candidates.h"

namespace muster::preemption {
namespace {

constexpr const char* kThree = R"(
 "nodes":[{"name":"a","gpus":{"count":1}},{"name":"b","gpus":{"count":1}},{"name":"c","gpus":{"count":1}}],
 "pods":[{"name":"on-a","node":"a","gpus":[0],"gpu":{"count":1},"priority":3},
         {"name":"on-b","node":"b","gpus":[0],"gpu":{"count":1},"priority":1},
         {"name":"on-c","node":"c","gpus":[0],"gpu":{"count":1},"priority":2},
         {"name":"new","gpu":{"count":1},"priority":9},
         {"name":"next","gpu":{"count":1},"priority":9}])";

class Candidates : public testing::Test {
 protected:
  using Nodes = std::vector<NodeIndex>;
  template <class Scan>
  Nodes in_order(const Scan& scan, std::size_t most = 9) {
    CandidateShortlist list(most);
    scan(list);
    Nodes nodes;
    for (const NodeCandidate* candidate : list.in_order()) nodes.push_back(candidate->node);
    return nodes;
  }
  CandidateParts all_{kThree};
  NodeIndex a_ = all_.node("a"), b_ = all_.node("b"), c_ = all_.node("c");
  PodIndex new_ = all_.pod("new");
};

TEST_F(Candidates, ListsTheNodesByTheCostOfTheirVictims) {
  all_.claim_of("new");
  EXPECT_EQ(in_order([&](auto& list) { all_.index.scan(all_.claim, new_, {}, list); }), (Nodes{b_, c_, a_}));
}

TEST_F(Candidates, ScansOnlyTheNodesThatItIsGiven) {
  all_.claim_of("new");
  const Nodes some{a_, c_};
  EXPECT_EQ(in_order([&](auto& list) { all_.index.scan(all_.claim, new_, some, list); }), (Nodes{c_, a_}));
}

TEST_F(Candidates, TheCheapestFollowsTheState) {
  all_.claim_of("new");
  const auto cheapest = [&](auto& list) { all_.index.scan_cheapest(all_.claim, new_, {}, list); };
  EXPECT_EQ(in_order(cheapest, 1), Nodes{b_});
  all_.state.take(all_.pod("on-b"));
  all_.state.put(new_, b_, {0});
  all_.claim_of("next");
  EXPECT_EQ(in_order([&](auto& list) { all_.index.scan_cheapest(all_.claim, all_.pod("next"), {}, list); }, 1),
            Nodes{c_});
}

TEST_F(Candidates, PromisingNodesAreFoundByTheLeastLosses) {
  all_.claim_of("new");
  all_.claim.least_losses = least_losses(all_.context, all_.claim);
  EXPECT_EQ(in_order([&](auto& list) { all_.index.scan_promising(all_.claim, new_, {}, list); }), (Nodes{b_, c_, a_}));
}

TEST_F(Candidates, MovesThatCostMoreThanTheListAreNotExamined) {
  all_.state.take(all_.pod("on-c"));
  all_.claim_of("new", PreemptionMode::kConsolidate);
  EXPECT_EQ(in_order([&](auto& list) { all_.index.scan_by_moves(all_.claim, new_, {}, list); }, 1), Nodes{c_})
      << "nothing has to be moved there";
}

TEST_F(Candidates, AScanEndsOnceItIsStopped) {
  all_.never = [] { return true; };
  all_.context.stop.ask();
  all_.claim_of("new");
  EXPECT_TRUE(in_order([&](auto& list) { all_.index.scan(all_.claim, new_, {}, list); }).empty());
}

}  // namespace
}  // namespace muster::preemption
