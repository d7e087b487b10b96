// Bounds by sums against every plan of tiny instances in which pods may be evicted and moved: no plan passes the bound
// of a level that another one, equal in all levels before it, is given.
//
// See campaign.h for how many instances, and which.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <gtest/gtest.h>

#include "model/objective/level_bounds.h"
#include "solver/lp/sum_bounds.h"
#include "test/brute_force/campaign.h"
#include "test/brute_force/instances/policy_instance.h"
#include "test/brute_force/naive_search.h"
#include "test/support/case.h"

namespace muster::brute_force {
namespace {

constexpr std::int64_t kMostEndStates = 400;

class AllPlans {
 public:
  explicit AllPlans(std::uint64_t seed) : seed_(seed), instance_(with_whole_nodes(seed)) {}

  bool has_levels() const { return instance_.snapshot().policy.has_whole_nodes(); }
  // Finds them; false if there are too many.
  bool find() {
    const auto all = levels_of_all_plans(*instance_, instance_.shares(), kMostEndStates);
    if (all) plans_.assign(all->begin(), all->end());
    return all.has_value();
  }

  struct Tally {
    std::int64_t bounds = 0, with_evictions = 0, reached = 0;
  };

  // Plans are sorted: those that are equal down to a level follow one another.
  void expect_bounds_hold(Tally& tally) const {
    const std::vector<LevelId> ids = level_ids(*instance_);
    const std::vector<std::int64_t> trivial = trivial_bounds(*instance_, instance_.shares());
    const lp::SumBounds bounds(*instance_, instance_.shares(), trivial);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (!is_about_wholeness(ids[i].kind)) continue;
      for (auto first = plans_.begin(); first != plans_.end();) {
        const auto is_equal_before = [&](const std::vector<std::int64_t>& values) {
          return std::equal(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), first->begin());
        };
        const auto end = std::find_if_not(first, plans_.end(), is_equal_before);
        const auto by_level = [&](const auto& a, const auto& b) { return a[i] < b[i]; };
        const auto [least, most] = std::minmax_element(first, end, by_level);
        const std::vector<std::int64_t>& best = is_maximised(ids[i].kind) ? *most : *least;
        expect_bound_holds(i, best, *first, bounds);
        ++tally.bounds;
        tally.with_evictions += best[3 * instance_->objective.priorities.size()] > 0 ? 1 : 0;
        tally.reached += bounds.of(Levels{best}, i) == best[i] ? 1 : 0;
        first = end;
      }
    }
  }

 private:
  static Snapshot with_whole_nodes(std::uint64_t seed) {
    Snapshot snapshot = test::Case::read(policy_instance(seed), test::Oddities::kSettled);
    snapshot.policy.whole_nodes = true;
    return snapshot;
  }
  // The bound that any of them is given.
  void expect_bound_holds(std::size_t i, const std::vector<std::int64_t>& best, const std::vector<std::int64_t>& any,
                          const lp::SumBounds& bounds) const {
    for (const std::vector<std::int64_t>& values : {best, any}) {
      const std::int64_t bound = bounds.of(Levels{values}, i);
      const LevelKind kind = level_ids(*instance_)[i].kind;
      EXPECT_TRUE(is_maximised(kind) ? best[i] <= bound : best[i] >= bound)
          << "seed " << seed_ << ", " << level_name(kind) << ": " << best[i] << " is beyond " << bound;
    }
  }

  std::uint64_t seed_;
  test::Case instance_;
  std::vector<std::vector<std::int64_t>> plans_;
};

TEST(WholenessBounds, HoldForEveryPlanThatIsEqualInAllLevelsBefore) {
  AllPlans::Tally tally;
  const std::uint64_t wanted = setting("MUSTER_INSTANCES", 150);
  std::uint64_t looked_at = 0;
  for (std::uint64_t seed = setting("MUSTER_SEED", 1); looked_at < wanted; ++seed) {
    AllPlans plans(seed);
    if (!plans.has_levels() || !plans.find()) continue;
    ++looked_at;
    plans.expect_bounds_hold(tally);
  }
  std::printf("%ld instances, %ld bounds, %ld with evictions, %ld reached\n", static_cast<long>(looked_at),
              static_cast<long>(tally.bounds), static_cast<long>(tally.with_evictions),
              static_cast<long>(tally.reached));
  // Else no instance is tight, or the bounds prove nothing.
  EXPECT_GT(10 * tally.with_evictions, tally.bounds);
  EXPECT_GT(10 * tally.reached, 9 * tally.bounds);
}

}  // namespace
}  // namespace muster::brute_force
