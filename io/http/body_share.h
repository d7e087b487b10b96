// The bytes of one request's body, counted against the limit for all connections; internal to io/http/server.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace muster::http {

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
