// One parsed JSON document: a read-only view of the parser's tape, with the source text of numbers and the path of any
// value.
//
// Shape: the tape is the layout that simdjson documents (doc/tape.md): one word a value, two for numbers; an object or
// array stores its end, so skipping a value is one step. Views are valid until the next parse; those of a KeptJson as
// long as it lives.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/error_code.h"

namespace muster::json {

class JsonElements;
class JsonMembers;

struct JsonTape {
  const std::uint64_t* words = nullptr;
  const char* strings = nullptr;
  std::string_view text;  // the source; empty of what a JsonBuilder built
  // Positions in the source of what the parser found: brackets, commas, values. Without a source, the words of numbers
  // say where among the strings their characters are.
  const std::uint32_t* structurals = nullptr;
  std::size_t structural_count = 0;
};

// As the tape marks them.
enum class JsonKind : char {
  kObject = '{',
  kArray = '[',
  kString = '"',
  kInteger = 'l',
  kUnsigned = 'u',
  kDouble = 'd',
  kTrue = 't',
  kFalse = 'f',
  kNull = 'n'
};

std::string_view kind_name(JsonKind kind);  // "an object", "a number", ...

// A value of the document, or none (if a key is absent).
class JsonValue {
 public:
  JsonValue() = default;
  JsonValue(const JsonTape* tape, std::uint32_t position) : tape_(tape), position_(position) {}

  explicit operator bool() const { return tape_ != nullptr; }
  const JsonTape* tape() const { return tape_; }
  std::uint32_t position() const { return position_; }
  JsonKind kind() const { return static_cast<JsonKind>(type()); }
  bool is(JsonKind wanted) const { return kind() == wanted; }

  // Each requires the kind that it names.
  std::string_view string() const {
    const char* place = tape_->strings + payload();
    std::uint32_t length = 0;
    std::memcpy(&length, place, sizeof length);
    return {place + sizeof length, length};
  }
  std::int64_t integer() const { return std::bit_cast<std::int64_t>(tape_->words[position_ + 1]); }
  std::uint64_t unsigned_integer() const { return tape_->words[position_ + 1]; }
  double floating() const { return std::bit_cast<double>(tape_->words[position_ + 1]); }
  JsonMembers members() const;
  JsonElements elements() const;
  // Elements of an array or members of an object; saturates at 2^24 - 1.
  std::size_t size() const { return (payload() >> 32) & 0xFFFFFF; }

  // The value that comes next on the tape, after all of this one.
  JsonValue next() const { return {tape_, end()}; }
  // One past the last word of this value.
  std::uint32_t end() const {
    const char type = this->type();
    if (type == '{' || type == '[') return static_cast<std::uint32_t>(payload());
    return position_ + (type == 'l' || type == 'u' || type == 'd' ? 2 : 1);
  }

 private:
  char type() const { return static_cast<char>(tape_->words[position_] >> 56); }
  std::uint64_t payload() const { return tape_->words[position_] & 0x00FF'FFFF'FFFF'FFFF; }

  const JsonTape* tape_ = nullptr;
  std::uint32_t position_ = 0;
};

struct JsonMember {
  std::string_view key;
  JsonValue value;
};

// The members of an object in the order of the text, duplicate keys included.
class JsonMembers {
 public:
  class Iterator {
   public:
    explicit Iterator(JsonValue key) : key_(key) {}
    JsonMember operator*() const { return {key_.string(), key_.next()}; }
    Iterator& operator++() {
      key_ = key_.next().next();
      return *this;
    }
    bool operator!=(const Iterator& other) const { return key_.position() != other.key_.position(); }

   private:
    JsonValue key_;
  };
  JsonMembers(JsonValue first, JsonValue end) : first_(first), end_(end) {}
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(end_); }

 private:
  JsonValue first_, end_;
};

class JsonElements {
 public:
  class Iterator {
   public:
    explicit Iterator(JsonValue value) : value_(value) {}
    JsonValue operator*() const { return value_; }
    Iterator& operator++() {
      value_ = value_.next();
      return *this;
    }
    bool operator==(const Iterator& other) const { return value_.position() == other.value_.position(); }

   private:
    JsonValue value_;
  };
  JsonElements(JsonValue first, JsonValue end) : first_(first), end_(end) {}
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(end_); }

 private:
  JsonValue first_, end_;
};

inline JsonMembers JsonValue::members() const { return {{tape_, position_ + 1}, {tape_, end() - 1}}; }
inline JsonElements JsonValue::elements() const { return {{tape_, position_ + 1}, {tape_, end() - 1}}; }

// The position that a reader of a document's numbers has reached. Asked for a value of another document, it starts
// anew. One a thread, and one a parse.
class NumberCursor {
 public:
  // A value's position on the tape, and that of the character that opens it among those that the parser found.
  struct Place {
    std::uint32_t value = 1, character = 0;
  };

  // The last known place at or before a value's position.
  Place before(JsonValue value);
  // Every value up to the furthest yet is passed.
  void pass(const Place& place) {
    if (place.value / kStride == passed_.size()) passed_.push_back(place);
  }
  void stop(const Place& place) { last_ = place; }
  // The document that was asked about may have become another one.
  void reset() { tape_ = nullptr; }

 private:
  static constexpr std::uint32_t kStride = 256;  // words of the tape

  const JsonTape* tape_ = nullptr;
  Place last_;
  std::vector<Place> passed_ = {Place{}};  // the first at or beyond each multiple of kStride; values take one or two
};

// The characters of a number as in the text. Cost: O(tokens beyond all earlier requests), so requests in the order of
// the text are one pass in total; O(1) for positions before an earlier request.
std::string_view number_text(JsonValue number, NumberCursor& cursor);

// "$.pods[3].labels[\"app.kubernetes.io/name\"]", from the root of the value's document; "$" of none. Cost: O(siblings
// on the way).
std::string path_of(JsonValue value);

struct JsonLimits {
  std::size_t max_bytes = std::size_t{1} << 30;
  std::size_t max_depth = 64;  // objects and arrays that hold something, inside one another
};

// Holds the parser and its buffers, which grow to the longest text so far.
class JsonDocument {
 public:
  JsonDocument();
  ~JsonDocument();
  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;

  // Errors: InvalidUtf8, InvalidJson, TooLarge, TooDeep. Keys may still occur twice. Cost: about 3 ns a byte.
  std::optional<InputError> parse(std::string_view text, const JsonLimits& limits);

  // Requires a parse that succeeded.
  JsonValue root() const;

  // As the function of this name, with a cursor of the document's own: on one thread.
  std::string_view number_text(JsonValue number);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// Chooses the parser for the processor. Otherwise the first parse does, which without memory would end the program.
void choose_parser();

// Whether the text is valid UTF-8.
bool is_utf8(std::string_view text);

// `path` with one more step: .key, or ["key"] if the key is not a plain word.
void append_path_key(std::string& path, std::string_view key);

}  // namespace muster::json
