// SIGTERM and dying workers under load, a few of each. bench_serve_faults has many.
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench/support/serve_requests.h"
#include "bench/support/serve_trials.h"
#include "test/serve_hostile/requests.h"

namespace muster {
namespace {

using std::chrono_literals::operator""ms;
using bench::Drain;
using bench::Faults;
using bench::ServeProcess;
using bench::WorkerFault;

constexpr int kClients = 3;

void expect_clean_drain(const std::vector<std::string>& arguments, const std::vector<std::string>& requests,
                        std::chrono::milliseconds after) {
  const Drain drain = bench::drain_under_load(arguments, requests, kClients, after);
  EXPECT_GT(drain.sent_before, 0U);
  EXPECT_EQ(drain.lost, 0U) << "of " << drain.sent_before << " requests that were sent before the signal";
  EXPECT_EQ(drain.cut, 0U);
  EXPECT_EQ(drain.exit_code, 0);
}

TEST(Trials, ATermUnderLoadLeavesNoRequestWithoutItsAnswer) {
  for (const auto after : {0ms, 30ms, 60ms})
    expect_clean_drain({"--quiet", "--engine", "milp", "--budget", "50ms"}, bench::requests_of_snapshots(), after);
  expect_clean_drain({"--quiet", "--engine", "greedy"}, {bench::post("/v1/solve", small_snapshot())}, 20ms);
}

TEST(Trials, ATermUnderLoadLetsRequestsOfManyLinesComeToTheirEnd) {
  expect_clean_drain({"--quiet", "--engine", "greedy"}, bench::requests_of_lines(10), 10ms);
}

TEST(Trials, ASecondSignalEndsItImmediately) {
  ServeProcess server({"--quiet", "--engine", "milp", "--budget", "60s"});
  bench::HttpClient client(server.socket());
  client.send(bench::requests_of_snapshots()[0]);
  std::this_thread::sleep_for(200ms);
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_code_within(300), std::nullopt) << "it did not drain";
  server.signal(SIGTERM);
  EXPECT_TRUE(server.exit_code_within(5'000)) << "it is still there";
}

void expect_survived(WorkerFault fault) {
  constexpr int kFaults = 3;
  const ServeProcess server({"--quiet", "--engine", "milp", "--budget", "300ms"});
  const Faults faults =
      bench::worker_faults_under_load(server, bench::requests_of_snapshots(), kClients, fault, kFaults);
  EXPECT_EQ(faults.injected, kFaults);
  EXPECT_EQ(faults.lost, 0U) << "of " << faults.requests;
  EXPECT_EQ(faults.zombies, 0U);
  EXPECT_TRUE(faults.is_well);
}

TEST(Trials, AWorkerThatCrashesCostsNoRequest) { expect_survived(WorkerFault::kCrash); }
TEST(Trials, AWorkerThatHangsCostsNoRequest) { expect_survived(WorkerFault::kHang); }
TEST(Trials, AWorkerThatIsKilledCostsNoRequest) { expect_survived(WorkerFault::kKill); }
TEST(Trials, AWorkerWithoutMemoryCostsNoRequest) { expect_survived(WorkerFault::kMemory); }

}  // namespace
}  // namespace muster
