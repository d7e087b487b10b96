// HTTP requests and responses as the service sees them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::http {

// Of ASCII text, as names of fields and codings are compared.
bool is_same_in_any_case(std::string_view a, std::string_view b);

struct HttpField {
  std::string name, value;
};

struct HttpRequest {
  std::string method;  // empty: none could be read
  std::string path;    // without the query
  std::string query;   // what stands behind the first ?, as it came
  std::string id;      // its X-Request-Id where that is sane, else made up
  std::vector<HttpField> fields;
  std::string body;

  // The first of this name, in whatever case; empty: there is none.
  std::string_view field(std::string_view name) const;
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type;  // empty: there is no body
  std::string body;
  std::vector<HttpField> fields;  // beside those of the message itself
};

}  // namespace muster::http
