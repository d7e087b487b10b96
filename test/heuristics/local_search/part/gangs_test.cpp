#include <vector>

#include <gtest/gtest.h>

#include "heuristics/local_search/search_part.h"
#include "test/heuristics/local_search/search_case.h"

namespace muster::local_search {
namespace {

// A gang that needs both of its pods, an elastic one with a surplus pod, and one that waits.
SearchCase cluster() {
  return {R"("nodes":[{"name":"a","gpus":{"count":4}},{"name":"b","gpus":{"count":4}}],
     "gangs":[{"name":"rigid"},{"name":"elastic","minMember":1},{"name":"waits"}],
     "pods":[{"name":"r0","gang":"rigid","gpu":{"count":1}},{"name":"r1","gang":"rigid","gpu":{"count":1}},
             {"name":"e0","gang":"elastic","gpu":{"count":1}},{"name":"e1","gang":"elastic","gpu":{"count":1}},
             {"name":"single","gpu":{"count":1}},
             {"name":"w0","gang":"waits","gpu":{"count":1}},{"name":"w1","gang":"waits","gpu":{"count":1}}])",
          {{"r0", "a", {0}}, {"r1", "b", {0}}, {"e0", "a", {1}}, {"e1", "a", {2}}, {"single", "b", {1}}}};
}

class PartGangsTest : public testing::Test {
 protected:
  PartGangs gangs() { return PartGangs(search_.scope, search_.state, part_, nodes_); }

  SearchCase search_ = cluster();
  SearchPart part_ = search_.part({}, {"waits"});
  PartNodes nodes_{search_.scope, search_.state, search_.part().nodes};
};

TEST_F(PartGangsTest, AreWholeIfAllTheirPodsAreNeededAndInThePart) {
  EXPECT_EQ(gangs().whole(), std::vector{search_.gang("rigid")});
  EXPECT_EQ(gangs().waiting(), std::vector{search_.gang("waits")});
  EXPECT_EQ(gangs().position_of(search_.pod("r1")), 1U);
}

TEST_F(PartGangsTest, AreNotWholeIfAPodIsOnANodeOfAnotherPart) {
  const PartNodes only_a(search_.scope, search_.state, {search_.node("a")});
  EXPECT_TRUE(PartGangs(search_.scope, search_.state, part_, only_a).whole().empty());
}

TEST_F(PartGangsTest, MayDropSinglePodsAndSurplusPods) {
  PartGangs gangs = this->gangs();
  EXPECT_TRUE(gangs.may_drop(search_.pod("single")));
  EXPECT_FALSE(gangs.may_drop(search_.pod("r0")));
  EXPECT_TRUE(gangs.may_drop(search_.pod("e1")));
  gangs.note_dropped(search_.pod("e1"));
  EXPECT_FALSE(gangs.may_drop(search_.pod("e0"))) << "the minimum is left";
  gangs.note_placed(search_.pod("e1"));
  EXPECT_TRUE(gangs.may_drop(search_.pod("e0")));
}

TEST_F(PartGangsTest, LoseSurplusPodsInOnePartOnly) {
  part_.of = 2;
  part_.number = 1 - search_.gang("elastic").value() % 2;
  EXPECT_FALSE(gangs().may_drop(search_.pod("e1")));
}

TEST_F(PartGangsTest, WaitOnceTheyAreDestroyedAndAreWholeOnceTheyAreCompleted) {
  PartGangs gangs = this->gangs();
  Trial trial;
  trial.leaving = search_.gang("rigid");
  trial.completed = {search_.gang("waits")};
  gangs.note_kept(trial);
  EXPECT_EQ(gangs.waiting(), std::vector{search_.gang("rigid")});
  EXPECT_EQ(gangs.whole(), std::vector{search_.gang("waits")});
}

}  // namespace
}  // namespace muster::local_search
