// Requests that no well-behaved client sends, each with what the server has to answer.
#pragma once

#include <string>
#include <vector>

namespace muster {

// The state after the answers: the next request on the same connection is answered, or the server has closed it. A
// request whose end is in doubt must not be followed by another one (RFC 9112, section 11.2).
enum class Afterwards { kOpen, kClosed };

enum class Sender { kWaits, kEndsSending };  // kEndsSending: half close after the last byte

struct HostileRequest {
  std::string what;
  std::string bytes;
  std::vector<int> statuses;  // one for each answer; empty: the server closes without an answer
  Afterwards afterwards = Afterwards::kClosed;
  Sender sender = Sender::kWaits;
};

inline constexpr std::size_t kMostBodyBytes = 1 << 20, kMostHeaderBytes = 16'384;  // limits that the tables assume

// A snapshot that is solved immediately.
std::string small_snapshot();

std::vector<HostileRequest> length_requests();
std::vector<HostileRequest> chunk_requests();
std::vector<HostileRequest> header_requests();
std::vector<HostileRequest> request_line_requests();
std::vector<HostileRequest> target_requests();
std::vector<HostileRequest> connection_requests();
std::vector<HostileRequest> body_requests();

}  // namespace muster
