// One request on its way, and what the calls of a client share; internal to api_client.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "io/api_server/api_request.h"
#include "io/api_server/credentials.h"
#include "io/api_server/response_reader.h"
#include "io/api_server/server_address.h"
#include "io/api_server/timer.h"
#include "io/api_server/transport.h"

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

}  // namespace muster::api_server
