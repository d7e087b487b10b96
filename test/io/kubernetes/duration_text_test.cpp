// Durations in annotations.
#include <limits>

#include <gtest/gtest.h>

#include "io/kubernetes/object/instants.h"

namespace muster::kubernetes {
namespace {

constexpr Nanoseconds kSecond = kNanosecondsPerSecond, kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;

TEST(WrittenDuration, IsANumberOfSeconds) {
  EXPECT_EQ(parse_written_duration("5400"), 90 * kMinute);
  EXPECT_EQ(parse_written_duration("0.5"), kSecond / 2);
  EXPECT_EQ(parse_written_duration("0"), 0);
}

TEST(WrittenDuration, IsADurationOfGo) {
  EXPECT_EQ(parse_written_duration("1h30m"), 90 * kMinute);
  EXPECT_EQ(parse_written_duration("1.5h"), 90 * kMinute);
  EXPECT_EQ(parse_written_duration("100ms"), kSecond / 10);
}

TEST(WrittenDuration, IsATimeLimitOfSlurm) {
  EXPECT_EQ(parse_written_duration("90:00"), 90 * kMinute);
  EXPECT_EQ(parse_written_duration("00:30"), 30 * kSecond);
  EXPECT_EQ(parse_written_duration("01:30:05"), 90 * kMinute + 5 * kSecond);
  EXPECT_EQ(parse_written_duration("48:00:00"), 2 * kDay);
  EXPECT_EQ(parse_written_duration("2-12"), 2 * kDay + 12 * kHour);
  EXPECT_EQ(parse_written_duration("2-12:30"), 2 * kDay + 12 * kHour + 30 * kMinute);
  EXPECT_EQ(parse_written_duration("2-12:30:15"), 2 * kDay + 12 * kHour + 30 * kMinute + 15 * kSecond);
}

TEST(WrittenDuration, IsNothingElse) {
  for (const char* text : {"",
                           " ",
                           "soon",
                           "-5",
                           "1h-30m",
                           "1 h",
                           "5 ",
                           "1,5",
                           ".",
                           "1..5",
                           "5x",
                           ":",
                           "1:",
                           ":30",
                           "1:60",
                           "1:00:60",
                           "1:60:00",
                           "1:2:3:4",
                           "1-",
                           "-1:00",
                           "1-24:00",
                           "1-2-3",
                           "1-a",
                           "1-2:3:4:5",
                           "+1:00",
                           "UNLIMITED",
                           "1e3",
                           "0x10",
                           "9223372037",
                           "1e",
                           "106752-00",
                           "2562048:00:00",
                           "1000000000:00",
                           "99999999999999999999"}) {
    EXPECT_FALSE(parse_written_duration(text)) << text;
  }
}

TEST(WholeSeconds, AreMoreThanNoneAndFit) {
  EXPECT_EQ(duration_of_whole_seconds(1), kSecond);
  EXPECT_EQ(duration_of_whole_seconds(9'223'372'036), 9'223'372'036 * kSecond);
  EXPECT_FALSE(duration_of_whole_seconds(9'223'372'037));
  EXPECT_FALSE(duration_of_whole_seconds(0));
  EXPECT_FALSE(duration_of_whole_seconds(-1));
  EXPECT_FALSE(duration_of_whole_seconds(std::numeric_limits<std::int64_t>::max()));
}

}  // namespace
}  // namespace muster::kubernetes
