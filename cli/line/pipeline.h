// Lines in, answers out: one thread reads and parses ahead, one solves, one writes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "cli/line/line.h"
#include "cli/line/line_source.h"
#include "cli/terminal/console.h"

namespace muster::cli {

enum class OutputForm : std::uint8_t { kJson, kTable };

struct PipelineOptions {
  muster_v1::ReaderOptions reader;
  LineOptions line;
  bool summaries = false;
  OutputForm form = OutputForm::kJson;  // a table has no rows for lines that cannot be read: the console reports them
  std::size_t width = 0;                // of the terminal that a table is for; 0: it is for none
};

struct PipelineOutcome {
  std::int64_t answered = 0;  // lines, error records included
  std::int64_t errors = 0;    // error records
  std::int64_t defects = 0;
  int write_error = 0;   // errno; 0: everything was written
  bool is_yaml = false;  // the input began with YAML and has not been read on
};

// Answers every line of `source` on `output`, in order, each as soon as it is ready. Ends at the end of the input,
// after the current line when a signal has been received, or when the output cannot be written. Memory: at most
// kLinesAhead parsed lines and as many answers wait at any time, and no more than kBytesAhead of text unless a single
// line is longer. Uses the calling thread to solve.
PipelineOutcome run_pipeline(LineSource& source, int output, LineSolver& solver, const PipelineOptions& options,
                             Console& console);

// A bounded queue between two threads: the producer waits for the consumer when it is full.
//
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
