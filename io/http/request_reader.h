// Requests from the bytes of a connection, one after another; internal to io/http/server.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "io/http/service.h"

namespace muster::http {

// Holds the input that is not parsed yet, and the request that it is in the middle of. Does no input or output itself.
class RequestReader {
 public:
  enum class Progress : std::uint8_t { kNeedsInput, kAdvanced, kFault };

  RequestReader();
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Begins the next request, within these limits. Input that is left belongs to it.
  void begin(const HttpLimits& limits);

  // Input: the place for at most so many bytes, valid until the next call; and how many have been put there.
  std::span<char> space(std::size_t bytes);
  void add(std::size_t bytes);
  bool has_input() const;
  void drop_input();
  // Before a request line they mean nothing (RFC 9112, 2.2).
  void skip_empty_lines();

  // Parses on, at most to the end of the head. kNeedsInput: what is there is not enough. Requires has_input(). Cost:
  // O(input).
  Progress parse();
  const HttpProblem& fault() const { return fault_; }  // after kFault

  bool has_head() const;
  // The others require has_head().
  std::optional<HttpProblem> fault_of_head() const;  // of a head that could be parsed
  HttpRequest head() const;                          // the request without its id and its body
  bool is_old() const;                               // HTTP/1.0
  bool keeps_alive() const;
  bool awaits_continue() const;  // the client sends the body only once it is asked to
  bool is_done() const;          // the whole body is there
  std::size_t body_bytes() const;
  std::string take_body();

 private:
  struct Parsing;
  std::unique_ptr<Parsing> parsing_;
  HttpLimits limits_;
  std::size_t head_bytes_ = 0;
  HttpProblem fault_;
};

}  // namespace muster::http
