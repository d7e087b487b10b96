#include "solver/rows/split_exits.h"

#include <gtest/gtest.h>

#include "test/solver/master_case.h"

namespace muster::formulation {
namespace {

using test::MasterCase;
using test::nodes_with;

constexpr Nanoseconds kMinute = 60'000'000'000;

// A gang of two pods on one node, of which one has run for 900 s and the other for 10 s; what waits has a higher
// priority.
test::Cluster old_and_young(int minimum) {
  return nodes_with({{"n", 2}})
      .gang("g", R"("priority":10,"minMember":)" + std::to_string(minimum))
      .running("old", "n", 1, R"("gang":"g","started":100)")
      .running("young", "n", 1, R"("gang":"g","started":990)")
      .pod("w", 1, R"("priority":50)");
}

struct Scene {
  explicit Scene(const test::Cluster& cluster)
      : master(cluster),
        running(master.restricted.demand.running_cell_of[master.pod("old")]),
        index(master.restricted.demand.running[running].gang_class),
        splits(*master.cluster, master.restricted.demand, index) {}
  RunningCellIndex cell(std::string_view pod) const {
    return master.restricted.demand.running_cell_of[master.pod(pod)];
  }
  bool may_help(const std::vector<ExitOption>& options) const { return splits.may_help(options, false); }

  MasterCase master;
  RunningCellIndex running;
  GangClassIndex index;
  SplitExits splits;
};

const ExitOption kStale{0, EvictionReason::kStale, {}, 0, true};
const ExitOption kPreempt{1, EvictionReason::kPreempt, {}, 0, true};
const ExitOption kReclaim{2, EvictionReason::kReclaim, QueueIndex(0), 0, true};
const ExitOption kYoungStay{3, EvictionReason::kReclaim, QueueIndex(0), kMinute, false};
const ExitOption kOtherSide{4, EvictionReason::kReclaim, QueueIndex(1), 0, true};

TEST(SplitExits, AreOfNoUseIfOneChannelCouldTakeAll) {
  const Scene scene(old_and_young(2));
  EXPECT_FALSE(scene.may_help({kReclaim}));
  EXPECT_FALSE(scene.may_help({kPreempt, kReclaim}));
  EXPECT_FALSE(scene.may_help({kStale, kPreempt}));
  EXPECT_FALSE(scene.may_help({kReclaim, kReclaim}));
}

TEST(SplitExits, HelpWhereAMinimumRunTimeProtectsTheGangFromAReclaim) {
  const Scene scene(old_and_young(2));
  EXPECT_TRUE(scene.may_help({kPreempt, kYoungStay}));
  EXPECT_FALSE(scene.may_help({kYoungStay, kYoungStay}));  // neither may take the pod that started 10 s ago
}

TEST(SplitExits, HelpWhereTheMinimumCountsOnTwoSidesOrGoesAsStale) {
  const Scene scene(old_and_young(2));
  EXPECT_TRUE(scene.may_help({kReclaim, kOtherSide}));
  EXPECT_TRUE(scene.may_help({kStale, kReclaim}));
}

TEST(SplitExits, HelpAtAPrice) {
  const Scene scene(old_and_young(2));
  EXPECT_TRUE(scene.splits.may_help({kPreempt, kReclaim}, true));
  EXPECT_FALSE(scene.splits.may_help({kPreempt}, true));
}

TEST(SplitExits, SayWhatIsProtectedAndHowMuchMustNotBe) {
  const Scene scene(old_and_young(2));
  EXPECT_TRUE(scene.splits.protects(kYoungStay, scene.cell("young")));
  EXPECT_FALSE(scene.splits.protects(kYoungStay, scene.cell("old")));
  EXPECT_FALSE(scene.splits.protects(kPreempt, scene.cell("young")));
  EXPECT_EQ(scene.splits.least_unprotected(), 2);
  EXPECT_FALSE(scene.splits.ran_below_minimum());
  EXPECT_TRUE(Scene(old_and_young(3)).splits.ran_below_minimum());
}

TEST(SplitExits, OfSinglePodsThereAreNone) {
  const Scene scene(
      nodes_with({{"n", 1}}).running("old", "n", 1, R"("priority":10,"started":100)").pod("w", 1, R"("priority":50)"));
  EXPECT_FALSE(scene.may_help({kPreempt, kYoungStay}));
}

}  // namespace
}  // namespace muster::formulation
