// The id of a line that may be broken: a search for `"id": "..."` in the outermost object that requires nothing else of
// the line.
#include <cstdint>
#include <optional>

#include <simdjson.h>

#include "io/muster_v1/snapshot_reader.h"

namespace muster::muster_v1 {

namespace {

// The string that begins after the quote at `at`: its characters as they are written; `at` moves past the closing
// quote.
std::optional<std::string_view> take_string(std::string_view line, std::size_t& at) {
  const std::size_t begin = ++at;
  for (; at < line.size(); ++at) {
    if (line[at] == '\\') {
      ++at;
    } else if (line[at] == '"') {
      return line.substr(begin, at++ - begin);
    }
  }
  return std::nullopt;
}

std::size_t skip_space(std::string_view line, std::size_t at) {
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r')) ++at;
  return at;
}

// The written string as a JSON parser reads it; empty if it does not.
std::string unescape(std::string_view written) {
  std::string text = "\"";
  text += written;
  text += '"';
  simdjson::dom::parser parser;
  std::string_view value;
  if (parser.parse(text).get_string().get(value) != simdjson::SUCCESS) return {};
  return std::string(value);
}

}  // namespace

std::string SnapshotReader::id_of(std::string_view line) {
  std::int64_t depth = 0;
  for (std::size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (c == '"') {
      const auto key = take_string(line, at);
      if (!key) return {};
      at = skip_space(line, at);
      if (depth != 1 || *key != "id" || at >= line.size() || line[at] != ':') continue;
      at = skip_space(line, at + 1);
      if (at >= line.size() || line[at] != '"') return {};
      const auto value = take_string(line, at);
      return value ? unescape(*value) : std::string();
    }
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    ++at;
  }
  return {};
}

}  // namespace muster::muster_v1
