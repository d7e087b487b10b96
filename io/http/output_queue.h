// What a connection still has to send, in order; internal to io/http/server.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/http/client_watch.h"

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

// The bytes of one request's body, counted against the limit for all connections; internal to io/http/server.h.
//
// Its part of the total, which it gives back at its end. May outlive the server.
class BodyShare {
 public:
  explicit BodyShare(std::shared_ptr<std::atomic<std::size_t>> total) : total_(std::move(total)) {}
  ~BodyShare() { release(); }
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;

  void release() { *total_ -= std::exchange(bytes_, 0); }
  // False: together with the others it would be more than `most`. A body that is alone may always grow.
  bool grow_to(std::size_t bytes, std::size_t most) {
    const std::size_t others = *total_ - bytes_;
    if (others > 0 && others + bytes > most) return false;
    *total_ += bytes - bytes_;
    bytes_ = bytes;
    return true;
  }

 private:
  std::shared_ptr<std::atomic<std::size_t>> total_;
  std::size_t bytes_ = 0;
};

}  // namespace muster::http
