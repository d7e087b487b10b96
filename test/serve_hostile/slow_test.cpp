// Clients that are slower than the limits, in sending and in reading: the server disconnects them, and answers all
// others meanwhile. bench_serve_slow measures how fast.
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "bench/support/slow_clients.h"
#include "test/serve_hostile/requests.h"

namespace muster {
namespace {

using bench::get;
using bench::HttpClient;
using bench::post;
using bench::ServeProcess;

constexpr int kPatienceMs = 20'000;

void expect_well(const ServeProcess& server) {
  const auto health = server.ask(get("/healthz"));
  ASSERT_TRUE(health);
  EXPECT_EQ(health->status, 200);
}

TEST(Slow, HeadersThatNeverEndAreCut) {
  const ServeProcess server({"--quiet", "--engine", "greedy", "--header-timeout", "500ms"});
  bench::SlowHeaders clients(server, 50);
  for (int i = 0; i < 10; ++i) {
    clients.send_a_byte();
    expect_well(server);
  }
  EXPECT_EQ(clients.cut_within(kPatienceMs), 50U);
  expect_well(server);
}

TEST(Slow, AHeaderThatIsLateIsToldSo) {
  const ServeProcess server({"--quiet", "--engine", "greedy", "--header-timeout", "200ms"});
  HttpClient client(server.socket());
  client.send("GET /healthz HTTP/1.1\r\nHost:");
  const auto answer = client.answer(kPatienceMs);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 408);
  EXPECT_TRUE(client.is_closed_within(kPatienceMs));
}

TEST(Slow, ABodyThatIsLateIsToldSo) {
  const ServeProcess server({"--quiet", "--engine", "greedy", "--body-timeout", "200ms"});
  HttpClient client(server.socket());
  client.send(
      "POST /v1/solve HTTP/1.1\r\nHost: muster\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{");
  const auto answer = client.answer(kPatienceMs);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 408);
  EXPECT_TRUE(client.is_closed_within(kPatienceMs));
}

TEST(Slow, ConnectionsThatDoNothingAreClosed) {
  const ServeProcess server({"--quiet", "--engine", "greedy", "--idle-timeout", "200ms"});
  HttpClient client(server.socket());
  client.send(get("/healthz"));
  ASSERT_TRUE(client.answer(kPatienceMs));
  EXPECT_TRUE(client.is_closed_within(kPatienceMs));
}

TEST(Slow, ReadersThatDoNotReadAreCut) {
  const ServeProcess server({"--quiet", "--engine", "greedy", "--write-timeout", "500ms"});
  constexpr int kReaders = 10, kLines = 5'000;
  bench::SlowReaders readers(server, kReaders, small_snapshot(), kLines);
  bench::health_ms(server, std::chrono::seconds(4), [] {});
  EXPECT_EQ(readers.cut_within(kPatienceMs), static_cast<std::size_t>(kReaders));
  expect_well(server);
}

TEST(Slow, AReaderThatDoesNotReadDoesNotHoldUpTheOthers) {
  const ServeProcess server({"--quiet", "--engine", "greedy", "--write-timeout", "60s"});
  const bench::SlowReaders reader(server, 1, small_snapshot(), 5'000);
  for (int i = 0; i < 5; ++i) {
    const auto answer = server.ask(post("/v1/solve", small_snapshot()), kPatienceMs);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
  }
}

TEST(Slow, ConnectionsBeyondTheLimitAreRefusedUntilOthersLeave) {
  const ServeProcess server({"--quiet", "--engine", "greedy", "--max-connections", "10"});
  {
    // One that has left may still be counted for a moment.
    bench::Clients held;
    while (held.size() < 10) {
      auto client = std::make_unique<HttpClient>(server.socket());
      client->send(get("/healthz"));
      const auto answer = client->answer(kPatienceMs);
      if (answer && answer->status == 200) held.push_back(std::move(client));
    }
    HttpClient surplus(server.socket());
    surplus.send(get("/healthz"));
    const auto answer = surplus.answer(kPatienceMs);
    EXPECT_EQ(answer ? answer->status : 503, 503);
    EXPECT_TRUE(surplus.ends_within(kPatienceMs));
  }
  std::optional<bench::HttpAnswer> health;
  for (int i = 0; i < 100 && (!health || health->status != 200); ++i) health = server.ask(get("/healthz"));
  ASSERT_TRUE(health);
  EXPECT_EQ(health->status, 200);
}

}  // namespace
}  // namespace muster
