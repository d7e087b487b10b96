// Whether the client of a connection still waits for its answer; internal to io/http/server.h.
#pragma once

#include <functional>

#include "io/http/stream_socket.h"

namespace muster::http {

class ClientWatch {
 public:
  // `is_unix`: a Unix socket, on which a client that has only ended sending differs from one that has closed.
  ClientWatch(StreamSocket& socket, bool is_unix) : socket_(socket), is_unix_(is_unix) {}

  // Calls `stirs` once, when the client closes its side or sends more; not if the socket is closed before. Does nothing
  // while an earlier call still waits. Requires that `stirs` keeps the watch and the socket alive.
  void begin(std::function<void()> stirs);
  // Whether the client has closed its side. What it sends instead is left for later.
  bool has_left();

 private:
  StreamSocket& socket_;
  const bool is_unix_;
  bool is_watching_ = false;
};

}  // namespace muster::http
