#include "io/http/connection.h"

#include <algorithm>
#include <cctype>
#include <random>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "io/http/client_watch.h"
#include "io/http/output_queue.h"
#include "io/http/request_reader.h"
#include "io/http/service.h"

namespace muster::http {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr std::size_t kReadHeadBytes = std::size_t{4} << 10;
constexpr std::size_t kMaxRequestIdBytes = 128;
// How long further input of a client is discarded after the last answer, so that the client can read that answer.
constexpr std::chrono::milliseconds kLinger{1000};
// How long the server waits for a client without a request once it drains: a request may be on its way.
constexpr std::chrono::milliseconds kDrainGrace{200};

// 1 to 128 letters, digits and a few signs: nothing that could disturb a log or a header.
bool is_sane_request_id(std::string_view id) {
  constexpr std::string_view kSigns = "-._~:+/=";
  return !id.empty() && id.size() <= kMaxRequestIdBytes && std::ranges::all_of(id, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kSigns.find(c) != std::string_view::npos;
  });
}

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

// Of a descriptor's socket.
int family_of(int descriptor) {
  int family = AF_UNIX;
  socklen_t size = sizeof family;
  ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

class Connection final : public HttpConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(HttpContext& context, int descriptor)
      : context_(context),
        socket_(context.io),
        client_(socket_, family_of(descriptor) == AF_UNIX),
        alarm_(context.io),
        output_(socket_) {
    const int family = family_of(descriptor);
    const int on = 1;  // an answer is sent immediately; fails on Unix sockets, which do so in any case
    if (family != AF_UNIX) ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    socket_.assign(asio::generic::stream_protocol(family, 0), descriptor);
    socket_.non_blocking(true);
  }

  void start() override {
    attempt([this] {
      begin_request();
      if (!context_.is_draining) arm(limits_.header_timeout);
    });
  }

  void drain() override {
    if (phase_ == Phase::kIdle) attempt([this] { arm(kDrainGrace); });
  }

  // Takes a step; an exception ends this connection and no other.
  template <class Step>
  void attempt(const Step& step) {
    const auto self = shared_from_this();
    try {
      step();
    } catch (const std::exception&) {
      context_.service.dropped("defect");
      close();
    }
  }

  bool is_current(const HttpExchange* exchange) const { return exchange_.get() == exchange; }
  void respond(HttpResponse response);
  void begin(const HttpResponse& head);
  void write(std::string piece, std::function<void()> sent);
  void end();
  void close();

 private:
  void begin_request();
  void advance();
  void read_more();
  asio::mutable_buffer input_space(std::size_t bytes);
  bool begin_body();
  bool hold_body();
  void hand_over();
  void watch();
  void see_client_off();
  void fail(const HttpProblem& problem);
  std::string head_of(const HttpResponse& response, std::string_view framing);
  void send(std::string bytes, std::function<void()> sent);
  void flush();
  void on_sent(const SocketError& error);
  void finish();
  void linger();
  void discard();
  void arm(std::chrono::milliseconds duration);
  void on_timeout();

  HttpContext& context_;
  StreamSocket socket_;
  ClientWatch client_;
  Alarm alarm_;
  OutputQueue output_;
  RequestReader reader_;
  HttpLimits limits_;  // of the current request
  Phase phase_ = Phase::kIdle;
  std::shared_ptr<Exchange> exchange_;
  bool is_first_ = true, is_reading_ = false;
  bool closes_ = false, is_chunked_ = false, has_ended_ = false;  // of the current answer
};

std::shared_ptr<Connection> Exchange::current() {
  std::shared_ptr<Connection> connection = connection_.lock();
  return connection && connection->is_current(this) ? connection : nullptr;
}
void Exchange::respond(HttpResponse response) {
  if (const auto connection = current()) connection->attempt([&] { connection->respond(std::move(response)); });
}
void Exchange::begin(HttpResponse head) {
  if (const auto connection = current()) connection->attempt([&] { connection->begin(head); });
}
void Exchange::write(std::string piece, std::function<void()> sent) {
  const auto connection = current();
  if (connection) connection->attempt([&] { connection->write(std::move(piece), std::move(sent)); });
}
void Exchange::end() {
  if (const auto connection = current()) connection->attempt([&] { connection->end(); });
}
void Exchange::abandon() {
  if (const auto connection = current()) connection->close();
}

void Connection::begin_request() {
  limits_ = context_.limits;
  reader_.begin(limits_);
  closes_ = is_chunked_ = has_ended_ = false;
  exchange_.reset();
  phase_ = Phase::kIdle;
  arm(context_.is_draining ? kDrainGrace : limits_.idle_timeout);
  advance();
}

// Parses what has arrived, and reads on if that is not enough.
void Connection::advance() {
  while (true) {
    if (phase_ == Phase::kIdle) reader_.skip_empty_lines();
    if (!reader_.has_input()) return read_more();
    if (phase_ == Phase::kIdle) {
      phase_ = Phase::kHead;
      if (!is_first_) arm(limits_.header_timeout);
      is_first_ = false;
    }
    const RequestReader::Progress progress = reader_.parse();
    if (progress == RequestReader::Progress::kNeedsInput) return read_more();
    if (progress == RequestReader::Progress::kFault) return fail(reader_.fault());
    if (phase_ == Phase::kHead && reader_.has_head() && !begin_body()) return;
    if (phase_ == Phase::kBody && !hold_body()) return;
    if (reader_.is_done()) return hand_over();
  }
}

asio::mutable_buffer Connection::input_space(std::size_t bytes) {
  const std::span<char> space = reader_.space(bytes);
  return {space.data(), space.size()};
}

void Connection::read_more() {
  const std::size_t bytes = phase_ == Phase::kBody ? kReadBytes : kReadHeadBytes;
  is_reading_ = true;
  socket_.async_read_some(input_space(bytes), [self = shared_from_this()](const SocketError& error, std::size_t got) {
    self->is_reading_ = false;
    if (error) return self->close();                                                  // half a request is none
    if (self->phase_ == Phase::kAnswering || self->phase_ == Phase::kClosed) return;  // timed out meanwhile
    self->attempt([&] {
      if (self->phase_ == Phase::kLingering) return self->discard();
      self->reader_.add(got);
      self->advance();
    });
  });
}

// The header is there. False: it has been answered already.
bool Connection::begin_body() {
  exchange_ = std::make_shared<Exchange>(weak_from_this(), context_.buffered_bytes);
  HttpRequest& request = exchange_->request;
  request = reader_.head();
  const std::string_view id = request.field("X-Request-Id");
  request.id = is_sane_request_id(id) ? std::string(id) : fmt::format("{:016x}", context_.next_id++);
  if (const auto fault = reader_.fault_of_head()) {
    fail(*fault);
    return false;
  }
  if (auto refusal = context_.service.refuse(request)) {
    closes_ = !reader_.is_done();
    phase_ = Phase::kAnswering;
    respond(*std::move(refusal));
    return false;
  }
  phase_ = Phase::kBody;
  arm(limits_.body_timeout);
  if (reader_.awaits_continue()) send("HTTP/1.1 100 Continue\r\n\r\n", {});
  return true;
}

// Counts the received bytes. False: they exceed the limit, and the request has been answered.
bool Connection::hold_body() {
  if (exchange_->share.grow_to(reader_.body_bytes(), limits_.max_buffered_bytes)) return true;
  HttpResponse response =
      problem_response({429,
                        HttpFault::kTooManyBytes,
                        "the bodies of the requests in flight use all of --max-buffered-bytes; try again later",
                        {}},
                       exchange_->request.id);
  response.fields.push_back({"Retry-After", "1"});
  closes_ = !reader_.is_done();
  phase_ = Phase::kAnswering;
  respond(std::move(response));
  return false;
}

void Connection::hand_over() {
  phase_ = Phase::kAnswering;
  alarm_.cancel();
  exchange_->request.body = reader_.take_body();
  try {
    context_.service.serve(exchange_);
  } catch (const std::exception& defect) {
    respond(problem_response({500, ErrorCode::kInternalError, defect.what(), "$"}, exchange_->request.id));
  }
  if (phase_ == Phase::kAnswering && !has_ended_) watch();
}

// While the client waits for its answer.
void Connection::watch() {
  client_.begin([self = shared_from_this()] {
    if (self->phase_ == Phase::kAnswering && self->client_.has_left()) self->attempt([&] { self->see_client_off(); });
  });
}

void Connection::see_client_off() {
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
  const bool is_old = reader_.has_head() && reader_.is_old();
  if (context_.is_draining || !reader_.has_head() || !reader_.keeps_alive()) closes_ = true;
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
  alarm_.cancel();
  std::string head = head_of(response, fmt::format("Content-Length: {}\r\n", response.body.size()));
  if (exchange_->request.method != "HEAD" && !response.body.empty()) {
    output_.add(std::move(head));
    return send(std::move(response.body), {});
  }
  send(std::move(head), {});
}

void Connection::begin(const HttpResponse& head) {
  if (phase_ != Phase::kAnswering || exchange_->status != 0) return;
  exchange_->status = head.status;
  is_chunked_ = !reader_.is_old();
  if (!is_chunked_) closes_ = true;  // the end of the body is that of the connection
  send(head_of(head, is_chunked_ ? "Transfer-Encoding: chunked\r\n" : ""), {});
}

void Connection::write(std::string piece, std::function<void()> sent) {
  if (phase_ != Phase::kAnswering || has_ended_ || piece.empty()) return;
  if (!is_chunked_) return send(std::move(piece), std::move(sent));
  output_.add(fmt::format("{:x}\r\n", piece.size()));
  output_.add(std::move(piece));
  send("\r\n", std::move(sent));
}

void Connection::end() {
  if (phase_ != Phase::kAnswering || has_ended_) return;
  has_ended_ = true;
  if (is_chunked_) return send("0\r\n\r\n", {});
  if (!output_.is_writing() && !output_.has_waiting()) finish();
}

void Connection::send(std::string bytes, std::function<void()> sent) {
  output_.add(std::move(bytes), std::move(sent));
  flush();
}

void Connection::flush() {
  if (output_.is_writing() || !output_.has_waiting() || phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kAnswering) arm(limits_.write_timeout);
  output_.write(
      [self = shared_from_this()](const SocketError& error) { self->attempt([&] { self->on_sent(error); }); });
}

void Connection::on_sent(const SocketError& error) {
  if (phase_ == Phase::kClosed) return;
  if (error) return close();
  if (phase_ == Phase::kAnswering) alarm_.cancel();
  output_.confirm();
  flush();
  if (phase_ == Phase::kAnswering && has_ended_ && !output_.is_writing()) finish();
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
  SocketError ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  arm(kLinger);
  if (!is_reading_) discard();
}

void Connection::discard() {
  reader_.drop_input();
  socket_.async_read_some(input_space(kReadBytes), [self = shared_from_this()](const SocketError& error, std::size_t) {
    if (self->phase_ != Phase::kLingering) return;
    self->attempt([&] { error ? self->close() : self->discard(); });
  });
}

void Connection::close() {
  if (phase_ == Phase::kClosed) return;
  const bool has_exchange = phase_ == Phase::kAnswering && exchange_;
  phase_ = Phase::kClosed;
  const auto self = shared_from_this();
  alarm_.cancel();
  SocketError ignored;
  socket_.close(ignored);
  output_.drop_waiting();
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
  alarm_.set(duration, [self = shared_from_this()] { self->attempt([&] { self->on_timeout(); }); });
}

void Connection::on_timeout() {
  switch (phase_) {
    case Phase::kIdle:
      if (!context_.is_draining) context_.service.dropped(is_first_ ? "header_timeout" : "idle_timeout");
      return close();
    case Phase::kHead:
      context_.service.dropped("header_timeout");
      return fail({408, HttpFault::kHeaderTimeout, "the header did not arrive in time", {}});
    case Phase::kBody:
      context_.service.dropped("body_timeout");
      return fail({408, HttpFault::kBodyTimeout, "the body did not arrive in time", {}});
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

}  // namespace muster::http
