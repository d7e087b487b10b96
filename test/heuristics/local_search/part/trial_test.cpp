#include "heuristics/local_search/trial.h"

#include <vector>

#include <gtest/gtest.h>

namespace muster::local_search {
namespace {

TrialPod pod(std::size_t index, NodeIndex from, NodeIndex to) {
  TrialPod made;
  made.pod = PodIndex(index);
  made.from = from;
  made.to = to;
  return made;
}

constexpr NodeIndex kNone = NodeIndex::none(), kA(0), kB(1);

TEST(Trial, GivesRepairedPodsTheirOldPlace) {
  Trial trial;
  trial.optional = {pod(1, kA, kNone)};
  trial.placed = {pod(1, kNone, kB)};
  trial.match();
  EXPECT_EQ(trial.placed.front().from, kA);
  EXPECT_FALSE(trial.optional.front().is_dropped);
}

TEST(Trial, DropsOptionalPodsThatAreNotRepaired) {
  Trial trial;
  trial.optional = {pod(1, kA, kNone), pod(2, kA, kNone)};
  trial.placed = {pod(2, kNone, kA), pod(3, kNone, kB)};
  trial.match();
  std::vector<PodIndex> visited;
  trial.for_each([&](const TrialPod& one) { visited.push_back(one.pod); });
  EXPECT_EQ(visited, (std::vector{PodIndex(2), PodIndex(3), PodIndex(1)})) << "each once";
  EXPECT_TRUE(trial.changes_anything());
}

TEST(Trial, ChangesNothingIfAllPodsReturn) {
  Trial trial;
  trial.required = {pod(1, kA, kA)};
  trial.optional = {pod(2, kB, kNone)};
  trial.placed = {pod(2, kNone, kB)};
  trial.match();
  EXPECT_FALSE(trial.changes_anything());
  trial.required.front().to = kB;
  EXPECT_TRUE(trial.changes_anything());
}

TEST(Trial, ChangesSomethingIfAPodReturnsToOtherDevices) {
  Trial trial;
  trial.required = {pod(1, kA, kA)};
  trial.required.front().from_devices = {0};
  trial.required.front().to_devices = {1};
  EXPECT_TRUE(trial.changes_anything());
}

}  // namespace
}  // namespace muster::local_search
