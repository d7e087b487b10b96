#include "solver/lp/fillings.h"

#include <gtest/gtest.h>

namespace muster::lp {
namespace {

using Fillings = std::vector<Filling>;

TEST(MaximalFillings, AreTheMultisetsToWhichNothingCanBeAdded) {
  std::size_t tries = 1000;
  const std::vector<Sharers> shares{{500, 3}, {250, 10}};
  EXPECT_EQ(maximal_fillings(1000, shares, tries), (Fillings{{2, 0}, {1, 2}, {0, 4}}));
  EXPECT_EQ(maximal_fillings(300, shares, tries), (Fillings{{0, 1}}));
}

TEST(MaximalFillings, HoldNoMoreThanTheStock) {
  std::size_t tries = 1000;
  EXPECT_EQ(maximal_fillings(1000, {{500, 1}, {250, 1}}, tries), (Fillings{{1, 1}}));
}

TEST(MaximalFillings, AreTheEmptyOneWhereNothingFits) {
  std::size_t tries = 1000;
  const auto found = maximal_fillings(200, {{500, 1}, {250, 1}}, tries);
  ASSERT_EQ(found, (Fillings{{0, 0}}));
  EXPECT_TRUE(is_empty(found->front()));
}

TEST(MaximalFillings, OfPodsWithEqualSharesStandByThemselves) {
  std::size_t tries = 1000;
  EXPECT_EQ(maximal_fillings(500, {{500, 1}, {500, 1}}, tries), (Fillings{{1, 0}, {0, 1}}));
}

TEST(MaximalFillings, AreNoneWhereTheTriesDoNotSuffice) {
  std::size_t tries = 50;
  EXPECT_FALSE(maximal_fillings(1000, {{13, 100}, {12, 100}, {11, 100}, {10, 100}}, tries));
  EXPECT_EQ(tries, 0U);
}

}  // namespace
}  // namespace muster::lp
