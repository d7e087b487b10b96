// Responses from the bytes of a connection, one after another; internal to this folder. Does no input or output itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace muster::api_server {

class ResponseReader {
 public:
  enum class Progress : std::uint8_t { kNeedsInput, kAdvanced, kDone, kFault };

  ResponseReader();
  ~ResponseReader();
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;

  // Begins the next response. Answers before the last one (1xx) are passed over.
  void begin(std::size_t max_header_bytes);
  // The place for at most so many bytes, valid until the next call; and how many have been put there.
  std::span<char> space(std::size_t bytes);
  void add(std::size_t bytes);
  // Parses on. kAdvanced: there is a head, or more of the body than before; call it again. kDone: the response is
  // whole.
  Progress parse();
  // The connection has been closed properly: whether the response ends there. Else fault() says what is missing.
  bool finish();
  std::string fault() const { return fault_; }

  bool has_head() const;
  // The others require has_head().
  unsigned status() const;
  std::string_view field(std::string_view name) const;  // the first of this name; empty: none
  bool keeps_alive() const;                             // and nothing has come behind the response
  std::string& body();                                  // what has come of it; may be taken

 private:
  struct Parsing;
  void restart();
  std::unique_ptr<Parsing> parsing_;
  std::size_t max_header_bytes_ = 0, head_bytes_ = 0;
  std::string fault_;
};

// "Not Found"; empty if there is no such status.
std::string_view status_phrase(unsigned status);

}  // namespace muster::api_server
