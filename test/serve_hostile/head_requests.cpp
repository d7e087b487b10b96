// The head of a message: its first line, its target, and its fields.
#include "bench/support/http_client.h"
#include "test/serve_hostile/requests.h"

namespace muster {
namespace {

using bench::get;
using bench::post;

constexpr Afterwards kOpen = Afterwards::kOpen;

std::string with_fields(const std::string& fields) {
  return "GET /healthz HTTP/1.1\r\nHost: muster\r\n" + fields + "\r\n";
}
std::string with_line(const std::string& line) { return line + "\r\nHost: muster\r\n\r\n"; }
std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}
const std::string kNul(1, '\0');

}  // namespace

std::vector<HostileRequest> header_requests() {
  return {
      {"a field of 20 kB", with_fields("X: " + std::string(20'000, 'x') + "\r\n"), {431}},
      {"a field name of 20 kB", with_fields(std::string(20'000, 'x') + ": 1\r\n"), {431}},
      {"a field of a megabyte", with_fields("X: " + std::string(1 << 20, 'x') + "\r\n"), {431}},
      {"ten thousand fields", with_fields(repeated("X: 1\r\n", 10'000)), {431}},
      {"a thousand fields within the limit", with_fields(repeated("X: 1\r\n", 1'000)), {200}, kOpen},
      {"a field without a colon", with_fields("nonsense\r\n"), {400}},
      {"a field without a name", with_fields(": value\r\n"), {400}},
      {"a blank within a name", with_fields("X Y: 1\r\n"), {400}},
      {"a name that is no token", with_fields("X(Y): 1\r\n"), {400}},
      {"a NUL in a value", with_fields("X: a" + kNul + "b\r\n"), {400}},
      {"a NUL in a name", with_fields("X" + kNul + "Y: 1\r\n"), {400}},
      {"a control character in a value",
       with_fields("X: a\x01"
                   "b\r\n"),
       {400}},
      {"a carriage return in a value", with_fields("X: a\rb\r\n"), {400}},
      {"line feeds without carriage returns", "GET /healthz HTTP/1.1\nHost: muster\n\n", {505}},
      {"one bare line feed", "GET /healthz HTTP/1.1\r\nHost: muster\nX: 1\r\n\r\n", {400}},
      {"a first field that is a continuation", "GET /healthz HTTP/1.1\r\n X: 1\r\nHost: muster\r\n\r\n", {400}},
      {"bytes beyond ASCII in a value", with_fields("X: \xff\xfe\xc3\r\n"), {200}, kOpen},
      {"no Host", "GET /healthz HTTP/1.1\r\n\r\n", {400}},
      {"two Hosts", with_fields("Host: other\r\n"), {400}},
      {"an unknown expectation", with_fields("Expect: 200-maybe\r\n"), {417}},
      {"a protocol to change to", with_fields("Connection: Upgrade\r\nUpgrade: websocket\r\n"), {200}, kOpen},
      {"a range of an answer", with_fields("Range: bytes=0-0,-1\r\n"), {200}, kOpen},
      {"a budget that is none",
       post("/v1/solve", small_snapshot(), "application/json", "Muster-Budget: soon\r\n"),
       {400}},
      {"a budget that is negative",
       post("/v1/solve", small_snapshot(), "application/json", "Muster-Budget: -1s\r\n"),
       {400}},
      {"a budget beyond 64 bits",
       post("/v1/solve", small_snapshot(), "application/json", "Muster-Budget: 99999999999999999999s\r\n"),
       {400}},
      {"a body that is compressed",
       post("/v1/solve", small_snapshot(), "application/json", "Content-Encoding: gzip\r\n"),
       {415}},
  };
}

std::vector<HostileRequest> request_line_requests() {
  return {
      {"a method in small letters", with_line("get /healthz HTTP/1.1"), {405}, kOpen},
      {"an unknown method", with_line("BREW /healthz HTTP/1.1"), {405}, kOpen},
      {"a method that is no token", with_line("GE(T /healthz HTTP/1.1"), {400}},
      {"a method of 20 kB", with_line(std::string(20'000, 'A') + " / HTTP/1.1"), {431}},
      {"no method", with_line(" /healthz HTTP/1.1"), {400}},
      {"GET where only POST is", with_line("GET /v1/solve HTTP/1.1"), {405}, kOpen},
      {"POST where only GET is", post("/healthz", "{}"), {405}},
      {"DELETE", with_line("DELETE /v1/solve HTTP/1.1"), {405}, kOpen},
      {"TRACE", with_line("TRACE /healthz HTTP/1.1"), {405}, kOpen},
      {"a tunnel to elsewhere", "CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere:443\r\n\r\n", {404}, kOpen},
      {"HTTP/2.0", with_line("GET /healthz HTTP/2.0"), {505}},
      {"HTTP/1.9", with_line("GET /healthz HTTP/1.9"), {505}},
      {"HTTP/11", with_line("GET /healthz HTTP/11"), {505}},
      {"http/1.1", with_line("GET /healthz http/1.1"), {505}},
      {"HTTP/0.9", "GET /healthz\r\n\r\n", {400}},
      {"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {505}},
      {"two blanks", with_line("GET  /healthz HTTP/1.1"), {400}},
      {"a tab for a blank", with_line("GET\t/healthz\tHTTP/1.1"), {400}},
      {"a blank at the end", with_line("GET /healthz HTTP/1.1 "), {505}},
      {"another protocol's greeting",
       std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\xaa\xbb\xcc\xdd\r\n\r\n", 19),
       {400}},
      {"64 kB of bytes of every value",
       [] {
         std::string bytes;
         for (int i = 0; i < 65'536; ++i) bytes += static_cast<char>(i * 167 % 256);
         return bytes;
       }(),
       {400}},
  };
}

std::vector<HostileRequest> target_requests() {
  return {
      {"a target with scheme and host", with_line("GET http://muster/healthz HTTP/1.1"), {200}, kOpen},
      {"a target of another scheme", with_line("GET file:///etc/passwd HTTP/1.1"), {404}, kOpen},
      {"a query", with_line("GET /healthz?a=b&c HTTP/1.1"), {200}, kOpen},
      {"a target without a slash", with_line("GET healthz HTTP/1.1"), {404}, kOpen},
      {"two slashes", with_line("GET //healthz HTTP/1.1"), {404}, kOpen},
      {"the way back", with_line("GET /v1/../healthz HTTP/1.1"), {404}, kOpen},
      {"the way out", with_line("GET /../../../../etc/passwd HTTP/1.1"), {404}, kOpen},
      {"the way out in percent", with_line("GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1"), {404}, kOpen},
      {"a NUL in percent", with_line("GET /healthz%00 HTTP/1.1"), {404}, kOpen},
      {"half a percent", with_line("GET /healthz%2 HTTP/1.1"), {404}, kOpen},
      {"line ends in percent", with_line("GET /%0d%0aX:%201 HTTP/1.1"), {404}, kOpen},
      {"a NUL", with_line("GET /healthz" + kNul + " HTTP/1.1"), {400}},
      {"a target of 20 kB", with_line("GET /" + std::string(20'000, 'a') + " HTTP/1.1"), {431}},
      {"an asterisk", with_line("OPTIONS * HTTP/1.1"), {404}, kOpen},
      {"markup", with_line("GET /<script>alert(1)</script> HTTP/1.1"), {404}, kOpen},
  };
}

}  // namespace muster
