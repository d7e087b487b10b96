#include "io/api_server/call.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include "io/api_server/kind_sink.h"

namespace muster::api_server {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// Nothing that could end a line of the request's head.
bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

Credentials::Credentials(std::string token_file, Clock clock, std::chrono::milliseconds period)
    : file_(std::move(token_file)), clock_(std::move(clock)), period_(period) {}

const std::string& Credentials::token() {
  if (!file_.empty() && (!read_at_ || clock_() - *read_at_ >= period_)) read();
  return token_;
}

bool Credentials::refuse(const std::string& token) {
  if (!file_.empty() && token == token_) read();
  return token != token_;
}

void Credentials::read() {
  read_at_ = clock_();
  std::ifstream stream(file_, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (const std::string_view token = trimmed(text); is_token(token)) token_ = token;
}

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

namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;

std::string seconds_text(std::chrono::milliseconds time) {
  return fmt::format("{} s", std::chrono::duration<double>(time).count());
}

}  // namespace

std::shared_ptr<Transport> IdleConnections::take() {
  while (!idle_.empty()) {
    std::shared_ptr<Transport> transport = std::move(idle_.back().transport);
    idle_.pop_back();
    if (transport->is_quiet()) return transport;
    transport->close();
  }
  return nullptr;
}

void IdleConnections::put(std::shared_ptr<Transport> transport) {
  idle_.emplace_back(std::move(transport), io_);
  const auto place = std::prev(idle_.end());
  place->timer.after(timeout_, [this, place] {
    const std::shared_ptr<Transport> old = std::move(place->transport);
    idle_.erase(place);
    old->close();
  });
}

void IdleConnections::close_all() {
  for (const Idle& idle : idle_) idle.transport->close();
  idle_.clear();
}

Call::Call(CallContext& context, ApiRequest request, CallHandlers handlers)
    : context_(context),
      request_(std::move(request)),
      handlers_(std::make_shared<CallHandlers>(std::move(handlers))),
      is_stream_(!handlers_->done),
      timer_(context.io) {}

void Call::start() {
  arm();
  begin_attempt(!is_stream_);
}

void Call::cancel() {
  handlers_.reset();
  timer_.cancel();
  if (transport_) transport_->close();
}

void Call::arm() {
  const auto limit = request_.timeout.count() > 0 ? request_.timeout : context_.limits.request_timeout;
  const auto time = is_stream_ ? handlers_->silence : limit;
  timer_.after(time, [self = weak_from_this(), time] {
    const auto call = self.lock();
    if (!call) return;
    if (call->is_stream_) return call->failed("nothing has come for " + seconds_text(time));
    call->failed("no answer within " + seconds_text(time));
  });
}

void Call::begin_attempt(bool may_reuse) {
  token_ = context_.credentials.token();
  is_written_ = has_received_ = false;
  reader_ = std::make_shared<ResponseReader>();
  reader_->begin(context_.limits.max_header_bytes);
  transport_ = may_reuse ? context_.idle.take() : nullptr;
  is_reused_ = transport_ != nullptr;
  if (is_reused_) return send();
  transport_ = std::make_shared<Transport>(context_.io);
  auto limit = std::make_shared<Timer>(context_.io);
  limit->after(context_.limits.connect_timeout, [self = weak_from_this(), of = transport_] {
    const auto call = self.lock();
    if (!call || call->transport_ != of) return;
    call->failed(fmt::format("no connection to {} within {}", call->context_.address.text(),
                             seconds_text(call->context_.limits.connect_timeout)));
  });
  transport_->connect(context_.address, [self = shared_from_this(), of = transport_, limit](const std::string& error) {
    limit->cancel();
    if (!self->handlers_ || self->transport_ != of) return;
    if (!error.empty()) return self->failed(error);
    self->send();
  });
}

std::string Call::request_text() const {
  const bool is_v6 = context_.address.host.find(':') != std::string::npos;
  std::string text =
      fmt::format("{} {}{} HTTP/1.1\r\nHost: {}{}{}:{}\r\nUser-Agent: {}\r\nAccept: {}\r\n", request_.method,
                  context_.address.base_path, request_.target, is_v6 ? "[" : "", context_.address.host,
                  is_v6 ? "]" : "", context_.address.port, context_.limits.user_agent, request_.accept);
  if (!token_.empty()) text += fmt::format("Authorization: Bearer {}\r\n", token_);
  if (!request_.content_type.empty()) text += fmt::format("Content-Type: {}\r\n", request_.content_type);
  if (!request_.body.empty() || request_.method != "GET")
    text += fmt::format("Content-Length: {}\r\n", request_.body.size());
  return text + "\r\n" + request_.body;
}

void Call::send() {
  const auto text = std::make_shared<std::string>(request_text());
  transport_->write(*text, [self = shared_from_this(), of = transport_, text](const SocketError& error) {
    if (!self->handlers_ || self->transport_ != of) return;
    self->is_written_ = !error;
  });
  read();
}

void Call::read() {
  transport_->read_some(reader_->space(kReadBytes), [self = shared_from_this(), of = transport_, reader = reader_](
                                                        const SocketError& error, std::size_t bytes) {
    if (self->handlers_ && self->transport_ == of) self->received(error, bytes);
  });
}

void Call::received(const SocketError& error, std::size_t bytes) {
  if (!error) {
    has_received_ = true;
    reader_->add(bytes);
    if (is_stream_) arm();
    return advance();
  }
  const bool is_end = error == boost::asio::error::eof;
  if (is_reused_ && !has_received_ && request_.method == "GET") {
    transport_->close();
    return begin_attempt(false);
  }
  if (is_end && reader_->finish()) return complete();
  failed(is_end ? reader_->fault() : "the connection broke: " + error.message());
}

bool Call::is_open() const { return is_stream_ && reader_->status() / 100 == 2; }

void Call::advance() {
  while (true) {
    const ResponseReader::Progress progress = reader_->parse();
    if (progress == ResponseReader::Progress::kFault) return failed(reader_->fault());
    if (reader_->has_head() && !take_body()) return;
    if (progress == ResponseReader::Progress::kDone) return complete();
    if (progress == ResponseReader::Progress::kNeedsInput) return read();
  }
}

// False: the call has ended.
bool Call::take_body() {
  if (!is_open()) {
    if (reader_->body().size() <= context_.limits.max_body_bytes) return true;
    failed(fmt::format("the answer is longer than {} bytes", context_.limits.max_body_bytes));
    return false;
  }
  const auto handlers = handlers_;
  if (!std::exchange(is_announced_, true) && handlers->stream.open) handlers->stream.open(head());
  if (!handlers_ || reader_->body().empty()) return handlers_ != nullptr;
  const std::string piece = std::exchange(reader_->body(), {});
  if (handlers->stream.bytes) handlers->stream.bytes(piece);
  return handlers_ != nullptr;
}

ApiResponse Call::head() const {
  ApiResponse response;
  response.status = reader_->status();
  response.retry_after = read_seconds(reader_->field("Retry-After"));
  response.date = reader_->field("Date");
  response.content_type = reader_->field("Content-Type");
  return response;
}

// "GET /api/v1/pods": without the query.
std::string Call::name() const { return request_.method + " " + request_.target.substr(0, request_.target.find('?')); }

void Call::complete() {
  if (reader_->status() == 401 && !token_.empty() && !std::exchange(has_refused_, true) &&
      context_.credentials.refuse(token_)) {
    transport_->close();
    return begin_attempt(false);
  }
  if (is_open() && !take_body()) return;
  ApiResponse response = head();
  response.body = std::move(reader_->body());
  if (!response.is_ok()) {
    const StatusText status = read_status(response.body);
    const std::string message = status.message.empty() ? first_line(response.body) : status.message;
    response.reason = status.reason;
    if (!response.retry_after) response.retry_after = status.retry_after;
    response.error = fmt::format("{}: {} {}{}{}", name(), response.status, status_phrase(response.status),
                                 message.empty() ? "" : ": ", message);
  }
  if (!is_stream_ && is_written_ && reader_->keeps_alive()) context_.idle.put(std::exchange(transport_, nullptr));
  end(std::move(response));
}

void Call::failed(const std::string& why) {
  ApiResponse response;
  if (is_announced_) response = head();
  response.error = name() + ": " + why;
  end(std::move(response));
}

void Call::end(ApiResponse response) {
  const auto self = shared_from_this();
  const auto handlers = std::exchange(handlers_, nullptr);
  timer_.cancel();
  if (transport_) transport_->close();
  context_.ended(*this);
  if (handlers->done) return handlers->done(std::move(response));
  if (handlers->stream.end) handlers->stream.end(response);
}

boost::asio::ssl::context make_tls_context(const std::string& ca_file, std::string& error) {
  boost::asio::ssl::context context(boost::asio::ssl::context::tls_client);
  SSL_CTX* const native = context.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
  // As in Go, a certificate of the file is trusted even if it is that of an intermediate authority.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(native), X509_V_FLAG_PARTIAL_CHAIN);
  ERR_clear_error();
  if (ca_file.empty()) {
    if (SSL_CTX_set_default_verify_paths(native) != 1) error = "cannot load the certificate authorities of the system";
  } else if (SSL_CTX_load_verify_locations(native, ca_file.c_str(), nullptr) != 1) {
    error = "cannot read certificates of authorities from " + ca_file;
  }
  ERR_clear_error();
  return context;
}

bool expect_host(SSL* connection, const std::string& host) {
  X509_VERIFY_PARAM* const param = SSL_get0_param(connection);
  boost::system::error_code no_address;
  boost::asio::ip::make_address(host, no_address);
  if (!no_address) return X509_VERIFY_PARAM_set1_ip_asc(param, host.c_str()) == 1;
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  return X509_VERIFY_PARAM_set1_host(param, host.c_str(), host.size()) == 1 &&
         SSL_ctrl(connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                  const_cast<char*>(host.c_str())) == 1;
}

std::string handshake_error(const SSL* connection, const std::string& otherwise) {
  const long verified = SSL_get_verify_result(connection);
  if (verified == X509_V_OK) return otherwise;
  return std::string("the certificate of the server is not accepted: ") + X509_verify_cert_error_string(verified);
}

}  // namespace muster::api_server
