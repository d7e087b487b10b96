#include "io/muster_v1/label_selector_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::muster_v1 {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
}

// The parts between the commas that are in no parentheses.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] == '(') ++depth;
    if (at < text.size() && text[at] == ')') --depth;
    if (at < text.size() && (text[at] != ',' || depth != 0)) continue;
    parts.push_back(trimmed(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  return parts;
}

bool is_word(std::string_view text, std::string_view also) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.find(c) != std::string_view::npos;
  });
}
bool is_key(std::string_view text) { return !text.empty() && is_word(text, "-_./"); }
bool is_value(std::string_view text) { return is_word(text, "-_."); }

// `key in (a,b)`; none: it is not of that form.
std::optional<SelectorRequirement> set_requirement(std::string_view part) {
  const std::size_t open = part.find('(');
  if (open == std::string_view::npos || !part.ends_with(')')) return std::nullopt;
  const std::string_view head = trimmed(part.substr(0, open));
  const std::size_t space = head.find_last_of(" \t");
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view word = head.substr(space + 1);
  if (word != "in" && word != "notin") return std::nullopt;
  SelectorRequirement made{
      trimmed(head.substr(0, space)), word == "in" ? SelectorOperator::kIn : SelectorOperator::kNotIn, {}};
  made.values = parts_of(part.substr(open + 1, part.size() - open - 2));
  return made;
}

SelectorRequirement requirement_of(std::string_view part) {
  if (auto set = set_requirement(part)) return *std::move(set);
  if (part.starts_with('!')) return {trimmed(part.substr(1)), SelectorOperator::kDoesNotExist, {}};
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) return {part, SelectorOperator::kExists, {}};
  const bool is_not = equals > 0 && part[equals - 1] == '!';
  const std::size_t value = part.substr(equals).starts_with("==") ? equals + 2 : equals + 1;
  return {trimmed(part.substr(0, is_not ? equals - 1 : equals)),
          is_not ? SelectorOperator::kNotIn : SelectorOperator::kIn,
          {trimmed(part.substr(value))}};
}

}  // namespace

Result<LabelSelector> parse_label_selector(std::string_view text) {
  LabelSelector selector;
  for (const std::string_view part : parts_of(text)) {
    SelectorRequirement made = requirement_of(part);
    if (!is_key(made.key) || !std::ranges::all_of(made.values, is_value)) {
      return InputError{ErrorCode::kInvalidValue, "",
                        "\"" + std::string(part) +
                            "\" is not a label requirement; write key=value, key!=value, key in (a,b), "
                            "key notin (a,b), key or !key, separated by commas"};
    }
    selector.requirements.push_back(std::move(made));
  }
  return selector;
}

}  // namespace muster::muster_v1
