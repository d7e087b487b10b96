#include "io/http/request_reader.h"

#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <fmt/format.h>

#include "io/http/client_watch.h"
#include "model/base/require.h"

namespace muster::http {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

// Grows with what has come, not with what was announced.
struct ReceivedBody {
  using value_type = std::string;
  class reader {  // NOLINT(readability-identifier-naming): Boost.Beast asks for this name
   public:
    template <bool IsRequest, class Fields>
    reader(http::header<IsRequest, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>&, SocketError& error) { error = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, SocketError& error) {
      error = {};
      std::size_t bytes = 0;
      for (auto it = asio::buffer_sequence_begin(buffers); it != asio::buffer_sequence_end(buffers); ++it) {
        const asio::const_buffer part(*it);
        body_.append(static_cast<const char*>(part.data()), part.size());
        bytes += part.size();
      }
      return bytes;
    }
    void finish(SocketError& error) { error = {}; }

   private:
    value_type& body_;
  };
};
using Parser = http::request_parser<ReceivedBody>;

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

HttpProblem problem_of(const SocketError& error, const HttpLimits& limits) {
  if (error == http::error::header_limit) {
    return {431,
            HttpFault::kHeaderTooLarge,
            fmt::format("the header is longer than {} bytes", limits.max_header_bytes),
            {}};
  }
  if (error == http::error::body_limit) {
    return {413, HttpFault::kBodyTooLarge, fmt::format("the body is longer than {} bytes", limits.max_body_bytes), {}};
  }
  if (error == http::error::bad_version)
    return {505, HttpFault::kUnsupportedVersion, "the server supports HTTP/1.0 and HTTP/1.1", {}};
  return {400, HttpFault::kInvalidHttp, "the request is not valid HTTP/1.1: " + error.message(), {}};
}

// What is wrong with a header that could be parsed.
std::optional<HttpProblem> find_fault(const Parser& parser) {
  const auto& head = parser.get();
  if (head.version() >= 11 && head.count(http::field::host) != 1) {
    return HttpProblem{400, HttpFault::kInvalidHttp, "an HTTP/1.1 request must have exactly one Host header", {}};
  }
  const auto coding = head.find(http::field::transfer_encoding);
  if (coding != head.end()) {
    const std::string_view value(coding->value().data(), coding->value().size());
    if (head.version() < 11)
      return HttpProblem{400, HttpFault::kInvalidHttp, "Transfer-Encoding is not allowed in HTTP/1.0", {}};
    if (!parser.chunked())
      return HttpProblem{400, HttpFault::kInvalidHttp, "the last Transfer-Encoding must be chunked", {}};
    if (!is_same_in_any_case(value, "chunked") || head.count(http::field::transfer_encoding) != 1) {
      return HttpProblem{
          501, HttpFault::kUnsupportedTransferEncoding, "the only supported Transfer-Encoding is chunked", {}};
    }
  }
  const auto expect = head[http::field::expect];
  if (!expect.empty() && !is_same_in_any_case({expect.data(), expect.size()}, "100-continue")) {
    return HttpProblem{417, HttpFault::kUnknownExpectation, "the only supported Expect is 100-continue", {}};
  }
  return std::nullopt;
}

std::string text_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct RequestReader::Parsing {
  boost::beast::flat_buffer input;
  std::optional<Parser> parser;
};

RequestReader::RequestReader() : parsing_(std::make_unique<Parsing>()) {}
RequestReader::~RequestReader() = default;

void RequestReader::begin(const HttpLimits& limits) {
  limits_ = limits;
  head_bytes_ = 0;
  Parser& parser = parsing_->parser.emplace();
  parser.header_limit(static_cast<std::uint32_t>(limits_.max_header_bytes));
  parser.body_limit(limits_.max_body_bytes);
}

std::span<char> RequestReader::space(std::size_t bytes) {
  const auto place = parsing_->input.prepare(bytes);
  return {static_cast<char*>(place.data()), place.size()};
}

void RequestReader::add(std::size_t bytes) { parsing_->input.commit(bytes); }
bool RequestReader::has_input() const { return parsing_->input.size() > 0; }
void RequestReader::drop_input() { parsing_->input.clear(); }

void RequestReader::skip_empty_lines() {
  const auto data = parsing_->input.data();
  const auto* const text = static_cast<const char*>(data.data());
  std::size_t at = 0;
  while (at + 1 < data.size() && text[at] == '\r' && text[at + 1] == '\n') at += 2;
  parsing_->input.consume(at);
}

RequestReader::Progress RequestReader::parse() {
  MUSTER_REQUIRE(parsing_->parser && has_input());
  auto& [input, parser] = *parsing_;
  const bool is_in_head = !parser->is_header_done();
  SocketError error;
  const std::size_t used = parser->put(input.data(), error);
  input.consume(used);
  if (is_in_head) head_bytes_ += used;
  const bool is_short = error == http::error::need_more;
  // Beast counts what one call sees; of a body, only framing and trailers are ever left over.
  const std::size_t left = is_short ? input.size() : 0;
  if ((is_in_head ? head_bytes_ + left : left) > limits_.max_header_bytes) {
    error = http::make_error_code(http::error::header_limit);
  } else if (is_short) {
    return Progress::kNeedsInput;
  }
  if (!error) return Progress::kAdvanced;
  fault_ = problem_of(error, limits_);
  return Progress::kFault;
}

bool RequestReader::has_head() const { return parsing_->parser->is_header_done(); }
std::optional<HttpProblem> RequestReader::fault_of_head() const { return find_fault(*parsing_->parser); }

HttpRequest RequestReader::head() const {
  const auto& head = parsing_->parser->get();
  const std::string_view target(head.target().data(), head.target().size());
  HttpRequest request;
  request.method = text_of(head.method_string());
  request.path = path_of(target);
  request.query = query_of(target);
  for (const auto& field : head) request.fields.push_back({text_of(field.name_string()), text_of(field.value())});
  return request;
}

bool RequestReader::is_old() const { return parsing_->parser->get().version() < 11; }
bool RequestReader::keeps_alive() const { return parsing_->parser->get().keep_alive(); }

bool RequestReader::awaits_continue() const {
  return !is_done() && !has_input() && !is_old() && !parsing_->parser->get()[http::field::expect].empty();
}

bool RequestReader::is_done() const { return parsing_->parser->is_done(); }
std::size_t RequestReader::body_bytes() const { return parsing_->parser->get().body().size(); }
std::string RequestReader::take_body() { return std::move(parsing_->parser->get().body()); }

}  // namespace muster::http
