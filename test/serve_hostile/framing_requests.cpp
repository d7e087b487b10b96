// The end of a message: lengths and chunks.
#include "bench/support/http_client.h"
#include "test/serve_hostile/requests.h"

namespace muster {
namespace {

constexpr Afterwards kOpen = Afterwards::kOpen, kClosed = Afterwards::kClosed;

// A request to solve with these fields in place of the right ones, and these bytes behind its head.
std::string framed(const std::string& fields, const std::string& bytes) {
  return "POST /v1/solve HTTP/1.1\r\nHost: muster\r\nContent-Type: application/json\r\n" + fields + "\r\n" + bytes;
}
std::string chunked(const std::string& chunks) { return framed("Transfer-Encoding: chunked\r\n", chunks); }

std::string hexadecimal(std::size_t number) {
  std::string digits;
  for (; number > 0; number /= 16) digits.insert(digits.begin(), "0123456789abcdef"[number % 16]);
  return digits;
}
std::string chunk(const std::string& content) { return hexadecimal(content.size()) + "\r\n" + content + "\r\n"; }

}  // namespace

std::string small_snapshot() {
  return R"({"format":"muster/v1","nodes":[{"name":"n1","resources":{"cpu":"16","memory":"64Gi"},"gpus":{"count":2}}],)"
         R"("gangs":[{"name":"train","minMember":2}],"pods":[{"name":"train-0","gang":"train","gpu":{"count":1}},)"
         R"({"name":"train-1","gang":"train","gpu":{"count":1}}]})";
}

std::vector<HostileRequest> length_requests() {
  const std::string body = small_snapshot(), right = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  const std::string smuggled = "0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: muster\r\n\r\n";
  return {
      {"length, then chunked", framed("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", smuggled), {400}},
      {"chunked, then length", framed("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", smuggled), {400}},
      {"two lengths that differ", framed(right + "Content-Length: 5\r\n", body), {400}},
      {"two lengths that are the same", framed(right + right, body), {200}, kOpen},
      {"a list of lengths that are the same", framed("Content-Length: 5, 5\r\n", "[1,2]"), {400}, kOpen},
      {"a list of lengths that differ", framed("Content-Length: 5, 6\r\n", "[1,2]"), {400}},
      {"a negative length", framed("Content-Length: -1\r\n", body), {400}},
      {"a length with a sign", framed("Content-Length: +5\r\n", "[1,2]"), {400}},
      {"a hexadecimal length", framed("Content-Length: 0x10\r\n", body), {400}},
      {"a length with a blank within", framed("Content-Length: 1 0\r\n", body), {400}},
      {"a length with a unit", framed("Content-Length: 5B\r\n", "[1,2]"), {400}},
      {"a fraction of a byte", framed("Content-Length: 5.0\r\n", "[1,2]"), {400}},
      {"an empty length", framed("Content-Length:\r\n", body), {400}},
      {"a length of more than 64 bits", framed("Content-Length: 99999999999999999999999\r\n", body), {400}},
      {"a length of 2^63 - 1", framed("Content-Length: 9223372036854775807\r\n", body), {413}},
      {"a length of 2^64 - 1", framed("Content-Length: 18446744073709551615\r\n", body), {413}},
      {"one byte more than the limit",
       framed("Content-Length: " + std::to_string(kMostBodyBytes + 1) + "\r\n", ""),
       {413}},
      {"a name with a blank before the colon", framed("Content-Length : 5\r\n", "[1,2]"), {400}},
      {"neither length nor chunked", framed("", ""), {409}, kOpen},
      {"a length of zero", framed("Content-Length: 0\r\n", ""), {409}, kOpen},
      {"a length with zeros before it",
       framed("Content-Length: 000" + std::to_string(body.size()) + "\r\n", body),
       {200},
       kOpen},
      {"fewer bytes than the length says, then the end",
       framed("Content-Length: 500\r\n", "{}"),
       {},
       kClosed,
       Sender::kEndsSending},
      {"more bytes than the length says", framed("Content-Length: 2\r\n", "{}garbage\r\n\r\n"), {400, 400}},
  };
}

std::vector<HostileRequest> chunk_requests() {
  const std::string body = small_snapshot(), last = "0\r\n\r\n";
  const std::string megabyte(1 << 20, ' ');
  return {
      {"in pieces of one byte each",
       chunked([&] {
         std::string chunks;
         for (const char c : body) chunks += chunk(std::string(1, c));
         return chunks + last;
       }()),
       {200},
       kOpen},
      {"an extension of a chunk",
       chunked(hexadecimal(body.size()) + ";name=\"value\"\r\n" + body + "\r\n" + last),
       {200},
       kOpen},
      {"a trailer", chunked(chunk(body) + "0\r\nX-Checksum: 1\r\n\r\n"), {200}, kOpen},
      {"a size of 2^64 - 1", chunked("FFFFFFFFFFFFFFFF\r\n" + body), {413}},
      {"a size of more than 64 bits", chunked("FFFFFFFFFFFFFFFFF\r\n" + body), {400}},
      {"a size that is 5 after its overflow", chunked("10000000000000005\r\n[1,2]\r\n" + last), {400}},
      {"a negative size", chunked("-1\r\n" + body), {400}},
      {"a size with 0x", chunked("0x5\r\n[1,2]\r\n" + last), {400}},
      {"no size", chunked("\r\n[1,2]\r\n" + last), {400}},
      {"a size of letters", chunked("zz\r\n[1,2]\r\n" + last), {400}},
      {"a blank before the size", chunked(" 5\r\n[1,2]\r\n" + last), {400}},
      {"no line end after the content", chunked("5\r\n[1,2]5\r\n[1,2]\r\n" + last), {400}},
      {"a size that is less than the content", chunked("2\r\n[1,2]\r\n" + last), {400}},
      {"a bare line feed after the size", chunked("5\n[1,2]\r\n" + last), {400}},
      {"more than the limit in total", chunked(chunk(megabyte) + chunk(megabyte)), {413}},
      {"an extension of a megabyte", chunked("5;" + std::string(1 << 20, 'x') + "\r\n[1,2]\r\n" + last), {431}},
      {"a trailer of a megabyte", chunked(chunk(body) + "0\r\nX: " + std::string(1 << 20, 'x') + "\r\n\r\n"), {431}},
      {"cut in the middle of a chunk", chunked("500\r\n{"), {}, kClosed, Sender::kEndsSending},
      {"cut before the last chunk", chunked(chunk(body)), {}, kClosed, Sender::kEndsSending},
      {"chunked twice", framed("Transfer-Encoding: chunked, chunked\r\n", chunk(body) + last), {400}},
      {"chunked in two fields",
       framed("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunk(body) + last),
       {400}},
      {"compressed and chunked", framed("Transfer-Encoding: gzip, chunked\r\n", chunk(body) + last), {501}},
      {"compressed and not chunked", framed("Transfer-Encoding: gzip\r\n", body), {400}},
      {"an unknown encoding", framed("Transfer-Encoding: xchunked\r\n", chunk(body) + last), {400}},
      {"chunked behind a vertical tab", framed("Transfer-Encoding: \vchunked\r\n", chunk(body) + last), {400}},
      {"chunked in capitals", framed("TRANSFER-ENCODING: Chunked\r\n", chunk(body) + last), {200}, kOpen},
  };
}

}  // namespace muster
