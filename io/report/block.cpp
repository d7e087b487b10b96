#include "io/report/block.h"

#include <algorithm>

#include "io/json/json_document.h"
#include "model/base/require.h"

namespace muster::reporting {

namespace {

// The longest common beginning that ends between two characters.
std::size_t shared_bytes(std::string_view before, std::string_view name) {
  constexpr std::size_t kMost = 255;
  const std::size_t most = std::min({before.size(), name.size(), kMost});
  std::size_t shared = 0;
  while (shared < most && before[shared] == name[shared]) ++shared;
  const auto continues = [&](std::size_t at) {
    return at < name.size() && (static_cast<unsigned char>(name[at]) & 0xC0U) == 0x80;
  };
  while (shared > 0 && continues(shared)) --shared;
  return shared;
}

// What a script counts as the length of the text.
std::size_t utf16_units(std::string_view text) {
  std::size_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    units += (byte & 0xC0U) == 0x80 ? 0 : byte >= 0xF0 ? 2 : 1;
  }
  return units;
}

// Whether what would end a script, or a line of it, occurs in strings alone.
bool is_plain_outside_strings(std::string_view json) {
  bool is_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"') is_string = !is_string;
    if (json[i] == '\\' && is_string) ++i;
    if (!is_string && (json[i] == '<' || json[i] == '>' || json[i] == '&' || (json[i] & 0x80) != 0)) return false;
  }
  return true;
}

}  // namespace

void write_names(json::JsonWriter& json, const std::vector<std::string_view>& names) {
  MUSTER_REQUIRE_SLOW(std::ranges::all_of(names, json::is_utf8));
  std::vector<std::size_t> shared(names.size());
  for (std::size_t i = 1; i < names.size(); ++i) shared[i] = shared_bytes(names[i - 1], names[i]);
  json.object();
  std::vector<std::size_t> units(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) units[i] = utf16_units(names[i].substr(0, shared[i]));
  write_column(json, "shared", units, [](std::size_t count) { return count; });
  json.key("rest").array();
  for (std::size_t i = 0; i < names.size(); ++i) json.value(names[i].substr(shared[i]));
  json.end().end();
}

std::size_t TextTable::number(std::string_view text) {
  const auto [entry, is_new] = numbers_.try_emplace(std::string(text), texts_.size());
  if (is_new) texts_.push_back(&entry->first);
  return entry->second;
}

void TextTable::write(json::JsonWriter& json) const {
  json.array();
  for (const std::string* text : texts_) json.value(*text);
  json.end();
}

std::string script_safe(std::string_view json) {
  MUSTER_REQUIRE_SLOW(is_plain_outside_strings(json));
  constexpr std::string_view kLineSeparator = "\u2028", kParagraphSeparator = "\u2029";
  std::string safe;
  safe.reserve(json.size() + json.size() / 64);
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i, kLineSeparator.size());
    if (json[i] == '<') {
      safe += "\\u003c";
    } else if (json[i] == '>') {
      safe += "\\u003e";
    } else if (json[i] == '&') {
      safe += "\\u0026";
    } else if (rest == kLineSeparator || rest == kParagraphSeparator) {
      safe += rest == kLineSeparator ? "\\u2028" : "\\u2029";
      i += rest.size() - 1;
    } else {
      safe += json[i];
    }
  }
  return safe;
}

}  // namespace muster::reporting
