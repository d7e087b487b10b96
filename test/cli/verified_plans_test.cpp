// Whatever `solve` writes of random snapshots, `verify` passes: rules, phases, counts, levels and bounds.
#include <string>

#include <gtest/gtest.h>

#include "test/brute_force/instances/policy_instance.h"
#include "test/brute_force/instances/tiny_instance.h"
#include "test/cli/program.h"

namespace muster::cli {
namespace {

// Of `count` seeds from `first`; half of them with evictions.
std::string random_snapshots(std::uint64_t first, std::uint64_t count) {
  std::string lines;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    lines += seed % 2 == 0 ? brute_force::tiny_instance(seed) : brute_force::policy_instance(seed);
    lines += '\n';
  }
  return lines;
}

void expect_verified(const std::string& arguments, std::uint64_t first, std::uint64_t count) {
  Workplace workplace;
  const std::string snapshots = workplace.file("s.jsonl", random_snapshots(first, count));
  const std::string plans = workplace.path("p.jsonl");
  const Outcome solved = workplace.run("solve --quiet " + arguments + " " + snapshots + " --output " + plans);
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  const Outcome verified = workplace.run("verify " + snapshots + " " + plans);
  EXPECT_EQ(verified.exit_code, 0) << verified.out;
  EXPECT_NE(verified.out.find(std::to_string(count) + " plans"), std::string::npos) << verified.out;
}

TEST(VerifiedPlans, OfRandomSnapshotsByTheGreedyEngine) { expect_verified("--engine greedy", 1, 3'000); }

TEST(VerifiedPlans, OfRandomSnapshotsByTheIntegerProgram) {
  expect_verified("--engine milp --budget 2s --deterministic", 20'001, 300);
}

TEST(VerifiedPlans, OfRandomSnapshotsWithoutTimeForReasons) { expect_verified("--budget 1ms", 40'001, 500); }

}  // namespace
}  // namespace muster::cli
