#include "io/http/message.h"

#include <algorithm>
#include <cctype>

namespace muster::http {

bool is_same_in_any_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

std::string_view HttpRequest::field(std::string_view name) const {
  const auto found =
      std::ranges::find_if(fields, [&](const HttpField& f) { return is_same_in_any_case(f.name, name); });
  return found == fields.end() ? std::string_view() : std::string_view(found->value);
}

}  // namespace muster::http
