// Quantities, durations and instants: what text means in whole units, and what is no such text.
#include "model/snapshot/quantity.h"

#include <limits>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace muster::kubernetes {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> count(std::string_view text, QuantityUnit unit, Rounding rounding) {
  const auto quantity = parse_quantity(text);
  if (!quantity) return std::nullopt;
  const auto units = count_units(*quantity, unit, rounding);
  return units ? std::optional(*units) : std::nullopt;
}

struct Case {
  const char* text;
  QuantityUnit unit;
  std::int64_t down, up;
};

TEST(Quantity, IsCountedInWholeUnitsRoundedEitherWay) {
  constexpr auto kOne = QuantityUnit::kOne;
  constexpr auto kMilli = QuantityUnit::kThousandth;
  constexpr auto kMicro = QuantityUnit::kMillionth;
  constexpr auto kNano = QuantityUnit::kBillionth;
  constexpr auto kMebi = QuantityUnit::kMebi;
  const Case cases[] = {
      {"0", kOne, 0, 0},
      {"-0", kOne, 0, 0},
      {"-0.0Gi", kOne, 0, 0},
      {"+5", kOne, 5, 5},
      {"007", kOne, 7, 7},
      {"5.", kOne, 5, 5},
      {".5", kOne, 0, 1},
      {"500m", kMilli, 500, 500},
      {"500m", kOne, 0, 1},
      {"1500m", kOne, 1, 2},
      {"0.1", kMilli, 100, 100},
      {"0.0001", kMilli, 0, 1},
      {"1n", kMilli, 0, 1},
      {"1n", kNano, 1, 1},
      {"1u", kMicro, 1, 1},
      {"999999999n", kOne, 0, 1},
      {"1000000000n", kOne, 1, 1},
      {"3k", kOne, 3'000, 3'000},
      {"3M", kOne, 3'000'000, 3'000'000},
      {"3G", kOne, 3'000'000'000, 3'000'000'000},
      {"3T", kOne, 3'000'000'000'000, 3'000'000'000'000},
      {"3P", kOne, 3'000'000'000'000'000, 3'000'000'000'000'000},
      {"1E", kOne, 1'000'000'000'000'000'000, 1'000'000'000'000'000'000},
      {"1e3", kOne, 1'000, 1'000},
      {"1E3", kOne, 1'000, 1'000},
      {"12e-1", kOne, 1, 2},
      {"1.2E+1", kOne, 12, 12},
      {"1e-400", kOne, 0, 1},
      {"0e400", kOne, 0, 0},
      {"1Ki", kOne, 1'024, 1'024},
      {"1.5Ki", kOne, 1'536, 1'536},
      {"0.1Ki", kOne, 102, 103},
      {"16Gi", kOne, 17'179'869'184, 17'179'869'184},
      {"1Ti", kOne, 1'099'511'627'776, 1'099'511'627'776},
      {"1Pi", kOne, 1'125'899'906'842'624, 1'125'899'906'842'624},
      {"7Ei", kOne, 8'070'450'532'247'928'832, 8'070'450'532'247'928'832},
      {"0.3Gi", kOne, 322'122'547, 322'122'548},
      {"80Gi", kMebi, 81'920, 81'920},
      {"4000Mi", kMebi, 4'000, 4'000},
      {"1", kMebi, 0, 1},
      {"1048575", kMebi, 0, 1},
      {"1048577", kMebi, 1, 2},
      {"80G", kMebi, 76'293, 76'294},
      {"0.143", kMicro, 143'000, 143'000},
      {"0.3333333333", kMicro, 333'333, 333'334},
      {"9223372036854775807", kOne, kMost, kMost},
      {"9223372036854775.807", kMilli, kMost, kMost},
      {"0.00000000000000000000000000000000000000000000000001Ei", kOne, 0, 1},
      {"0.012345678901234567890123456789012345Ei", kOne, 14'233'598'694'204'363, 14'233'598'694'204'364},
      {"1000000000000000000000000000000000000000e-36", kOne, 1'000, 1'000},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(count(c.text, c.unit, Rounding::kDown), c.down) << c.text;
    EXPECT_EQ(count(c.text, c.unit, Rounding::kUp), c.up) << c.text;
    EXPECT_EQ(count(c.text, c.unit, Rounding::kRefuse), c.down == c.up ? std::optional(c.down) : std::nullopt)
        << c.text;
  }
}

TEST(Quantity, RefusesWhatIsNoQuantity) {
  for (const char* text : {"",    " ",    "1 ",   " 1",    "m",     ".",
                           "-",   "+",    "1K",   "1ki",   "1gi",   "1GI",
                           "1mi", "1e",   "1E+",  "1e1.5", "1e5m",  "1.2.3",
                           "--1", "+-1",  "1,5",  "0x10",  "1_000", "Inf",
                           "NaN", "1Gi ", "1GiB", "1b",    "1µ",    "1234567890123456789012345678901234567"}) {
    EXPECT_FALSE(parse_quantity(text)) << text;
  }
}

TEST(Quantity, RefusesNegativeOnes) {
  for (const char* text : {"-1", "-1n", "-0.5Gi", "-1e-300"})
    EXPECT_EQ(count(text, QuantityUnit::kOne, Rounding::kDown), std::nullopt);
}

TEST(Quantity, RefusesWhatOverflows) {
  for (const char* text : {"9223372036854775808", "8Ei", "10E", "1e19", "1e99999999999", "9223372036854775807.5"}) {
    EXPECT_EQ(count(text, QuantityUnit::kOne, Rounding::kUp), std::nullopt) << text;
  }
  EXPECT_EQ(count("9223372036854775808m", QuantityUnit::kThousandth, Rounding::kUp), std::nullopt);
  EXPECT_EQ(count("9223372036854775807.5", QuantityUnit::kOne, Rounding::kDown), kMost);
}

TEST(Quantity, OfANumberTokenIsItsDecimalNotItsDouble) {
  // The nearest double to 0.1 is above it; a sum in doubles would be rounded up to 101.
  const auto tenth = parse_number("0.1000");
  ASSERT_TRUE(tenth);
  EXPECT_EQ(*count_units(*tenth, QuantityUnit::kThousandth, Rounding::kUp), 100);
  const auto above = parse_number("0.10000000000000000001");
  ASSERT_TRUE(above);
  EXPECT_EQ(*count_units(*above, QuantityUnit::kThousandth, Rounding::kUp), 101);
  EXPECT_FALSE(parse_number("1m"));
  EXPECT_FALSE(parse_number("1Gi"));
}

TEST(Quantity, OfIntegersKeepsTheSign) {
  EXPECT_TRUE(quantity_of(std::numeric_limits<std::int64_t>::min()).negative);
  EXPECT_TRUE(quantity_of(std::numeric_limits<std::int64_t>::min()).mantissa ==
              static_cast<unsigned __int128>(kMost) + 1);
  EXPECT_FALSE(quantity_of(std::int64_t{0}).negative);
}

std::optional<Nanoseconds> duration(std::string_view text) {
  const auto parsed = parse_duration(text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

TEST(Duration, IsASumOfNumbersWithUnits) {
  constexpr Nanoseconds kSecond = kNanosecondsPerSecond;
  EXPECT_EQ(duration("90s"), 90 * kSecond);
  EXPECT_EQ(duration("5m"), 300 * kSecond);
  EXPECT_EQ(duration("1h30m"), 5'400 * kSecond);
  EXPECT_EQ(duration("1.5h"), 5'400 * kSecond);
  EXPECT_EQ(duration("100ms"), kSecond / 10);
  EXPECT_EQ(duration("1h0m0.5s"), 3'600 * kSecond + kSecond / 2);
  EXPECT_EQ(duration("2us3ns"), 2'003);
  EXPECT_EQ(duration("2µs"), 2'000);
  EXPECT_EQ(duration("2μs"), 2'000);
  EXPECT_EQ(duration("0.9ns"), 0);
  EXPECT_EQ(duration("0"), 0);
  EXPECT_EQ(duration("9223372036s"), 9'223'372'036 * kSecond);
}

TEST(Duration, RefusesWhatIsNone) {
  for (const char* text : {"", "90", "s", "1d", "1w", "-1s", "+1s", "1 s", "1s ", "1h-1m", "1.2.3s", "never", "5M",
                           "1S", "9223372037s", "9999999999h", "1e3s", "2562047h9999999m"}) {
    EXPECT_EQ(duration(text), std::nullopt) << text;
  }
}

TEST(Duration, OfSecondsDropsPartsOfNanoseconds) {
  EXPECT_EQ(*duration_of_seconds(*parse_number("1.5")), 1'500'000'000);
  EXPECT_EQ(*duration_of_seconds(*parse_number("0.0000000019")), 1);
  EXPECT_FALSE(duration_of_seconds(*parse_number("-1")));
  EXPECT_FALSE(duration_of_seconds(*parse_number("9223372037")));
}

std::optional<Nanoseconds> instant(std::string_view text) {
  const auto parsed = parse_instant(text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

TEST(Instant, IsReadWithOffsetAndDecimals) {
  EXPECT_EQ(instant("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(instant("2001-09-09T01:46:40Z"), 1'000'000'000 * kNanosecondsPerSecond);
  EXPECT_EQ(instant("2001-09-09t03:46:40.25+02:00"), 1'000'000'000 * kNanosecondsPerSecond + 250'000'000);
  EXPECT_EQ(instant("2001-09-08T20:16:40-05:30"), 1'000'000'000 * kNanosecondsPerSecond);
  EXPECT_EQ(instant("1969-12-31T23:59:59.999999999999Z"), -1);
  EXPECT_EQ(instant("2024-02-29T00:00:00z"), 1'709'164'800 * kNanosecondsPerSecond);
  EXPECT_EQ(instant("2262-04-11T23:47:16.854775807Z"), kMost);
  EXPECT_EQ(instant("1677-09-21T00:12:43.145224192Z"), std::numeric_limits<std::int64_t>::min());
}

TEST(Instant, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "2026",
                           "2026-11-21",
                           "2026-11-21T10:00:00",
                           "2026-11-21 10:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "2026-13-01T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-01-00T00:00:00Z",
                           "2026-01-01T24:00:00Z",
                           "2026-01-01T00:60:00Z",
                           "2026-01-01T00:00:60Z",
                           "2026-01-01T00:00:00.Z",
                           "2026-01-01T00:00:00+24:00",
                           "2026-01-01T00:00:00+0100",
                           "2026-01-01T00:00:00ZZ",
                           "+026-01-01T00:00:00Z",
                           "2262-04-11T23:47:16.854775808Z",
                           "1600-01-01T00:00:00Z",
                           "9999-12-31T23:59:59Z"}) {
    EXPECT_EQ(instant(text), std::nullopt) << text;
  }
}

TEST(Instant, OfSecondsGoesDownTowardsThePast) {
  EXPECT_EQ(*instant_of_seconds(*parse_number("1000000")), 1'000'000 * kNanosecondsPerSecond);
  EXPECT_EQ(*instant_of_seconds(*parse_number("1e6")), 1'000'000 * kNanosecondsPerSecond);
  EXPECT_EQ(*instant_of_seconds(*parse_number("-0.0000000001")), -1);
  EXPECT_FALSE(instant_of_seconds(*parse_number("1e10")));
  EXPECT_FALSE(instant_of_seconds(*parse_number("-1e10")));
}

TEST(Quantity, MessagesNeverCutACharacterInTwo) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "\xC2\xB5";
  text = "x" + text;
  const auto quantity = parse_quantity(text);
  ASSERT_FALSE(quantity);
  const std::size_t cut = quantity.error().message.find("...\"");
  ASSERT_NE(cut, std::string::npos);
  EXPECT_EQ(quantity.error().message[cut - 1], '\xB5');
}

}  // namespace
}  // namespace muster::kubernetes
