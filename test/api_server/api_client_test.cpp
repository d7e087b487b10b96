// Requests of the client of the API server, against a server that misbehaves.
#include "io/api_server/api_client.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "io/api_server/backoff.h"
#include "test/api_server/fake_cluster.h"
#include "test/api_server/running.h"

namespace muster::api_server {
namespace {

using std::chrono::milliseconds;

FakeAnswer answer_with(std::string body) {
  FakeAnswer answer;
  answer.body = std::move(body);
  return answer;
}

FakeAnswer raw(std::string bytes) {
  FakeAnswer answer;
  answer.instead = [bytes = std::move(bytes)](FakeConnection& connection) { connection.write(bytes); };
  return answer;
}

TEST(ApiClient, UsesAConnectionAgain) {
  FakeServer server([](const FakeRequest& request) { return answer_with(request.target); });
  boost::asio::io_context io;
  ApiClient client(io, address_of(server), steady());
  for (const char* target : {"/api/v1/pods?limit=5", "/b", "/c"}) {
    const ApiResponse answer = get(io, client, target);
    EXPECT_EQ(answer.status, 200U) << answer.error;
    EXPECT_EQ(answer.body, target);
    EXPECT_EQ(answer.content_type, "application/json");
    EXPECT_EQ(answer.date, "Sun, 01 Mar 2026 10:00:00 GMT");
    EXPECT_EQ(answer.error, "");
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(ApiClient, SendsABodyAndItsType) {
  FakeServer server([](const FakeRequest& request) { return answer_with(request.method + request.body); });
  boost::asio::io_context io;
  ServerAddress address = address_of(server);
  address.base_path = "/k8s";
  ApiClient client(io, address, steady());
  ApiRequest request{.method = "POST", .target = "/x", .content_type = "application/json", .body = "{\"a\":1}"};
  EXPECT_EQ(answer_of(io, client, request).body, "POST{\"a\":1}");
  EXPECT_EQ(answer_of(io, client, {.method = "DELETE", .target = "/x"}).body, "DELETE");
  const std::vector<FakeRequest> seen = server.requests();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].target, "/k8s/x");
  EXPECT_EQ(seen[0].fields.at("content-type"), "application/json");
  EXPECT_EQ(seen[0].fields.at("accept"), "application/json");
  EXPECT_EQ(seen[0].fields.at("host"), "127.0.0.1:" + server.port());
  EXPECT_EQ(seen[0].fields.count("authorization"), 0U);
  EXPECT_EQ(seen[1].fields.at("content-length"), "0");
}

TEST(ApiClient, JoinsChunks) {
  FakeServer server([](const FakeRequest&) {
    FakeAnswer answer = answer_with(std::string(100'000, 'x') + "end");
    answer.is_chunked = true;
    return answer;
  });
  boost::asio::io_context io;
  ApiClient client(io, address_of(server), steady());
  EXPECT_EQ(get(io, client, "/").body, std::string(100'000, 'x') + "end");
}

TEST(ApiClient, AnErrorNamesMethodPathAndReason) {
  FakeServer server([](const FakeRequest& request) {
    if (request.path == "/a") return status_answer(403, "Forbidden", "pods is forbidden");
    FakeAnswer answer = answer_with("upstream died\x1b\nmore");
    answer.status = 502;
    answer.fields = "Retry-After: 7\r\n";
    return answer;
  });
  boost::asio::io_context io;
  ApiClient client(io, address_of(server), steady());
  const ApiResponse forbidden = get(io, client, "/a?limit=1");
  EXPECT_EQ(forbidden.status, 403U);
  EXPECT_FALSE(forbidden.is_ok());
  EXPECT_EQ(forbidden.error, "GET /a: 403 Forbidden: pods is forbidden");
  EXPECT_EQ(forbidden.reason, "Forbidden");
  const ApiResponse broken = get(io, client, "/b");
  EXPECT_EQ(broken.error, "GET /b: 502 Bad Gateway: upstream died");
  EXPECT_EQ(broken.retry_after, std::chrono::seconds(7));
}

TEST(ApiClient, AnAnswerThatIsNoneIsAnError) {
  boost::asio::io_context io;
  for (const auto& [sent, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "closed without an answer"},
           {"garbage\r\n\r\n", "not valid HTTP"},
           {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "in the middle"},
           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "in the middle"},
           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\rx", "in the middle"},
           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "not valid HTTP"},
           {"HTTP/1.1 200 OK\r\nX: " + std::string(10'000, 'x') + "\r\n\r\n", "not valid HTTP"},
           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(10'000, 'x'), "not valid HTTP"},
           {"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x'), "longer than 1000 bytes"},
       }) {
    FakeServer server([bytes = sent](const FakeRequest&) { return raw(bytes); });
    ApiClient client(io, address_of(server), steady(), {.max_header_bytes = 8192, .max_body_bytes = 1000});
    const ApiResponse answer = get(io, client, "/x");
    EXPECT_EQ(answer.status, 0U) << sent.substr(0, 80);
    EXPECT_TRUE(answer.error.starts_with("GET /x: ")) << answer.error;
    EXPECT_NE(answer.error.find(expected), std::string::npos) << answer.error << " of " << sent.substr(0, 80);
  }
}

TEST(ApiClient, PassesOverInterimAnswers) {
  FakeServer server([](const FakeRequest&) {
    return raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  boost::asio::io_context io;
  ApiClient client(io, address_of(server), steady());
  EXPECT_EQ(get(io, client, "/").body, "ok");
}

TEST(ApiClient, AServerThatDoesNotAnswerOrIsNotThereIsAnError) {
  FakeServer server([](const FakeRequest&) {
    FakeAnswer answer;
    answer.instead = [](FakeConnection& connection) { connection.stall(); };
    return answer;
  });
  boost::asio::io_context io;
  ApiClient client(io, address_of(server), steady());
  const ApiResponse late = answer_of(io, client, {.target = "/x", .timeout = milliseconds(50)});
  EXPECT_EQ(late.error, "GET /x: no answer within 0.05 s");
  ServerAddress nowhere = address_of(server);
  nowhere.port = "1";
  ApiClient lost(io, nowhere, steady());
  EXPECT_EQ(get(io, lost, "/x").error, "GET /x: cannot connect to http://127.0.0.1:1: Connection refused");
}

TEST(ApiClient, AConnectionThatTheServerHasClosedIsReplaced) {
  FakeServer server([](const FakeRequest&) { return answer_with("ok"); });
  boost::asio::io_context io;
  ApiClient client(io, address_of(server), steady());
  EXPECT_EQ(get(io, client, "/").body, "ok");
  server.cut();
  EXPECT_EQ(get(io, client, "/").body, "ok");
  EXPECT_EQ(server.connections(), 2);
}

TEST(ApiClient, AConnectionThatClosesUponTheNextGetCostsASecondAttempt) {
  std::atomic<int> count{0};
  FakeServer server([&](const FakeRequest&) { return ++count == 2 ? raw("") : answer_with("ok"); });
  boost::asio::io_context io;
  ApiClient client(io, address_of(server), steady());
  EXPECT_EQ(get(io, client, "/").body, "ok");
  EXPECT_EQ(get(io, client, "/").body, "ok");
  EXPECT_EQ(count, 3);
}

TEST(ApiClient, KeepsToItsNumberOfConnections) {
  std::atomic<int> now{0}, most{0};
  FakeServer server([&](const FakeRequest&) {
    const int running = ++now;
    if (running > most) most = running;
    std::this_thread::sleep_for(milliseconds(2));
    --now;
    return answer_with("ok");
  });
  boost::asio::io_context io;
  ApiClient client(io, address_of(server), steady(), {.max_connections = 2});
  int done = 0;
  for (int i = 0; i < 12; ++i) client.send({.target = "/"}, [&](const ApiResponse& answer) { done += answer.is_ok(); });
  EXPECT_EQ(done, 0);
  EXPECT_EQ(client.waiting(), 10U);
  EXPECT_TRUE(run_until(io, [&] { return done == 12; }));
  EXPECT_LE(most, 2);
  EXPECT_EQ(server.connections(), 2);
}

TEST(ApiClient, ItsEndCallsNoHandler) {
  FakeServer server([](const FakeRequest&) { return answer_with("ok"); });
  boost::asio::io_context io;
  auto client = std::make_unique<ApiClient>(io, address_of(server), steady());
  int called = 0;
  std::unique_ptr<ApiStream> stream =
      client->open({.target = "/"}, milliseconds(1000), {.end = [&](const auto&) { ++called; }});
  for (int i = 0; i < 20; ++i) client->send({.target = "/"}, [&](const ApiResponse&) { ++called; });
  client.reset();
  run_for(io, milliseconds(20));
  EXPECT_EQ(called, 0);
}

TEST(ApiClient, AStreamComesInPieces) {
  FakeServer server([](const FakeRequest&) {
    FakeAnswer answer;
    answer.instead = [](FakeConnection& connection) {
      connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      connection.write_chunk("one\n");
      connection.write_chunk("two\n");
      connection.write("0\r\n\r\n");
    };
    return answer;
  });
  boost::asio::io_context io;
  ApiClient client(io, address_of(server), steady());
  std::string bytes;
  std::optional<ApiResponse> end;
  bool is_open = false;
  const auto stream = client.open({.target = "/"}, milliseconds(5000),
                                  {.open = [&](const ApiResponse&) { is_open = true; },
                                   .bytes = [&](std::string_view piece) { bytes += piece; },
                                   .end = [&](const ApiResponse& response) { end = response; }});
  EXPECT_TRUE(run_until(io, [&] { return end.has_value(); }));
  EXPECT_TRUE(is_open);
  EXPECT_EQ(bytes, "one\ntwo\n");
  EXPECT_EQ(end->error, "");
  EXPECT_EQ(end->status, 200U);
}

TEST(ApiClient, AStreamThatIsSilentOrCutEndsWithAnError) {
  FakeServer server([](const FakeRequest& request) {
    FakeAnswer answer;
    answer.instead = [stalls = request.path == "/silent"](FakeConnection& connection) {
      connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      connection.write_chunk("one");
      if (stalls) connection.stall();
    };
    return answer;
  });
  boost::asio::io_context io;
  ApiClient client(io, address_of(server), steady());
  for (const auto& [path, expected] : std::vector<std::pair<std::string, std::string>>{
           {"/silent", "GET /silent: nothing has come for 0.1 s"},
           {"/cut", "GET /cut: the connection was closed in the middle of the answer"}}) {
    std::optional<ApiResponse> end;
    const auto stream =
        client.open({.target = path}, milliseconds(100), {.end = [&](const ApiResponse& response) { end = response; }});
    EXPECT_TRUE(run_until(io, [&] { return end.has_value(); }));
    EXPECT_EQ(end->error, expected);
    EXPECT_EQ(end->status, 200U);
  }
}

TEST(ApiClient, AStreamMayBeEndedByItsOwnHandler) {
  FakeServer server([](const FakeRequest&) { return answer_with("many bytes"); });
  boost::asio::io_context io;
  ApiClient client(io, address_of(server), steady());
  int called = 0;
  std::unique_ptr<ApiStream> stream;
  const auto stop = [&](const auto&) {
    ++called;
    stream.reset();
  };
  stream = client.open({.target = "/"}, milliseconds(5000), {.open = stop, .bytes = stop, .end = stop});
  EXPECT_TRUE(run_until(io, [&] { return called > 0; }));
  run_for(io, milliseconds(20));
  EXPECT_EQ(called, 1);
  EXPECT_EQ(client.connections(), 0U);
}

TEST(ApiClient, ReadsTheTokenAgainAfterItWasRefused) {
  std::atomic<int> refused{0};
  FakeServer server([&](const FakeRequest& request) {
    const auto field = request.fields.find("authorization");
    if (field != request.fields.end() && field->second == "Bearer new") return answer_with("ok");
    ++refused;
    return status_answer(401, "Unauthorized", "Unauthorized");
  });
  const TestFile file("old\n");
  boost::asio::io_context io;
  ServerAddress address = address_of(server);
  address.token_file = file.name();
  ApiClient client(io, address, steady(), {.token_period = std::chrono::hours(1)});
  EXPECT_EQ(get(io, client, "/").status, 401U);
  EXPECT_EQ(refused, 1);
  file.write("new\n");
  EXPECT_EQ(get(io, client, "/").status, 200U);
  EXPECT_EQ(refused, 2);
  EXPECT_EQ(get(io, client, "/").status, 200U);
  EXPECT_EQ(refused, 2);
}

TEST(SendWithRetries, RepeatsWhatAnOverloadedServerRefused) {
  std::atomic<int> count{0};
  FakeServer server([&](const FakeRequest&) {
    ++count;
    return count == 1   ? status_answer(429, "TooManyRequests", "")
           : count == 2 ? status_answer(503, "", "")
                        : answer_with("ok");
  });
  boost::asio::io_context io;
  ApiClient client(io, address_of(server), steady());
  std::optional<ApiResponse> last;
  send_with_retries(client, {.method = "POST", .target = "/"}, {.first = milliseconds(4)}, 1,
                    [&](ApiResponse answer) { last = std::move(answer); });
  EXPECT_TRUE(run_until(io, [&] { return last.has_value(); }));
  EXPECT_EQ(last->body, "ok");
  EXPECT_EQ(count, 3);
}

TEST(SendWithRetries, GivesUpAfterItsAttemptsAndAtOnceForOtherFailures) {
  std::atomic<int> count{0};
  FakeServer server([&](const FakeRequest& request) {
    ++count;
    return status_answer(request.path == "/busy" ? 429 : 409, "", "");
  });
  boost::asio::io_context io;
  ApiClient client(io, address_of(server), steady());
  std::optional<ApiResponse> last;
  const auto done = [&](ApiResponse answer) { last = std::move(answer); };
  send_with_retries(client, {.target = "/busy"}, {.first = milliseconds(2), .attempts = 3}, 1, done);
  EXPECT_TRUE(run_until(io, [&] { return last.has_value(); }));
  EXPECT_EQ(last->status, 429U);
  EXPECT_EQ(count, 3);
  last.reset();
  send_with_retries(client, {.target = "/conflict"}, {}, 1, done);
  EXPECT_TRUE(run_until(io, [&] { return last.has_value(); }));
  EXPECT_EQ(last->status, 409U);
  EXPECT_EQ(count, 4);
}

TEST(Backoff, GrowsToItsLimitAndKeepsToRetryAfter) {
  Backoff backoff({.first = milliseconds(100), .most = milliseconds(1000)}, 7);
  milliseconds longest{0};
  for (int i = 0; i < 200; ++i) {
    const milliseconds time = backoff.next();
    EXPECT_LT(time, milliseconds(std::min(1000, 100 << std::min(i, 10))));
    longest = std::max(longest, time);
  }
  EXPECT_GT(longest, milliseconds(800));
  backoff.reset();
  EXPECT_LT(backoff.next(), milliseconds(100));
  const milliseconds asked = backoff.next(std::chrono::seconds(3));
  EXPECT_GE(asked, milliseconds(3000));
  EXPECT_LT(asked, milliseconds(3200));
}

}  // namespace
}  // namespace muster::api_server
