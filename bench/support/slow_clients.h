// Clients that send or read as slowly as they can, and the behaviour of the server meanwhile.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/support/http_client.h"
#include "bench/support/serve_process.h"

namespace muster::bench {

using Clients = std::vector<std::unique_ptr<HttpClient>>;

inline Clients connected(const ServeProcess& server, int count) {
  Clients clients;
  for (int i = 0; i < count; ++i) clients.push_back(std::make_unique<HttpClient>(server.socket()));
  return clients;
}

// How many of them the server leaves within that time; nothing is read meanwhile.
inline std::size_t left_within(const Clients& clients, int milliseconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  std::size_t count = 0;
  for (const auto& client : clients) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    count += client->is_left_within(std::max(0, static_cast<int>(left.count()))) ? 1 : 0;
  }
  return count;
}

// Headers that never end: a byte at a time, of which send_a_byte() sends the next one.
class SlowHeaders {
 public:
  SlowHeaders(const ServeProcess& server, int count) : clients_(connected(server, count)) {
    for (const auto& client : clients_) client->send("POST /v1/solve HTTP/1.1\r\nHost: muster\r\nX: ");
  }
  void send_a_byte() {
    for (const auto& client : clients_) client->send("x");
  }
  // How many connections the server ends within that time.
  std::size_t cut_within(int milliseconds) const { return left_within(clients_, milliseconds); }

 private:
  Clients clients_;
};

// Requests whose answers are far larger than the system's buffers for a connection, and that are never read. Each is
// `lines` snapshots.
class SlowReaders {
 public:
  SlowReaders(const ServeProcess& server, int count, const std::string& snapshot, int lines)
      : clients_(connected(server, count)) {
    std::string body;
    for (int i = 0; i < lines; ++i) body += snapshot + "\n";
    const std::string request = post("/v1/solve", body, "application/x-ndjson");
    // The server may read bodies one after the other.
    for (const auto& client : clients_) senders_.emplace_back([&client, request] { client->send(request); });
  }
  // How many connections the server ends within that time, with an answer that is not whole.
  std::size_t cut_within(int milliseconds) {
    left_within(clients_, milliseconds);
    return static_cast<std::size_t>(std::ranges::count_if(
        clients_, [](const auto& client) { return client->is_left_within(0) && !client->answer(0); }));
  }

 private:
  Clients clients_;
  std::vector<std::jthread> senders_;
};

// Milliseconds from the intended request of /healthz until its whole answer is there, each on a new connection, for
// that long. Throws if there is none, or a status other than 200.
inline std::vector<double> health_ms(const ServeProcess& server, std::chrono::milliseconds duration,
                                     const std::function<void()>& in_between) {
  std::vector<double> all;
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
    const auto start = std::chrono::steady_clock::now();
    const auto answer = server.ask(get("/healthz"));
    all.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    if (!answer || answer->status != 200) throw std::runtime_error("/healthz is not answered by 200");
    in_between();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return all;
}

}  // namespace muster::bench
