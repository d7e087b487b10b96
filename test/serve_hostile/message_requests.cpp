// Connections that are used in unusual ways, and bodies that are no snapshots.
#include "bench/support/http_client.h"
#include "test/serve_hostile/requests.h"

namespace muster {
namespace {

using bench::get;
using bench::post;

constexpr Afterwards kOpen = Afterwards::kOpen, kClosed = Afterwards::kClosed;

std::string solve(const std::string& body) { return post("/v1/solve", body); }

}  // namespace

std::vector<HostileRequest> connection_requests() {
  const std::string good = solve(small_snapshot()), lines = small_snapshot() + "\n";
  return {
      {"three together", get("/healthz") + good + get("/version"), {200, 200, 200}, kOpen},
      {"a broken one behind a good one", good + "nonsense\r\n\r\n", {200, 400}},
      {"a good one behind a broken one", "nonsense\r\n\r\n" + good, {400}},
      {"empty lines before", "\r\n" + get("/healthz"), {200}, kOpen},
      {"HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n", {200}},
      {"HTTP/1.0 that stays", "GET /healthz HTTP/1.0\r\nHost: muster\r\nConnection: keep-alive\r\n\r\n", {200}, kOpen},
      {"chunked in HTTP/1.0",
       "POST /v1/solve HTTP/1.0\r\nHost: muster\r\nContent-Type: application/json\r\n"
       "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
       {400}},
      {"the last one", "GET /healthz HTTP/1.1\r\nHost: muster\r\nConnection: close\r\n\r\n", {200}},
      {"one behind the last one",
       "GET /healthz HTTP/1.1\r\nHost: muster\r\nConnection: close\r\n\r\n" + get("/healthz"),
       {200}},
      {"half close after a request", good, {200}, kClosed, Sender::kEndsSending},
      {"half close after two requests", good + get("/healthz"), {200, 200}, kClosed, Sender::kEndsSending},
      {"half close within a head", "GET /healthz HTTP/1.1\r\nHost: mus", {}, kClosed, Sender::kEndsSending},
      {"half close at once", "", {}, kClosed, Sender::kEndsSending},
      {"a body to come that is too large",
       "POST /v1/solve HTTP/1.1\r\nHost: muster\r\nContent-Type: application/json\r\n"
       "Content-Length: 99999999\r\nExpect: 100-continue\r\n\r\n",
       {413}},
      {"a body to come, and here it is",
       "POST /v1/solve HTTP/1.1\r\nHost: muster\r\nContent-Type: application/json\r\n"
       "Expect: 100-continue\r\nContent-Length: " +
           std::to_string(small_snapshot().size()) + "\r\n\r\n" + small_snapshot(),
       {200},
       kOpen},
      {"lines, and half close",
       post("/v1/solve", lines + lines, "application/x-ndjson"),
       {200},
       kClosed,
       Sender::kEndsSending},
  };
}

std::vector<HostileRequest> body_requests() {
  const std::string good = small_snapshot();
  const auto typed = [&](const std::string& type) { return post("/v1/solve", good, type); };
  return {
      {"no JSON", solve("nonsense"), {400}, kOpen},
      {"half of a snapshot", solve(good.substr(0, good.size() / 2)), {400}, kOpen},
      {"a snapshot and more", solve(good + "}"), {400}, kOpen},
      {"null", solve("null"), {400}, kOpen},
      {"a number beyond all numbers", solve("1e999999"), {400}, kOpen},
      {"a text that does not end", solve("\"abc"), {400}, kOpen},
      {"a hundred thousand brackets", solve(std::string(100'000, '[')), {400}, kOpen},
      {"a hundred thousand brackets, closed",
       solve(std::string(100'000, '[') + std::string(100'000, ']')),
       {400},
       kOpen},
      {"a hundred thousand objects within each other",
       solve([] {
         std::string deep;
         for (int i = 0; i < 100'000; ++i) deep += R"({"a":)";
         return deep;
       }()),
       {400},
       kOpen},
      {"broken UTF-8", solve("{\"format\":\"muster/v1\",\"id\":\"\xc3\x28\"}"), {400}, kOpen},
      {"half of a surrogate pair", solve(R"({"format":"muster/v1","id":"\ud800"})"), {400}, kOpen},
      {"UTF-16", solve(std::string("\xff\xfe{\0}\0", 6)), {400}, kOpen},
      {"a NUL", solve(std::string("{\0}", 3)), {400}, kOpen},
      {"blanks", solve(std::string(1'000, ' ')), {400}, kOpen},
      {"another format", solve(R"({"format":"muster/v9"})"), {400}, kOpen},
      {"a key twice", solve(R"({"format":"muster/v1","id":"a","id":"b"})"), {400}, kOpen},
      {"plain text", typed("text/plain"), {415}},
      {"a form", typed("application/x-www-form-urlencoded"), {415}},
      {"a type that is none", typed("json"), {415}},
      {"a type in capitals with a parameter", typed("Application/JSON; charset=utf-8"), {200}, kOpen},
      {"a million blank lines", post("/v1/solve", std::string(1'000'000, '\n'), "application/x-ndjson"), {400}, kOpen},
      {"a thousand broken lines",
       post(
           "/v1/solve",
           [] {
             std::string lines;
             for (int i = 0; i < 1'000; ++i) lines += "{\n";
             return lines;
           }(),
           "application/x-ndjson"),
       {200},
       kOpen},
      {"nothing to verify", post("/v1/verify", "", "application/x-ndjson"), {400}, kOpen},
      {"nothing to import", post("/v1/import", "nonsense"), {400}, kOpen},
  };
}

}  // namespace muster
