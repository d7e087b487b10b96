#include "io/json/json_scanner.h"

#include <algorithm>

#include <simdjson.h>

namespace muster::json {

struct JsonScanner::Parser {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> implementation;
  simdjson::dom::document parsed;
  JsonTape tape;
  JsonDocument single;  // of what is no container

  bool fits(std::size_t bytes, std::size_t max_depth) {
    if (implementation) return implementation->capacity() >= bytes || !implementation->set_capacity(bytes);
    // One more than requested: the parser refuses the depth that it is given.
    return !simdjson::get_active_implementation()->create_dom_parser_implementation(bytes, max_depth + 1,
                                                                                    implementation);
  }
};

JsonScanner::JsonScanner(std::string_view text, std::size_t max_depth)
    : text_(text), max_depth_(max_depth), parser_(std::make_unique<Parser>()) {}
JsonScanner::~JsonScanner() = default;

// A piece ends after a line feed, which no string holds: so no token goes on after it.
void JsonScanner::examine(std::size_t begin, std::size_t bytes) {
  begin_ = begin;
  at_ = count_ = 0;
  end_ = text_.size();
  if (end_ - begin > bytes) {
    std::size_t last = text_.substr(begin, bytes).rfind('\n');
    last = last == std::string_view::npos ? text_.find('\n', begin + bytes) : begin + last;
    if (last != std::string_view::npos) end_ = last + 1;
  }
  const std::size_t size = end_ - begin;
  if (size == 0) return;
  is_valid_ = size < simdjson::SIMDJSON_MAXSIZE_BYTES && parser_->fits(size, max_depth_);
  if (!is_valid_) return;
  piece_ = text_.data() + begin;
  if (text_.size() - end_ < simdjson::SIMDJSON_PADDING) {
    last_piece_.reserve(size + simdjson::SIMDJSON_PADDING);
    piece_ = last_piece_.assign(text_, begin, size).append(simdjson::SIMDJSON_PADDING, ' ').data();
  }
  auto& implementation = *parser_->implementation;
  const auto* bytes_of_piece = reinterpret_cast<const std::uint8_t*>(piece_);
  const simdjson::error_code code = implementation.stage1(bytes_of_piece, size, simdjson::stage1_mode::regular);
  is_valid_ = code == simdjson::SUCCESS || code == simdjson::EMPTY;
  tokens_ = implementation.structural_indexes.get();
  count_ = code == simdjson::SUCCESS ? implementation.n_structural_indexes : 0;
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
  const std::size_t begin = begin_ + tokens_[at_++] + 1;
  key = text_.substr(begin, text_.find('"', begin) - begin);
  return key.find('\\') == std::string_view::npos && take(':');
}

// The token after the value here; all of it is in one piece then. Brackets are counted, whatever their kind.
bool JsonScanner::find_end(std::size_t outer, std::size_t& end) {
  if (!has_token()) return false;
  for (std::size_t bytes = 2 * kPiece;; bytes *= 2) {
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
    const std::size_t from = begin_ + tokens_[at_], to = end < count_ ? begin_ + tokens_[end] : end_;
    const std::string_view single = text_.substr(from, to - from);
    if (parser_->single.parse(single, {single.size(), max_depth_})) return false;
    value = parser_->single.root();
  }
  at_ = end;
  return true;
}

}  // namespace muster::json
