// What the pods of a gang say about it together, in whichever order they come.
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "io/kubernetes/import/gangs.h"

namespace muster::kubernetes {
namespace {

KubernetesPod pod(std::string_view created, std::string_view queue) {
  KubernetesPod made;
  made.state.created = created;
  made.membership.labels.kai_queue = queue;
  return made;
}

TEST(GangPods, TheOrderOfThePodsDoesNotMatter) {
  const std::vector<KubernetesPod> pods = {pod("2026-01-02T00:00:00Z", "b"), pod("2026-01-01T00:00:00Z", ""),
                                           pod("", "a")};
  GangPods forward, backward;
  for (const KubernetesPod& one : pods) forward.add(one, 3);
  for (auto one = pods.rbegin(); one != pods.rend(); ++one) backward.add(*one, 3);
  for (const GangPods& sums : {forward, backward}) {
    EXPECT_EQ(sums.count, 3);
    EXPECT_EQ(sums.created, "2026-01-01T00:00:00Z");
    EXPECT_EQ(sums.queues.kai, "a");
  }
}

TEST(GangPods, OnePodThatMayPreemptIsEnough) {
  KubernetesPod never, may;
  never.priority.never_preempts = true;
  GangPods sums;
  sums.add(never, 5);
  EXPECT_TRUE(sums.never_preempts);
  sums.add(may, 1);
  EXPECT_FALSE(sums.never_preempts);
  EXPECT_EQ(sums.highest_priority, 5);
}

TEST(GangPods, TheLargestMinimumOfThePodsCounts) {
  KubernetesPod two, four;
  two.membership.labels.min_available = 2;
  four.membership.labels.min_available = 4;
  GangPods sums;
  sums.add(four, 0);
  sums.add(two, 0);
  EXPECT_EQ(sums.min_available, 4);
}

}  // namespace
}  // namespace muster::kubernetes
