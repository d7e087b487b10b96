// A random test that fails leaves its cluster, and the command that makes it small.
#include "test/support/drawn.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace muster::properties {
namespace {

TEST(Drawn, AFailingClusterIsKeptWithTheCommandThatMakesItSmall) {
  const std::string file = (std::filesystem::temp_directory_path() / "kept_clusters.jsonl").string();
  setenv("MUSTER_FAILURES", file.c_str(), 1);
  testing::internal::CaptureStdout();
  test::keep_failing(R"({"format":"muster/v1"})");
  const std::string told = testing::internal::GetCapturedStdout();
  unsetenv("MUSTER_FAILURES");
  std::string line;
  std::getline(std::ifstream(file), line);
  std::filesystem::remove(file);
  EXPECT_EQ(line, R"({"format":"muster/v1"})");
  EXPECT_NE(told.find("test/shrink/shrink.py " + file + " -- env MUSTER_SNAPSHOT={}"), std::string::npos) << told;
  EXPECT_NE(told.find("--gtest_filter=Drawn.AFailingCluster"), std::string::npos) << told;
}

TEST(Drawn, AGivenSnapshotTakesThePlaceOfARandomOne) {
  const std::string file = (std::filesystem::temp_directory_path() / "given_cluster.jsonl").string();
  const std::string line = R"({"format":"muster/v1","nodes":[{"name":"n"}]})";
  std::ofstream(file) << line << "\n";
  setenv("MUSTER_SNAPSHOT", file.c_str(), 1);
  const std::string drawn = test::drawn(R"({"format":"muster/v1"})");
  unsetenv("MUSTER_SNAPSHOT");
  std::filesystem::remove(file);
  EXPECT_EQ(drawn, line);
}

}  // namespace
}  // namespace muster::properties
