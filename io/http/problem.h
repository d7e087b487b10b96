// Errors as RFC 9457 has them: application/problem+json.
#pragma once

#include <string>
#include <string_view>

#include "io/http/message.h"

namespace muster::http {

struct HttpProblem {
  unsigned status = 500;
  std::string code;  // for programs: "UnknownKey", "NotFound", "QueueFull"
  std::string detail;
  std::string path;  // the JSON path of the culprit; empty: none
};

// {"type":"about:blank","title":"Not Found","status":404,"detail":...,"code":...,"path":...,"requestId":...}
HttpResponse problem_response(const HttpProblem& problem, std::string_view request_id);

// "Not Found"
std::string_view reason_phrase(unsigned status);

}  // namespace muster::http
