// The time of an imported snapshot.
#include <gtest/gtest.h>

#include "io/kubernetes/object/instants.h"

namespace muster::kubernetes {
namespace {

constexpr std::string_view kLatest = "1970-01-01T00:01:00Z";
constexpr Nanoseconds kMinute = 60 * kNanosecondsPerSecond;

TEST(ImportTime, IsTheLatestOneOfTheObjects) { EXPECT_EQ(import_time({}, {}, kLatest), kMinute); }

TEST(ImportTime, IsTheOneThatIsGiven) { EXPECT_EQ(import_time(2 * kMinute, 3 * kMinute, kLatest), 2 * kMinute); }

TEST(ImportTime, IsNotBeforeTheLeastOne) {
  EXPECT_EQ(import_time({}, 2 * kMinute, kLatest), 2 * kMinute);
  EXPECT_EQ(import_time({}, kMinute / 2, kLatest), kMinute);
  EXPECT_EQ(import_time({}, kMinute / 2, ""), kMinute / 2);
}

TEST(ImportTime, IsUnknownWithoutAny) { EXPECT_EQ(import_time({}, {}, ""), 0); }

}  // namespace
}  // namespace muster::kubernetes
