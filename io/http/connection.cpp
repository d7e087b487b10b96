#include "io/http/connection.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "io/http/problem.h"

namespace muster {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr std::size_t kReadHeadBytes = std::size_t{4} << 10;
constexpr std::size_t kMaxRequestIdBytes = 128;
// How long further input of a client is discarded after the last answer, so that the client can read that answer.
constexpr std::chrono::milliseconds kLinger{1000};
// How long the server waits for a client without a request once it drains: a request may be on its way.
constexpr std::chrono::milliseconds kDrainGrace{200};

// Grows with what has come, not with what was announced.
struct ReceivedBody {
  using value_type = std::string;
  class reader {
   public:
    template <bool IsRequest, class Fields>
    reader(http::header<IsRequest, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>&, ErrorCode& error) { error = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, ErrorCode& error) {
      error = {};
      std::size_t bytes = 0;
      for (auto it = asio::buffer_sequence_begin(buffers); it != asio::buffer_sequence_end(buffers); ++it) {
        const asio::const_buffer part(*it);
        body_.append(static_cast<const char*>(part.data()), part.size());
        bytes += part.size();
      }
      return bytes;
    }
    void finish(ErrorCode& error) { error = {}; }

   private:
    value_type& body_;
  };
};
using Parser = http::request_parser<ReceivedBody>;

// The part of the bytes that all connections hold.
class BodyShare {
 public:
  explicit BodyShare(std::shared_ptr<std::atomic<std::size_t>> total) : total_(std::move(total)) {}
  ~BodyShare() { release(); }
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;

  void release() { *total_ -= std::exchange(bytes_, 0); }
  // False: it would be too much together with what others hold.
  bool grow_to(std::size_t bytes, std::size_t most) {
    const std::size_t others = *total_ - bytes_;
    if (others > 0 && others + bytes > most) return false;
    *total_ += bytes - bytes_;
    bytes_ = bytes;
    return true;
  }

 private:
  std::shared_ptr<std::atomic<std::size_t>> total_;
  std::size_t bytes_ = 0;
};

// 1 to 128 letters, digits and a few signs: nothing that could disturb a log or a header.
bool is_sane_request_id(std::string_view id) {
  constexpr std::string_view kSigns = "-._~:+/=";
  return !id.empty() && id.size() <= kMaxRequestIdBytes && std::ranges::all_of(id, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kSigns.find(c) != std::string_view::npos;
  });
}

bool is_same_in_any_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

// Of "/v1/solve?x" and "http://host/v1/solve": "/v1/solve".
std::string path_of(std::string_view target) {
  const std::size_t scheme = target.find("://");
  if (!target.starts_with('/') && scheme != std::string_view::npos) {
    const std::size_t path = target.find('/', scheme + 3);
    target = path == std::string_view::npos ? "/" : target.substr(path);
  }
  return std::string(target.substr(0, target.find('?')));
}

std::string query_of(std::string_view target) {
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return "";
  return std::string(target.substr(mark + 1, target.find('#', mark) - mark - 1));
}

HttpProblem problem_of(const ErrorCode& error, const HttpLimits& limits) {
  if (error == http::error::header_limit) {
    return {431, "HeaderTooLarge", fmt::format("the header is longer than {} bytes", limits.max_header_bytes), {}};
  }
  if (error == http::error::body_limit) {
    return {413, "BodyTooLarge", fmt::format("the body is longer than {} bytes", limits.max_body_bytes), {}};
  }
  if (error == http::error::bad_version)
    return {505, "UnsupportedVersion", "the server supports HTTP/1.0 and HTTP/1.1", {}};
  return {400, "InvalidHttp", "the request is not valid HTTP/1.1: " + error.message(), {}};
}

// What is wrong with a header that could be parsed.
std::optional<HttpProblem> find_fault(const Parser& parser) {
  const auto& head = parser.get();
  if (head.version() >= 11 && head.count(http::field::host) != 1) {
    return HttpProblem{400, "InvalidHttp", "an HTTP/1.1 request must have exactly one Host header", {}};
  }
  const auto coding = head.find(http::field::transfer_encoding);
  if (coding != head.end()) {
    const std::string_view value(coding->value().data(), coding->value().size());
    if (head.version() < 11) return HttpProblem{400, "InvalidHttp", "Transfer-Encoding is not allowed in HTTP/1.0", {}};
    if (!parser.chunked()) return HttpProblem{400, "InvalidHttp", "the last Transfer-Encoding must be chunked", {}};
    if (!is_same_in_any_case(value, "chunked") || head.count(http::field::transfer_encoding) != 1) {
      return HttpProblem{501, "UnsupportedTransferEncoding", "the only supported Transfer-Encoding is chunked", {}};
    }
  }
  const auto expect = head[http::field::expect];
  if (!expect.empty() && !is_same_in_any_case({expect.data(), expect.size()}, "100-continue")) {
    return HttpProblem{417, "UnknownExpectation", "the only supported Expect is 100-continue", {}};
  }
  return std::nullopt;
}

std::string text_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

class Connection;

class Exchange final : public HttpExchange {
 public:
  Exchange(std::weak_ptr<Connection> connection, std::shared_ptr<std::atomic<std::size_t>> buffered_bytes)
      : share(std::move(buffered_bytes)), connection_(std::move(connection)) {}

  void respond(HttpResponse response) override;
  void begin(HttpResponse head) override;
  void write(std::string piece, std::function<void()> sent) override;
  void end() override;
  void abandon() override;

  void set_gone() { is_gone_ = true; }
  BodyShare share;
  unsigned status = 0;  // 0: not answered yet

 private:
  std::shared_ptr<Connection> current();
  std::weak_ptr<Connection> connection_;
};

enum class Phase : std::uint8_t { kIdle, kHead, kBody, kAnswering, kLingering, kClosed };

class Connection final : public HttpConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(HttpContext& context, int descriptor) : context_(context), socket_(context.io), timer_(context.io) {
    int family = AF_UNIX;
    socklen_t size = sizeof family;
    ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &size);
    const int on = 1;  // an answer is sent immediately; fails on Unix sockets, which do so in any case
    is_unix_ = family == AF_UNIX;
    if (!is_unix_) ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    socket_.assign(asio::generic::stream_protocol(family, 0), descriptor);
    socket_.non_blocking(true);
  }

  void start() override {
    begin_request();
    if (!context_.is_draining) arm(limits_.header_timeout);
  }

  void drain() override {
    if (phase_ == Phase::kIdle) arm(kDrainGrace);
  }

  bool is_current(const HttpExchange* exchange) const { return exchange_.get() == exchange; }
  void respond(HttpResponse response);
  void begin(const HttpResponse& head);
  void write(std::string piece, std::function<void()> sent);
  void end();
  void close();

 private:
  struct Piece {
    std::string bytes;
    std::function<void()> sent;  // may be empty
  };

  void begin_request();
  void advance();
  void skip_empty_lines();
  void read_more();
  bool begin_body();
  bool hold_body();
  void hand_over();
  void watch();
  void look_for_end();
  void fail(const HttpProblem& problem);
  std::string head_of(const HttpResponse& response, std::string_view framing);
  void send(std::string bytes, std::function<void()> sent);
  void flush();
  void on_sent(const ErrorCode& error);
  void finish();
  void linger();
  void discard();
  void arm(std::chrono::milliseconds duration);
  void disarm();
  void on_timeout();

  HttpContext& context_;
  asio::generic::stream_protocol::socket socket_;
  bool is_unix_ = false;
  asio::steady_timer timer_;
  std::uint64_t timer_generation_ = 0;
  Phase phase_ = Phase::kIdle;
  HttpLimits limits_;  // of the current request
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::size_t head_bytes_ = 0;
  std::shared_ptr<Exchange> exchange_;
  bool is_first_ = true, closes_ = false, is_watching_ = false, is_chunked_ = false, has_ended_ = false;
  bool is_reading_ = false, is_writing_ = false;
  std::deque<Piece> output_;    // waits
  std::vector<Piece> sending_;  // is being written
};

std::shared_ptr<Connection> Exchange::current() {
  std::shared_ptr<Connection> connection = connection_.lock();
  return connection && connection->is_current(this) ? connection : nullptr;
}
void Exchange::respond(HttpResponse response) {
  if (const auto connection = current()) connection->respond(std::move(response));
}
void Exchange::begin(HttpResponse head) {
  if (const auto connection = current()) connection->begin(head);
}
void Exchange::write(std::string piece, std::function<void()> sent) {
  if (const auto connection = current()) connection->write(std::move(piece), std::move(sent));
}
void Exchange::end() {
  if (const auto connection = current()) connection->end();
}
void Exchange::abandon() {
  if (const auto connection = current()) connection->close();
}

void Connection::begin_request() {
  limits_ = context_.limits;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(limits_.max_header_bytes));
  parser_->body_limit(limits_.max_body_bytes);
  head_bytes_ = 0;
  closes_ = is_chunked_ = has_ended_ = false;
  exchange_.reset();
  phase_ = Phase::kIdle;
  arm(context_.is_draining ? kDrainGrace : limits_.idle_timeout);
  advance();
}

// Before a request line they mean nothing (RFC 9112, 2.2).
void Connection::skip_empty_lines() {
  const auto data = buffer_.data();
  const auto* const text = static_cast<const char*>(data.data());
  std::size_t at = 0;
  while (at + 1 < data.size() && text[at] == '\r' && text[at + 1] == '\n') at += 2;
  buffer_.consume(at);
}

// Parses what has arrived, and reads on if that is not enough.
void Connection::advance() {
  while (true) {
    if (phase_ == Phase::kIdle) skip_empty_lines();
    if (buffer_.size() == 0) return read_more();
    if (phase_ == Phase::kIdle) {
      phase_ = Phase::kHead;
      if (!is_first_) arm(limits_.header_timeout);
      is_first_ = false;
    }
    ErrorCode error;
    const std::size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (phase_ == Phase::kHead) head_bytes_ += used;
    const bool is_short = error == http::error::need_more;
    // Beast counts what one call sees; of a body, only framing and trailers are ever left over.
    const std::size_t head = head_bytes_ + (is_short ? buffer_.size() : 0);
    if ((phase_ == Phase::kHead ? head : head - head_bytes_) > limits_.max_header_bytes) {
      error = http::make_error_code(http::error::header_limit);
    } else if (is_short) {
      return read_more();
    }
    if (error) return fail(problem_of(error, limits_));
    if (phase_ == Phase::kHead && parser_->is_header_done() && !begin_body()) return;
    if (phase_ == Phase::kBody && !hold_body()) return;
    if (parser_->is_done()) return hand_over();
  }
}

void Connection::read_more() {
  const std::size_t bytes = phase_ == Phase::kBody ? kReadBytes : kReadHeadBytes;
  is_reading_ = true;
  socket_.async_read_some(buffer_.prepare(bytes), [self = shared_from_this()](const ErrorCode& error, std::size_t got) {
    self->is_reading_ = false;
    if (error) return self->close();  // half a request is none
    if (self->phase_ == Phase::kLingering) return self->discard();
    if (self->phase_ == Phase::kAnswering || self->phase_ == Phase::kClosed) return;  // timed out meanwhile
    self->buffer_.commit(got);
    self->advance();
  });
}

// The header is there. False: it has been answered already.
bool Connection::begin_body() {
  exchange_ = std::make_shared<Exchange>(weak_from_this(), context_.buffered_bytes);
  HttpRequest& request = exchange_->request;
  const auto& head = parser_->get();
  request.method = text_of(head.method_string());
  request.path = path_of({head.target().data(), head.target().size()});
  request.query = query_of({head.target().data(), head.target().size()});
  for (const auto& field : head) request.fields.push_back({text_of(field.name_string()), text_of(field.value())});
  const std::string_view id = request.field("X-Request-Id");
  request.id = is_sane_request_id(id) ? std::string(id) : fmt::format("{:016x}", context_.next_id++);
  const auto fault = find_fault(*parser_);
  if (fault) {
    fail(*fault);
    return false;
  }
  if (auto refusal = context_.service.refuse(request)) {
    closes_ = !parser_->is_done();
    phase_ = Phase::kAnswering;
    respond(*std::move(refusal));
    return false;
  }
  phase_ = Phase::kBody;
  arm(limits_.body_timeout);
  const bool waits = !parser_->is_done() && buffer_.size() == 0 && !head[http::field::expect].empty();
  if (waits && head.version() >= 11) send("HTTP/1.1 100 Continue\r\n\r\n", {});
  return true;
}

// Counts the received bytes. False: they exceed the limit, and the request has been answered.
bool Connection::hold_body() {
  if (exchange_->share.grow_to(parser_->get().body().size(), limits_.max_buffered_bytes)) return true;
  HttpResponse response =
      problem_response({429,
                        "TooManyBytes",
                        "the bodies of the requests in flight use all of --max-buffered-bytes; try again later",
                        {}},
                       exchange_->request.id);
  response.fields.push_back({"Retry-After", "1"});
  closes_ = !parser_->is_done();
  phase_ = Phase::kAnswering;
  respond(std::move(response));
  return false;
}

void Connection::hand_over() {
  phase_ = Phase::kAnswering;
  disarm();
  exchange_->request.body = std::move(parser_->get().body());
  context_.service.serve(exchange_);
  if (phase_ == Phase::kAnswering && !has_ended_) watch();
}

// Detects that the client closes its side while it waits. If the client sends more instead, that is left until after
// the answer.
void Connection::watch() {
  if (is_watching_) return;
  is_watching_ = true;
  socket_.async_wait(asio::socket_base::wait_read, [self = shared_from_this()](const ErrorCode& error) {
    self->is_watching_ = false;
    if (!error && self->phase_ == Phase::kAnswering) self->look_for_end();
  });
}

void Connection::look_for_end() {
  char byte = 0;
  const ssize_t got = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))) return;
  // On a Unix socket, a client that has only ended sending differs from one that has closed, and gets the answer.
  pollfd end{socket_.native_handle(), 0, 0};
  if (is_unix_ && got == 0 && ::poll(&end, 1, 0) == 0) return;
  closes_ = true;
  exchange_->set_gone();
  context_.service.gone(exchange_);
}

// Answers what cannot be read, and closes.
void Connection::fail(const HttpProblem& problem) {
  if (!exchange_) {
    exchange_ = std::make_shared<Exchange>(weak_from_this(), context_.buffered_bytes);
    exchange_->request.id = fmt::format("{:016x}", context_.next_id++);
  }
  closes_ = true;
  phase_ = Phase::kAnswering;
  respond(problem_response(problem, exchange_->request.id));
}

std::string Connection::head_of(const HttpResponse& response, std::string_view framing) {
  const bool is_old = parser_->is_header_done() && parser_->get().version() < 11;
  if (context_.is_draining || !parser_->is_header_done() || !parser_->get().keep_alive()) closes_ = true;
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n{}X-Request-Id: {}\r\n", response.status,
                  reason_phrase(response.status), context_.service.date(), framing, exchange_->request.id);
  if (!response.content_type.empty()) head += fmt::format("Content-Type: {}\r\n", response.content_type);
  for (const HttpField& field : response.fields) head += fmt::format("{}: {}\r\n", field.name, field.value);
  head += closes_ ? "Connection: close\r\n" : is_old ? "Connection: keep-alive\r\n" : "";
  return head + "\r\n";
}

void Connection::respond(HttpResponse response) {
  if (phase_ != Phase::kAnswering || exchange_->status != 0) return;
  exchange_->status = response.status;
  has_ended_ = true;
  disarm();
  std::string head = head_of(response, fmt::format("Content-Length: {}\r\n", response.body.size()));
  if (exchange_->request.method != "HEAD" && !response.body.empty()) {
    output_.push_back({std::move(head), {}});
    return send(std::move(response.body), {});
  }
  send(std::move(head), {});
}

void Connection::begin(const HttpResponse& head) {
  if (phase_ != Phase::kAnswering || exchange_->status != 0) return;
  exchange_->status = head.status;
  is_chunked_ = parser_->get().version() >= 11;
  if (!is_chunked_) closes_ = true;  // the end of the body is that of the connection
  send(head_of(head, is_chunked_ ? "Transfer-Encoding: chunked\r\n" : ""), {});
}

void Connection::write(std::string piece, std::function<void()> sent) {
  if (phase_ != Phase::kAnswering || has_ended_ || piece.empty()) return;
  if (!is_chunked_) return send(std::move(piece), std::move(sent));
  output_.push_back({fmt::format("{:x}\r\n", piece.size()), {}});
  output_.push_back({std::move(piece), {}});
  send("\r\n", std::move(sent));
}

void Connection::end() {
  if (phase_ != Phase::kAnswering || has_ended_) return;
  has_ended_ = true;
  if (is_chunked_) return send("0\r\n\r\n", {});
  if (!is_writing_ && output_.empty()) finish();
}

void Connection::send(std::string bytes, std::function<void()> sent) {
  output_.push_back({std::move(bytes), std::move(sent)});
  flush();
}

void Connection::flush() {
  if (is_writing_ || output_.empty() || phase_ == Phase::kClosed) return;
  is_writing_ = true;
  sending_.assign(std::make_move_iterator(output_.begin()), std::make_move_iterator(output_.end()));
  output_.clear();
  std::vector<asio::const_buffer> buffers;
  for (const Piece& piece : sending_) buffers.emplace_back(piece.bytes.data(), piece.bytes.size());
  if (phase_ == Phase::kAnswering) arm(limits_.write_timeout);
  asio::async_write(socket_, buffers,
                    [self = shared_from_this()](const ErrorCode& error, std::size_t) { self->on_sent(error); });
}

void Connection::on_sent(const ErrorCode& error) {
  is_writing_ = false;
  if (phase_ == Phase::kClosed) return;
  if (error) return close();
  if (phase_ == Phase::kAnswering) disarm();
  for (const Piece& piece : std::exchange(sending_, {})) {
    if (piece.sent) piece.sent();
  }
  flush();
  if (phase_ == Phase::kAnswering && has_ended_ && !is_writing_) finish();
}

void Connection::finish() {
  context_.service.answered(exchange_->request, exchange_->status, true);
  exchange_->share.release();  // a thread may still have the exchange in its hands for a moment
  exchange_.reset();
  closes_ ? linger() : begin_request();
}

// If it were closed with unread input, the client could lose the answer.
void Connection::linger() {
  phase_ = Phase::kLingering;
  ErrorCode ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  arm(kLinger);
  if (!is_reading_) discard();
}

void Connection::discard() {
  buffer_.clear();
  socket_.async_read_some(buffer_.prepare(kReadBytes),
                          [self = shared_from_this()](const ErrorCode& error, std::size_t) {
                            if (self->phase_ != Phase::kLingering) return;
                            error ? self->close() : self->discard();
                          });
}

void Connection::close() {
  if (phase_ == Phase::kClosed) return;
  const bool has_exchange = phase_ == Phase::kAnswering && exchange_;
  phase_ = Phase::kClosed;
  const auto self = shared_from_this();
  disarm();
  ErrorCode ignored;
  socket_.close(ignored);
  output_.clear();
  const std::shared_ptr<Exchange> exchange = std::move(exchange_);
  if (has_exchange) {
    exchange->set_gone();
    context_.service.gone(exchange);
    context_.service.answered(exchange->request, exchange->status, false);
  }
  context_.connections.erase(self);
  context_.connection_count = context_.connections.size();
  context_.on_closed();
}

void Connection::arm(std::chrono::milliseconds duration) {
  timer_.expires_after(duration);
  timer_.async_wait([self = shared_from_this(), generation = ++timer_generation_](const ErrorCode& error) {
    if (!error && generation == self->timer_generation_) self->on_timeout();
  });
}

void Connection::disarm() {
  ++timer_generation_;
  timer_.cancel();
}

void Connection::on_timeout() {
  switch (phase_) {
    case Phase::kIdle:
      if (!context_.is_draining) context_.service.dropped(is_first_ ? "header_timeout" : "idle_timeout");
      return close();
    case Phase::kHead:
      context_.service.dropped("header_timeout");
      return fail({408, "HeaderTimeout", "the header did not arrive in time", {}});
    case Phase::kBody:
      context_.service.dropped("body_timeout");
      return fail({408, "BodyTimeout", "the body did not arrive in time", {}});
    case Phase::kAnswering:
      context_.service.dropped("write_timeout");
      return close();
    case Phase::kLingering:
      return close();
    case Phase::kClosed:
      return;
  }
}

}  // namespace

HttpContext::HttpContext(boost::asio::io_context& io_context, HttpService& served, const HttpLimits& first_limits)
    : io(io_context), service(served), limits(first_limits) {
  std::random_device device;
  next_id = (std::uint64_t{device()} << 32) | device();
}

std::shared_ptr<HttpConnection> make_connection(HttpContext& context, int descriptor) {
  return std::make_shared<Connection>(context, descriptor);
}

std::string_view HttpRequest::field(std::string_view name) const {
  const auto found =
      std::ranges::find_if(fields, [&](const HttpField& f) { return is_same_in_any_case(f.name, name); });
  return found == fields.end() ? std::string_view() : std::string_view(found->value);
}

}  // namespace muster
