#include <algorithm>

#include <gtest/gtest.h>

#include "heuristics/preemption/settling.h"

namespace muster::preemption {
namespace {

const QueueIndex kFirst(0), kSecond(1);

// A group is identified by its first pod.
VictimGroup group(std::uint32_t pod, Work work, std::int64_t seconds, bool is_gone, QueueIndex queue = kFirst) {
  VictimGroup group;
  group.pods = {PodIndex(pod)};
  group.queue = queue;
  group.work = group.largest = work;
  group.loss = work * seconds;
  group.is_gone = is_gone;
  return group;
}

Indexed<QueueIndex, Work> each(Work first, Work second) {
  Indexed<QueueIndex, Work> of_queue(2, first);
  of_queue[kSecond] = second;
  return of_queue;
}

QueueRoom room(Work first, Work second) { return {each(first, second), each(first, second)}; }

std::vector<std::size_t> leaving(std::vector<VictimGroup> groups, const QueueRoom& of) {
  choose_victims(groups, of);
  std::vector<std::size_t> pods;
  for (const VictimGroup& one : groups) {
    if (one.leaves) pods.push_back(one.pods.front().value());
  }
  std::ranges::sort(pods);
  return pods;
}

using Pods = std::vector<std::size_t>;

TEST(GroupChoice, GroupsThatHaveRunForTheShortestTimeLeaveAsMuchAsHasLeft) {
  EXPECT_EQ(leaving({group(0, 2, 100, true), group(1, 2, 100, true), group(2, 4, 10, false), group(3, 2, 90, false)},
                    room(9, 9)),
            (Pods{2}));
}

TEST(GroupChoice, GroupsThatAreTooLargeAreLeftOutAndTheRestIsTheLeastLossThatIsEnough) {
  // 5 have gone: 3 of the youngest, the 9 of the next are too many, and of those of 2 or more the oldest lose least.
  EXPECT_EQ(leaving({group(0, 5, 100, true), group(1, 3, 10, false), group(2, 9, 20, false), group(3, 3, 50, false)},
                    room(99, 99)),
            (Pods{1, 3}));
}

TEST(GroupChoice, QueuesWithinTheirSharesAreSpared) {
  const std::vector<VictimGroup> groups{group(0, 4, 100, true, kSecond), group(1, 4, 10, false, kSecond),
                                        group(2, 4, 50, false, kFirst)};
  EXPECT_EQ(leaving(groups, room(4, 0)), (Pods{2}));
  EXPECT_EQ(leaving(groups, room(0, 4)), (Pods{1}));
  EXPECT_EQ(leaving(groups, room(0, 0)), (Pods{1}));  // some group has to leave
}

TEST(GroupChoice, AHardLimitIsNotExceeded) {
  QueueRoom of = room(5, 0);
  of.is_hard = true;
  EXPECT_EQ(leaving({group(0, 5, 100, true), group(1, 3, 10, false), group(2, 3, 20, false)}, of), (Pods{1}));
  EXPECT_EQ(leaving({group(0, 5, 100, true), group(1, 5, 10, false, kSecond)}, of), (Pods{0}));
}

TEST(GroupChoice, WhatIsReclaimedKeepsOneWithWhichTheQueueWouldBeAboveItsShare) {
  std::vector<VictimGroup> groups{group(0, 6, 100, true)};
  for (std::uint32_t pod = 1; pod <= 6; ++pod) groups.push_back(group(pod, 1, 10, false));
  EXPECT_EQ(leaving(groups, room(6, 0)), (Pods{1, 2, 3, 4, 5, 6}));
  QueueRoom below = room(6, 0);
  below.beyond_share = each(4, 0);
  EXPECT_EQ(leaving(groups, below), (Pods{1, 2, 3, 4, 5, 6}));  // nothing is reclaimed
  for (VictimGroup& one : groups) one.is_reclaimed = true;
  EXPECT_EQ(leaving(groups, below), (Pods{0}));
}

}  // namespace
}  // namespace muster::preemption
