// A text of JSON documents: in memory, or in a file that is read piece by piece.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace muster::json {

// Refers to the characters, or to the open file, which must stay as they are.
class JsonText {
 public:
  // Room for a piece that is not in memory as it must be.
  struct Buffer {
    std::unique_ptr<char[]> characters;
    std::size_t capacity = 0;
  };

  template <std::convertible_to<std::string_view> Text>
  // NOLINTNEXTLINE(google-explicit-constructor): a text in memory is one as it is
  JsonText(const Text& text) {
    const std::string_view characters(text);
    characters_ = characters.data();
    size_ = characters.size();
  }
  // Of a regular file.
  JsonText(int file, std::size_t size) : file_(file), size_(size) {}

  std::size_t size() const { return size_; }
  // The characters from `begin` on, at most `length` of them, and after them as many others as the parser may read
  // beyond. Valid until the buffer is used again. Shorter if the file has become shorter.
  std::string_view piece(std::size_t begin, std::size_t length, Buffer& buffer) const;
  std::string all() const {
    Buffer buffer;
    return std::string(piece(0, size_, buffer));
  }

 private:
  const char* characters_ = nullptr;
  int file_ = -1;
  std::size_t size_ = 0;
};

}  // namespace muster::json
