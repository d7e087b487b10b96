#include "io/kubernetes_documents.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace muster {

namespace {

// Where each document but the first begins: an opening bracket outside of all others.
std::vector<std::size_t> further_documents(std::string_view text) {
  std::vector<std::size_t> begins;
  std::size_t depth = 0, documents = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (depth++ == 0 && documents++ > 0) begins.push_back(at);
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
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

}  // namespace muster
