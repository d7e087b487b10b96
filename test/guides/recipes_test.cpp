// The recipes of docs/scale.md give the bytes of one process, each as it stands there, where its engine can be had.
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "test/cli/program.h"
#include "test/support/paths.h"

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
  std::ifstream page(fs::path(test::source_folder()) / "docs/scale.md");
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

class Recipes : public testing::TestWithParam<Recipe> {
 protected:
  void SetUp() override {
    if (!has(GetParam().engine)) GTEST_SKIP() << "there is no " << GetParam().name;
    prepare();
  }
  bool has(const std::string& engine) const { return place_.shell(engine).exit_code == 0; }
  void prepare() const {
    fs::create_directory(place_.path("bin"));
    fs::create_symlink(test::program(), place_.path("bin/muster"));
    fs::create_directory_symlink(fs::path(test::source_folder()) / "docs", place_.path("docs"));
    const std::string make =
        "for id in 0 1 2 3 4 5 6 7 8 9; do echo '{\"format\":\"muster/v1\",\"id\":\"'$id'\"}'; done > in.jsonl"
        " && muster generate --preset synth --nodes 1 --place-only >> in.jsonl"
        " && muster solve --deterministic in.jsonl > one.jsonl";
    ASSERT_EQ(place_.shell(environment() + make).exit_code, 0);
  }
  void expect_the_bytes_of_one_process(const std::string& heading) const {
    const std::string commands = commands_below(heading);
    ASSERT_NE(commands, "");
    const cli::Outcome outcome = place_.shell(environment() + "bash -euo pipefail " + place_.file("recipe", commands));
    EXPECT_EQ(outcome.exit_code, 0) << commands << outcome.err;
    EXPECT_TRUE(place_.content("plans.jsonl") == place_.content("one.jsonl"));
  }
  std::string environment() const {
    return "cd " + place_.path("") + " && export PATH=" + place_.path("bin") + ":$PATH && ";
  }

  const cli::Workplace place_;
};

TEST_P(Recipes, GiveTheBytesOfOneProcess) { expect_the_bytes_of_one_process(GetParam().heading); }

INSTANTIATE_TEST_SUITE_P(All, Recipes,
                         testing::Values(Recipe{"Shell", "# More than one machine: shards of lines", "true"},
                                         Recipe{"Parallel", "### GNU parallel", "parallel --version"},
                                         Recipe{"Ray", "### Ray", "python3 -c 'import ray'"},
                                         Recipe{"Spark", "### Spark",
                                                "java -version && python3 -c 'import pandas, pyarrow, pyspark'"}),
                         [](const auto& recipe) { return recipe.param.name; });

// Of the lines 1 and 9 of the shard, the process has answered the first when it dies.
constexpr const char* kDiesOnce = R"(#!/bin/sh
case "$*" in *"--shard 1/8"*)
  if mkdir killed 2>/dev/null; then
    mkfifo lines && exec 3<>lines && head -n 8 in.jsonl >&3
    for word; do
      [ "$word" != in.jsonl ] || word=lines
      set -- "$@" "$word" && shift
    done
    bin/real "$@" &
    until [ -s part-1 ]; do kill -0 $! || exit 70; done
    kill -9 $!
    wait $!
    exit
  fi ;;
esac
exec bin/real "$@"
)";

class KilledRecipe : public Recipes {};

TEST_P(KilledRecipe, GoesOnAfterALineThatIsAnswered) {
  fs::rename(place_.path("bin/muster"), place_.path("bin/real"));
  place_.file("bin/muster", kDiesOnce);
  fs::permissions(place_.path("bin/muster"), fs::perms::owner_all);
  expect_the_bytes_of_one_process(GetParam().heading);
  EXPECT_TRUE(fs::exists(place_.path("killed")));
}

INSTANTIATE_TEST_SUITE_P(All, KilledRecipe,
                         testing::Values(Recipe{"Parallel", "### GNU parallel", "parallel --version"}),
                         [](const auto& recipe) { return recipe.param.name; });

}  // namespace
}  // namespace muster
