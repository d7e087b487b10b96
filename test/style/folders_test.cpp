// The house rules about folders: what a part may include is what its line in CMake names, nothing includes itself by a
// detour, and no folder is so full that nothing is found in it.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/style/sources.h"
#include "test/support/paths.h"

namespace muster {
namespace {

using Graph = std::map<std::string, std::set<std::string>>;

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }
std::string stem_of(const std::string& path) { return path.substr(0, path.rfind('.')); }

// "model_base" for "model/base/index.h"; "cli" for "cli/main.cpp".
std::string part_of(const std::string& path) {
  const std::size_t first = path.find('/'), second = path.find('/', first + 1);
  return second == std::string::npos ? path.substr(0, first)
                                     : path.substr(0, first) + "_" + path.substr(first + 1, second - first - 1);
}

// By part, the parts that it names by `muster_part(folder part needed...)`.
Graph linked_parts() {
  static const std::regex pattern(R"re(^muster_part\((\w+) (\w+)((?: \w+)*)\)$)re");
  Graph parts;
  for (const char* folder : {"model", "heuristics", "solver", "io", "datasets", "cli"}) {
    std::ifstream file(std::filesystem::path(test::source_folder()) / folder / "CMakeLists.txt");
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (!std::regex_match(line, match, pattern)) continue;
      std::set<std::string>& needed = parts[match[1].str() + "_" + match[2].str()];
      std::istringstream names(match[3].str());
      for (std::string name; names >> name;) needed.insert(name);
    }
  }
  return parts;
}

std::set<std::string> reachable(const Graph& graph, const std::string& from) {
  std::set<std::string> seen;
  std::vector<std::string> open{from};
  while (!open.empty()) {
    const std::string here = open.back();
    open.pop_back();
    const auto found = graph.find(here);
    if (found == graph.end()) continue;
    for (const std::string& next : found->second) {
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return seen;
}

TEST(Folders, IncludeOnlyWhatTheirLineNames) {
  const Graph parts = linked_parts();
  ASSERT_GT(parts.size(), 25U);
  std::vector<std::string> violations;
  for (const SourceFile& file : sources()) {
    const std::string part = part_of(file.path);
    if (!parts.contains(part)) continue;
    const std::set<std::string> allowed = reachable(parts, part);
    for (const Include& include : includes_of(file)) {
      if (!include.is_project) continue;
      const std::string target = part_of(include.target);
      if (target != part && !allowed.contains(target)) violations.push_back(at(file, include.line) + include.target);
    }
  }
  EXPECT_TRUE(violations.empty()) << listed(violations);
}

TEST(Folders, AreAPartEach) {
  const Graph parts = linked_parts();
  std::set<std::string> without;
  for (const SourceFile& file : sources()) {
    if (file.folder == "test" || file.folder == "bench" || part_of(file.path) == "cli") continue;
    if (!parts.contains(part_of(file.path))) without.insert(file.path);
  }
  EXPECT_TRUE(without.empty()) << listed({without.begin(), without.end()});
}

TEST(Folders, HoldAtMost35SourceFiles) {
  std::map<std::string, int> files;
  for (const SourceFile& file : sources()) {
    if (file.folder != "bench") ++files[folder_of(file.path)];
  }
  std::vector<std::string> violations;
  for (const auto& [folder, count] : files) {
    if (count > 35) violations.push_back(folder + ": " + std::to_string(count));
  }
  EXPECT_TRUE(violations.empty()) << listed(violations);
}

TEST(Folders, HaveNoFilesThatIncludeEachOther) {
  Graph includes;
  for (const SourceFile& file : sources()) {
    for (const Include& include : includes_of(file)) {
      if (include.is_project && stem_of(include.target) != stem_of(file.path))
        includes[stem_of(file.path)].insert(stem_of(include.target));
    }
  }
  std::vector<std::string> violations;
  for (const auto& [stem, targets] : includes) {
    if (reachable(includes, stem).contains(stem)) violations.push_back(stem);
  }
  EXPECT_TRUE(violations.empty()) << listed(violations);
}

}  // namespace
}  // namespace muster
