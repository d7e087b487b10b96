// Asynchronous HTTPS requests to the Kubernetes API server.
//
// Everything here runs on the one thread that runs the io_context: calls and handlers. Handlers are never called from
// within the call that names them. Connections are kept alive and used again; there are at most
// `ApiLimits::max_connections` for requests, and further requests wait. Each stream has a connection of its own beside
// those. Each request has the current token (Credentials); one that is answered by 401 is sent once more if the file
// has another token by then. Not handled: HTTP/2, compression (never asked for), redirects, proxies of the environment,
// client certificates.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "io/api_server/api_request.h"
#include "io/api_server/timer.h"

namespace boost::asio {
class io_context;
}

namespace muster::api_server {

// A stream that is open, or about to be. Its end, and cancel(), stop it; no handler is called any more then.
class ApiStream {
 public:
  virtual ~ApiStream() = default;
  ApiStream(const ApiStream&) = delete;
  ApiStream& operator=(const ApiStream&) = delete;

 protected:
  ApiStream() = default;
};

class ApiClient {
 public:
  // `io` outlives the client. Files of the address are read at the first request.
  ApiClient(boost::asio::io_context& io, ServerAddress address, Clock clock, const ApiLimits& limits = {});
  // Gives up all requests and streams, without calling their handlers.
  ~ApiClient();  // NOLINT(bugprone-exception-escape): only memory that runs out throws, and ends the program
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  using Handler = ApiHandler;
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
