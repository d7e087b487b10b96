#include <gtest/gtest.h>

#include "heuristics/greedy/pass_admission.h"

namespace muster::greedy {
namespace {

GangEntry of_shape(std::int32_t shape) {
  GangEntry entry;
  entry.shape = shape;
  return entry;
}

TEST(KnownFailures, HoldForAllGangsOfAShape) {
  KnownFailures failures(2);
  GangEntry first = of_shape(1);
  failures.note_no_room(first);
  failures.note_failed_claim(first);
  failures.note_beyond(first);
  EXPECT_TRUE(failures.found_no_room(of_shape(1)));
  EXPECT_TRUE(failures.has_claim_failed(of_shape(1)));
  EXPECT_TRUE(failures.is_beyond(of_shape(1)));
  EXPECT_FALSE(failures.found_no_room(of_shape(0)));
}

TEST(KnownFailures, OfAGangWithoutAShapeAreItsOwn) {
  KnownFailures failures(0);
  GangEntry first = of_shape(-1);
  failures.note_no_room(first);
  failures.note_failed_claim(first);
  EXPECT_TRUE(failures.found_no_room(first));
  EXPECT_FALSE(failures.found_no_room(of_shape(-1)));
  EXPECT_FALSE(failures.has_claim_failed(first)) << "a claim for it is tried again";
}

TEST(KnownFailures, AreForgottenOnceRoomWasMade) {
  KnownFailures failures(1);
  GangEntry with = of_shape(0), without = of_shape(-1);
  failures.note_no_room(with);
  failures.note_no_room(without);
  failures.note_failed_claim(with);
  EXPECT_FALSE(failures.any_claim());
  failures.note_claim();
  EXPECT_TRUE(failures.any_claim());
  EXPECT_FALSE(failures.found_no_room(with));
  EXPECT_FALSE(failures.found_no_room(without));
  EXPECT_FALSE(failures.has_claim_failed(with));
}

TEST(KnownFailures, BeyondTheSharesEndWithThePassAndNotWithAClaim) {
  KnownFailures failures(1);
  failures.note_beyond(of_shape(0));
  failures.note_claim();
  EXPECT_TRUE(failures.is_beyond(of_shape(0)));
  failures.begin_pass();
  EXPECT_FALSE(failures.is_beyond(of_shape(0)));
}

}  // namespace
}  // namespace muster::greedy
