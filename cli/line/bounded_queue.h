// A bounded queue between two threads: the producer waits for the consumer when it is full.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace muster::cli {

// At most `most_items`, and at most `most_bytes` unless it is a single item.
template <class T>
class BoundedQueue {
 public:
  BoundedQueue(std::size_t most_items, std::size_t most_bytes) : most_items_(most_items), most_bytes_(most_bytes) {}

  // Waits for space. False: the consumer has gone, and the item is dropped.
  bool push(T item, std::size_t bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_abandoned_ || items_.empty() || has_room(bytes); });
    if (is_abandoned_) return false;
    items_.emplace_back(std::move(item), bytes);
    bytes_ += bytes;
    changed_.notify_all();
    return true;
  }

  // Waits for an item. None: there will be no more.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_ready(); });
    return take();
  }

  // The same; while it waits, it calls `tidy` at this interval.
  template <class Tidy>
  std::optional<T> pop(std::chrono::milliseconds often, const Tidy& tidy) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, often, [&] { return is_ready(); })) {
      lock.unlock();
      tidy();
      lock.lock();
    }
    return take();
  }

  // Called by the producer: the items in the queue are still to be consumed.
  void close() {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }

  // Called by the consumer: no further items will be taken.
  void abandon() {
    const std::scoped_lock lock(mutex_);
    is_abandoned_ = true;
    items_.clear();
    changed_.notify_all();
  }

 private:
  bool has_room(std::size_t bytes) const { return items_.size() < most_items_ && bytes_ + bytes <= most_bytes_; }
  bool is_ready() const { return is_abandoned_ || is_closed_ || !items_.empty(); }

  std::optional<T> take() {
    if (is_abandoned_ || items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front().first));
    bytes_ -= items_.front().second;
    items_.pop_front();
    changed_.notify_all();
    return item;
  }

  const std::size_t most_items_, most_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<T, std::size_t>> items_;
  std::size_t bytes_ = 0;
  bool is_closed_ = false, is_abandoned_ = false;
};

}  // namespace muster::cli
