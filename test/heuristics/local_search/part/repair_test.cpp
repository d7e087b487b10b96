#include "heuristics/local_search/repair.h"

#include <vector>

#include <gtest/gtest.h>

#include "test/heuristics/local_search/part/operators_case.h"

namespace muster::local_search {
namespace {

class RepairTest : public testing::Test {
 protected:
  bool repair(const char* wanted = nullptr) {
    case_.add_all_nodes();
    return DestroyAndRepair(search_.scope, case_.gangs, case_.waiting, case_.random)
        .repair(wanted == nullptr ? GangIndex::none() : search_.gang(wanted), case_.neighbourhood, case_.trial);
  }
  TrialPod required(const char* name) const {
    TrialPod made;
    made.pod = search_.pod(name);
    made.pod_class = search_.problem->pods[made.pod].pod_class;
    made.from = search_.node("a");
    return made;
  }

  SearchCase search_{R"("nodes":[{"name":"a","gpus":{"count":2}},{"name":"b","gpus":{"count":1}}],
      "gangs":[{"name":"g"},{"name":"huge"}],
      "pods":[{"name":"x","gpu":{"count":1}},{"name":"y","gpu":{"count":1}},{"name":"big","gpu":{"count":2}},
              {"name":"g0","gang":"g","gpu":{"count":1}},{"name":"g1","gang":"g","gpu":{"count":1}},
              {"name":"h0","gang":"huge","gpu":{"count":2}},{"name":"h1","gang":"huge","gpu":{"count":2}}])",
                     {}};
  OperatorsCase case_{search_, search_.part({"x", "y"}, {"g", "huge"})};
};

TEST_F(RepairTest, PlacesTheRequiredPodsLargestFirst) {
  case_.trial.required = {required("x"), required("big")};
  ASSERT_TRUE(repair());
  EXPECT_EQ(case_.trial.required[0].pod, search_.pod("big"));
  EXPECT_EQ(case_.trial.required[0].to, search_.node("a"));
  EXPECT_EQ(case_.trial.required[1].to, search_.node("b"));
}

TEST_F(RepairTest, FailsIfARequiredPodFindsNoPlace) {
  case_.trial.required = {required("big"), required("big")};
  EXPECT_FALSE(repair());
}

TEST_F(RepairTest, CompletesTheWantedGang) {
  ASSERT_TRUE(repair("g"));
  EXPECT_EQ(case_.trial.completed, std::vector{search_.gang("g")});
  EXPECT_FALSE(case_.trial.placed[0].is_offered) << "a part of its gang";
  EXPECT_EQ(case_.trial.placed.size(), 3U) << "and fills the third device";
}

TEST_F(RepairTest, FailsIfTheWantedGangFindsNoPlaceAndPutsNoPartOfIt) {
  EXPECT_FALSE(repair("huge"));
  EXPECT_TRUE(case_.trial.placed.empty());
  EXPECT_TRUE(case_.neighbourhood.fits_anywhere(search_.problem.class_of("big")));
}

TEST_F(RepairTest, FillsTheNodesWithPodsThatWait) {
  ASSERT_TRUE(repair());
  EXPECT_FALSE(case_.trial.placed.empty());
  std::size_t offered = 0;
  for (const TrialPod& pod : case_.trial.placed) offered += pod.is_offered ? 1U : 0U;
  EXPECT_EQ(offered + case_.waiting.groups()[0].pods.size(), 2U) << "those that are placed no longer wait";
}

}  // namespace
}  // namespace muster::local_search
