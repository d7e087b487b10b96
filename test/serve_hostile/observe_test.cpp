// The socket for monitoring clients: probes and metrics, whatever the server's clients do.
#include <csignal>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "bench/support/serve_requests.h"
#include "bench/support/slow_clients.h"
#include "test/serve_hostile/requests.h"

namespace muster {
namespace {

using bench::get;
using bench::HttpClient;
using bench::post;
using bench::ServeProcess;

constexpr int kPatienceMs = 20'000;

// A server with an observer socket, and its monitoring clients.
class Observe : public testing::Test {
 protected:
  Observe() {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster-observe-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    directory_ = pattern;
    socket = directory_ + "/observed.sock";
  }
  ~Observe() override { std::filesystem::remove_all(directory_); }

  int status_of(const std::string& request) const {
    HttpClient client(socket);
    client.send(request);
    const auto answer = client.answer(kPatienceMs);
    return answer ? answer->status : 0;
  }
  std::string socket;

 private:
  std::string directory_;
};

TEST_F(Observe, ProbesAndMetricsAreAnsweredAndNothingElse) {
  const ServeProcess server({"--quiet", "--observe", "unix:" + socket});
  for (const char* path : {"/healthz", "/readyz", "/version", "/metrics"}) EXPECT_EQ(status_of(get(path)), 200) << path;
  EXPECT_EQ(status_of(post("/v1/solve", small_snapshot())), 404);
  EXPECT_EQ(status_of(get("/v1/solve")), 404);
  EXPECT_EQ(status_of(get("/other")), 404);
  EXPECT_EQ(status_of(post("/healthz", "{}")), 405);
  EXPECT_EQ(status_of("nonsense\r\n\r\n"), 400);
}

TEST_F(Observe, ProbesGetThroughWhereClientsUseAllConnections) {
  const ServeProcess server({"--quiet", "--observe", "unix:" + socket, "--max-connections", "3"});
  const bench::Clients clients = bench::connected(server, 10);
  EXPECT_EQ(status_of(get("/healthz")), 200);
}

TEST_F(Observe, ItTellsThatItIsEndingUntilItHas) {
  ServeProcess server({"--quiet", "--observe", "unix:" + socket, "--engine", "milp", "--budget", "2s"});
  HttpClient client(server.socket());
  client.send(bench::requests_of_snapshots()[0]);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  server.signal(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(status_of(get("/readyz")), 503);
  EXPECT_EQ(status_of(get("/healthz")), 200);
  const auto plan = client.answer(kPatienceMs);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->status, 200);
  EXPECT_EQ(server.exit_code_within(kPatienceMs), 0);
  EXPECT_FALSE(std::filesystem::exists(socket));
}

}  // namespace
}  // namespace muster
