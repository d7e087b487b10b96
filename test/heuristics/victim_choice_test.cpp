#include "heuristics/preemption/victim_choice.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace muster {
namespace {

const QueueIndex kFirst(0), kSecond(1);

// A party is identified by its first pod.
Party party(std::uint32_t pod, Work work, std::int64_t seconds, bool is_gone, QueueIndex queue = kFirst) {
  Party party;
  party.pods = {PodIndex(pod)};
  party.queue = queue;
  party.work = party.largest = work;
  party.loss = work * seconds;
  party.is_gone = is_gone;
  return party;
}

Indexed<QueueIndex, Work> each(Work first, Work second) {
  Indexed<QueueIndex, Work> of_queue(2, first);
  of_queue[kSecond] = second;
  return of_queue;
}

QueueRoom room(Work first, Work second) { return {each(first, second), each(first, second)}; }

std::vector<std::size_t> leavers(std::vector<Party> parties, const QueueRoom& of) {
  choose_leavers(parties, of);
  std::vector<std::size_t> pods;
  for (const Party& one : parties) {
    if (one.leaves) pods.push_back(one.pods.front().value());
  }
  std::ranges::sort(pods);
  return pods;
}

using Pods = std::vector<std::size_t>;

TEST(VictimChoice, WhoHasRunForTheShortestTimeGoesAsMuchAsHasGone) {
  EXPECT_EQ(leavers({party(0, 2, 100, true), party(1, 2, 100, true), party(2, 4, 10, false), party(3, 2, 90, false)},
                    room(9, 9)),
            (Pods{2}));
}

TEST(VictimChoice, WhoIsTooLargeIsLeftOutAndTheRestIsTheLeastLossThatIsEnough) {
  // 5 have gone: 3 of the youngest, the 9 of the next are too many, and of those of 2 or more the oldest lose least.
  EXPECT_EQ(leavers({party(0, 5, 100, true), party(1, 3, 10, false), party(2, 9, 20, false), party(3, 3, 50, false)},
                    room(99, 99)),
            (Pods{1, 3}));
}

TEST(VictimChoice, QueuesWithinTheirSharesAreSpared) {
  const std::vector<Party> parties{party(0, 4, 100, true, kSecond), party(1, 4, 10, false, kSecond),
                                   party(2, 4, 50, false, kFirst)};
  EXPECT_EQ(leavers(parties, room(4, 0)), (Pods{2}));
  EXPECT_EQ(leavers(parties, room(0, 4)), (Pods{1}));
  EXPECT_EQ(leavers(parties, room(0, 0)), (Pods{1}));  // some party has to leave
}

TEST(VictimChoice, AHardLimitIsNotExceeded) {
  QueueRoom of = room(5, 0);
  of.is_hard = true;
  EXPECT_EQ(leavers({party(0, 5, 100, true), party(1, 3, 10, false), party(2, 3, 20, false)}, of), (Pods{1}));
  EXPECT_EQ(leavers({party(0, 5, 100, true), party(1, 5, 10, false, kSecond)}, of), (Pods{0}));
}

TEST(VictimChoice, WhatIsReclaimedKeepsOneWithWhomTheQueueWouldBeAboveItsShare) {
  std::vector<Party> parties{party(0, 6, 100, true)};
  for (std::uint32_t pod = 1; pod <= 6; ++pod) parties.push_back(party(pod, 1, 10, false));
  EXPECT_EQ(leavers(parties, room(6, 0)), (Pods{1, 2, 3, 4, 5, 6}));
  QueueRoom below = room(6, 0);
  below.beyond_share = each(4, 0);
  EXPECT_EQ(leavers(parties, below), (Pods{1, 2, 3, 4, 5, 6}));  // nothing is reclaimed
  for (Party& one : parties) one.is_reclaimed = true;
  EXPECT_EQ(leavers(parties, below), (Pods{0}));
}

}  // namespace
}  // namespace muster
