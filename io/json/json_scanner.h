// Steps through a text of JSON documents token by token, and parses the values that are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/json/json_document.h"
#include "io/json/json_text.h"

namespace muster::json {

// The text is examined piece by piece, for its encoding and for where its tokens are. What is stepped over is not known
// to be JSON, what is parsed is. So the memory is in proportion to the largest value that is parsed. Every function
// returns false at what cannot be so; then nothing more may be asked.
class JsonScanner {
 public:
  // `max_depth`: as in JsonLimits, of all documents.
  JsonScanner(const JsonText& text, std::size_t max_depth);
  ~JsonScanner();
  JsonScanner(const JsonScanner&) = delete;
  JsonScanner& operator=(const JsonScanner&) = delete;

  // Whether no token is left; false, too, where the text is broken.
  bool at_end() { return !has_token() && is_valid_; }
  // The first character of the token here; 0 if there is none.
  char peek() { return has_token() ? piece_[tokens_[at_]] : '\0'; }
  // Over this token, if it begins so.
  [[nodiscard]] bool take(char token);
  // Over the key of a member and its colon; valid until the next one. False for keys with an escape, too.
  [[nodiscard]] bool take_key(std::string_view& key);
  // Over a value. `outer`: containers around it.
  [[nodiscard]] bool skip(std::size_t outer);
  // Over a value, which is valid until the next call.
  [[nodiscard]] bool parse(std::size_t outer, JsonValue& value);

  // Position of the token here in the text, to come back to. Cost: little within 500 kB.
  std::size_t place() { return has_token() ? begin_ + tokens_[at_] : text_.size(); }
  void go_to(std::size_t place);
  // Of the value that was parsed last.
  NumberCursor& numbers() { return numbers_; }

 private:
  struct Parser;

  static constexpr std::size_t kPiece = std::size_t{1} << 19;  // bytes that stay in the cache with their tokens

  bool has_token();
  void examine(std::size_t begin, std::size_t bytes);
  bool find_end(std::size_t outer, std::size_t& end);
  bool parse_container(std::size_t end);

  JsonText text_;
  std::size_t max_depth_ = 0;
  std::size_t begin_ = 0, end_ = 0;  // of the piece in the text
  const char* piece_ = nullptr;
  std::size_t at_ = 0, count_ = 0;  // tokens of the piece
  const std::uint32_t* tokens_ = nullptr;
  bool is_valid_ = true;
  std::unique_ptr<Parser> parser_;
  JsonText::Buffer buffer_;
  std::string key_;
  NumberCursor numbers_;
};

}  // namespace muster::json
