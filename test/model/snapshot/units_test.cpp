#include <random>

#include <gtest/gtest.h>

#include "model/objective/gang_units.h"
#include "model/objective/level_values.h"
#include "model/objective/subset_sums.h"
#include "test/support/case.h"

namespace muster {
namespace {

using Units = std::vector<std::array<Work, 2>>;

TEST(SubsetSum, IsTheLargestThatFits) {
  EXPECT_EQ(best_subset_sum({}, 10), 0);
  EXPECT_EQ(best_subset_sum({3, 4}, 10), 7);
  EXPECT_EQ(best_subset_sum({8, 8}, 10), 8);
  EXPECT_EQ(best_subset_sum({6, 5, 5}, 10), 10);
  EXPECT_EQ(best_subset_sum({11}, 10), 0);
  EXPECT_EQ(best_subset_sum({0, 0}, 0), 0);
  EXPECT_EQ(best_subset_sum({8000, 8000, 3000, 500}, 12'000), 11'500);
}

TEST(SubsetSum, EqualsTheBestOfAllSubsets) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Work> items(1 + random() % 12);
    for (Work& item : items) item = static_cast<Work>(random() % 900);
    const Work capacity = static_cast<Work>(random() % 4000);
    Work best = 0;
    for (std::uint32_t subset = 0; subset < 1U << items.size(); ++subset) {
      Work sum = 0;
      for (std::size_t i = 0; i < items.size(); ++i) sum += (subset >> i & 1U) != 0 ? items[i] : 0;
      if (sum <= capacity) best = std::max(best, sum);
    }
    EXPECT_EQ(best_subset_sum(items, capacity), best);
  }
}

TEST(SubsetSum, BitsAndListAgreeOnManyItems) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20; ++round) {
    // Large even items, so that the capacity, which is odd, is never reached, and a few sums become many.
    std::vector<Work> items(40);
    for (Work& item : items) item = 2 * static_cast<Work>(1 + random() % 3000);
    const Work capacity = 20'001;
    std::vector<bool> reachable(capacity + 1, false);
    reachable[0] = true;
    for (const Work item : items) {
      for (Work sum = capacity; sum >= item; --sum) {
        if (reachable[static_cast<std::size_t>(sum - item)]) reachable[static_cast<std::size_t>(sum)] = true;
      }
    }
    Work best = capacity;
    while (!reachable[static_cast<std::size_t>(best)]) --best;
    SubsetSums sums(capacity, 1);
    for (const Work item : items) sums.add(item, 1);
    EXPECT_EQ(sums.best(), best);
    EXPECT_EQ(best_subset_sum(items, capacity), best);
  }
}

// Many more than a short search looks at, with capacities that can be reached and such that cannot.
TEST(SubsetSum, BestSumsByRankAreTheBestOfAllSubsetsOfEachRankAndThoseBefore) {
  std::mt19937_64 random(13);
  for (int round = 0; round < 60; ++round) {
    const Work step = round % 3 == 0 ? 700 : 1, most = round % 2 == 0 ? 40 : 90'000;
    std::vector<RankedItem> ranked;
    std::vector<std::vector<Work>> so_far(3);
    for (int i = 0; i < 30; ++i) {
      const std::size_t rank = random() % 3;
      const Work item = step * static_cast<Work>(1 + random() % static_cast<std::uint64_t>(most));
      const auto count = static_cast<std::int64_t>(1 + random() % 3);
      ranked.push_back({rank, {item, count}});
      for (std::size_t r = rank; r < so_far.size(); ++r)
        so_far[r].insert(so_far[r].end(), static_cast<std::size_t>(count), item);
    }
    const Work capacity = static_cast<Work>(random() % static_cast<std::uint64_t>(40 * step * most));
    const std::vector<Work> values = best_sums_by_rank(ranked, capacity, so_far.size());
    for (std::size_t r = 0; r < so_far.size(); ++r) EXPECT_EQ(values[r], best_subset_sum(so_far[r], capacity)) << round;
  }
}

TEST(SubsetSum, CapacityOfAnySizeCostsNoMoreMemoryThanItsSums) {
  EXPECT_EQ(best_subset_sum({Work{1} << 60, Work{1} << 60, (Work{1} << 60) + 1}, (Work{1} << 61) + 1),
            (Work{1} << 61) + 1);
}

Units units_of(const test::Case& built, std::string_view gang, const std::vector<std::string_view>& names) {
  std::vector<PodIndex> present;
  for (const std::string_view name : names) present.push_back(built.pod(name));
  return gang_units(*built, built.gang(gang), present);
}

const std::string kNode = R"("nodes":[{"name":"n","resources":{"cpu":10,"memory":100},"gpus":{"count":4}}],)";

TEST(GangUnits, MinimumIsTheLeastWorkAndEveryPodBeyondItOneMore) {
  const test::Case built(kNode +
                         R"("gangs":[{"name":"g","minMember":2}],"pods":[{"name":"a","gang":"g","gpu":{"count":3}},
      {"name":"b","gang":"g","gpu":{"count":1}},{"name":"c","gang":"g","gpu":{"count":2}},
      {"name":"d","gang":"g","resources":{"cpu":5}}])");
  EXPECT_EQ(units_of(built, "g", {"a", "b", "c"}), (Units{{3000, 0}, {3000, 0}}));
  EXPECT_EQ(units_of(built, "g", {"a", "b", "d"}), (Units{{1000, 2000}, {3000, 0}}));
  EXPECT_EQ(units_of(built, "g", {"a"}), Units{});
}

TEST(GangUnits, SucceededPodsSatisfyWithoutWork) {
  const test::Case built(kNode +
                         R"("gangs":[{"name":"g","minMember":2}],"pods":[{"name":"a","gang":"g","gpu":{"count":3}},
      {"name":"b","gang":"g","gpu":{"count":1}},{"name":"c","gang":"g","status":"succeeded","gpu":{"count":2}}])");
  EXPECT_EQ(units_of(built, "g", {"a", "b"}), (Units{{1000, 0}, {3000, 0}}));
}

TEST(GangUnits, InnerGroupCountsItsCheapestChildren) {
  const test::Case built(
      kNode + R"("gangs":[{"name":"g","minSubgroups":1,"subgroups":[{"name":"x"},{"name":"y","minMember":2}]}],"pods":[
      {"name":"x0","gang":"g","subgroup":"x","gpu":{"count":4}},{"name":"y0","gang":"g",
      "subgroup":"y","gpu":{"count":1}},
      {"name":"y1","gang":"g","subgroup":"y","gpu":{"count":2}},{"name":"y2","gang":"g",
      "subgroup":"y","gpu":{"count":1}}])");
  EXPECT_EQ(units_of(built, "g", {"x0", "y0", "y1", "y2"}), (Units{{2000, 0}, {4000, 0}, {2000, 0}}));
  EXPECT_EQ(units_of(built, "g", {"x0", "y0"}), (Units{{4000, 0}, {1000, 0}}));
  EXPECT_EQ(units_of(built, "g", {"y0"}), Units{});
}

TEST(GangUnits, GangThatNeedsNothingHasAnEmptyFirstUnit) {
  const test::Case built(kNode +
                         R"("gangs":[{"name":"g","minMember":0}],"pods":[{"name":"a","gang":"g","gpu":{"count":3}}])");
  EXPECT_EQ(units_of(built, "g", {"a"}), (Units{{0, 0}, {3000, 0}}));
}

}  // namespace
}  // namespace muster
