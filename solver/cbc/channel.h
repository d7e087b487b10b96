// Length-prefixed messages over one end of a socket pair, with a deadline on every call.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "solver/cbc/worker_protocol.h"
#include "solver/lp/milp.h"

namespace muster::cbc {

using ChannelClock = std::chrono::steady_clock;  // CLOCK_MONOTONIC: the same in every process of the machine

enum class ChannelStatus : std::uint8_t {
  kDone,
  kLate,    // the deadline passed first
  kClosed,  // the other side is gone
  kGarbage  // what came is not a message
};

struct Message {
  std::uint32_t type = 0;
  std::vector<std::byte> content;
};

// Owns its file descriptor, which it makes non-blocking. After any result but kDone the position in the stream is
// unknown and the channel must not be used again. Never raises SIGPIPE. Cost: two system calls a message and one for
// each 200 kB or so.
class Channel {
 public:
  static constexpr std::uint64_t kLongest = std::uint64_t{4} << 30;  // bytes; more is taken for garbage

  explicit Channel(int file_descriptor);
  ~Channel();
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  bool is_hung_up() const;  // whether the other side is known to be gone; costs one system call, like the next
  bool is_idle() const;     // whether there is nothing to receive, not even the end
  ChannelStatus send(std::uint32_t type, std::span<const std::byte> content, ChannelClock::time_point deadline);
  ChannelStatus receive(Message& message, ChannelClock::time_point deadline);
  // Waits until one of them has something to receive, its end included. False: the deadline passed first.
  static bool wait_for_any(std::span<const Channel* const> channels, ChannelClock::time_point deadline);

 private:
  ChannelStatus write_all(std::span<const std::byte> bytes, ChannelClock::time_point deadline);
  ChannelStatus read_all(std::span<std::byte> bytes, ChannelClock::time_point deadline);
  ChannelStatus wait_for(short events, ChannelClock::time_point deadline);

  int file_descriptor_;
};

// What one worker of a race is asked, one question after another (Backend::race).
class Lane {
 public:
  virtual ~Lane() = default;

  // Null: nothing more is to be asked. Valid until the next call; its deadline may be earlier than that of the race.
  virtual const Question* next() = 0;
  // The answer to the last question. Where the worker was stopped, it is what had been found by then.
  virtual void hear(MilpAnswer answer) = 0;
  // A bound of the last question, while it is being answered.
  virtual void hear_bound(double /*bound*/) {}
  // The last question is no longer of interest: its worker is stopped, and the lane asks the next one.
  virtual bool is_stale() const { return false; }
  // What the race is about is known.
  virtual bool is_settled() const = 0;
};

// A lane that asks once.
class OneQuestion : public Lane {
 public:
  explicit OneQuestion(Question question) : question_(std::move(question)) {
    answer_.status = SolveStatus::kNoSolution;
  }

  const Question* next() override { return std::exchange(is_asked_, true) ? nullptr : &question_; }
  void hear(MilpAnswer answer) override { answer_ = std::move(answer); }
  bool is_settled() const override {
    return answer_.status == SolveStatus::kOptimal || answer_.status == SolveStatus::kInfeasible;
  }

  // kNoSolution, if it was not asked.
  const MilpAnswer& answer() const { return answer_; }

 private:
  Question question_;
  bool is_asked_ = false;
  MilpAnswer answer_;
};

}  // namespace muster::cbc
