// One request on its way, and what the calls of a client share; internal to api_client.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>
#include <openssl/ssl.h>

#include "io/api_server/api_request.h"
#include "io/api_server/response_reader.h"
#include "io/api_server/timer.h"

namespace muster::api_server {

// The bearer token of requests, from a file that the kubelet replaces about every hour.
class Credentials {
 public:
  // How long a token is used before the file is read again. client-go: 10 s less (transport/token_source.go).
  static constexpr std::chrono::milliseconds kPeriod{5000};

  // An empty name: there is no token.
  Credentials(std::string token_file, Clock clock, std::chrono::milliseconds period = kPeriod);

  // The current token, without the space around it; empty: none. A file that cannot be read any more leaves the last
  // token. Reads the file at most once a period, and after refuse().
  const std::string& token();
  // The server answered 401 to this token: reads the file. Whether there is another one now.
  bool refuse(const std::string& token);

 private:
  void read();

  std::string file_, token_;
  Clock clock_;
  std::chrono::milliseconds period_;
  std::optional<std::chrono::steady_clock::time_point> read_at_;
};

}  // namespace muster::api_server

// One connection to the API server, with TLS or without; internal to this folder.

namespace boost::asio {
class io_context;
}

namespace muster::api_server {

using SocketError = boost::system::error_code;

// Handlers are called later, never from within the call; after close(), too, with an error. Each keeps the transport
// alive. One read and one write at a time.
class Transport : public std::enable_shared_from_this<Transport> {
 public:
  explicit Transport(boost::asio::io_context& io);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // `done` gets why it failed, empty if it did not.
  void connect(const ServerAddress& address, std::function<void(std::string error)> done);
  void read_some(std::span<char> space, std::function<void(const SocketError&, std::size_t)> done);
  // All of `bytes`, which stay valid until `done`.
  void write(std::string_view bytes, std::function<void(const SocketError&)> done);
  void close();
  // Whether the peer has sent nothing, nor closed, since the last read: the connection can be used again.
  bool is_quiet();

 private:
  struct Streams;
  void connect_to(const ServerAddress& address, const std::function<void(std::string error)>& done);
  void shake_hands(std::function<void(std::string error)> done);
  std::unique_ptr<Streams> streams_;
};

}  // namespace muster::api_server

namespace muster::api_server {

class Call;

// Connections that wait for the next request.
class IdleConnections {
 public:
  IdleConnections(boost::asio::io_context& io, std::chrono::milliseconds timeout) : io_(io), timeout_(timeout) {}

  // The one that was used last and still can be; none: there is none.
  std::shared_ptr<Transport> take();
  void put(std::shared_ptr<Transport> transport);
  void close_all();
  std::size_t size() const { return idle_.size(); }

 private:
  struct Idle {
    Idle(std::shared_ptr<Transport> of, boost::asio::io_context& io) : transport(std::move(of)), timer(io) {}
    std::shared_ptr<Transport> transport;
    Timer timer;
  };

  boost::asio::io_context& io_;
  std::chrono::milliseconds timeout_;
  std::list<Idle> idle_;
};

// Of one client. Calls use it only until they have ended or been cancelled.
struct CallContext {
  boost::asio::io_context& io;
  ServerAddress address;
  ApiLimits limits;
  Credentials credentials;
  IdleConnections idle;
  std::function<void(Call&)> ended;  // before its handler
};

struct CallHandlers {
  ApiHandler done;  // empty: a stream
  StreamHandlers stream = {};
  std::chrono::milliseconds silence{0};  // of a stream
};

class Call : public std::enable_shared_from_this<Call> {
 public:
  Call(CallContext& context, ApiRequest request, CallHandlers handlers);

  void start();
  // No handler is called any more. May be called by a handler of this call.
  void cancel();
  bool is_stream() const { return is_stream_; }

 private:
  void begin_attempt(bool may_reuse);
  void send();
  void read();
  void received(const SocketError& error, std::size_t bytes);
  void advance();
  bool take_body();
  void complete();
  void failed(const std::string& why);
  void end(ApiResponse response);
  ApiResponse head() const;
  std::string request_text() const;
  std::string name() const;
  bool is_open() const;
  void arm();

  CallContext& context_;
  ApiRequest request_;
  std::shared_ptr<CallHandlers> handlers_;  // none: ended or cancelled
  const bool is_stream_;
  Timer timer_;
  std::shared_ptr<Transport> transport_;
  std::shared_ptr<ResponseReader> reader_;  // of this attempt; a read that is pending keeps its own
  std::string token_;
  bool is_reused_ = false, is_written_ = false, has_received_ = false;  // of this attempt
  bool has_refused_ = false;                                            // the server a token
  bool is_announced_ = false;                                           // the head of a stream
};

// TLS as a client of the API server; internal to this folder.
//
// A context that verifies its peer by the authorities of a PEM file, or of the system if the name is empty. `error` is
// set if the file cannot be used.
boost::asio::ssl::context make_tls_context(const std::string& ca_file, std::string& error);

// The certificate of the peer must name this host, a name or an IP address. False: OpenSSL has no memory.
bool expect_host(SSL* connection, const std::string& host);

// Why a handshake failed: the verification of the certificate, else `otherwise`.
std::string handshake_error(const SSL* connection, const std::string& otherwise);

}  // namespace muster::api_server
