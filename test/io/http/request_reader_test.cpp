#include "io/http/request_reader.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace muster::http {
namespace {

using Progress = RequestReader::Progress;

void put(RequestReader& reader, std::string_view text) {
  const std::span<char> space = reader.space(text.size());
  std::ranges::copy(text, space.begin());
  reader.add(text.size());
}

// Parses as far as the input goes.
Progress parse_all(RequestReader& reader) {
  Progress progress = Progress::kNeedsInput;
  do {
    progress = reader.parse();
  } while (progress == Progress::kAdvanced && !reader.is_done() && reader.has_input());
  return progress;
}

class RequestReaderTest : public testing::Test {
 protected:
  RequestReaderTest() { reader.begin(limits); }
  HttpLimits limits{.max_header_bytes = 256, .max_body_bytes = 64};
  RequestReader reader;
};

TEST_F(RequestReaderTest, ReadsARequestThatComesByteByByte) {
  constexpr std::string_view kText =
      "POST http://host/v1/solve?a=1#x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nX-Name: v\r\n\r\nabc";
  for (const char& byte : kText) {
    put(reader, {&byte, 1});
    ASSERT_NE(parse_all(reader), Progress::kFault);
  }
  ASSERT_TRUE(reader.is_done());
  const HttpRequest head = reader.head();
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.path, "/v1/solve");
  EXPECT_EQ(head.query, "a=1");
  EXPECT_EQ(head.field("x-name"), "v");
  EXPECT_EQ(reader.take_body(), "abc");
  EXPECT_FALSE(reader.fault_of_head());
}

TEST_F(RequestReaderTest, LeavesTheNextRequestInTheInput) {
  put(reader, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(parse_all(reader), Progress::kAdvanced);
  EXPECT_EQ(reader.head().path, "/a");
  reader.begin(limits);
  reader.skip_empty_lines();
  EXPECT_EQ(parse_all(reader), Progress::kAdvanced);
  EXPECT_EQ(reader.head().path, "/b");
  EXPECT_FALSE(reader.has_input());
}

TEST_F(RequestReaderTest, StopsAtTheEndOfTheHeadSoThatItCanBeJudgedFirst) {
  put(reader, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(reader.parse(), Progress::kAdvanced);
  EXPECT_TRUE(reader.has_head());
  EXPECT_FALSE(reader.is_done());
  EXPECT_EQ(reader.body_bytes(), 0U);
  EXPECT_EQ(reader.parse(), Progress::kAdvanced);
  EXPECT_EQ(reader.body_bytes(), 3U);
}

TEST_F(RequestReaderTest, RefusesAHeadBeyondTheLimitHoweverItComes) {
  const std::string long_head = "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(300, 'x');
  put(reader, long_head);
  EXPECT_EQ(parse_all(reader), Progress::kFault);
  EXPECT_EQ(reader.fault().status, 431U);

  RequestReader slow;
  slow.begin(limits);
  Progress progress = Progress::kNeedsInput;
  for (std::size_t i = 0; i < long_head.size() && progress == Progress::kNeedsInput; ++i) {
    put(slow, {&long_head[i], 1});
    progress = parse_all(slow);
  }
  EXPECT_EQ(progress, Progress::kFault);
  EXPECT_EQ(slow.fault().status, 431U);
}

TEST_F(RequestReaderTest, RefusesABodyBeyondTheLimit) {
  put(reader, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 65\r\n\r\n");
  EXPECT_EQ(parse_all(reader), Progress::kFault);
  EXPECT_EQ(reader.fault().status, 413U);
}

TEST_F(RequestReaderTest, FindsWhatIsWrongWithAHeadThatCanBeParsed) {
  struct Case {
    std::string_view fields;
    unsigned status;
  };
  for (const Case& wrong :
       {Case{"", 400}, Case{"Host: a\r\nHost: b\r\n", 400},
        Case{"Host: h\r\nTransfer-Encoding: gzip, chunked\r\n", 501}, Case{"Host: h\r\nExpect: miracles\r\n", 417}}) {
    RequestReader fresh;
    fresh.begin(limits);
    put(fresh, "GET / HTTP/1.1\r\n" + std::string(wrong.fields) + "\r\n");
    ASSERT_EQ(fresh.parse(), Progress::kAdvanced) << wrong.fields;
    ASSERT_TRUE(fresh.fault_of_head()) << wrong.fields;
    EXPECT_EQ(fresh.fault_of_head()->status, wrong.status) << wrong.fields;
  }
}

TEST_F(RequestReaderTest, KnowsWhenTheClientAwaitsPermissionToSendTheBody) {
  constexpr std::string_view kHead = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n";
  put(reader, kHead);
  ASSERT_EQ(reader.parse(), Progress::kAdvanced);
  EXPECT_TRUE(reader.awaits_continue());
  put(reader, "a");
  EXPECT_FALSE(reader.awaits_continue()) << "it sends the body already";
}

}  // namespace
}  // namespace muster::http
