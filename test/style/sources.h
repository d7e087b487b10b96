// The source files of the project, and which file includes which.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace muster {

struct SourceFile {
  std::string path;    // from the top, "model/objective/levels.h"
  std::string folder;  // "model"
  std::vector<std::string> lines;
  bool is_header() const { return path.ends_with(".h"); }
};

// All of them, sorted by path.
const std::vector<SourceFile>& sources();

struct Include {
  std::string target;
  bool is_project = false;
  std::size_t line = 0;  // from 1
};
std::vector<Include> includes_of(const SourceFile& file);

// Violations of a rule as "file:line: what", so that a failure names all places.
std::string listed(const std::vector<std::string>& violations);
std::string at(const SourceFile& file, std::size_t line);

}  // namespace muster
