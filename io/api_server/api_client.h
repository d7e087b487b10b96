// Asynchronous HTTPS requests to the Kubernetes API server.
//
// Everything here runs on the one thread that runs the io_context: calls and handlers. Handlers are never called from
// within the call that names them. Connections are kept alive and used again; there are at most
// `ApiLimits::max_connections` for requests, and further requests wait. Each stream has a connection of its own beside
// those. Each request has the current token (credentials.h); one that is answered by 401 is sent once more if the file
// has another token by then. Not handled: HTTP/2, compression (never asked for), redirects, proxies of the environment,
// client certificates.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/api_server/clock.h"
#include "io/api_server/server_address.h"

namespace boost::asio {
class io_context;
}

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

// A stream that is open, or about to be. Its end, and cancel(), stop it; no handler is called any more then.
class ApiStream {
 public:
  virtual ~ApiStream() = default;
  ApiStream(const ApiStream&) = delete;
  ApiStream& operator=(const ApiStream&) = delete;

 protected:
  ApiStream() = default;
};

struct StreamHandlers {
  std::function<void(const ApiResponse& head)> open = {};  // the status is 2xx; the body follows
  std::function<void(std::string_view bytes)> bytes = {};  // any piece of the body, never empty
  // The last call. Status 2xx: the stream has been open, and `error` says what cut it, or is empty if the server ended
  // it properly. Else as of a request.
  std::function<void(const ApiResponse&)> end = {};
};

class ApiClient {
 public:
  // `io` outlives the client. Files of the address are read at the first request.
  ApiClient(boost::asio::io_context& io, ServerAddress address, Clock clock, ApiLimits limits = {});
  // Gives up all requests and streams, without calling their handlers.
  ~ApiClient();
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  using Handler = std::function<void(ApiResponse)>;
  // A connection that the server has closed while it was unused costs a GET a second attempt, not an error.
  void send(ApiRequest request, Handler handler);
  // The stream ends with an error if no byte comes for `silence`, the time until its head included.
  std::unique_ptr<ApiStream> open(ApiRequest request, std::chrono::milliseconds silence, StreamHandlers handlers);

  const ServerAddress& address() const;
  boost::asio::io_context& io() const;
  // Connections that are open or being opened, and requests that wait for one.
  std::size_t connections() const;
  std::size_t waiting() const;
  // Expires with the client.
  std::weak_ptr<const void> lifetime() const;

 private:
  struct Implementation;
  std::shared_ptr<Implementation> implementation_;
};

// Of one segment of a path, or of a value of a query: everything but letters, digits and -._~ as %XX.
std::string percent_encoded(std::string_view text);

}  // namespace muster::api_server
