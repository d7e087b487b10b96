#include "solver/portfolio/search_turns.h"

#include <vector>

#include <gtest/gtest.h>

namespace muster::portfolio {
namespace {

using local_search::SearchAim;

TEST(SearchTurns, GoOnWithTheAimThatFindsAndThenTakeTheOthers) {
  const std::vector<SearchAim> all{SearchAim::kMoves, SearchAim::kLevels, SearchAim::kRoom};
  SearchTurns turns;
  EXPECT_EQ(turns.next(all), SearchAim::kMoves);
  turns.note(SearchAim::kMoves, true);
  EXPECT_EQ(turns.next(all), SearchAim::kMoves);
  turns.note(SearchAim::kMoves, false);
  EXPECT_EQ(turns.next(all), SearchAim::kLevels);
  turns.note(SearchAim::kLevels, false);
  turns.note(SearchAim::kRoom, false);
  EXPECT_EQ(turns.next(all), SearchAim::kMoves) << "all were in vain once";
  EXPECT_EQ(turns.number(), 4U);
}

const std::vector<LevelId> kIds{
    {LevelKind::kShare, 0}, {LevelKind::kWork, 0}, {LevelKind::kMoved, 0}, {LevelKind::kGangNodes, 0}};

Offer offer_of(std::vector<std::int64_t> values, LevelBounds bounds) {
  Offer offer;
  offer.candidate.levels.values = std::move(values);
  offer.bounds = std::move(bounds);
  return offer;
}

TEST(PossibleAims, AreThoseWhoseLevelsAreNotProven) {
  const std::vector<SearchAim> all{SearchAim::kLevels, SearchAim::kMoves, SearchAim::kRoom};
  EXPECT_EQ(possible_aims(offer_of({5, 7, 3, 9}, {5, 8, 0}), kIds, true), all);
  EXPECT_EQ(possible_aims(offer_of({5, 7, 3, 9}, {5, 7, 0}), kIds, true),
            (std::vector{SearchAim::kLevels, SearchAim::kMoves}));
  EXPECT_EQ(possible_aims(offer_of({5, 7, 3, 9}, {5, 7, 3}), kIds, true), (std::vector{SearchAim::kLevels}));
  EXPECT_EQ(possible_aims(offer_of({5, 7, 3, 9}, {}), kIds, false),
            (std::vector{SearchAim::kLevels, SearchAim::kRoom}));
}

TEST(PossibleAims, BeginWithMovesIfThePlanHasSome) {
  Offer offer = offer_of({5, 7, 3, 9}, {5, 7, 0});
  offer.candidate.plan.evictions.push_back({PodIndex(0), EvictionReason::kConsolidate, GangIndex(0)});
  EXPECT_EQ(possible_aims(offer, kIds, true), (std::vector{SearchAim::kMoves, SearchAim::kLevels}));
}

TEST(Offers, AreWithinAGapOfTheFirstBoundThatTheyMiss) {
  const auto is_within = [](LevelBounds bounds, double gap) {
    return is_within_gap(offer_of({500, 990'000, 3, 9}, std::move(bounds)), kIds, gap, PlacementPolicy{});
  };
  EXPECT_TRUE(is_within({500, 990'000, 3, 9}, 0));
  EXPECT_TRUE(is_within({500, 1'000'000, 3, 9}, 0.02));
  EXPECT_FALSE(is_within({500, 1'000'000, 3, 9}, 0.005));
  EXPECT_FALSE(is_within({500, 990'000, 3}, 0.5)) << "the last one has no bound";
}

TEST(Offers, LoseBoundsThatTheyExceed) {
  Offer offer = offer_of({5, 7, 3, 9}, {5, 6, 4, 8});
  const std::vector<std::string> defects = drop_refuted_bounds(offer, kIds);
  EXPECT_EQ(defects.size(), 2U) << "more work than 6, and less moved than 4";
  EXPECT_EQ(offer.bounds, (LevelBounds{5, {}, {}, 8}));
}

}  // namespace
}  // namespace muster::portfolio
