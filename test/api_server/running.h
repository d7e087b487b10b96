// An io_context with a client, for tests.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "io/api_server/api_client.h"
#include "test/api_server/fake_server.h"

namespace muster::api_server {

// Runs until `is_done` holds; false after 30 seconds, which no test takes.
template <class Condition>
bool run_until(boost::asio::io_context& io, Condition is_done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!is_done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    io.restart();
    io.run_one_for(std::chrono::milliseconds(20));
  }
  return true;
}

// Runs what is due for so long, in which nothing should happen.
inline void run_for(boost::asio::io_context& io, std::chrono::milliseconds time) {
  io.restart();
  io.run_for(time);
}

inline ServerAddress address_of(const FakeServer& server) {
  return *address_of_url("http://127.0.0.1:" + server.port(), {}, {});
}

inline ApiResponse answer_of(boost::asio::io_context& io, ApiClient& client, ApiRequest request) {
  ApiResponse answer;
  bool is_there = false;
  client.send(std::move(request), [&](ApiResponse response) {
    answer = std::move(response);
    is_there = true;
  });
  EXPECT_TRUE(run_until(io, [&] { return is_there; }));
  return answer;
}

inline ApiResponse get(boost::asio::io_context& io, ApiClient& client, std::string target) {
  ApiRequest request;
  request.target = std::move(target);
  return answer_of(io, client, std::move(request));
}

inline Clock steady() { return std::chrono::steady_clock::now; }

}  // namespace muster::api_server
