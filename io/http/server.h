// An HTTP/1.1 server on TCP and Unix sockets: one thread for all of them, and limits on everything that a client may
// do.
//
// It is independent of the service. Errors in HTTP itself are answered here, as problem documents; complete requests
// are passed to the service. Not handled: TLS, HTTP/2, ranges, compression, upgrades.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "io/http/service.h"

namespace muster::http {

class HttpServer {
 public:
  // Takes over listening sockets. The service outlives the server. Throws std::system_error.
  HttpServer(const std::vector<int>& listeners, HttpService& service, const HttpLimits& limits);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Serves on the calling thread, until drain() has been called and every request is answered.
  void run();

  // From any thread: accepted requests are still answered, and nothing else is accepted. Where there is no memory for
  // this, it waits for some.
  void drain();
  // From now on; what is being read or written already keeps to those before.
  void set_limits(const HttpLimits& limits);
  // Runs `task` on the server's thread, after what was posted before. Where there is no memory, as drain().
  void post(const std::function<void()>& task);
  std::size_t connections() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace muster::http
