// What an HTTP server serves.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/http/message.h"

namespace muster::http {

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

}  // namespace muster::http
