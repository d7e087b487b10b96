// What a client of the HTTP server may do.
#pragma once

#include <chrono>
#include <cstddef>

namespace muster::http {

struct HttpLimits {
  std::size_t max_header_bytes = 16'384;
  std::size_t max_body_bytes = std::size_t{256} << 20;
  std::size_t max_buffered_bytes = std::size_t{1} << 30;  // bodies of all requests that are not answered; one may be
  std::size_t max_connections = 1024;
  std::chrono::milliseconds header_timeout{10'000};  // from the first byte, or from connecting, to the whole header
  std::chrono::milliseconds body_timeout{60'000};    // for a whole body
  std::chrono::milliseconds idle_timeout{60'000};    // between requests
  std::chrono::milliseconds write_timeout{30'000};   // for a whole answer, or a piece of it
};

}  // namespace muster::http
