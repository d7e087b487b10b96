// Requests that the server rejects, without harm to other clients.
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "test/cli/server.h"
#include "test/cli/snapshots.h"

namespace muster::cli {
namespace {

// So long a budget that it is not over before the test has done what it wants to do meanwhile.
std::string slow_request(const std::string& fields = "") {
  const Workplace place;
  const Outcome hard = place.run("generate --preset contended --nodes 100 --seed 1");
  return post("/v1/solve", hard.out, fields);
}

double metric(const Server& server, const std::string& name) {
  const std::string text = server.ask(get("/metrics")).body;
  const std::size_t place = text.find("\n" + name + " ");
  return place == std::string::npos ? -1 : std::stod(text.substr(place + name.size() + 2));
}

TEST(ServeLimits, HeadersAndBodiesThatAreTooLong) {
  const Workplace place;
  const Server server(place, {"--max-header-bytes", "1024", "--max-body-bytes", "2000", "--engine", "greedy"});
  const std::string field = "X-Long: " + std::string(500, 'x') + "\r\n";
  EXPECT_EQ(server.ask("GET /healthz HTTP/1.1\r\nHost: x\r\n" + field + "\r\n").status, 200);
  EXPECT_EQ(server.ask("GET /healthz HTTP/1.1\r\nHost: x\r\n" + field + field + "\r\n").status, 431);
  EXPECT_EQ(server.ask("GET /" + std::string(2000, 'x')).status, 431);
  EXPECT_EQ(server.ask(post("/v1/solve", std::string(2001, ' '))).status, 413);
  EXPECT_EQ(server.ask(post("/v1/solve", good_lines()[0])).status, 200);
  const HttpAnswer chunked = server.ask(
      "POST /v1/solve HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7d1\r\n" + std::string(2001, ' '));
  EXPECT_EQ(chunked.status, 413);
  EXPECT_TRUE(chunked.is_last);
}

// Field after field, each whole: no single one is too long.
TEST(ServeLimits, AHeaderWithoutEndIsNotCollected) {
  const Workplace place;
  const Server server(place, {"--max-header-bytes", "1024"});
  Client client = server.connect();
  client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n");
  for (int i = 0; i < 200; ++i) {
    if (!client.send("X-Field: " + std::to_string(i) + "\r\n")) break;
  }
  EXPECT_EQ(client.receive().status, 431);
  Client trailers = server.connect();
  trailers.send("POST /v1/solve HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n");
  for (int i = 0; i < 200; ++i) {
    if (!trailers.send("X-Field: " + std::to_string(i) + "\r\n")) break;
  }
  EXPECT_EQ(trailers.receive().status, 431);
}

TEST(ServeLimits, FramingThatCanBeReadInTwoWaysIsRefused) {
  const Workplace place;
  const Server server(place);
  const std::string start = "POST /v1/solve HTTP/1.1\r\nHost: x\r\n";
  for (const std::string& fields : {
           std::string("Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef"),
           std::string("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
           std::string("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
           std::string("Transfer-Encoding: gzip\r\n\r\n"),
           std::string("Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"),
           std::string("Content-Length: -1\r\n\r\n"),
           std::string("Content-Length: 99999999999999999999999\r\n\r\n"),
           std::string("Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n"),
           std::string("Transfer-Encoding: chunked\r\n\r\n-1\r\n"),
           std::string("Bad Name: x\r\n\r\n"),
           std::string("Host: y\r\n\r\n"),
       }) {
    const HttpAnswer answer = server.ask(start + fields);
    EXPECT_GE(answer.status, 400) << fields;
    EXPECT_TRUE(answer.is_last) << fields;
  }
  EXPECT_EQ(server.ask("GET /healthz HTTP/1.1\r\n\r\n").status, 400);
  EXPECT_EQ(server.ask("GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n").status, 505);
  EXPECT_EQ(server.ask("\x16\x03\x01\x02").status, 400);
  EXPECT_EQ(server.ask(get("/healthz")).status, 200);
}

TEST(ServeLimits, SlowHeadersSlowBodiesAndIdleConnectionsAreCut) {
  const Workplace place;
  const Server server(place, {"--header-timeout", "200ms", "--body-timeout", "200ms", "--idle-timeout", "200ms"});
  Client silent = server.connect(), header = server.connect(), body = server.connect(), idle = server.connect();
  header.send("GET /healthz HT");
  body.send("POST /v1/solve HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{");
  EXPECT_EQ(idle.ask(get("/healthz")).status, 200);
  EXPECT_EQ(header.receive().status, 408);
  EXPECT_EQ(body.receive().status, 408);
  EXPECT_TRUE(silent.is_closed());
  EXPECT_TRUE(idle.is_closed());
  EXPECT_EQ(metric(server, R"(muster_http_connections_refused_total{reason="header_timeout"})"), 2);
  EXPECT_EQ(metric(server, R"(muster_http_connections_refused_total{reason="body_timeout"})"), 1);
}

TEST(ServeLimits, ClientThatDoesNotReadIsDisconnected) {
  const Workplace place;
  const Server server(place, {"--write-timeout", "300ms", "--engine", "greedy"});
  Client client = server.connect();
  std::string body;
  const Outcome large = place.run("generate --preset synth --nodes 300 --seed 1");
  for (int i = 0; i < 20; ++i) body += large.out;
  client.send(post("/v1/solve", body, "", "application/x-ndjson"));
  EXPECT_TRUE(comes_true([&] {
    return metric(server, R"(muster_http_connections_refused_total{reason="write_timeout"})") == 1;
  })) << server.log();
  EXPECT_TRUE(comes_true([&] { return metric(server, "muster_requests_in_flight") == 0; }));
}

TEST(ServeLimits, MoreConnectionsThanAllowedAreTurnedAway) {
  const Workplace place;
  const Server server(place, {"--max-connections", "2"});
  Client first = server.connect(), second = server.connect();
  EXPECT_EQ(first.ask(get("/healthz")).status, 200);
  EXPECT_EQ(second.ask(get("/healthz")).status, 200);
  Client third = server.connect();
  EXPECT_EQ(third.receive().status, 503);
  first.close();
  EXPECT_TRUE(comes_true([&] { return server.ask(get("/healthz")).status == 200; }));
}

TEST(ServeLimits, BeyondTheQueueThereIs429AndTheHealthIsToldAllTheSame) {
  const Workplace place;
  const Server server(place, {"--max-in-flight", "2"});
  const std::string slow = slow_request("Muster-Budget: 2s\r\n");
  Client first = server.connect(), second = server.connect();
  first.send(slow);
  second.send(slow);
  EXPECT_TRUE(comes_true([&] { return metric(server, "muster_requests_in_flight") == 2; }));
  const HttpAnswer refused = server.ask(post("/v1/solve", good_lines()[0]));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.field("Retry-After"), "1");
  EXPECT_FALSE(refused.is_last);
  EXPECT_EQ(server.ask(get("/healthz")).status, 200);
  EXPECT_EQ(first.receive().status, 200);
  const HttpAnswer late = second.receive();  // has waited for all of its budget
  EXPECT_EQ(late.status, 200);
  EXPECT_NE(late.body.find("\"placements\":[{"), std::string::npos) << late.body.substr(0, 200);
  EXPECT_EQ(server.ask(post("/v1/solve", good_lines()[0])).status, 200);
}

TEST(ServeLimits, AClientThatGoesAwayGivesUpItsPlace) {
  const Workplace place;
  for (const char* address : {"", "tcp:127.0.0.1:0"}) {
    const Server server(place, {"--max-in-flight", "3"}, address);
    const std::string slow = slow_request("Muster-Budget: 3s\r\n");
    Client first = server.connect();
    first.send(slow);
    EXPECT_TRUE(comes_true([&] { return metric(server, "muster_requests_in_flight") == 1; }));
    // One that the parser has read ahead, and more that wait before it.
    for (int i = 0; i < 20; ++i) {
      Client gone = server.connect();
      gone.send(slow);
      gone.close();
    }
    EXPECT_TRUE(comes_true([&] { return metric(server, "muster_requests_in_flight") <= 3; }));
    EXPECT_EQ(first.receive().status, 200);
    EXPECT_TRUE(comes_true([&] { return metric(server, "muster_requests_in_flight") == 0; }));
    // None of them was solved.
    EXPECT_EQ(metric(server, "muster_solve_duration_seconds_count"), 1);
  }
}

TEST(ServeLimits, BodiesInFlightHaveARoomTogether) {
  const Workplace place;
  const Server server(place, {"--max-buffered-bytes", "100000"});
  Client half = server.connect();
  half.send("POST /v1/solve HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + std::string(90'000, ' '));
  const std::string request = post("/v1/solve", std::string(20'000, ' ') + good_lines()[0]);
  for (int i = 0; i < 20; ++i) server.ask(get("/healthz"));  // meanwhile it has been read
  EXPECT_EQ(server.ask(request).status, 429);
  half.close();
  EXPECT_TRUE(comes_true([&] { return server.ask(request).status == 200; }));
  // Alone it may be longer than the room.
  EXPECT_EQ(server.ask(post("/v1/solve", std::string(200'000, ' ') + good_lines()[0])).status, 200);
}

}  // namespace
}  // namespace muster::cli
