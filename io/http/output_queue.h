// What a connection still has to send, in order; internal to io/http/server.h.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "io/http/stream_socket.h"

namespace muster::http {

// One write at a time takes all pieces that wait; those that are added meanwhile wait for the next.
class OutputQueue {
 public:
  explicit OutputQueue(StreamSocket& socket) : socket_(socket) {}

  // `sent` is called by confirm() once the piece has been written; it may be empty.
  void add(std::string bytes, std::function<void()> sent = {});
  // Begins to write what waits, and calls `done` when that has ended. Requires that no write is under way, and that
  // `done` keeps the queue and the socket alive.
  void write(std::function<void(const SocketError&)> done);
  // After a write without error: calls `sent` of its pieces, which may add others.
  void confirm();
  void drop_waiting() { waiting_.clear(); }

  bool is_writing() const { return is_writing_; }
  bool has_waiting() const { return !waiting_.empty(); }

 private:
  struct Piece {
    std::string bytes;
    std::function<void()> sent;
  };

  StreamSocket& socket_;
  std::deque<Piece> waiting_;
  std::vector<Piece> sending_;
  bool is_writing_ = false;
};

}  // namespace muster::http
