// The server as a service: its socket, its signals, its end.
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "test/cli/server.h"
#include "test/cli/snapshots.h"

namespace muster::cli {
namespace {

std::string slow_request() {
  const Workplace place;
  return post("/v1/solve", place.run("generate --preset contended --nodes 100 --seed 1").out, "Muster-Budget: 1s\r\n");
}

TEST(ServeOperation, TheSocketIsForItsUserAndGroupAndGoesWithTheServer) {
  const Workplace place;
  Server server(place);
  struct stat about {};
  ASSERT_EQ(stat(server.socket().c_str(), &about), 0);
  EXPECT_TRUE(S_ISSOCK(about.st_mode));
  EXPECT_EQ(about.st_mode & 0777U, 0660U);
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_code(), 0);
  EXPECT_FALSE(std::filesystem::exists(server.socket()));
}

TEST(ServeOperation, AStaleSocketIsReplacedAndALiveOneRefused) {
  const Workplace place;
  Server first(place);
  const Outcome second = place.run("serve --listen unix:" + first.socket());
  EXPECT_EQ(second.exit_code, 73);
  EXPECT_NE(second.err.find("another process already listens"), std::string::npos) << second.err;
  EXPECT_EQ(first.ask(get("/healthz")).status, 200);
  first.signal(SIGKILL);
  EXPECT_EQ(first.exit_code(), -SIGKILL);
  EXPECT_TRUE(std::filesystem::exists(first.socket()));
  const Server third(place);
  EXPECT_EQ(third.ask(get("/healthz")).status, 200);
}

TEST(ServeOperation, AFileInPlaceOfTheSocketIsLeftAlone) {
  const Workplace place;
  const std::string file = place.file("file", "precious");
  EXPECT_EQ(place.run("serve --listen unix:" + file).exit_code, 73);
  EXPECT_EQ(place.content("file"), "precious");
  EXPECT_EQ(place.run("serve --listen unix:" + place.path("no/such/directory")).exit_code, 73);
  EXPECT_EQ(place.run("serve --listen unix:/" + std::string(200, 'x')).exit_code, 73);
}

TEST(ServeOperation, AddressesThatOthersCanReachNeedAnExplicitWord) {
  const Workplace place;
  for (const char* address : {"tcp:0.0.0.0:0", "tcp:[::]:0", "tcp::0"}) {
    const Outcome outcome = place.run(std::string("serve --listen ") + address);
    EXPECT_EQ(outcome.exit_code, 64) << address;
    EXPECT_NE(outcome.err.find("--insecure"), std::string::npos) << outcome.err;
  }
  for (const char* address : {"muster.sock", "unix:", "tcp:localhost", "tcp:127.0.0.1:http", "tcp:::1:80"}) {
    EXPECT_EQ(place.run(std::string("serve --listen ") + address).exit_code, 64) << address;
  }
  const Server server(place, {"--insecure"}, "tcp:0.0.0.0:0");
  EXPECT_TRUE(server.has_logged("listening on tcp:0.0.0.0:"));
}

TEST(ServeOperation, WhatHasComeIsAnsweredBeforeTheEnd) {
  for (const int number : {SIGTERM, SIGINT}) {
    const Workplace place;
    Server server(place);
    const std::string slow = slow_request();
    std::vector<Client> clients;
    for (int i = 0; i < 3; ++i) clients.push_back(server.connect());
    Client half = server.connect(), idle = server.connect();
    for (const Client& client : clients) client.send(slow);
    half.send(slow.substr(0, slow.size() / 2));
    EXPECT_EQ(idle.ask(get("/healthz")).status, 200);
    server.signal(number);
    EXPECT_TRUE(server.has_logged("answering the accepted requests"));
    half.send(slow.substr(slow.size() / 2));
    for (Client& client : clients) {
      const HttpAnswer answer = client.receive();
      EXPECT_EQ(answer.status, 200);
      EXPECT_TRUE(answer.is_last);
      client.close();
    }
    EXPECT_EQ(half.receive().status, 200);
    half.close();
    EXPECT_TRUE(idle.is_closed());
    EXPECT_EQ(server.exit_code(), 0) << server.log();
  }
}

TEST(ServeOperation, ASecondSignalEndsItImmediately) {
  const Workplace place;
  Server server(place);
  Client client = server.connect();
  client.send("POST /v1/solve HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n");
  EXPECT_EQ(server.ask(get("/healthz")).status, 200);
  server.signal(SIGTERM);
  EXPECT_TRUE(server.has_logged("answering the accepted requests"));
  server.signal(SIGINT);
  EXPECT_EQ(server.exit_code(), 128 + SIGINT);
  EXPECT_FALSE(std::filesystem::exists(server.socket()));
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

std::string budget_now(const Server& server) {
  return server.ask(post("/v1/solve", good_lines()[0])).field("Muster-Budget");
}

TEST(ServeOperation, TheConfigurationIsReadAgainAndABadOneChangesNothing) {
  const Workplace place;
  const std::string config = place.file("muster.ini", "budget = 300ms\nengine = greedy\nmax-body-bytes = 100000\n");
  const Server server(place, {"--config", config});
  EXPECT_EQ(budget_now(server), "300ms");
  Client open = server.connect();
  EXPECT_EQ(open.ask(get("/healthz")).status, 200);

  place.file("muster.ini", "budget = 400ms\nengine = greedy\nmax-body-bytes = 100\n");
  server.signal(SIGHUP);
  EXPECT_TRUE(server.has_logged("configuration reloaded"));
  EXPECT_EQ(server.ask(post("/v1/solve", good_lines()[0])).status, 413);
  EXPECT_EQ(open.ask(get("/healthz")).status, 200);  // no client is cut off

  for (const char* bad : {"budget = soon\n", "no-such-key = 1\n", "[[["}) {
    const int before = count_of(server.log(), "the old configuration stays in effect");
    place.file("muster.ini", bad);
    server.signal(SIGHUP);
    EXPECT_TRUE(comes_true([&] {
      return count_of(server.log(), "the old configuration stays in effect") == before + 1;
    })) << server.log();
  }
  EXPECT_EQ(server.ask(post("/v1/solve", good_lines()[0])).status, 413);

  place.file("muster.ini", "budget = 500ms\nengine = greedy\nlisten = unix:/tmp/elsewhere\n");
  server.signal(SIGHUP);
  EXPECT_TRUE(comes_true([&] { return budget_now(server) == "500ms"; })) << server.log();
  const std::string metrics = server.ask(get("/metrics")).body;
  EXPECT_NE(metrics.find("muster_config_reloads_total{result=\"failed\"} 3\n"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("muster_config_reloads_total{result=\"ok\"} 2\n"), std::string::npos) << metrics;
}

TEST(ServeOperation, AFlagHoldsAgainstTheFileAndAnAddressWaitsForTheNextStart) {
  const Workplace place;
  const std::string config = place.file("muster.ini", "budget = 300ms\n");
  const Server server(place, {"--config", config, "--budget", "200ms", "--engine", "greedy"});
  EXPECT_EQ(budget_now(server), "200ms");
  place.file("muster.ini", "budget = 400ms\ninsecure = true\n");
  server.signal(SIGHUP);
  EXPECT_TRUE(server.has_logged("take effect at the next start")) << server.log();
  EXPECT_EQ(budget_now(server), "200ms");
}

TEST(ServeOperation, OneOfTwoSolversAnswersWhileTheOtherWorks) {
  const Workplace place;
  const Server server(place, {"--solvers", "2"});
  const auto in_flight = [&] {
    return server.ask(get("/metrics")).body.find("muster_requests_in_flight 1\n") != std::string::npos;
  };
  const std::string snapshot = place.run("generate --preset contended --nodes 100 --seed 1").out;
  const std::jthread slow(
      [&] { EXPECT_EQ(server.ask(post("/v1/solve", snapshot, "Muster-Budget: 5s\r\n")).status, 200); });
  ASSERT_TRUE(comes_true(in_flight));
  EXPECT_EQ(server.ask(post("/v1/solve", good_lines()[0])).status, 200);
  EXPECT_TRUE(in_flight()) << "the quick one waited for the slow one";
}

TEST(ServeOperation, LogsAreJsonWithTheIdOfTheRequest) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy"});
  server.ask(post("/v1/solve", good_lines()[0], "X-Request-Id: first\r\n"));
  server.ask(post("/v1/solve", "{\"\x1b[31m\":1}", "X-Request-Id: second\r\n"));
  server.ask(get("/healthz"));
  ASSERT_TRUE(comes_true([&] { return count_of(server.log(), "\"message\":\"answered\"") == 2; })) << server.log();
  for (const std::string& line : lines_of(server.log())) {
    const auto record = nlohmann::json::parse(line);
    EXPECT_TRUE(record.contains("time") && record.contains("severity") && record.contains("message")) << line;
    if (record["message"] != "answered") continue;
    EXPECT_EQ(record["method"], "POST");
    EXPECT_EQ(record["path"], "/v1/solve");
    EXPECT_EQ(record["status"], record["requestId"] == "first" ? 200 : 400);
    EXPECT_GE(record["durationMs"], 0);
  }
}

// The log is a pipe that is never read and is soon full.
TEST(ServeOperation, AnUnreadLogBlocksNothing) {
  const Workplace place;
  std::array<int, 2> log{};
  ASSERT_EQ(pipe2(log.data(), O_CLOEXEC), 0);
  Server server(place, {"--engine", "greedy"}, "", log[1]);
  Client client = server.connect();
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += post("/v1/solve", "{}", "X-Request-Id: " + std::string(120, 'x') + "\r\n");
  for (int round = 0; round < 10; ++round) {
    client.send(requests);
    for (int i = 0; i < 50; ++i) ASSERT_EQ(client.receive().status, 400);
  }
  std::string read_now(1 << 20, '\0');
  ASSERT_GT(read(log[0], read_now.data(), read_now.size()), 0);
  client.ask(post("/v1/solve", "{}"));
  std::string rest;
  EXPECT_TRUE(comes_true([&] {
    const ssize_t got = read(log[0], read_now.data(), read_now.size());
    if (got > 0) rest.append(read_now, 0, static_cast<std::size_t>(got));
    return rest.find("log records because stderr was blocked") != std::string::npos;
  }));
  close(log[0]);
  close(log[1]);
}

// What a service manager hears.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path) : descriptor_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(static_cast<char*>(address.sun_path), path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const timeval patience{10, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~NotifySocket() { close(descriptor_); }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;
  // The next message that is not about the watchdog, or is.
  std::string hear(bool is_watchdog = false) const {
    while (true) {
      std::string message(200, '\0');
      const ssize_t got = recv(descriptor_, message.data(), message.size(), 0);
      if (got <= 0) return "";
      message.resize(static_cast<std::size_t>(got));
      if (message.starts_with("WATCHDOG") == is_watchdog) return message;
    }
  }

 private:
  int descriptor_;
};

TEST(ServeOperation, AServiceManagerIsToldOfEveryChange) {
  const Workplace place;
  const NotifySocket manager(place.path("notify"));
  setenv("NOTIFY_SOCKET", place.path("notify").c_str(), 1);
  setenv("WATCHDOG_USEC", "100000", 1);
  Server server(place);
  unsetenv("NOTIFY_SOCKET");
  unsetenv("WATCHDOG_USEC");
  EXPECT_EQ(manager.hear(), "READY=1");
  EXPECT_EQ(manager.hear(true), "WATCHDOG=1");
  EXPECT_EQ(manager.hear(true), "WATCHDOG=1");
  server.signal(SIGHUP);
  EXPECT_TRUE(manager.hear().starts_with("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_EQ(manager.hear(), "READY=1");
  server.signal(SIGTERM);
  EXPECT_EQ(manager.hear(), "STOPPING=1");
  EXPECT_EQ(server.exit_code(), 0);
}

}  // namespace
}  // namespace muster::cli
