// What an HTTP server serves.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/base/error_code.h"

namespace muster::http {

// HTTP requests and responses as the service sees them.
//
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

// A request whose body is there, and its answer. All on the server's thread, but for is_gone(). Either respond() once,
// or begin(), any number of write(), and end().
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  HttpRequest request;

  // From any thread: the client has closed its side, and most likely does not wait for the answer any more.
  bool is_gone() const { return is_gone_; }
  virtual void respond(HttpResponse response) = 0;
  // The body follows in pieces; that of `head` is left out.
  virtual void begin(HttpResponse head) = 0;
  // `sent`: called when the client has taken it, and never if it does not.
  virtual void write(std::string piece, std::function<void()> sent) = 0;
  virtual void end() = 0;
  // No answer: the connection is closed.
  virtual void abandon() = 0;

 protected:
  HttpExchange() = default;
  std::atomic<bool> is_gone_{false};
};

// What is served; called on the server's thread, which all clients wait for meanwhile.
class HttpService {
 public:
  virtual ~HttpService() = default;
  // Of a head whose body has not been read: the answer, where there is no need to read it.
  virtual std::optional<HttpResponse> refuse(const HttpRequest& head) = 0;
  virtual void serve(std::shared_ptr<HttpExchange> exchange) = 0;
  // The client of an exchange that is not answered yet has gone.
  virtual void gone(const std::shared_ptr<HttpExchange>& exchange) = 0;
  // An answer has been written, or given up where `is_whole` is false.
  virtual void answered(const HttpRequest& request, unsigned status, bool is_whole) = 0;
  // A connection was refused or cut: "max_connections", "header_timeout", "body_timeout", "idle_timeout",
  // "write_timeout".
  virtual void dropped(std::string_view reason) = 0;
  // Now, as the field `Date` has it.
  virtual std::string date() = 0;
};

// What a client of the HTTP server may do.
struct HttpLimits {
  std::size_t max_header_bytes = 16'384;
  std::size_t max_body_bytes = std::size_t{256} << 20;
  std::size_t max_buffered_bytes = std::size_t{1} << 30;  // bodies of all requests that are not answered; one may be
  std::size_t max_connections = 1024;
  std::chrono::milliseconds header_timeout{10'000};  // from the first byte, or from connecting, to the whole header
  std::chrono::milliseconds body_timeout{60'000};    // for a whole body
  std::chrono::milliseconds idle_timeout{60'000};    // between requests
  std::chrono::milliseconds write_timeout{30'000};   // for a whole answer, or a piece of it
};

// Errors as RFC 9457 has them: application/problem+json.
//
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
