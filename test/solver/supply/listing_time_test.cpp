#include "solver/supply/listing_time.h"

#include <gtest/gtest.h>

namespace muster::formulation {
namespace {

using std::chrono::milliseconds;

TEST(ListingTime, ALongerBudgetGivesTheWayWithoutTheListAllThatAShorterOneGivesIt) {
  for (const std::size_t states : {3'000U, 10'500U, 19'000U, 150'000U}) {
    for (int shorter = 5; shorter <= 2'000; shorter += 5) {
      if (most_states_in(milliseconds(shorter)) >= states) break;  // it lists, too
      for (const int longer : {shorter + 1, 2 * shorter, 10 * shorter}) {
        if (most_states_in(milliseconds(longer)) < states) continue;
        EXPECT_GE(time_without_list(states, milliseconds(longer)), milliseconds(shorter)) << states;
      }
    }
  }
}

TEST(ListingTime, IsNoMoreThanThereIs) { EXPECT_EQ(time_without_list(50'000, milliseconds(30)), milliseconds(30)); }

TEST(ListingTime, AShortListNeedsNoOtherWay) { EXPECT_EQ(time_without_list(100, milliseconds(30)).count(), 0); }

}  // namespace
}  // namespace muster::formulation
