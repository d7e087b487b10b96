#include "io/api_server/transport.h"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "io/api_server/tls.h"

namespace muster::api_server {

namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

// A peer that does not answer is found out after a minute: 30 s of silence, then 3 probes. Go's dialer probes after 15
// to 30 s (net.Dialer, client-go's transport).
constexpr int kKeepAliveIdleSeconds = 30;
constexpr int kKeepAliveIntervalSeconds = 10;
constexpr int kKeepAliveProbes = 3;
constexpr unsigned kUnacknowledgedMs = 60'000;

template <class Value>
void set_tcp(int socket, int option, Value value) {
  ::setsockopt(socket, IPPROTO_TCP, option, &value, sizeof value);
}

void set_options(Tcp::socket& socket) {
  SocketError ignored;
  socket.set_option(Tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  const int native = socket.native_handle();
  set_tcp(native, TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  set_tcp(native, TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
  set_tcp(native, TCP_KEEPCNT, kKeepAliveProbes);
  set_tcp(native, TCP_USER_TIMEOUT, kUnacknowledgedMs);
}

std::optional<Tcp::endpoint> numeric_endpoint(const ServerAddress& address) {
  SocketError error;
  const auto ip = asio::ip::make_address(address.host, error);
  std::uint16_t port = 0;
  std::from_chars(address.port.data(), address.port.data() + address.port.size(), port);
  if (error || port == 0) return std::nullopt;
  return Tcp::endpoint(ip, port);
}

}  // namespace

struct Transport::Streams {
  explicit Streams(asio::io_context& io_context) : io(io_context), resolver(io), socket(io) {}

  asio::io_context& io;
  Tcp::resolver resolver;
  Tcp::socket socket;
  std::optional<asio::ssl::context> context;
  std::optional<asio::ssl::stream<Tcp::socket&>> tls;
  bool is_closed = false;
};

Transport::Transport(asio::io_context& io) : streams_(std::make_unique<Streams>(io)) {}
Transport::~Transport() = default;

void Transport::connect(const ServerAddress& address, std::function<void(std::string)> done) {
  if (address.is_tls) {
    std::string error;
    streams_->context.emplace(make_tls_context(address.ca_file, error));
    if (error.empty()) {
      streams_->tls.emplace(streams_->socket, *streams_->context);
      if (!expect_host(streams_->tls->native_handle(), address.host)) error = "out of memory";
    }
    if (!error.empty()) {
      return asio::post(streams_->io, [done = std::move(done), error = std::move(error)] { done(error); });
    }
  }
  connect_to(address, [self = shared_from_this(), done = std::move(done)](std::string error) {
    if (!error.empty() || !self->streams_->tls) return done(std::move(error));
    self->shake_hands(done);
  });
}

void Transport::connect_to(const ServerAddress& address, const std::function<void(std::string)>& done) {
  const auto connected = [self = shared_from_this(), done, text = address.text()](const SocketError& error) {
    if (error) return done("cannot connect to " + text + ": " + error.message());
    set_options(self->streams_->socket);
    done({});
  };
  if (const auto endpoint = numeric_endpoint(address)) return streams_->socket.async_connect(*endpoint, connected);
  streams_->resolver.async_resolve(
      address.host, address.port, Tcp::resolver::numeric_service,
      [self = shared_from_this(), done, connected, host = address.host](const SocketError& error,
                                                                        const Tcp::resolver::results_type& found) {
        if (error) return done("cannot find the address of " + host + ": " + error.message());
        if (self->streams_->is_closed) return done("closed");
        asio::async_connect(self->streams_->socket, found,
                            [connected](const SocketError& failed, const Tcp::endpoint&) { connected(failed); });
      });
}

void Transport::shake_hands(std::function<void(std::string)> done) {
  streams_->tls->async_handshake(
      asio::ssl::stream_base::client, [self = shared_from_this(), done = std::move(done)](const SocketError& error) {
        if (!error) return done({});
        done("TLS: " + handshake_error(self->streams_->tls->native_handle(), error.message()));
      });
}

void Transport::read_some(std::span<char> space, std::function<void(const SocketError&, std::size_t)> done) {
  const auto buffer = asio::buffer(space.data(), space.size());
  auto handler = [self = shared_from_this(), done = std::move(done)](const SocketError& error, std::size_t bytes) {
    done(error, bytes);
  };
  if (streams_->tls) return streams_->tls->async_read_some(buffer, std::move(handler));
  streams_->socket.async_read_some(buffer, std::move(handler));
}

void Transport::write(std::string_view bytes, std::function<void(const SocketError&)> done) {
  const auto buffer = asio::buffer(bytes.data(), bytes.size());
  auto handler = [self = shared_from_this(), done = std::move(done)](const SocketError& error, std::size_t) {
    done(error);
  };
  if (streams_->tls) return asio::async_write(*streams_->tls, buffer, std::move(handler));
  asio::async_write(streams_->socket, buffer, std::move(handler));
}

void Transport::close() {
  SocketError ignored;
  streams_->is_closed = true;
  streams_->resolver.cancel();
  streams_->socket.close(ignored);
}

bool Transport::is_quiet() {
  char byte = 0;
  if (streams_->tls && SSL_pending(streams_->tls->native_handle()) > 0) return false;
  const ssize_t got = ::recv(streams_->socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace muster::api_server
