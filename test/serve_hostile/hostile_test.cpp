// Bytes that no well-behaved client sends: each gets the right status or the end of its connection, and no other client
// notices.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/support/machine.h"
#include "bench/support/serve_process.h"
#include "test/serve_hostile/requests.h"

namespace muster {
namespace {

using bench::get;
using bench::HttpAnswer;
using bench::HttpClient;
using bench::ServeProcess;

constexpr int kPatienceMs = 10'000;

std::vector<std::string> arguments() {
  return {"--engine",
          "greedy",
          "--quiet",
          "--max-body-bytes",
          std::to_string(kMostBodyBytes),
          "--max-header-bytes",
          std::to_string(kMostHeaderBytes)};
}

// The problem document of an error (RFC 9457) has its status.
void expect_explained(const HttpAnswer& answer) {
  if (answer.status < 400) return;
  EXPECT_EQ(answer.field("content-type"), "application/problem+json");
  const auto problem = nlohmann::json::parse(answer.body, nullptr, false);
  ASSERT_TRUE(problem.is_object()) << answer.body;
  EXPECT_EQ(problem.value("status", 0), answer.status);
  EXPECT_NE(problem.value("title", ""), "");
}

void expect_answers(HttpClient& client, const HostileRequest& request) {
  for (const int status : request.statuses) {
    const auto answer = client.answer(kPatienceMs);
    ASSERT_TRUE(answer) << "no answer where " << status << " is expected";
    EXPECT_EQ(answer->status, status) << answer->body;
    expect_explained(*answer);
  }
  if (request.afterwards == Afterwards::kClosed) {
    EXPECT_TRUE(client.is_closed_within(kPatienceMs)) << "there is more, or the connection is still open";
    return;
  }
  client.send(get("/healthz"));
  const auto next = client.answer(kPatienceMs);
  ASSERT_TRUE(next) << "the connection does not answer any more";
  EXPECT_EQ(next->status, 200);
}

void expect_handled(const ServeProcess& server, const HostileRequest& request) {
  SCOPED_TRACE(request.what);
  HttpClient client(server.socket());
  client.send(request.bytes);
  if (request.sender == Sender::kEndsSending) client.end_sending();
  expect_answers(client, request);
  const auto health = server.ask(get("/healthz"));
  ASSERT_TRUE(health) << "it is not well any more";
  EXPECT_EQ(health->status, 200);
}

void expect_all_handled(const std::vector<HostileRequest>& requests) {
  const ServeProcess server(arguments());
  for (const HostileRequest& request : requests) expect_handled(server, request);
}

TEST(Hostile, LengthsThatCannotBeTrustedAreRefusedAndTheConnectionIsClosed) { expect_all_handled(length_requests()); }
TEST(Hostile, ChunksThatCannotBeTrustedAreRefusedAndTheConnectionIsClosed) { expect_all_handled(chunk_requests()); }
TEST(Hostile, HeadersAreLimitedInSizeAndKeepToTheGrammar) { expect_all_handled(header_requests()); }
TEST(Hostile, FirstLinesKeepToTheGrammar) { expect_all_handled(request_line_requests()); }
TEST(Hostile, TargetsAreFoundAsTheyAreWrittenOrNotAtAll) { expect_all_handled(target_requests()); }
TEST(Hostile, ConnectionsAreUsedAndLeftInAnyWay) { expect_all_handled(connection_requests()); }
TEST(Hostile, BodiesThatAreNoSnapshotsAreExplained) { expect_all_handled(body_requests()); }

TEST(Hostile, ARequestIdThatIsNotSaneIsNotEchoed) {
  const ServeProcess server(arguments());
  for (const std::string& id :
       {std::string("<script>"), std::string("a\"b"), std::string(5'000, 'x'), std::string("\xff")}) {
    const auto answer = server.ask("GET /healthz HTTP/1.1\r\nHost: muster\r\nX-Request-Id: " + id + "\r\n\r\n");
    ASSERT_TRUE(answer) << id;
    EXPECT_NE(answer->field("x-request-id"), id);
  }
}

TEST(Hostile, ClientsThatLeaveInTheMiddleOfAnythingAreNotMissed) {
  const ServeProcess server(arguments());
  const std::string request = bench::post("/v1/solve", small_snapshot());
  for (std::size_t bytes = 0; bytes <= request.size(); ++bytes)
    HttpClient(server.socket()).send(request.substr(0, bytes));
  const auto answer = server.ask(request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
}

TEST(Hostile, MemoryIsFlatOverRepetitions) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "what is freed stays for a while with a sanitizer";
#endif
  const ServeProcess server(arguments());
  std::vector<HostileRequest> all;
  for (const auto& table : {length_requests(), chunk_requests(), header_requests(), request_line_requests(),
                            target_requests(), connection_requests(), body_requests()})
    all.insert(all.end(), table.begin(), table.end());
  ASSERT_GE(all.size(), 60U);
  const auto repeat = [&](int times) {
    for (int i = 0; i < times; ++i) {
      for (const HostileRequest& request : all) {
        HttpClient client(server.socket());
        client.send(request.bytes);
        client.end_sending();
        client.ends_within(kPatienceMs);
      }
    }
    return bench::memory_mib(server.id(), "VmRSS:");
  };
  // The heaps of its threads grow in steps of some MiB until the largest requests fit into each, whatever came before:
  // in 84,000 requests from 17 to 32 MiB, the last 25,000 of them without one more page. A leak of a kilobyte a request
  // is detected.
  constexpr double kMostMib = 8;
  const double before = repeat(60), after = repeat(60);
  EXPECT_LE(after, before + kMostMib);
}

}  // namespace
}  // namespace muster
