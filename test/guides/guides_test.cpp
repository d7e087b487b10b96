// The guides and docs/SKILL.md do what they show: every command is run, in order, and prints what stands below it.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/cli/program.h"
#include "test/support/paths.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

const fs::path kDocs = fs::path(test::source_folder()) / "docs";
const fs::path kGuides = kDocs / "guides";
const std::string kSkill = "SKILL";

struct Step {
  std::string commands, output;
  std::size_t line = 0;  // of the guide, from 1
};

// The ```sh blocks of a guide, each with the ```text block that follows it, if one does.
std::vector<Step> steps_of(const fs::path& guide) {
  std::vector<Step> steps;
  std::ifstream stream(guide);
  std::string* open = nullptr;
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (open != nullptr) {
      if (line == "```") {
        open = nullptr;
      } else {
        open->append(line).append("\n");
      }
    } else if (line == "```sh") {
      steps.push_back({"", "", number});
      open = &steps.back().commands;
    } else if (line == "```text" && !steps.empty()) {
      open = &steps.back().output;
    } else {
      EXPECT_FALSE(line.starts_with("```")) << guide << ":" << number << ": neither sh nor text";
    }
  }
  EXPECT_EQ(open, nullptr) << guide << ": a block without an end";
  return steps;
}

std::vector<std::string> guide_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kGuides)) {
    if (entry.path().extension() == ".md") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> page_names() {
  std::vector<std::string> names = guide_names();
  names.push_back(kSkill);
  return names;
}

fs::path file_of(const std::string& page) { return (page == kSkill ? kDocs : kGuides) / (page + ".md"); }

fs::path cluster_of(const std::string& page) { return kGuides / (page == kSkill ? "tutorial" : page) / "cluster.json"; }

class Guides : public testing::TestWithParam<std::string> {};

TEST_P(Guides, PrintsWhatItShows) {
  const cli::Workplace workplace;
  fs::create_directory(workplace.path("bin"));
  fs::create_directory(workplace.path("work"));
  // The tutorial is read in a clone and takes its files from there.
  fs::create_directory_symlink(kDocs, workplace.path("work/docs"));
  fs::create_symlink(test::program(), workplace.path("bin/muster"));
  fs::create_symlink(fs::path(test::source_folder()) / "test" / "guides" / "kubectl", workplace.path("bin/kubectl"));
  // Plans do not depend on how busy the machine is.
  const std::string environment = "cd " + workplace.path("work") + " && PATH=" + workplace.path("bin") +
                                  ":$PATH MUSTER_DETERMINISTIC=true GUIDE_CLUSTER=" + cluster_of(GetParam()).string() +
                                  " bash -euo pipefail ";
  const std::vector<Step> steps = steps_of(file_of(GetParam()));
  EXPECT_GE(steps.size(), 4U);
  for (const Step& step : steps) {
    const cli::Outcome outcome = workplace.shell(environment + workplace.file("step", step.commands));
    const std::string place = GetParam() + ".md:" + std::to_string(step.line);
    EXPECT_EQ(outcome.exit_code, 0) << place << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, step.output) << place;
    EXPECT_EQ(outcome.err, "") << place;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Guides, testing::ValuesIn(page_names()), [](const auto& guide) {
  std::string name = guide.param;
  std::erase(name, '-');
  return name;
});

TEST(GuideFolder, HasAClusterForEachGuide) {
  const std::vector<std::string> names = guide_names();
  EXPECT_GE(names.size(), 5U);
  for (const std::string& name : names) EXPECT_TRUE(fs::exists(cluster_of(name))) << name;
}

}  // namespace
}  // namespace muster
