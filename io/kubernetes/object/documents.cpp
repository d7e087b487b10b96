#include "io/kubernetes/object/documents.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace muster::kubernetes {

namespace {

// The position after the string whose opening quote is at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  while ((at = text.find('"', at + 1)) != std::string_view::npos) {
    std::size_t backslashes = 0;
    while (at - 1 - backslashes > begin && text[at - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return at + 1;
  }
  return text.size();
}

// The start of each document but the first: an opening bracket outside of all others.
std::vector<std::size_t> further_documents(std::string_view text) {
  std::vector<std::size_t> begins;
  std::size_t depth = 0, documents = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      continue;
    }
    if (c == '{' || c == '[') {
      if (depth++ == 0 && documents++ > 0) begins.push_back(at);
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
    ++at;
  }
  return begins;
}

}  // namespace

std::string join_documents(std::string text) {
  const std::vector<std::size_t> begins = further_documents(text);
  if (begins.empty()) return text;
  std::string list = R"({"apiVersion":"v1","kind":"List","items":[)";
  list.reserve(text.size() + begins.size() + 64);
  std::size_t from = 0;
  for (const std::size_t begin : begins) {
    list.append(text, from, begin - from).append(",");
    from = begin;
  }
  return list.append(text, from).append("]}");
}

}  // namespace muster::kubernetes
