// The time of an imported snapshot.
#include <string>

#include <gtest/gtest.h>

#include "io/kubernetes/object/instants.h"

namespace muster::kubernetes {
namespace {

constexpr std::string_view kLatest = "1970-01-01T00:01:00Z";
constexpr Nanoseconds kMinute = 60 * kNanosecondsPerSecond;

std::string instant_text(const ImportInstant& instant) {
  std::string text;
  json::JsonWriter writer(text);
  instant.write(writer);
  return text;
}

TEST(ImportInstant, IsTheLatestOneOfTheObjectsAsTheyWriteIt) {
  const ImportInstant instant({}, {}, kLatest);
  EXPECT_EQ(instant.value(), kMinute);
  EXPECT_EQ(instant_text(instant), R"(,"time":"1970-01-01T00:01:00Z")");
}

TEST(ImportInstant, IsTheOneThatIsGiven) {
  const ImportInstant instant(2 * kNanosecondsPerSecond, {}, kLatest);
  EXPECT_EQ(instant.value(), 2 * kNanosecondsPerSecond);
  EXPECT_EQ(instant_text(instant), R"(,"time":2)");
}

TEST(ImportInstant, IsNotBeforeTheLeastOne) {
  EXPECT_EQ(instant_text(ImportInstant({}, 2 * kMinute, kLatest)), R"(,"time":120)");
  EXPECT_EQ(instant_text(ImportInstant({}, kMinute / 2, kLatest)), R"(,"time":"1970-01-01T00:01:00Z")");
  EXPECT_EQ(instant_text(ImportInstant({}, kMinute / 2, "")), R"(,"time":30)");
}

TEST(ImportInstant, IsUnknownWithoutAny) {
  const ImportInstant instant({}, {}, "");
  EXPECT_EQ(instant.value(), 0);
  EXPECT_EQ(instant_text(instant), "");
}

}  // namespace
}  // namespace muster::kubernetes
