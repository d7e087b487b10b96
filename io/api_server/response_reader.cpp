#include "io/api_server/response_reader.h"

#include <limits>
#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>

#include "model/base/require.h"

namespace muster::api_server {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using ParseError = boost::system::error_code;

// A string that the caller may take while more of the body comes.
struct GrowingBody {
  using value_type = std::string;
  class reader {  // NOLINT(readability-identifier-naming): Boost.Beast asks for this name
   public:
    template <bool IsRequest, class Fields>
    reader(http::header<IsRequest, Fields>&, value_type& body) : out_(body) {}
    void init(const boost::optional<std::uint64_t>&, ParseError& error) { error = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& pieces, ParseError& error) {
      error = {};
      const std::size_t before = out_.size();
      for (const asio::const_buffer piece : boost::beast::buffers_range_ref(pieces))
        out_.append(static_cast<const char*>(piece.data()), piece.size());
      return out_.size() - before;
    }
    void finish(ParseError& error) { error = {}; }

   private:
    value_type& out_;
  };
};

bool is_interim(unsigned status) { return status / 100 == 1; }

}  // namespace

struct ResponseReader::Parsing {
  boost::beast::flat_buffer input;
  std::optional<http::response_parser<GrowingBody>> parser;
};

ResponseReader::ResponseReader() : parsing_(std::make_unique<Parsing>()) {}
ResponseReader::~ResponseReader() = default;

void ResponseReader::begin(std::size_t max_header_bytes) {
  max_header_bytes_ = max_header_bytes;
  parsing_->input.clear();
  fault_.clear();
  restart();
}

void ResponseReader::restart() {
  head_bytes_ = 0;
  auto& parser = parsing_->parser.emplace();
  parser.header_limit(static_cast<std::uint32_t>(max_header_bytes_));
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());  // the caller limits what it keeps
}

std::span<char> ResponseReader::space(std::size_t bytes) {
  const auto place = parsing_->input.prepare(bytes);
  return {static_cast<char*>(place.data()), place.size()};
}

void ResponseReader::add(std::size_t bytes) { parsing_->input.commit(bytes); }

ResponseReader::Progress ResponseReader::parse() {
  auto& [input, parser] = *parsing_;
  if (parser->is_done()) return Progress::kDone;
  if (input.size() == 0) return Progress::kNeedsInput;
  ParseError error;
  const bool is_in_head = !parser->is_header_done();
  const std::size_t used = parser->put(input.data(), error);
  input.consume(used);
  if (is_in_head) head_bytes_ += used;
  const bool is_short = error == http::error::need_more;
  // What is short is a head, or the frame of a chunk.
  if (is_short && (is_in_head ? head_bytes_ : 0) + input.size() > max_header_bytes_)
    error = http::make_error_code(http::error::header_limit);
  if (error && !(is_short && error == http::error::need_more)) {
    fault_ = "the answer is not valid HTTP/1.1: " + error.message();
    return Progress::kFault;
  }
  if (is_short) return used > 0 ? Progress::kAdvanced : Progress::kNeedsInput;
  if (parser->is_done() && is_interim(status())) restart();
  return parser->is_done() ? Progress::kDone : Progress::kAdvanced;
}

bool ResponseReader::finish() {
  auto& parser = *parsing_->parser;
  ParseError error;
  if (!parser.is_done() && parser.got_some()) parser.put_eof(error);
  if (!error && parser.is_done()) return true;
  fault_ = has_head() ? "the connection was closed in the middle of the answer"
                      : "the connection was closed without an answer";
  return false;
}

bool ResponseReader::has_head() const { return parsing_->parser->is_header_done(); }

unsigned ResponseReader::status() const {
  MUSTER_REQUIRE(has_head());
  return parsing_->parser->get().result_int();
}

std::string_view ResponseReader::field(std::string_view name) const {
  MUSTER_REQUIRE(has_head());
  const auto& head = parsing_->parser->get();
  const auto found = head.find(boost::beast::string_view(name.data(), name.size()));
  if (found == head.end()) return {};
  return {found->value().data(), found->value().size()};
}

bool ResponseReader::keeps_alive() const {
  return parsing_->parser->is_done() && parsing_->parser->keep_alive() && parsing_->input.size() == 0;
}

std::string& ResponseReader::body() { return parsing_->parser->get().body(); }

std::string_view status_phrase(unsigned status) {
  const auto known = http::int_to_status(status);
  if (known == http::status::unknown) return {};
  const auto phrase = http::obsolete_reason(known);
  return {phrase.data(), phrase.size()};
}

}  // namespace muster::api_server
