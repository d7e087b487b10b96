// Errors as RFC 9457 has them: application/problem+json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "io/http/message.h"
#include "model/base/error_code.h"

namespace muster::http {

// What is wrong with a request before its body is read, or with the server's load.
enum class HttpFault : std::uint8_t {
  kBodyTimeout,
  kBodyTooLarge,
  kHeaderTimeout,
  kHeaderTooLarge,
  kInvalidHttp,
  kMethodNotAllowed,
  kNoState,
  kNotFound,
  kQueueFull,
  kSequenceGap,
  kTooManyBytes,
  kUnknownExpectation,
  kUnsupportedContentEncoding,
  kUnsupportedMediaType,
  kUnsupportedTransferEncoding,
  kUnsupportedVersion
};
inline constexpr std::size_t kHttpFaults = static_cast<std::size_t>(HttpFault::kUnsupportedVersion) + 1;

// Of a body that cannot be read: its ErrorCode. No two codes have the same text.
using ProblemCode = std::variant<ErrorCode, HttpFault>;

// "UnknownKey", "QueueFull". Stable: programs compare it.
std::string_view problem_code_text(const ProblemCode& code);

struct HttpProblem {
  unsigned status = 500;
  ProblemCode code = ErrorCode::kInternalError;
  std::string detail;
  std::string path;  // the JSON path of the culprit; empty: none
};

// {"type":"about:blank","title":"Not Found","status":404,"detail":...,"code":...,"path":...,"requestId":...}
HttpResponse problem_response(const HttpProblem& problem, std::string_view request_id);

// "Not Found"
std::string_view reason_phrase(unsigned status);

}  // namespace muster::http
