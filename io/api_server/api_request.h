// Requests to the Kubernetes API server, their answers, and the limits of both; see api_client.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace muster::api_server {

struct ApiLimits {
  std::size_t max_connections = 8;  // for requests; streams do not count
  std::size_t max_header_bytes = 65'536;
  std::size_t max_body_bytes = std::size_t{256} << 20;
  std::chrono::milliseconds connect_timeout{10'000};  // to find the name, connect and complete TLS
  std::chrono::milliseconds request_timeout{60'000};  // from the start to the last byte; without waiting for its turn
  std::chrono::milliseconds idle_timeout{30'000};     // how long an unused connection is kept
  std::chrono::milliseconds token_period{5'000};      // Credentials::kPeriod
  std::string user_agent = "muster";
};

struct ApiRequest {
  std::string method = "GET";
  std::string target = {};  // "/api/v1/pods?limit=500": without the base path of the address
  std::string accept = "application/json";
  std::string content_type = {};  // of the body
  std::string body = {};
  std::chrono::milliseconds timeout{0};  // 0: ApiLimits::request_timeout; streams have none
};

struct ApiResponse {
  unsigned status = 0;                              // 0: none came; `error` says why
  std::optional<std::chrono::seconds> retry_after;  // of the field Retry-After, if that is a number
  std::string date;                                 // of the field Date, as it came: "Sun, 01 Mar 2026 10:00:00 GMT"
  std::string content_type, body;
  // If is_ok() is false, one sentence for people: "GET /api/v1/pods: 403 Forbidden: pods is forbidden: ...", "POST
  // /api/v1/namespaces/a/pods/b/binding: no answer within 60 s". Else empty.
  std::string error;
  std::string reason;  // of a Status in the body: "Expired", "Conflict", "AlreadyExists", "NotFound"; else empty

  bool is_ok() const { return status / 100 == 2; }
};

struct StreamHandlers {
  std::function<void(const ApiResponse& head)> open = {};  // the status is 2xx; the body follows
  std::function<void(std::string_view bytes)> bytes = {};  // any piece of the body, never empty
  // The last call. Status 2xx: the stream has been open, and `error` says what cut it, or is empty if the server ended
  // it properly. Else as of a request.
  std::function<void(const ApiResponse&)> end = {};
};

using ApiHandler = std::function<void(ApiResponse)>;

}  // namespace muster::api_server
