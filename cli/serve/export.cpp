#include "cli/serve/export.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/terminal/near_miss.h"
#include "cli/terminal/terminal.h"
#include "model/base/words.h"

namespace muster::cli {
namespace {

// "a%2Cb+c" -> "a,b c". None: a % without two hexadecimal digits.
std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at] == '+' ? ' ' : text[at];
      continue;
    }
    unsigned value = 0;
    const char* begin = text.data() + at + 1;
    if (at + 2 >= text.size()) return std::nullopt;
    const auto [stop, error] = std::from_chars(begin, begin + 2, value, 16);
    if (error != std::errc() || stop != begin + 2) return std::nullopt;
    out += static_cast<char>(value);
    at += 2;
  }
  return out;
}

std::vector<std::string_view> lines_in(std::string_view body) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = std::min(body.find('\n', at), body.size());
    const std::string_view line = body.substr(at, end - at);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

Answer error_of(InputError error) {
  Answer answer;
  answer.number = 1;
  answer.is_error = true;
  answer.error = std::move(error);
  return answer;
}

}  // namespace

Result<ExportWords> export_words(std::string_view query) {
  static constexpr std::array<std::string_view, 4> kKeys = {"format", "phase", "gate", "allow-shared"};
  ExportWords words;
  std::optional<std::string> shared;
  const std::array<std::optional<std::string>*, kKeys.size()> targets = {&words.format, &words.phase, &words.gate,
                                                                         &shared};
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    if (part.empty()) continue;
    const std::string_view key = part.substr(0, part.find('='));
    const auto value = decoded(part.substr(std::min(key.size() + 1, part.size())));
    const auto* known = std::ranges::find(kKeys, key);
    if (known == kKeys.end()) {
      return InputError{ErrorCode::kInvalidValue, "query",
                        fmt::format("unknown parameter '{}'{}", escaped(key), did_you_mean(key, kKeys))};
    }
    std::optional<std::string>& word = *targets[static_cast<std::size_t>(known - kKeys.begin())];
    if (!value) return InputError{ErrorCode::kInvalidValue, std::string(key), "is not percent-encoded correctly"};
    if (word) return InputError{ErrorCode::kInvalidValue, std::string(key), "is given more than once"};
    word = *value;
  }
  if (shared && *shared != "true" && *shared != "false")
    return InputError{ErrorCode::kInvalidValue, "allow-shared", "must be true or false"};
  words.allows_shared = shared == "true";
  return words;
}

Answer export_answer(muster_v1::SnapshotReader& reader, std::string_view body, ExportWords words) {
  const std::vector<std::string_view> lines = lines_in(body);
  if (lines.empty() || lines.size() > 2) {
    return error_of({ErrorCode::kInvalidValue, "$",
                     fmt::format("the body has {}; send a plan, or a snapshot and then its plan, one per line",
                                 counted(std::ssize(lines), "line"))});
  }
  words.has_snapshot = lines.size() == 2;
  const Result<exporting::ExportOptions> options = export_options(words);
  if (!options) return error_of(options.error());
  const auto snapshot = words.has_snapshot ? std::optional(lines.front()) : std::nullopt;
  const Result<exporting::ExportedPlan> exported = export_line(reader, lines.back(), snapshot, *options);
  if (!exported) return error_of(exported.error());
  Answer answer;
  answer.number = 1;
  answer.text = exported->text();
  for (const std::string& remark : exported->remarks)
    answer.log += fmt::format("{}{}", answer.log.empty() ? "" : "\n", escaped(remark));
  return answer;
}

}  // namespace muster::cli
