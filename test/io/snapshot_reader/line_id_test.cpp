// The id of a line that may be broken.
#include <string>

#include <gtest/gtest.h>

#include "io/snapshot_reader/snapshot_reader.h"

namespace muster::muster_v1 {
namespace {

TEST(IdOf, IsThatOfAGoodLine) {
  EXPECT_EQ(SnapshotReader::id_of(R"({"format":"muster/v1","id":"prod-1","pods":[]})"), "prod-1");
  EXPECT_EQ(SnapshotReader::id_of(R"({ "id" : "a\"b\u00e9\\" })"), "a\"b\xC3\xA9\\");
}

TEST(IdOf, IsFoundInALineThatIsBrokenElsewhere) {
  EXPECT_EQ(SnapshotReader::id_of(R"({"format":"muster/v1","id":"x","pods":[{]})"), "x");
  EXPECT_EQ(SnapshotReader::id_of(R"({"pods":[{"name":"p"}],"id":"x","nodes":)"), "x");
  EXPECT_EQ(SnapshotReader::id_of("{\"a\":\"\xFF\",\"id\":\"x\""), "x");
}

TEST(IdOf, IsThatOfTheOutermostObjectOnly) {
  EXPECT_EQ(SnapshotReader::id_of(R"({"x":{"id":"inner"},"y":"id","id":"outer"})"), "outer");
  EXPECT_EQ(SnapshotReader::id_of(R"({"x":{"id":"inner"}})"), "");
  EXPECT_EQ(SnapshotReader::id_of(R"({"x":"\"id\":\"no\"","z":"{"})"), "");
}

TEST(IdOf, IsEmptyWhereThereIsNone) {
  for (const char* line :
       {"", "garbage", "{\"id\":7}", "{\"id\":\"open", "{\"id\"", "{\"id\":", "[\"id\"]", "\"", "{\"id\":\"\\x\"}"}) {
    EXPECT_EQ(SnapshotReader::id_of(line), "") << line;
  }
  EXPECT_EQ(SnapshotReader::id_of("{\"id\":\"\xFF\"}"), "");
}

}  // namespace
}  // namespace muster::muster_v1
