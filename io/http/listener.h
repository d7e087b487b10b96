// Listening sockets, as `--listen` names them.
#pragma once

#include <string>
#include <string_view>

#include "model/base/error_code.h"

namespace muster::http {

struct ListenAddress {
  bool is_unix = true;
  std::string path;        // of a Unix socket
  std::string host, port;  // of TCP; an IPv6 address without its brackets
  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

// "unix:/run/muster/muster.sock", "tcp:127.0.0.1:7077", "tcp:[::1]:7077". Error: InvalidValue.
Result<ListenAddress> parse_listen_address(std::string_view text);

// A listening socket, non-blocking and closed in child processes. Addresses other than loopback need `is_insecure`.
//
// A Unix socket has mode 0660 from the moment when it has its name. A socket on which no process listens any more is
// replaced; one that is in use, or a file of another kind, is an error. The caller removes the name at the end, by
// remove_socket(). Changes the umask for a moment: call it before there are other threads. Errors: Insecure, InUse,
// Unavailable; the message names the address and the reason.
Result<int> open_listener(const ListenAddress& address, bool is_insecure);

// Removes the name of a Unix socket.
void remove_socket(const ListenAddress& address);

// "tcp:127.0.0.1:41234": with the port that the system has chosen if 0 was requested.
std::string name_of_listener(const ListenAddress& address, int descriptor);

}  // namespace muster::http
