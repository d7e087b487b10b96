// Descriptors that the caller has closed, filled or cut short: the program reports it, and writes nowhere else.
#include <string>

#include <gtest/gtest.h>

#include "test/cli/program.h"
#include "test/cli/snapshots.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

class Descriptors : public testing::Test {
 protected:
  Outcome shell(const std::string& arguments, const std::string& redirection) {
    const std::string snapshots = workplace.file("s.jsonl", joined(good_lines()));
    return workplace.shell("timeout 60 " + test::program() + " " + arguments + " " + redirection);
  }
  Workplace workplace;
};

TEST_F(Descriptors, AClosedStdinIsAnEmptyOne) {
  for (const char* command : {"solve --quiet", "simulate --quiet", "verify - /dev/null", "import kubernetes"}) {
    EXPECT_EQ(shell(command, "<&-").exit_code, shell(command, "</dev/null").exit_code) << command;
  }
}

TEST_F(Descriptors, AClosedStdoutFailsAndNoOtherFileGetsThePlan) {
  const std::string trace = workplace.path("trace");
  const Outcome outcome =
      shell("solve --deterministic --engine greedy --trace " + trace + " " + workplace.path("s.jsonl"), ">&-");
  EXPECT_EQ(outcome.exit_code, 74) << outcome.err;
  EXPECT_EQ(workplace.content("trace").find("placements"), std::string::npos);
}

TEST_F(Descriptors, AClosedStderrIsSilent) {
  const std::string plans = workplace.path("plans");
  const std::string arguments = "solve --deterministic --engine greedy --output " + plans + " ";
  EXPECT_EQ(shell(arguments + workplace.path("s.jsonl"), "2>&-").exit_code, 0);
  EXPECT_EQ(lines_of(workplace.content("plans")).size(), good_lines().size());
}

TEST_F(Descriptors, AFileThatMayNotGrowKeepsWholePlansOnly) {
  const std::string plans = workplace.path("plans");
  std::string snapshots;
  for (int i = 0; i < 200; ++i) snapshots += good_lines()[0] + "\n";
  const std::string input = workplace.file("many.jsonl", snapshots);
  const std::string command = " solve --deterministic --engine greedy --quiet --output " + plans + " " + input;
  const Outcome outcome = workplace.shell("ulimit -f 4; timeout 60 " + test::program() + command);
  EXPECT_EQ(outcome.exit_code, 74) << outcome.err;
  EXPECT_NE(outcome.err, "");
  const std::string content = workplace.content("plans");
  ASSERT_FALSE(content.empty());
  EXPECT_EQ(content.back(), '\n');
}

TEST_F(Descriptors, OneFileForTwoOutputsIsRefusedAndStaysAsItIs) {
  const std::string kept = workplace.file("kept", "as it is"), fresh = workplace.path("fresh");
  for (const std::string& file : {kept, fresh}) {
    for (const char* others : {"--trace", "--write-model"})
      EXPECT_EQ(shell("solve --output " + file + " " + others + " " + file, "</dev/null").exit_code, 64) << others;
  }
  EXPECT_EQ(workplace.content("kept"), "as it is");
  const std::string both = "solve --quiet --output /dev/null --trace /dev/null " + workplace.path("s.jsonl");
  EXPECT_EQ(shell(both, "</dev/null").exit_code, 0) << "no regular file";
}

TEST_F(Descriptors, ABrokenConfigurationIsQuotedWithoutControlCharacters) {
  const std::string config = workplace.file("bad.ini", "bud\x1b[31mget = \x1b]0;title\x07\n");
  const Outcome outcome = shell("solve --config " + config, "</dev/null");
  EXPECT_EQ(outcome.exit_code, 64);
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
}

TEST_F(Descriptors, AConfigurationWithoutEndIsRefused) {
  const Outcome outcome = shell("solve --config /dev/zero", "</dev/null");
  EXPECT_EQ(outcome.exit_code, 64);
  EXPECT_NE(outcome.err.find("/dev/zero"), std::string::npos);
}

}  // namespace
}  // namespace muster::cli
