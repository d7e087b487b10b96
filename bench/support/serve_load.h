// Clients that send requests without a pause, and the outcome of each request.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/support/http_client.h"

namespace muster::bench {

using LoadClock = std::chrono::steady_clock;

enum class Fate {
  kAnswered,
  kClosed,  // the connection ended without a byte of an answer
  kCut      // the connection ended within the answer, or nothing came for long
};

struct Exchange {
  LoadClock::time_point sent, ended;  // sent: its last byte was handed to the system
  Fate fate = Fate::kClosed;
  int status = 0;
  std::string body;
};

class Load {
 public:
  // `clients` threads, each with a connection that it keeps for `requests_per_connection` requests of `requests` in
  // turn.
  Load(std::string socket, std::vector<std::string> requests, int clients, int requests_per_connection)
      : socket_(std::move(socket)),
        requests_(std::move(requests)),
        requests_per_connection_(requests_per_connection),
        exchanges_(static_cast<std::size_t>(clients)) {
    for (std::size_t i = 0; i < exchanges_.size(); ++i) threads_.emplace_back([this, i] { run(i); });
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  std::size_t answered() const { return answered_; }

  // Every client ends when its current request is answered, or when no server listens any more.
  std::vector<Exchange> end() {
    is_ending_ = true;
    threads_.clear();
    std::vector<Exchange> all;
    for (std::vector<Exchange>& some : exchanges_) all.insert(all.end(), some.begin(), some.end());
    return all;
  }

 private:
  static constexpr int kPatienceMs = 60'000;

  void run(std::size_t client) {
    std::size_t next = client;
    while (!is_ending_) {
      try {
        HttpClient connection(socket_);
        for (int i = 0; i < requests_per_connection_ && !is_ending_; ++i) {
          exchanges_[client].push_back(exchange(connection, requests_[next++ % requests_.size()]));
          if (exchanges_[client].back().fate != Fate::kAnswered) break;
        }
      } catch (const std::runtime_error&) {  // no server listens any more
        return;
      }
    }
  }
  Exchange exchange(HttpClient& connection, const std::string& request) {
    Exchange result;
    const bool is_sent = connection.send(request);
    result.sent = LoadClock::now();
    const auto answer = connection.answer(kPatienceMs);
    result.ended = LoadClock::now();
    if (answer) {
      result.fate = Fate::kAnswered;
      result.status = answer->status;
      result.body = answer->body;
      ++answered_;
    } else if (connection.is_cut() ||
               (is_sent && result.ended - result.sent >= std::chrono::milliseconds(kPatienceMs))) {
      result.fate = Fate::kCut;
    }
    return result;
  }

  const std::string socket_;
  const std::vector<std::string> requests_;
  const int requests_per_connection_;
  std::vector<std::vector<Exchange>> exchanges_;
  std::atomic<bool> is_ending_{false};
  std::atomic<std::size_t> answered_{0};
  std::vector<std::jthread> threads_;  // the last member: it ends first
};

}  // namespace muster::bench
