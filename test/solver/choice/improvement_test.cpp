#include "solver/choice/improvement.h"

#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "solver/cbc/backend.h"
#include "solver/lp/model_builder.h"
#include "test/solver/master_case.h"
#include "test/support/cluster.h"
#include "test/support/paths.h"

namespace muster::choice {
namespace {

// Pairs of columns of which one may be 1. The first level counts the first ones 200 times, or as given, and the second
// ones 300 times; the next one the first ones.
struct Pairs {
  explicit Pairs(int count, std::int64_t worth_of_first = 200) {
    lp::ModelBuilder builder;
    lp::LinearExpression worth, firsts;
    for (int pair = 0; pair < count; ++pair) {
      const std::int32_t first = builder.add_column(0, 1, true, ""), second = builder.add_column(0, 1, true, "");
      lp::LinearExpression one;
      one.add(first, 1);
      one.add(second, 1);
      builder.add_constraint(one, -lp::kInfinity, 1, "");
      if (worth_of_first > 0) worth.add(first, worth_of_first);
      worth.add(second, 300);
      firsts.add(first, 5);
    }
    for (const auto& [kind, expression, divisor] :
         {std::tuple(LevelKind::kShare, worth, 100), std::tuple(LevelKind::kEvicted, firsts, 5)}) {
      const lp::ScaledRow row = builder.add_scaled_row(expression, "");
      levels.push_back({{kind, 0}, expression, is_maximised(kind) ? 1 : -1, divisor, row.row, row.scale});
    }
    model = builder.build({}, 1);
  }
  Incumbent incumbent(const std::vector<double>& x) const {
    Incumbent result(model, levels, {std::int64_t{1'000'000}, std::int64_t{0}});
    EXPECT_TRUE(result.begin(x));
    return result;
  }
  // The first columns of so many pairs are 1.
  std::vector<double> firsts(std::size_t pairs) const {
    std::vector<double> x(model.objective.size(), 0.0);
    for (std::size_t pair = 0; pair < pairs; ++pair) x[2 * pair] = 1;
    return x;
  }

  std::vector<ModelLevel> levels;
  lp::Milp model;
};

Neighbourhood columns(const Pairs& pairs, const std::vector<std::size_t>& free) {
  Neighbourhood part{std::vector<bool>(pairs.model.objective.size(), false), {}};
  for (const std::size_t column : free) part.is_free[column] = true;
  return part;
}

TEST(ChoiceIncumbent, TakesWhatIsBetterInTheFirstLevelThatDiffers) {
  const Pairs pairs(3);
  Incumbent incumbent = pairs.incumbent(pairs.firsts(2));
  EXPECT_EQ(incumbent.values(), (Incumbent::Values{400, 10}));
  EXPECT_FALSE(incumbent.offer(pairs.firsts(2), 1)) << "the same";
  EXPECT_FALSE(incumbent.offer({0, 0, 0, 0, 0, 1}, 1)) << "fewer evictions, and a smaller share";
  EXPECT_FALSE(incumbent.offer({1, 1, 0, 0, 0, 0}, 1)) << "not feasible";
  EXPECT_TRUE(incumbent.offer({0, 1, 1, 0, 0, 0}, 0));
  EXPECT_EQ(incumbent.values(), (Incumbent::Values{500, 5}));
  EXPECT_EQ(incumbent.raised(), 1);
  ASSERT_EQ(incumbent.improvements().size(), 1);
  EXPECT_EQ(incumbent.improvements()[0].value, 500);
}

TEST(ChoiceIncumbent, ABoundHoldsAsLongAsTheLevelsBeforeAreNoWorse) {
  const Pairs pairs(3);
  Incumbent incumbent = pairs.incumbent(pairs.firsts(3));
  incumbent.tighten(1, -2, incumbent.values());  // with a share of 600 at least two fives
  EXPECT_EQ(incumbent.bound(1), 10);
  ASSERT_TRUE(incumbent.offer({0, 1, 1, 0, 1, 0}, 0));  // 700
  EXPECT_EQ(incumbent.bound(1), 10) << "what holds with 600 holds with 700";
  incumbent.tighten(1, -2, {800, 0});
  EXPECT_EQ(incumbent.bound(1), 10);
  incumbent.tighten(1, -1, incumbent.values());
  EXPECT_EQ(incumbent.bound(1), 10) << "a weaker one";
  EXPECT_TRUE(incumbent.is_proven(1));
  EXPECT_EQ(incumbent.first_open(), 0);
  incumbent.tighten(0, 7, incumbent.values());
  EXPECT_EQ(incumbent.first_open(), incumbent.levels().size());
}

TEST(ChoiceSubModel, AsksForAUnitMoreWithTheOthersHeld) {
  const Pairs pairs(3);
  const Incumbent incumbent = pairs.incumbent(pairs.firsts(2));
  const SubModel part = sub_model(incumbent, columns(pairs, {2, 3}), 0, Aim::kBetter);
  EXPECT_EQ(part.columns, (std::vector<std::int32_t>{2, 3}));
  EXPECT_FALSE(part.is_whole);
  EXPECT_EQ(part.milp.rows(), 2) << "the pair's, and that of the level";
  EXPECT_EQ(part.milp.objective, (std::vector<double>{2, 3}));
  EXPECT_TRUE(lp::is_feasible(part.milp, {0, 1}, 1e-6));
  EXPECT_FALSE(lp::is_feasible(part.milp, {1, 0}, 1e-6)) << "no better than before";
  EXPECT_EQ(part.whole(incumbent.x(), {0, 1}), (std::vector<double>{1, 0, 0, 1, 0, 0}));
  const SubModel later = sub_model(incumbent, columns(pairs, {2, 3}), 1, Aim::kBetter);
  EXPECT_FALSE(lp::is_feasible(later.milp, {0, 0}, 1e-6)) << "the share would be less";
  EXPECT_TRUE(lp::is_feasible(later.milp, {0, 1}, 1e-6));
}

TEST(ChoiceSubModel, KeepsTheIncumbentWhereItAsksForTheBest) {
  const Pairs pairs(2);
  const Incumbent incumbent = pairs.incumbent(pairs.firsts(1));
  Neighbourhood all{std::vector<bool>(4, true), {}};
  const SubModel whole = sub_model(incumbent, all, 0, Aim::kBest);
  EXPECT_TRUE(whole.is_whole);
  EXPECT_TRUE(lp::is_feasible(whole.milp, incumbent.x(), 1e-6));
  all.set.emplace_back(0, 0);
  const SubModel set = sub_model(incumbent, all, 0, Aim::kBest);
  EXPECT_FALSE(set.is_whole);
  EXPECT_EQ(set.milp.upper[0], 0);
}

TEST(ChoiceSubModel, PermitsAllThatColumnsWhichAreLeftOutCouldDo) {
  const Pairs pairs(2);
  const Incumbent incumbent = pairs.incumbent(pairs.firsts(1));
  Neighbourhood part{std::vector<bool>{false, true, true, true}, {}, {true, false, false, false}};
  const SubModel relaxed = sub_model(incumbent, part, 0, Aim::kBest);
  EXPECT_FALSE(relaxed.is_whole);
  EXPECT_EQ(relaxed.columns, (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_TRUE(lp::is_feasible(relaxed.milp, {1, 0, 0}, 1e-6)) << "though the incumbent has the first of the pair";
  EXPECT_FALSE(lp::is_feasible(relaxed.milp, {1, 1, 1}, 1e-6)) << "the other pair's row holds";
  EXPECT_EQ(relaxed.part_of({0, 1, 0, 1}), (std::vector<double>{1, 0, 1}));
  part.is_left_out.clear();
  EXPECT_FALSE(lp::is_feasible(sub_model(incumbent, part, 0, Aim::kBest).milp, {1, 0, 0}, 1e-6));
}

TEST(ChoiceSubModel, HoldsAnEarlierLevelBetweenItsValueAndItsBound) {
  const Pairs pairs(3);
  Incumbent incumbent = pairs.incumbent(pairs.firsts(2));
  const auto is_feasible = [&](const std::vector<double>& x) {
    const SubModel later = sub_model(incumbent, columns(pairs, {2, 3, 4, 5}), 1, Aim::kBest);
    return lp::is_feasible(later.milp, x, 1e-6);
  };
  EXPECT_TRUE(is_feasible({0, 1, 0, 0}));
  incumbent.tighten(0, 4, incumbent.values());
  EXPECT_FALSE(is_feasible({0, 1, 0, 0})) << "the bound says that this does not exist";
  EXPECT_TRUE(is_feasible({1, 0, 0, 0}));
}

TEST(ChoiceSubModel, HoldsALevelThatHasMoreThanABoundOfPlans) {
  const Pairs pairs(3);
  Incumbent incumbent(pairs.model, pairs.levels, {std::int64_t{300}, std::int64_t{0}});
  ASSERT_TRUE(incumbent.begin(pairs.firsts(2)));
  const SubModel later = sub_model(incumbent, columns(pairs, {2, 3}), 1, Aim::kBest);
  EXPECT_TRUE(lp::is_feasible(later.milp, {1, 0}, 1e-6));
  EXPECT_FALSE(lp::is_feasible(later.milp, {0, 0}, 1e-6));
}

// By default a cluster without gangs: all columns follow from others, so that every part is the whole.
struct Search {
  explicit Search(const Pairs& pairs, const std::vector<double>& x) : Search(pairs, x, test::nodes_with({{"m", 1}})) {}
  // Of two gangs, the low one has the first columns and the high one the second ones.
  Search(const Pairs& pairs, const std::vector<double>& x, const test::Cluster& cluster)
      : incumbent(pairs.incumbent(x)),
        scene(cluster),
        neighbourhoods(*scene.cluster, scene.restricted.demand, scene.restricted.zones, channels, owners(pairs)),
        picker(neighbourhoods),
        parts({incumbent, neighbourhoods, picker, static_cast<std::int32_t>(pairs.model.objective.size()),
               cbc::SearchWay::kDefault, deadline, defects},
              1),
        bounds(incumbent, neighbourhoods, deadline, defects) {}

  std::vector<formulation::ColumnOwner> owners(const Pairs& pairs) const {
    std::vector<formulation::ColumnOwner> owners(pairs.model.objective.size());
    const auto& gangs = scene.restricted.demand.gang_classes;
    for (const formulation::GangClassIndex gang : gangs.indices())
      for (std::size_t j = gangs[gang].priority > 1 ? 1 : 0; j < owners.size(); j += 2) owners[j].gang = gang;
    return owners;
  }

  Deadline deadline{Deadline::Clock::now() + std::chrono::seconds(60), false};
  std::vector<std::string> defects;
  std::vector<formulation::EvictionChannel> channels;
  Incumbent incumbent;
  test::MasterCase scene;
  Neighbourhoods neighbourhoods;
  NeighbourhoodPicker picker;
  PartSearch parts;
  BoundSearch bounds;
};

void expect_optimal(const Search& search, std::int64_t pairs) {
  EXPECT_TRUE(search.bounds.is_settled());
  EXPECT_EQ(search.incumbent.values(), (Incumbent::Values{300 * pairs, 0}));
  for (std::size_t level = 0; level < 2; ++level) EXPECT_TRUE(search.incumbent.is_proven(level));
  EXPECT_TRUE(search.defects.empty());
}

TEST(ChoiceImprovement, ProvesTheOptimumOfAllLevelsWithTwoWorkers) {
  const Pairs pairs(100);
  Search search(pairs, pairs.firsts(30));
  PartSearch others(
      {search.incumbent, search.neighbourhoods, search.picker, static_cast<std::int32_t>(pairs.model.objective.size()),
       cbc::SearchWay::kDefault, search.deadline, search.defects},
      2);
  TakeTurns turns(search.bounds, others);
  cbc::Backend backend(test::program());
  backend.race(turns, search.parts, search.deadline.end());
  expect_optimal(search, 100);
}

TEST(ChoiceImprovement, PartsAloneProveThatNothingIsBetterOnceTheyAreTheWhole) {
  const Pairs pairs(50);
  Search search(pairs, pairs.firsts(50));
  cbc::Backend backend(test::program());
  for (const cbc::Question* question = search.parts.next(); question != nullptr; question = search.parts.next())
    search.parts.hear(backend.solve(question->milp, question->request));
  expect_optimal(search, 50);
}

TEST(ChoiceImprovement, BoundsAloneFindTheOptimum) {
  const Pairs pairs(50);
  Search search(pairs, pairs.firsts(10));
  cbc::Backend backend(test::program());
  for (const cbc::Question* question = search.bounds.next(); question != nullptr; question = search.bounds.next())
    search.bounds.hear(backend.solve(question->milp, question->request));
  expect_optimal(search, 50);
}

TEST(ChoiceImprovement, BoundsALevelWithoutGangsOfLowerPriorityAndCompletesWhatItHas) {
  Pairs pairs(20, 0);
  pairs.levels[0].id.priority = 9;
  Search search(pairs, pairs.firsts(10),
                test::nodes_with({{"m", 2}}).pod("low", 1, R"("priority":1)").pod("high", 1, R"("priority":9)"));
  cbc::Backend backend(test::program());
  const auto answered = [&] {
    const cbc::Question* question = search.bounds.next();
    const auto columns = static_cast<std::size_t>(question->milp.columns());
    search.bounds.hear(backend.solve(question->milp, question->request));
    return columns;
  };
  EXPECT_EQ(answered(), 20) << "those of the high gang";
  EXPECT_EQ(search.incumbent.bound(0), 6000);
  EXPECT_EQ(search.incumbent.value(0), 0) << "it is no solution yet";
  EXPECT_EQ(answered(), 40) << "the low gang gives way";
  EXPECT_TRUE(search.incumbent.is_proven(0));
}

TEST(ChoiceImprovement, ABoundOfALevelIsStaleOnceThoseBeforeItAreBetter) {
  const Pairs pairs(3);
  Search search(pairs, pairs.firsts(3));
  ASSERT_NE(search.bounds.next(), nullptr);
  EXPECT_FALSE(search.bounds.is_stale());
  search.bounds.hear_bound(9);
  EXPECT_EQ(search.incumbent.bound(0), 900);
  search.incumbent.tighten(0, 6, search.incumbent.values());
  EXPECT_TRUE(search.bounds.is_stale()) << "the level is proven";
}

TEST(ChoiceImprovement, ANewerSolutionTakesThePlaceOfTheIncumbent) {
  const Pairs pairs(4);
  Search search(pairs, pairs.firsts(1));
  lp::Milp newer = pairs.model;
  newer.lower = newer.upper = pairs.firsts(3);
  search.parts.restart_with([&]() -> std::optional<lp::Milp> {
    if (newer.objective.empty()) return std::nullopt;
    return std::exchange(newer, {});
  });
  cbc::Backend backend(test::program());
  const cbc::Question* question = search.parts.next();
  ASSERT_NE(question, nullptr);
  search.parts.hear(backend.solve(question->milp, question->request));
  EXPECT_EQ(search.incumbent.value(0), 600);
}

TEST(NeighbourhoodPicker, PartsGrowWhenTheyAreSolvedInTimeAndShrinkWhenTheyAreStoppedInVain) {
  // Waiting gangs enough that the first size is not everything.
  test::Cluster cluster = test::nodes_with({{"m", 8}});
  for (int i = 0; i < 3; ++i) cluster.pod("w" + std::to_string(i), 1 + i);
  const test::MasterCase scene(cluster);
  std::vector<formulation::ColumnOwner> owners(1000);
  for (formulation::ColumnOwner& owner : owners) owner.gang = formulation::GangClassIndex(0);
  const std::vector<formulation::EvictionChannel> channels;
  const Neighbourhoods all(*scene.cluster, scene.restricted.demand, scene.restricted.zones, channels, owners);
  std::mt19937_64 random(1);
  NeighbourhoodPicker picker(all);
  const auto size_of = [&](NeighbourhoodKind kind) {
    for (;;)
      if (const NeighbourhoodPicker::Pick pick = picker.next(random); pick.kind == kind) return pick.size;
  };
  const std::size_t first = size_of(NeighbourhoodKind::kQueues);
  picker.hear(NeighbourhoodKind::kQueues, false, true, 0.5);
  EXPECT_EQ(size_of(NeighbourhoodKind::kQueues), 2 * first);
  picker.hear(NeighbourhoodKind::kQueues, true, false, 4);
  EXPECT_EQ(size_of(NeighbourhoodKind::kQueues), 2 * first) << "stopped with a gain";
  picker.hear(NeighbourhoodKind::kQueues, false, false, 4);
  EXPECT_LT(size_of(NeighbourhoodKind::kQueues), 2 * first);
  for (int i = 0; i < 10; ++i) picker.hear(NeighbourhoodKind::kQueues, false, true, 0.5);
  EXPECT_EQ(size_of(NeighbourhoodKind::kQueues), owners.size()) << "everything, at most";
}

}  // namespace
}  // namespace muster::choice
