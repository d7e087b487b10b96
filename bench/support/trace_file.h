// Files that `muster solve --trace` writes, line by line.
#pragma once

#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/json/json_document.h"

namespace muster::bench {

// One line of a trace about a level; the time plans of a trace are passed over.
struct TraceLine {
  std::string id;  // of the snapshot
  double ms = 0;   // since the budget began
  std::string engine;
  std::string level;  // with its priority
  double value = 0;
  std::optional<double> bound;
};

inline double number_of(json::JsonValue value) {
  switch (value.kind()) {
    case json::JsonKind::kInteger:
      return static_cast<double>(value.integer());
    case json::JsonKind::kUnsigned:
      return static_cast<double>(value.unsigned_integer());
    case json::JsonKind::kDouble:
      return value.floating();
    default:
      throw std::runtime_error("a number is missing");
  }
}

// Throws where the file cannot be read, or holds something else.
inline std::vector<TraceLine> read_trace(const std::string& file) {
  std::ifstream input(file);
  if (!input) throw std::runtime_error("cannot read " + file);
  std::vector<TraceLine> lines;
  json::JsonDocument document;
  for (std::string text; std::getline(input, text);) {
    if (const auto error = document.parse(text, {.max_bytes = 1 << 20, .max_depth = 8}))
      throw std::runtime_error(file + ": " + error->message);
    TraceLine line;
    for (const auto& [key, value] : document.root().members()) {
      if (key == "id") line.id = value.string();
      if (key == "engine") line.engine = value.string();
      if (key == "level") line.level = std::string(value.string()) + line.level;
      if (key == "priority") line.level += fmt::format(":{}", number_of(value));
      if (key == "ms") line.ms = number_of(value);
      if (key == "value") line.value = number_of(value);
      if (key == "bound" && !value.is(json::JsonKind::kNull)) line.bound = number_of(value);
    }
    if (!line.level.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace muster::bench
