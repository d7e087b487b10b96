// The house rules that a program can check: includes and their order, lengths, names.
#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/style/sources.h"

namespace muster {
namespace {

bool starts_with_any(const std::string& text, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return text.starts_with(prefix); });
}

enum Group { kOwn, kStandard, kLibrary, kProject };

Group group_of(const SourceFile& file, const Include& include) {
  // As clang-format sees it: of the same name, in whatever folder.
  const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  const std::string own = name(file.path.substr(0, file.path.rfind('.'))) + ".h";
  if (include.is_project) return name(include.target) == own ? kOwn : kProject;
  return include.target.find_first_of("./") == std::string::npos ? kStandard : kLibrary;
}

// Code without comments and string literals, for rules about words.
std::string code_of(const std::string& line) {
  static const std::regex literal(R"re("(?:[^"\\]|\\.)*")re");
  const std::string without = std::regex_replace(line, literal, "\"\"");
  return without.substr(0, without.find("//"));
}

std::vector<std::string> words_found(const std::vector<std::string>& folders, const std::regex& word) {
  std::vector<std::string> found;
  for (const SourceFile& file : sources()) {
    if (std::ranges::find(folders, file.folder) == folders.end()) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      const std::string code = code_of(file.lines[i]);
      if (std::regex_search(code, match, word)) found.push_back(at(file, i + 1) + match.str());
    }
  }
  return found;
}

TEST(Style, FindsTheSources) {
  EXPECT_GT(sources().size(), 20U);
  EXPECT_TRUE(std::ranges::any_of(sources(), [](const SourceFile& f) { return f.path == "model/problem/problem.h"; }));
}

TEST(Style, FoldersIncludeOnlyWhatTheyMay) {
  const std::map<std::string, std::set<std::string>> allowed = {
      {"model", {"model"}},
      {"heuristics", {"model", "heuristics"}},
      {"solver", {"model", "heuristics", "solver"}},
      {"io", {"model", "io"}},
      {"datasets", {"model", "datasets"}},
      {"cli", {"model", "heuristics", "solver", "io", "datasets", "cli"}}};
  std::vector<std::string> violations;
  for (const SourceFile& file : sources()) {
    const auto rule = allowed.find(file.folder);
    if (rule == allowed.end()) continue;
    for (const Include& include : includes_of(file)) {
      const std::string folder = include.target.substr(0, include.target.find('/'));
      // A generated instance is a snapshot, which the one writer of the format writes.
      if (file.folder == "datasets" && include.target.starts_with("io/snapshot_writer/")) continue;
      if (include.is_project && !rule->second.contains(folder))
        violations.push_back(at(file, include.line) + include.target);
    }
  }
  EXPECT_TRUE(violations.empty()) << listed(violations);
}

TEST(Style, LibrariesAreIncludedWhereTheyMay) {
  struct Home {
    std::vector<std::string> headers;  // by prefix
    std::vector<std::string> places;   // by prefix
    bool in_headers = false;
  };
  const std::vector<Home> homes = {
      {{"coin/", "Cbc", "Osi", "Clp", "Coin", "Cgl"}, {"solver/cbc/", "test/solver/mps_file.cpp"}},
      {{"Eigen/"}, {"solver/lp/"}, true},
      {{"simdjson"}, {"io/"}},
      {{"yaml-cpp/"}, {"io/json/yaml.cpp"}},
      {{"zip.h"}, {"io/kubernetes/kai_snapshot.cpp", "test/io/kubernetes/kai_snapshot_test.cpp"}},
      {{"tbb/", "oneapi/"}, {"model/base/parallel.cpp"}},
      {{"boost/program_options"}, {"cli/"}},
      {{"boost/beast"}, {"io/http/", "io/api_server/response_reader.cpp"}},
      {{"boost/asio"},
       {"cli/agent/", "io/http/", "io/api_server/", "test/agent/", "test/io/http/", "test/api_server/"},
       true},                                                        // internal headers
      {{"openssl/"}, {"io/api_server/", "test/api_server/"}, true},  // internal headers
      {{"nlohmann/"}, {"test/"}, true},
      {{"gtest/"}, {"test/"}, true}};
  std::vector<std::string> violations;
  for (const SourceFile& file : sources()) {
    for (const Include& include : includes_of(file)) {
      for (const Home& home : homes) {
        if (include.is_project || !starts_with_any(include.target, home.headers)) continue;
        const bool is_allowed = starts_with_any(file.path, home.places) && (home.in_headers || !file.is_header());
        if (!is_allowed) violations.push_back(at(file, include.line) + include.target);
      }
    }
  }
  EXPECT_TRUE(violations.empty()) << listed(violations);
}

TEST(Style, IncludesComeInTheirOrder) {
  std::vector<std::string> violations;
  for (const SourceFile& file : sources()) {
    if (file.is_header() || file.folder == "test" || file.folder == "bench") continue;
    const std::vector<Include> includes = includes_of(file);
    for (std::size_t i = 1; i < includes.size(); ++i) {
      const Include& before = includes[i - 1];
      const Include& here = includes[i];
      const Group group = group_of(file, here);
      const Group group_before = group_of(file, before);
      if (group < group_before) violations.push_back(at(file, here.line) + here.target + " comes too late");
      if (group == group_before && here.target < before.target && here.line == before.line + 1) {
        violations.push_back(at(file, here.line) + here.target + " is not sorted");
      }
      if (group != group_before && here.line == before.line + 1) {
        violations.push_back(at(file, here.line) + "no blank line before " + here.target);
      }
    }
  }
  EXPECT_TRUE(violations.empty()) << listed(violations);
}

TEST(Style, HeadersAreGuarded) {
  std::vector<std::string> violations;
  for (const SourceFile& file : sources()) {
    if (file.is_header() && std::ranges::find(file.lines, "#pragma once") == file.lines.end())
      violations.push_back(file.path);
  }
  EXPECT_TRUE(violations.empty()) << listed(violations);
}

TEST(Style, FilesHaveAtMost700Lines) {
  std::vector<std::string> violations;
  for (const SourceFile& file : sources()) {
    if (file.lines.size() > 700) violations.push_back(at(file, file.lines.size()) + "is too long");
  }
  EXPECT_TRUE(violations.empty()) << listed(violations);
}

// A line that holds a string literal which cannot be broken (a snapshot in a test) is exempt.
TEST(Style, LinesHaveAtMost120Columns) {
  std::vector<std::string> violations;
  for (const SourceFile& file : sources()) {
    bool is_raw = false;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      const bool begins_raw = line.find("R\"") != std::string::npos;
      const auto columns =
          std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; });
      const bool is_exempt = file.folder == "test" && (is_raw || line.find('"') != std::string::npos);
      if (columns > 120 && !is_exempt) violations.push_back(at(file, i + 1) + std::to_string(columns) + " columns");
      if (begins_raw) is_raw = true;
      if (is_raw && line.find(")\"") != std::string::npos) is_raw = false;
    }
  }
  EXPECT_TRUE(violations.empty()) << listed(violations);
}

TEST(Style, TypesAreNamedForWhatTheyAre) {
  const std::regex empty_word(
      R"re(\b(?:class|struct|enum class|using) \w*(?:Manager|Helper|Util|Utils|Info|Data)\b)re");
  const auto found =
      words_found({"model", "heuristics", "solver", "io", "datasets", "cli", "bench", "test"}, empty_word);
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Style, NoNamespaceIsOpenedWholesale) {
  const auto found = words_found({"model", "heuristics", "solver", "io", "datasets", "cli", "bench", "test"},
                                 std::regex(R"re(\busing namespace\b)re"));
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Style, OnlyTheProgramExitsPrintsAndReadsTheEnvironment) {
  const auto found =
      words_found({"model", "heuristics", "solver", "io", "datasets"},
                  std::regex(R"re(\b(?:std::exit|getenv|std::cout|std::cerr|fmt::print|f?printf ?\(|puts\())re"));
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Style, OnlyTheSolverAndTheProgramReadClocks) {
  const auto found = words_found({"model", "heuristics", "io", "datasets"},
                                 std::regex(R"re(_clock::now|\bClock::now|\btime\(nullptr\))re"));
  EXPECT_TRUE(found.empty()) << listed(found);
}

}  // namespace
}  // namespace muster
