// No plan is better than the trivial bounds: random clusters, random plans that keep every gang's minimum.
#include <algorithm>
#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "model/objective/evaluation.h"
#include "model/objective/level_bounds.h"
#include "model/objective/levels.h"
#include "model/problem/gang_tree.h"
#include "test/support/case.h"

namespace muster {
namespace {

class ClusterDraw {
 public:
  explicit ClusterDraw(std::uint64_t seed) : random_(seed) {}

  test::Cluster cluster() {
    test::Cluster drawn;
    drawn.with(R"("topology":["rack"])");
    for (int i = 0; i < 3; ++i) drawn.node("n" + std::to_string(i), node());
    const std::array queues{queue(), queue(), queue()};
    drawn.queue("r", R"("gpu":{"limit":)" + number(2, 12) + "}");
    for (std::size_t i = 0; i < queues.size(); ++i) drawn.queue("q" + std::to_string(i), queues[i]);
    for (int i = 0; i < 5; ++i) drawn.gang("g" + std::to_string(i), gang());
    for (int i = 0; i < 16; ++i) drawn.pod("p" + std::to_string(i), pod());
    return drawn;
  }

  int below(int end) { return static_cast<int>(random_() % static_cast<std::uint64_t>(end)); }

 private:
  std::string number(int from, int to) { return std::to_string(from + below(to - from + 1)); }
  std::string node() {
    return R"("resources":{"cpu":64,"memory":6400},"gpus":{"count":16},"labels":{"rack":")" + number(0, 1) + "\"}" +
           (below(3) == 0 ? R"(,"taints":[{"key":"t","effect":"PreferNoSchedule"}])" : "");
  }
  std::string queue() {
    return (below(2) == 0 ? R"("parent":"r",)" : "") + (R"("priority":)" + number(99, 101)) + R"(,"gpu":{"quota":)" +
           number(0, 6) + R"(,"weight":)" + number(0, 2) + R"(},"cpu":{"quota":)" + number(0, 20) + "}";
  }
  // So small a weight that a pod has almost no work.
  std::string weight() { return below(5) == 0 ? "0.00" + number(0, 1) + "2" : number(1, 3); }
  std::string gang() {
    return R"("queue":"q)" + number(0, 2) + R"(","priority":)" + number(1, 3) + R"(,"weight":)" + weight() +
           R"(,"created":99990)" + number(0, 9) + R"(,"topology":{"preferred":"rack"})" +
           (below(2) == 0 ? R"(,"minMember":)" + number(0, 4) : "");
  }
  std::string pod() {
    const std::string asks = below(4) == 0   ? R"("resources":{"cpu":)" + number(1, 5) + "}"
                             : below(9) == 0 ? R"("resources":{})"
                             : below(3) == 0 ? R"("gpu":{"fraction":0.)" + number(1, 9) + "}"
                                             : R"("gpu":{"count":)" + number(1, 2) + "}";
    const std::string state = below(2) == 0   ? R"(,"node":"n)" + number(0, 2) + R"(","started":99900)" + number(0, 9)
                              : below(8) == 0 ? R"(,"status":"succeeded")"
                                              : R"(,"nominatedNode":"n0")";
    return R"("gang":"g)" + number(0, 4) + "\"," + asks + state;
  }

  std::mt19937_64 random_;
};

// Devices are of no matter to what is bounded, as long as they exist.
std::vector<std::int32_t> first_devices(const PodClass& pod_class) {
  std::vector<std::int32_t> devices;
  for (std::int32_t i = 0; i < pod_class.gpu.devices; ++i) devices.push_back(i);
  return devices;
}

// Evicts and places at random; of a gang that does not reach its minimum nothing is placed. With `whole`, such a gang
// is evicted to the last pod, if at all.
Plan random_plan(const Problem& problem, ClusterDraw& random, bool whole = false) {
  Plan plan;
  for (const Gang& gang : problem.gangs) {
    std::vector<Placement> placements;
    std::vector<PodIndex> present;
    const std::size_t first_eviction = plan.evictions.size();
    for (const PodIndex pod : gang.pods) {
      const PodStatus status = problem.pods[pod].status;
      const bool is_evicted = status == PodStatus::kRunning && random.below(3) == 0;
      if (is_evicted) plan.evictions.push_back({pod, EvictionReason::kPreempt, {}});
      const bool is_placed = (is_evicted || status == PodStatus::kPending) && random.below(3) != 0;
      const NodeIndex node(static_cast<std::size_t>(random.below(3)));
      if (is_placed) placements.push_back({pod, node, first_devices(problem.class_of(pod)), {}});
      if (is_placed || (status == PodStatus::kRunning && !is_evicted) || status == PodStatus::kSucceeded)
        present.push_back(pod);
    }
    const bool is_met =
        meets_minimum(problem, gang, [&](PodIndex pod) { return std::ranges::find(present, pod) != present.end(); });
    if (is_met) plan.placements.insert(plan.placements.end(), placements.begin(), placements.end());
    if (is_met || !whole || plan.evictions.size() == first_eviction) continue;
    plan.evictions.resize(first_eviction);
    for (const PodIndex pod : gang.pods) {
      if (problem.pods[pod].status == PodStatus::kRunning)
        plan.evictions.push_back({pod, EvictionReason::kPreempt, {}});
    }
  }
  normalise(plan);
  return plan;
}

TEST(TrivialBounds, NoRandomPlanIsBetter) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    ClusterDraw random(seed);
    const test::Case built(random.cluster());
    const FairShares shares = compute_fair_shares(*built);
    const std::vector<LevelId> ids = level_ids(*built);
    const std::vector<std::int64_t> bounds = trivial_bounds(*built, shares);
    for (int round = 0; round < 20; ++round) {
      const std::vector<std::int64_t> values = evaluate(*built, shares, random_plan(*built, random)).values;
      ASSERT_EQ(values.size(), bounds.size());
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const bool holds = is_maximised(ids[i].kind) ? values[i] <= bounds[i] : values[i] >= bounds[i];
        EXPECT_TRUE(holds) << "seed " << seed << ": " << level_name(ids[i].kind) << ' ' << ids[i].priority << " is "
                           << values[i] << ", bound " << bounds[i];
      }
    }
  }
}

TEST(LeastEvicted, NoRandomPlanEvictsLessForTheSameWork) {
  int above_zero = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    ClusterDraw random(seed);
    const test::Case built(random.cluster());
    const std::vector<LevelId> ids = level_ids(*built);
    const auto at = static_cast<std::size_t>(std::ranges::find(ids, LevelKind::kEvicted, &LevelId::kind) - ids.begin());
    for (int round = 0; round < 20; ++round) {
      const FairShares shares = compute_fair_shares(*built);
      const Levels levels = evaluate(*built, shares, random_plan(*built, random, true));
      const std::int64_t least = least_evicted(*built, shares, levels);
      EXPECT_LE(least, levels.values[at]) << "seed " << seed;
      above_zero += least > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(above_zero, 100);  // else it proves nothing
}

// Of which the bound asks for nothing else.
Levels levels_with(const Problem& problem, std::vector<std::int64_t> share, std::vector<std::int64_t> work) {
  const ObjectiveTerms& terms = problem.objective;
  return in_order(problem, {.share = std::move(share),
                            .quota = std::vector<std::int64_t>(terms.priorities.size(), 0),
                            .work = std::move(work),
                            .preempted = std::vector<std::int64_t>(terms.preemptible.size(), 0),
                            .evicted_beyond = std::vector<std::int64_t>(terms.evictable.size(), 0)});
}

TEST(LeastEvicted, IsTheWorkOfTheShortestRunningPodsThatMustLeave) {
  const auto pod = [](const std::string& name, const std::string& priority, const std::string& rest) {
    return R"({"name":")" + name + R"(","priority":)" + priority + R"(,"gpu":{"count":1})" + rest + "}";
  };
  const test::Case built(R"("nodes":[{"name":"a","gpus":{"count":3}}],"pods":[)" +
                         pod("old", "1", R"(,"node":"a","gpus":[0],"started":999000)") + "," +
                         pod("young", "1", R"(,"node":"a","gpus":[1],"started":999990)") + "," +
                         pod("urgent", "2", R"(,"node":"a","gpus":[2],"started":999999)") + "," +
                         pod("waiting", "2", "") + "]");
  const auto least = [&](std::int64_t all_work) {  // both of priority 2 run
    return least_evicted(*built, compute_fair_shares(*built), levels_with(*built, {0, 0}, {2000, all_work}));
  };
  EXPECT_EQ(least(3000), 1000 * 10);               // and one of priority 1
  EXPECT_EQ(least(2500), 1000 * 10 + 500 * 1000);  // half of one more pod must leave, as far as sums determine it
  EXPECT_EQ(least(4000), 0);
}

TEST(LeastEvicted, PodsOfHardlyAnyWorkDoNotHideCheaperVictims) {
  // The weight leaves each pod of `old` a work of 1. Its second pod has run for a second at least.
  const test::Case built(R"("nodes":[{"name":"a","gpus":{"count":3}}],"gangs":[{"name":"old","weight":0.001}],
     "pods":[{"name":"o-0","gang":"old","gpu":{"count":1},"node":"a","gpus":[0],"started":900000},
             {"name":"o-1","gang":"old","node":"a"},{"name":"o-2","gang":"old"},
             {"name":"young","gpu":{"count":1},"node":"a","gpus":[1],"started":999990},
             {"name":"waiting","gpu":{"count":2}}])");
  EXPECT_EQ(least_evicted(*built, compute_fair_shares(*built), levels_with(*built, {0}, {500})), 1 + 501 * 10);
}

TEST(LeastEvicted, AGangThatNeedsAllOfItsPodsGoesWholeOrStays) {
  std::string pods;
  for (int i = 0; i < 4; ++i) {
    const std::string at = std::to_string(i);
    pods += R"({"name":"young-)" + at + R"(","gang":"young","gpu":{"count":1},"node":"a","gpus":[)" + at +
            R"(],"started":999900},)";
  }
  for (int i = 4; i < 7; ++i) {
    const std::string at = std::to_string(i);
    pods += R"({"name":"old-)" + at + R"(","gpu":{"count":1},"node":"a","gpus":[)" + at + R"(],"started":999800},)";
  }
  const auto least = [&](int minimum, std::int64_t work) {
    const test::Case built(R"("nodes":[{"name":"a","gpus":{"count":8}}],"gangs":[{"name":"young","minMember":)" +
                           std::to_string(minimum) + R"(}],"pods":[)" + pods +
                           R"({"name":"waiting","gpu":{"count":8}}])");
    return least_evicted(*built, compute_fair_shares(*built), levels_with(*built, {0}, {work}));
  };
  EXPECT_EQ(least(3, 5500), 1500 * 100);  // a part of it may go
  EXPECT_EQ(least(4, 5500), 1500 * 200);  // less than the whole: 4000 * 100
  EXPECT_EQ(least(4, 4500), 4000 * 100);  // the whole is less than 2500 * 200
}

TEST(LeastEvicted, TakesOfNoQueueWhatItsShareCannotDoWithout) {
  // Both queues are entitled to two GPUs. `poor` has run for a shorter time, but fills its share; one of `rich` goes.
  const test::Case built(R"("nodes":[{"name":"a","gpus":{"count":4}}],
     "queues":[{"name":"rich","gpu":{"quota":2}},{"name":"poor","gpu":{"quota":2}}],
     "pods":[{"name":"r-0","queue":"rich","gpu":{"count":1},"node":"a","gpus":[0],"started":999000},
             {"name":"r-1","queue":"rich","gpu":{"count":1},"node":"a","gpus":[1],"started":999000},
             {"name":"r-2","queue":"rich","gpu":{"count":1},"node":"a","gpus":[2],"started":999000},
             {"name":"p-0","queue":"poor","gpu":{"count":1},"node":"a","gpus":[3],"started":999990},
             {"name":"p-1","queue":"poor","gpu":{"count":1}}])");
  // All four GPUs are within the shares, one of the running goes.
  const auto least = [&](std::int64_t share, std::int64_t work) {
    return least_evicted(*built, compute_fair_shares(*built), levels_with(*built, {share}, {work}));
  };
  EXPECT_EQ(least(4000, 4000), 0);  // all that runs may stay, by sums
  EXPECT_EQ(least(4000, 3000), 1000 * 1000);
  EXPECT_EQ(least(3000, 3000), 1000 * 10);  // it is not within the shares that all is needed
}

// Of level `kind`, for one queue and one priority.
std::int64_t bound_of(const std::string& body, LevelKind kind) {
  const test::Case built(body);
  const std::vector<LevelId> ids = level_ids(*built);
  const auto at = std::ranges::find(ids, kind, &LevelId::kind);
  return trivial_bounds(*built, compute_fair_shares(*built))[static_cast<std::size_t>(at - ids.begin())];
}

TEST(TrivialBounds, SharesWhoseWorkIsExactFillNoMoreThanTheDevices) {
  const auto five = [](const std::string& fraction) {
    std::string pods;
    for (int i = 0; i < 5; ++i)
      pods += (i > 0 ? "," : "") + (R"({"name":"p)" + std::to_string(i)) + R"(","gpu":{"fraction":)" + fraction + "}}";
    return R"("nodes":[{"name":"a","gpus":{"count":1}}],"pods":[)" + pods + "]";
  };
  EXPECT_EQ(bound_of(five("0.25"), LevelKind::kWork), 1000);
  // The work of each is 334, rounded up: three fit next to each other, by 1002.
  EXPECT_GE(bound_of(five("0.3335"), LevelKind::kWork), 1002);
}

}  // namespace
}  // namespace muster
