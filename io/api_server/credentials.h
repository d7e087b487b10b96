// The bearer token of requests, from a file that the kubelet replaces about every hour.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "io/api_server/clock.h"

namespace muster::api_server {

class Credentials {
 public:
  // How long a token is used before the file is read again. client-go: 10 s less (transport/token_source.go).
  static constexpr std::chrono::milliseconds kPeriod{5000};

  // An empty name: there is no token.
  Credentials(std::string token_file, Clock clock, std::chrono::milliseconds period = kPeriod);

  // The current token, without the space around it; empty: none. A file that cannot be read any more leaves the last
  // token. Reads the file at most once a period, and after refuse().
  const std::string& token();
  // The server answered 401 to this token: reads the file. Whether there is another one now.
  bool refuse(const std::string& token);

 private:
  void read();

  std::string file_, token_;
  Clock clock_;
  std::chrono::milliseconds period_;
  std::optional<std::chrono::steady_clock::time_point> read_at_;
};

}  // namespace muster::api_server
