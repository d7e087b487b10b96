// One connection to the API server, with TLS or without; internal to this folder.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <boost/system/error_code.hpp>

#include "io/api_server/server_address.h"

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
