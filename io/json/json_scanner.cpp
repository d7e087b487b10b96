#include "io/json/json_scanner.h"

#include <algorithm>
#include <cstring>

#include <simdjson.h>

namespace muster::json {

struct JsonScanner::Parser {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> implementation;
  simdjson::dom::document parsed;
  JsonTape tape;
  JsonDocument single;  // of what is no container

  simdjson::error_code find_tokens(std::string_view piece, std::size_t max_depth) {
    if (piece.empty()) return simdjson::EMPTY;
    if (piece.size() >= simdjson::SIMDJSON_MAXSIZE_BYTES) return simdjson::CAPACITY;
    // One more than requested: the parser refuses the depth that it is given.
    const simdjson::error_code code =
        !implementation ? simdjson::get_active_implementation()->create_dom_parser_implementation(
                              piece.size(), max_depth + 1, implementation)
        : implementation->capacity() < piece.size() ? implementation->set_capacity(piece.size())
                                                    : simdjson::SUCCESS;
    if (code != simdjson::SUCCESS) return code;
    return implementation->stage1(reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size(),
                                  simdjson::stage1_mode::regular);
  }
};

JsonScanner::JsonScanner(const JsonText& text, std::size_t max_depth)
    : text_(text), max_depth_(max_depth), parser_(std::make_unique<Parser>()) {}
JsonScanner::~JsonScanner() = default;

namespace {

// The last character of this kind; 0 if there is none.
std::size_t find_last(std::string_view piece, char kind) {
  const void* const at = memrchr(piece.data(), kind, piece.size());
  return at == nullptr ? 0 : static_cast<std::size_t>(static_cast<const char*>(at) - piece.data());
}

// The quote that opens the string in which the piece ends: the last one without a backslash of its own.
std::size_t find_open_string(std::string_view piece) {
  for (std::size_t quote = piece.size(); quote > 0;) {
    quote = find_last(piece.substr(0, quote), '"');
    std::size_t backslashes = 0;
    while (backslashes < quote && piece[quote - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return quote;
  }
  return 0;
}

}  // namespace

// A piece ends before a line feed, which no string holds, or an object's end; or, if that is in a string, before the
// string. So no token goes on after it. A piece without such a place becomes longer.
void JsonScanner::examine(std::size_t begin, std::size_t bytes) {
  begin_ = end_ = begin;
  at_ = count_ = 0;
  for (bool is_cut = begin < text_.size(); is_cut && is_valid_; bytes *= 2) {
    std::string_view piece = text_.piece(begin, bytes, buffer_);
    is_cut = text_.size() - begin > bytes;
    if (is_cut) piece = piece.substr(0, std::max(find_last(piece, '\n'), find_last(piece, '}')));
    simdjson::error_code code = parser_->find_tokens(piece, max_depth_);
    if (is_cut && code == simdjson::UNCLOSED_STRING) {
      piece = piece.substr(0, find_open_string(piece));
      code = parser_->find_tokens(piece, max_depth_);
    }
    if (is_cut && piece.empty()) continue;
    is_valid_ = code == simdjson::SUCCESS || (code == simdjson::EMPTY && !piece.empty());
    piece_ = piece.data();
    end_ = begin + piece.size();
    tokens_ = parser_->implementation->structural_indexes.get();
    count_ = code == simdjson::SUCCESS ? parser_->implementation->n_structural_indexes : 0;
    return;
  }
}

void JsonScanner::go_to(std::size_t place) {
  if (place < begin_ || place >= end_) return examine(place, kPiece);
  at_ = static_cast<std::size_t>(std::lower_bound(tokens_, tokens_ + count_, place - begin_) - tokens_);
}

bool JsonScanner::has_token() {
  while (at_ == count_ && is_valid_ && end_ < text_.size()) examine(end_, kPiece);
  return at_ < count_;
}

bool JsonScanner::take(char token) {
  if (peek() != token) return false;
  ++at_;
  return true;
}

bool JsonScanner::take_key(std::string_view& key) {
  if (peek() != '"') return false;
  const std::string_view rest(piece_ + tokens_[at_] + 1, end_ - begin_ - tokens_[at_] - 1);
  ++at_;
  key = key_.assign(rest, 0, rest.find('"'));
  return key.find('\\') == std::string_view::npos && take(':');
}

// The token after the value here; all of it is in one piece then. Brackets are counted, whatever their kind.
bool JsonScanner::find_end(std::size_t outer, std::size_t& end) {
  if (!has_token()) return false;
  for (std::size_t bytes = at_ > 0 ? kPiece : 2 * (end_ - begin_);; bytes *= 2) {
    const char* const piece = piece_;
    std::size_t depth = 0, deepest = 0, at = at_;
    for (; at < count_; ++at) {
      const char token = piece[tokens_[at]];
      const char bracket = static_cast<char>(token | 0x20);  // '{' of both kinds, or '}'
      if (bracket == '{') {
        ++depth;
        const bool is_empty = at + 1 < count_ && piece[tokens_[at + 1]] == token + 2;
        if (!is_empty) deepest = std::max(deepest, depth);
      } else if (bracket == '}') {
        if (depth == 0) return false;
        --depth;
      }
      if (depth == 0) break;
    }
    end = at + 1;
    if (at < count_) return outer + deepest <= max_depth_ && piece[tokens_[at]] != ',' && piece[tokens_[at]] != ':';
    if (end_ == text_.size()) return false;
    examine(begin_ + tokens_[at_], bytes);
    if (count_ == 0) return false;
  }
}

bool JsonScanner::skip(std::size_t outer) { return find_end(outer, at_); }

// The parser goes no further than to the last of the brackets that find_end() has counted.
bool JsonScanner::parse_container(std::size_t end) {
  auto& [implementation, parsed, tape, single] = *parser_;
  const std::size_t bytes = tokens_[end - 1] + std::size_t{1} - tokens_[at_];
  if (parsed.capacity() < bytes && parsed.allocate(std::max(bytes, 2 * parsed.capacity())) != simdjson::SUCCESS)
    return false;
  implementation->next_structural_index = static_cast<std::uint32_t>(at_);
  if (implementation->stage2_next(parsed) != simdjson::SUCCESS) return false;
  tape = {parsed.tape.get(),
          reinterpret_cast<const char*>(parsed.string_buf.get()),
          {piece_, end_ - begin_},
          tokens_ + at_,
          end - at_};
  return implementation->next_structural_index == end;
}

bool JsonScanner::parse(std::size_t outer, JsonValue& value) {
  std::size_t end = 0;
  if (!find_end(outer, end)) return false;
  numbers_.reset();
  const char first = peek();
  if (first == '{' || first == '[') {
    if (!parse_container(end)) return false;
    value = {&parser_->tape, 1};
  } else {
    const std::size_t from = tokens_[at_], to = end < count_ ? tokens_[end] : end_ - begin_;
    const std::string_view single(piece_ + from, to - from);
    if (parser_->single.parse(single, {single.size(), max_depth_})) return false;
    value = parser_->single.root();
  }
  at_ = end;
  return true;
}

}  // namespace muster::json
