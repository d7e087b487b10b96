// The clock's time in the format of HTTP.
#pragma once

#include <ctime>
#include <string>

namespace muster::cli {

class HttpDate {
 public:
  // "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7); made once a second.
  const std::string& now();

 private:
  std::time_t second_ = 0;
  std::string text_;
};

}  // namespace muster::cli
