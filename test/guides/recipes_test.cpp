// The recipes of docs/scale.md give the bytes of one process, each as it stands there, where its engine can be had.
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "test/cli/program.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

struct Recipe {
  std::string name, heading;
  std::string engine;  // a command that succeeds where it is
};

std::ostream& operator<<(std::ostream& out, const Recipe& recipe) { return out << recipe.name; }

// The first ```sh block below the heading.
std::string commands_below(const std::string& heading) {
  std::ifstream page(fs::path(MUSTER_SOURCE_DIR) / "docs/scale.md");
  std::string commands;
  bool is_below = false, is_in = false;
  for (std::string line; std::getline(page, line);) {
    is_below = is_below || line == heading;
    if (is_in && line == "```") break;
    if (is_in) commands += line + "\n";
    is_in = is_in || (is_below && line == "```sh");
  }
  return commands;
}

class Recipes : public testing::TestWithParam<Recipe> {};

TEST_P(Recipes, GiveTheBytesOfOneProcess) {
  const cli::Workplace place;
  if (place.shell(GetParam().engine).exit_code != 0) GTEST_SKIP() << "there is no " << GetParam().name;
  fs::create_directory(place.path("bin"));
  fs::create_symlink(MUSTER_BINARY, place.path("bin/muster"));
  fs::create_directory_symlink(fs::path(MUSTER_SOURCE_DIR) / "docs", place.path("docs"));
  const std::string environment = "cd " + place.path("") + " && export PATH=" + place.path("bin") + ":$PATH && ";
  const std::string make =
      "for id in 0 1 2 3 4 5 6 7 8 9; do echo '{\"format\":\"muster/v1\",\"id\":\"'$id'\"}'; done > in.jsonl"
      " && muster generate --preset synth --nodes 1 --place-only >> in.jsonl"
      " && muster solve --deterministic in.jsonl > one.jsonl";
  ASSERT_EQ(place.shell(environment + make).exit_code, 0);
  const std::string commands = commands_below(GetParam().heading);
  ASSERT_NE(commands, "");
  const cli::Outcome outcome = place.shell(environment + "bash -euo pipefail " + place.file("recipe", commands));
  EXPECT_EQ(outcome.exit_code, 0) << commands << outcome.err;
  EXPECT_TRUE(place.content("plans.jsonl") == place.content("one.jsonl"));
}

INSTANTIATE_TEST_SUITE_P(All, Recipes,
                         testing::Values(Recipe{"Shell", "# More than one machine: shards of lines", "true"},
                                         Recipe{"Parallel", "### GNU parallel", "parallel --version"},
                                         Recipe{"Ray", "### Ray", "python3 -c 'import ray'"},
                                         Recipe{"Spark", "### Spark",
                                                "java -version && python3 -c 'import pandas, pyarrow, pyspark'"}),
                         [](const auto& recipe) { return recipe.param.name; });

}  // namespace
}  // namespace muster
