// The files of docs/deploy as the tests see them, and the program's own lists.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "io/json/yaml.h"
#include "test/support/paths.h"

namespace muster {

inline std::string deploy_path(const std::string& name) { return test::source_folder() + "/docs/deploy/" + name; }

// Throws if there is none of that name.
inline std::string deploy_file(const std::string& name) {
  std::ifstream stream(deploy_path(name), std::ios::binary);
  if (!stream) throw std::runtime_error("there is no docs/deploy/" + name);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The documents of a YAML file. Throws what is wrong with it.
inline std::vector<nlohmann::json> deploy_documents(const std::string& name) {
  const auto lines = json::yaml_to_json(deploy_file(name));
  if (!lines) throw std::runtime_error(name + ":" + lines.error().path + ": " + lines.error().message);
  std::vector<nlohmann::json> documents;
  std::istringstream stream(*lines);
  for (std::string line; std::getline(stream, line);) documents.push_back(nlohmann::json::parse(line));
  return documents;
}

// What the whole expression, or its group, matches in the text, each once.
inline std::set<std::string> all_matches(const std::string& text, const std::string& expression, int group = 0) {
  const std::regex pattern(expression);
  std::set<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    found.insert((*match)[static_cast<std::size_t>(group)].str());
  return found;
}

}  // namespace muster
