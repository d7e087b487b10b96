#include "test/style/sources.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

#include "test/support/paths.h"

namespace muster {

namespace fs = std::filesystem;

const std::vector<SourceFile>& sources() {
  static const std::vector<SourceFile> all = [] {
    std::vector<SourceFile> files;
    const fs::path top = test::source_folder();
    for (const char* folder : {"model", "heuristics", "solver", "io", "datasets", "cli", "bench", "test"}) {
      for (const auto& entry : fs::recursive_directory_iterator(top / folder)) {
        const std::string path = fs::relative(entry.path(), top).string();
        if (!path.ends_with(".h") && !path.ends_with(".cpp")) continue;
        SourceFile file{path, folder, {}};
        std::ifstream stream(entry.path());
        for (std::string line; std::getline(stream, line);) file.lines.push_back(line);
        files.push_back(std::move(file));
      }
    }
    std::ranges::sort(files, {}, &SourceFile::path);
    return files;
  }();
  return all;
}

std::vector<Include> includes_of(const SourceFile& file) {
  static const std::regex pattern(R"re(^#include (?:<([^>]+)>|"([^"]+)").*)re");
  std::vector<Include> includes;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    std::smatch match;
    if (!std::regex_match(file.lines[i], match, pattern)) continue;
    includes.push_back({match[1].matched ? match[1].str() : match[2].str(), match[2].matched, i + 1});
  }
  return includes;
}

std::string listed(const std::vector<std::string>& violations) {
  std::string text;
  for (const std::string& violation : violations) text += "\n  " + violation;
  return text;
}

std::string at(const SourceFile& file, std::size_t line) { return file.path + ":" + std::to_string(line) + ": "; }

}  // namespace muster
