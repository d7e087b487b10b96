// An HTTP/1.1 server on TCP and Unix sockets: one thread for all of them, and limits for everything that a client may
// do.
//
// It knows nothing of what it serves. Requests with errors of HTTP itself are answered here, as problem documents;
// whole requests go to the service. Not handled: TLS, HTTP/2, ranges, compression, upgrades.
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
#include <vector>

namespace muster {

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

// What is served; called on the server's thread, which everybody waits for meanwhile.
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

class HttpServer {
 public:
  // Takes over listening sockets. The service outlives the server. Throws std::system_error.
  HttpServer(std::vector<int> listeners, HttpService& service, const HttpLimits& limits);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Serves on the calling thread, until drain() has been called and every request is answered.
  void run();

  // From any thread:
  // What has been accepted is still answered, and nothing else is accepted.
  void drain();
  // From now on; what is being read or written already keeps to those before.
  void set_limits(const HttpLimits& limits);
  // Runs `task` on the server's thread, after what was posted before.
  void post(std::function<void()> task);
  std::size_t connections() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace muster
