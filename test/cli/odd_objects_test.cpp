// One odd node or pod never costs the others their plan: valid clusters, of which one object is broken in every way.
//
// MUSTER_MUTANTS=2000 in the environment sets their number; see docs/benchmarks.md, "Objects that do not add up".
#include "test/cli/odd_objects.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/cli/program.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

// Snapshots of the generator, the scenarios and the lists of Kubernetes objects.
std::vector<Json> valid_clusters(const Workplace& workplace) {
  std::vector<Json> clusters;
  const auto add = [&](const std::string& line) { clusters.push_back(Json::parse(line)); };
  for (const char* preset : {"full", "contended", "synth"}) {
    const std::string command = "generate --snapshots 4 --nodes 8 --queues 5 --seed 7 --preset ";
    const std::string generated = workplace.run(command + preset).out;
    for (const std::string& line : lines_of(generated)) add(line);
  }
  const std::string folder = test::source_folder() + "/test/scenarios/";
  for (const char* file : {"place.jsonl", "queues.jsonl", "evictions.jsonl"}) {
    std::ifstream in(folder + file);
    for (std::string line; std::getline(in, line);) {
      if (!line.empty()) clusters.push_back(Json::parse(line).at("snapshot"));
    }
  }
  std::vector<std::string> lists;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "kubernetes")) {
    if (entry.path().extension() == ".json") lists.push_back(entry.path().string());
  }
  std::ranges::sort(lists);
  for (const std::string& list : lists) add(workplace.run("import kubernetes --quiet " + list).out);
  std::erase_if(clusters,
                [](const Json& c) { return !c.contains("nodes") || !c.contains("pods") || c["nodes"].empty(); });
  return clusters;
}

std::size_t wanted_mutants() {
  const char* told = std::getenv("MUSTER_MUTANTS");
  return told == nullptr ? 200 : static_cast<std::size_t>(std::atoll(told));
}

struct Numbered {
  Mutant mutant;
  std::string what;
};

// Each way in turn, each time of another cluster.
std::vector<Numbered> make_mutants(const std::vector<Json>& clusters, std::size_t wanted) {
  std::vector<Numbered> mutants;
  for (std::size_t i = 0; mutants.size() < wanted && i < 20 * wanted; ++i) {
    Draws draws(i);
    const Mutation& mutation = mutations()[i % mutations().size()];
    auto mutant = mutation.breaks(clusters[draws.below(clusters.size())], draws);
    if (mutant) mutants.push_back({*std::move(mutant), mutation.what});
  }
  return mutants;
}

std::string solve(const Workplace& workplace, const std::string& snapshots) {
  return workplace.run("solve --quiet --deterministic --engine greedy", snapshots).out;
}

Json decisions(const Json& plan) { return Json::array({plan.at("placements"), plan.at("evictions")}); }

std::string described(const Numbered& one) {
  return one.what + " (" + one.mutant.object + " " + one.mutant.name + ")\n" + one.mutant.snapshot.dump();
}

bool is_named(const Json& plan, const Mutant& mutant) {
  if (!plan.contains("warnings")) return false;
  return std::ranges::any_of(plan["warnings"], [&](const Json& warning) {
    return warning["object"] == mutant.object && warning["name"] == mutant.name;
  });
}

class OddObjects : public testing::Test {
 protected:
  void SetUp() override {
    mutants = make_mutants(valid_clusters(workplace), wanted_mutants());
    ASSERT_EQ(mutants.size(), wanted_mutants());
    for (const Numbered& one : mutants) snapshots += one.mutant.snapshot.dump() + "\n";
  }
  Workplace workplace;
  std::vector<Numbered> mutants;
  std::string snapshots;
};

TEST_F(OddObjects, AffectNoOtherObject) {
  const std::vector<std::string> plans = lines_of(solve(workplace, snapshots));
  ASSERT_EQ(plans.size(), mutants.size());
  std::string references;
  std::vector<std::size_t> with_reference;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const Json plan = Json::parse(plans[i]);
    ASSERT_EQ(plan["status"], "ok") << described(mutants[i]) << "\n" << plans[i];
    EXPECT_TRUE(is_named(plan, mutants[i].mutant)) << described(mutants[i]) << "\n" << plans[i];
    if (!mutants[i].mutant.reference) continue;
    with_reference.push_back(i);
    references += mutants[i].mutant.reference->dump() + "\n";
  }
  const std::vector<std::string> expected = lines_of(solve(workplace, references));
  ASSERT_EQ(expected.size(), with_reference.size());
  EXPECT_GT(expected.size(), mutants.size() / 4);
  for (std::size_t r = 0; r < with_reference.size(); ++r) {
    const Json plan = Json::parse(plans[with_reference[r]]), reference = Json::parse(expected[r]);
    ASSERT_EQ(reference["status"], "ok") << expected[r];
    EXPECT_EQ(decisions(plan), decisions(reference)) << described(mutants[with_reference[r]]);
  }
}

TEST_F(OddObjects, HavePlansThatVerify) {
  const Outcome outcome = workplace.run("verify " + workplace.file("s.jsonl", snapshots) + " " +
                                        workplace.file("p.jsonl", solve(workplace, snapshots)));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
}

TEST_F(OddObjects, AreErrorsOfTheirLinesWhereTheReaderIsStrict) {
  std::size_t refused = 0;
  const std::string plans = workplace.run("solve --strict --quiet --deterministic --engine greedy", snapshots).out;
  for (const std::string& plan : lines_of(plans)) refused += Json::parse(plan)["status"] == "error" ? 1 : 0;
  EXPECT_EQ(refused, mutants.size());
}

TEST_F(OddObjects, AreBrokenInThirtyWaysOrMore) {
  std::set<std::string> ways;
  for (const Numbered& one : mutants) ways.insert(one.what);
  EXPECT_GE(ways.size(), 30U);
}

}  // namespace
}  // namespace muster::cli
