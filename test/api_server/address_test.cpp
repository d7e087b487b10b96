// Where the API server is, its certificate, and the token.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "io/api_server/api_request.h"
#include "io/api_server/call.h"
#include "test/api_server/certificates.h"
#include "test/api_server/running.h"

namespace muster::api_server {
namespace {

TEST(ServerAddress, OfAUrl) {
  for (const auto& [url, expected] : std::vector<std::pair<std::string, std::string>>{
           {"http://127.0.0.1:8001", "http://127.0.0.1:8001"},
           {"http://localhost", "http://localhost:80"},
           {"http://[::1]:8001/", "http://[::1]:8001"},
           {"https://api.example.com", "https://api.example.com:443"},
           {"https://[fd00::1]:6443/k8s/clusters/c-1/", "https://[fd00::1]:6443/k8s/clusters/c-1"}}) {
    const auto address = address_of_url(url, {}, {});
    ASSERT_TRUE(address) << address.error().message;
    EXPECT_EQ(address->text(), expected);
  }
  EXPECT_EQ(address_of_url("http://10.0.0.1:8001", {}, {}).error().code, ErrorCode::kInsecure);
  for (const char* url :
       {"", "127.0.0.1", "ftp://a", "https://", "https://a:0", "https://a:x", "https://a:70000", "https://u@h",
        "https://a/b?c", "https://a b", "https://[::1", "https://::1", "https://a\r\nX: y"}) {
    const auto address = address_of_url(url, {}, {});
    ASSERT_FALSE(address) << url;
    EXPECT_EQ(address.error().code, ErrorCode::kInvalidValue) << url;
  }
  EXPECT_EQ(address_of_url("https://a", "/does/not/exist", {}).error().code, ErrorCode::kNoInput);
  EXPECT_EQ(address_of_url("https://a", {}, "/does/not/exist").error().code, ErrorCode::kNoInput);
}

TEST(ServerAddress, InTheCluster) {
  const std::string folder = ::testing::TempDir() + "muster_service_account";
  std::filesystem::create_directories(folder);
  EXPECT_EQ(address_in_cluster("", "443", folder).error().code, ErrorCode::kUnavailable);
  std::ofstream(folder + "/ca.crt") << "ca";
  std::filesystem::remove(folder + "/token");
  EXPECT_EQ(address_in_cluster("10.96.0.1", "443", folder).error().message,
            "cannot read " + folder + "/token, or it is empty");
  std::ofstream(folder + "/token") << "t";
  std::ofstream(folder + "/namespace") << "muster";
  const auto address = address_in_cluster("fd00::1", "443", folder);
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_EQ(address->text(), "https://[fd00::1]:443");
  EXPECT_EQ(address->namespace_name, "muster");
  EXPECT_EQ(address->ca_file, folder + "/ca.crt");
  EXPECT_EQ(address->token_file, folder + "/token");
  std::filesystem::remove_all(folder);
}

TEST(Credentials, ReadTheFileOnceAPeriod) {
  std::chrono::steady_clock::time_point now{};
  const TestFile file(" first \n");
  Credentials credentials(
      file.name(), [&] { return now; }, std::chrono::seconds(5));
  EXPECT_EQ(credentials.token(), "first");
  file.write("second");
  now += std::chrono::seconds(4);
  EXPECT_EQ(credentials.token(), "first");
  now += std::chrono::seconds(1);
  EXPECT_EQ(credentials.token(), "second");
  EXPECT_FALSE(credentials.refuse("second"));
  file.write("third");
  EXPECT_TRUE(credentials.refuse("second"));
  EXPECT_EQ(credentials.token(), "third");
  for (const char* odd : {"", "two words", "line\r\nX: y"}) {
    file.write(odd);
    now += std::chrono::seconds(5);
    EXPECT_EQ(credentials.token(), "third");
  }
}

class Tls : public ::testing::Test {
 protected:
  static ServerAddress address(const FakeServer& server, const std::string& ca_file, const std::string& host) {
    return {.host = host,
            .port = server.port(),
            .base_path = {},
            .ca_file = ca_file,
            .token_file = {},
            .namespace_name = {}};
  }
  static FakeAnswer ok(const FakeRequest&) {
    FakeAnswer answer;
    answer.body = "ok";
    return answer;
  }
};

TEST_F(Tls, ConnectsToAServerThatTheAuthorityNames) {
  const Certificate authority = make_authority("one");
  const TestFile ca(authority.certificate);
  FakeServer server(ok, make_certificate(authority, "DNS:localhost,IP:127.0.0.1"));
  boost::asio::io_context io;
  for (const char* host : {"127.0.0.1", "localhost"}) {
    ApiClient client(io, address(server, ca.name(), host), steady());
    EXPECT_EQ(get(io, client, "/").body, "ok") << get(io, client, "/").error;
    EXPECT_EQ(get(io, client, "/").body, "ok");
  }
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(Tls, RejectsEveryOtherServer) {
  const Certificate authority = make_authority("one"), other = make_authority("two");
  const TestFile ca(authority.certificate), nothing("nothing");
  const auto error_of = [&](const Certificate& certificate, const std::string& ca_file, const std::string& host) {
    FakeServer server(ok, certificate);
    boost::asio::io_context io;
    ApiClient client(io, address(server, ca_file, host), steady());
    return get(io, client, "/x").error;
  };
  const std::string start = "GET /x: TLS: the certificate of the server is not accepted: ";
  EXPECT_EQ(error_of(make_certificate(authority, "IP:127.0.0.2"), ca.name(), "127.0.0.1"),
            start + "IP address mismatch");
  EXPECT_EQ(error_of(make_certificate(authority, "DNS:server"), ca.name(), "localhost"), start + "hostname mismatch");
  EXPECT_EQ(error_of(make_certificate(authority, "IP:127.0.0.1", Validity::kExpired), ca.name(), "127.0.0.1"),
            start + "certificate has expired");
  EXPECT_TRUE(error_of(make_certificate(other, "IP:127.0.0.1"), ca.name(), "127.0.0.1").starts_with(start));
  EXPECT_TRUE(error_of(make_certificate(authority, "IP:127.0.0.1"), {}, "127.0.0.1").starts_with(start));
  EXPECT_EQ(error_of(make_certificate(authority, "IP:127.0.0.1"), nothing.name(), "127.0.0.1"),
            "GET /x: cannot read certificates of authorities from " + nothing.name());
}

TEST_F(Tls, AServerWithoutItIsAnError) {
  FakeServer server(ok);
  const Certificate authority = make_authority("one");
  const TestFile ca(authority.certificate);
  boost::asio::io_context io;
  ApiClient client(io, address(server, ca.name(), "127.0.0.1"), steady(),
                   {.connect_timeout = std::chrono::milliseconds(200)});
  EXPECT_TRUE(get(io, client, "/x").error.starts_with("GET /x: ")) << get(io, client, "/x").error;
}

}  // namespace
}  // namespace muster::api_server
