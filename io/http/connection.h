// One connection of the HTTP server, and the state shared by all connections; internal to server.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_set>

#include "io/http/service.h"

namespace boost::asio {
class io_context;
}

namespace muster::http {

class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  virtual void start() = 0;
  // The current request is the last one; if there is none, the connection is closed soon.
  virtual void drain() = 0;

 protected:
  HttpConnection() = default;
};

// Of one server; used on its thread alone, except the atomic numbers.
struct HttpContext {
  HttpContext(boost::asio::io_context& io_context, HttpService& served, const HttpLimits& first_limits);

  boost::asio::io_context& io;
  HttpService& service;
  HttpLimits limits;
  bool is_draining = false;
  std::unordered_set<std::shared_ptr<HttpConnection>> connections;
  std::atomic<std::size_t> connection_count{0};
  // Bytes of request bodies in memory; shared with exchanges, which may outlive the server.
  std::shared_ptr<std::atomic<std::size_t>> buffered_bytes = std::make_shared<std::atomic<std::size_t>>(0);
  std::function<void()> on_closed;  // a connection is no longer in `connections`
  std::uint64_t next_id;            // of a request; begins anywhere
};

// Takes over a connected stream socket.
std::shared_ptr<HttpConnection> make_connection(HttpContext& context, int descriptor);

}  // namespace muster::http
