// Puts a JSON document together from values of others, without a text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/json/json_document.h"

namespace muster::json {

// Values are appended in the order of the document: in an object each after its key. Used again for its buffers.
//
// Equal calls give equal documents, byte by byte. Cost: that of copying the strings.
class JsonBuilder {
 public:
  JsonBuilder() { clear(); }

  void clear();
  // Room for a document of about so many bytes of text.
  void reserve(std::size_t bytes);
  // `container`: kObject or kArray.
  void open(JsonKind container);
  void close();
  void string(std::string_view text);
  void key(std::string_view key) { string(key); }
  // All of a value of another document, but for the members of objects that are null. `numbers`: that of its reader.
  void copy(JsonValue value, NumberCursor& numbers);

  // Valid until the next change, or move. Requires one value, an object or a list, of which all is closed.
  JsonValue root() const;
  std::size_t bytes() const { return words_.size() * sizeof(std::uint64_t) + strings_.size(); }

 private:
  friend class KeptJson;

  void word(char type, std::uint64_t payload) {
    words_.push_back(static_cast<std::uint64_t>(static_cast<unsigned char>(type)) << 56 | payload);
  }
  // A container that is not closed: where it begins, and how many values stand in it.
  struct Open {
    std::size_t begin = 0;
    std::uint64_t values = 0;
  };
  void count_value() {
    if (!open_.empty()) ++open_.back().values;
  }
  std::uint64_t keep(std::string_view text);
  void number(JsonValue value, NumberCursor& numbers);

  std::vector<std::uint64_t> words_;
  std::string strings_;
  std::vector<Open> open_;
  std::array<std::uint64_t, 512> recent_;  // where short strings were kept recently
  mutable JsonTape tape_;
};

}  // namespace muster::json
