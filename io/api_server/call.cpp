#include "io/api_server/call.h"

#include <utility>

#include <fmt/format.h>

#include "io/api_server/status.h"

namespace muster::api_server {

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

}  // namespace muster::api_server
