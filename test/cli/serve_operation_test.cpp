// The server as a service: its socket, its signals, its end.
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "test/cli/server.h"
#include "test/cli/snapshots.h"

namespace muster {
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
  EXPECT_NE(second.err.find("somebody listens"), std::string::npos) << second.err;
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
    EXPECT_TRUE(server.has_logged("answering what has come"));
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

TEST(ServeOperation, ASecondSignalEndsItAtOnce) {
  const Workplace place;
  Server server(place);
  Client client = server.connect();
  client.send("POST /v1/solve HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n");
  EXPECT_EQ(server.ask(get("/healthz")).status, 200);
  server.signal(SIGTERM);
  EXPECT_TRUE(server.has_logged("answering what has come"));
  server.signal(SIGINT);
  EXPECT_EQ(server.exit_code(), 128 + SIGINT);
  EXPECT_FALSE(std::filesystem::exists(server.socket()));
}

}  // namespace
}  // namespace muster
