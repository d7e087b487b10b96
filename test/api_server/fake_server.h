// An HTTP server on a loopback port for tests, with a thread for each connection, and faults on demand.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "test/api_server/certificates.h"

namespace muster::api_server {

struct FakeRequest {
  std::string method, target, path;
  std::map<std::string, std::string> query;   // as they came, not decoded
  std::map<std::string, std::string> fields;  // names in small letters
  std::string body;
};

// A connection of a client, for answers that are not made in one piece.
class FakeConnection {
 public:
  virtual ~FakeConnection() = default;
  // False: the client has gone, or the server cut the connection.
  virtual bool write(std::string_view bytes) = 0;
  // Waits until the server stops, cuts or the client closes.
  virtual void stall() = 0;
  virtual bool is_open() const = 0;
  bool write_chunk(std::string_view bytes);
};

struct FakeAnswer {
  unsigned status = 200;
  std::string fields = {};  // "Retry-After: 1\r\n"
  std::string body = {};
  bool is_chunked = false, closes = false;
  std::function<void(FakeConnection&)> instead = {};  // of all that; the connection is closed then
};

class FakeServer {
 public:
  using Handler = std::function<FakeAnswer(const FakeRequest&)>;
  // With a certificate: TLS. The handler is called on the threads of connections.
  explicit FakeServer(Handler handler, std::optional<Certificate> certificate = {});
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  std::string port() const { return std::to_string(port_); }
  // Closes all connections that are open.
  void cut();
  std::vector<FakeRequest> requests() const;
  int connections() const { return connections_; }  // that were accepted

 private:
  struct Connection;
  void accept();
  void serve(Connection& connection);

  Handler handler_;
  std::optional<Certificate> certificate_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> is_stopped_{false};
  std::atomic<int> connections_{0};
  mutable std::mutex mutex_;
  std::vector<FakeRequest> requests_;
  std::list<std::shared_ptr<Connection>> open_;
  std::thread acceptor_;
};

}  // namespace muster::api_server
