// What an answer of the API server says beside its status; internal to this folder.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace muster::api_server {

// Of a Status object (meta/v1), as bodies of failures have it and ERROR events of watches.
struct StatusText {
  unsigned code = 0;  // 0: none
  std::string message, reason;
  std::optional<std::chrono::seconds> retry_after;
};

// All empty if the text is no Status.
StatusText read_status(std::string_view body);

// Of a body that is no Status: its first line, at most 200 characters, without what a terminal would not print.
std::string first_line(std::string_view body);

// Of a Retry-After field; none if it is no number of seconds.
std::optional<std::chrono::seconds> read_seconds(std::string_view text);

}  // namespace muster::api_server
