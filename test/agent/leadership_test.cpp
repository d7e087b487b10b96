#include "cli/agent/leadership.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/api_server/running.h"

namespace muster::cli {
namespace {

using api_server::FakeAnswer;
using api_server::FakeRequest;
using api_server::run_for;
using api_server::run_until;
using Json = nlohmann::json;
using std::chrono::milliseconds;

constexpr LeaseTimes kTimes{milliseconds(400), milliseconds(200), milliseconds(20)};

// One Lease with optimistic concurrency, as an API server keeps it.
class LeaseServer {
 public:
  LeaseServer() : server_([this](const FakeRequest& request) { return answer(request); }) {}

  api_server::FakeServer& server() { return server_; }
  Json lease() const {
    const std::scoped_lock lock(mutex_);
    return lease_;
  }
  void set_failing(bool is_failing) { is_failing_ = is_failing; }

 private:
  FakeAnswer answer(const FakeRequest& request) {
    const std::scoped_lock lock(mutex_);
    if (is_failing_) return {500, "", "{}"};
    if (request.method == "GET")
      return lease_.is_null() ? FakeAnswer{404, "", "{}"} : FakeAnswer{200, "", lease_.dump()};
    Json sent = Json::parse(request.body);
    if (request.method == "POST"
            ? !lease_.is_null()
            : lease_.is_null() || sent["metadata"]["resourceVersion"] != lease_["metadata"]["resourceVersion"])
      return {409, "", R"({"kind":"Status","reason":"Conflict"})"};
    sent["metadata"]["resourceVersion"] = std::to_string(++version_);
    lease_ = sent;
    return {request.method == "POST" ? 201U : 200U, "", lease_.dump()};
  }

  mutable std::mutex mutex_;
  Json lease_;
  int version_ = 0;
  std::atomic<bool> is_failing_{false};
  api_server::FakeServer server_;
};

// One agent.
struct Candidate {
  Candidate(boost::asio::io_context& io, const LeaseServer& leases, const std::string& identity)
      : client(io, api_server::address_of(const_cast<LeaseServer&>(leases).server()), api_server::steady()),
        leadership(
            leadership_surroundings(client, api_server::steady(),
                                    [] { return "2026-01-01T00:00:00." + std::to_string(100'000 + ++instants) + "Z"; }),
            {"muster", "agent"}, identity, {[] {}, [](const std::string&, bool) {}}, kTimes) {
    leadership.start();
  }
  static inline int instants = 0;
  api_server::ApiClient client;
  Leadership leadership;
};

TEST(Leadership, TheFirstOneLeadsAndTheOtherFollows) {
  boost::asio::io_context io;
  LeaseServer leases;
  Candidate first(io, leases, "a");
  ASSERT_TRUE(run_until(io, [&] { return first.leadership.leads(); }));
  Candidate second(io, leases, "b");
  run_for(io, 3 * kTimes.duration / 2);
  EXPECT_TRUE(first.leadership.leads());
  EXPECT_FALSE(second.leadership.leads());
  EXPECT_EQ(second.leadership.holder(), "a");
  EXPECT_EQ(leases.lease()["spec"]["holderIdentity"], "a");
}

TEST(Leadership, AnotherOneTakesOverOnceTheHolderIsDead) {
  boost::asio::io_context io;
  LeaseServer leases;
  auto first = std::make_unique<Candidate>(io, leases, "a");
  ASSERT_TRUE(run_until(io, [&] { return first->leadership.leads(); }));
  Candidate second(io, leases, "b");
  first.reset();
  run_for(io, kTimes.duration / 2);
  EXPECT_FALSE(second.leadership.leads()) << "too early: the holder may live";
  ASSERT_TRUE(run_until(io, [&] { return second.leadership.leads(); }));
  EXPECT_EQ(leases.lease()["spec"]["leaseTransitions"], 1);
}

TEST(Leadership, AReleasedLeaseIsTakenAtOnce) {
  boost::asio::io_context io;
  LeaseServer leases;
  Candidate first(io, leases, "a");
  ASSERT_TRUE(run_until(io, [&] { return first.leadership.leads(); }));
  Candidate second(io, leases, "b");
  bool is_released = false;
  first.leadership.release([&] { is_released = true; });
  EXPECT_FALSE(first.leadership.leads());
  ASSERT_TRUE(run_until(io, [&] { return is_released && second.leadership.leads(); }));
}

TEST(Leadership, AHolderThatCannotRenewGivesUpBeforeAnotherMayTakeIt) {
  boost::asio::io_context io;
  LeaseServer leases;
  Candidate first(io, leases, "a");
  ASSERT_TRUE(run_until(io, [&] { return first.leadership.leads(); }));
  leases.set_failing(true);
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_TRUE(run_until(io, [&] { return !first.leadership.leads(); }));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, kTimes.duration);
  leases.set_failing(false);
  EXPECT_TRUE(run_until(io, [&] { return first.leadership.leads(); })) << "its own Lease is still there";
}

TEST(Leadership, OfTwoThatTakeItAtOnceOneLeads) {
  boost::asio::io_context io;
  LeaseServer leases;
  Candidate first(io, leases, "a"), second(io, leases, "b");
  ASSERT_TRUE(run_until(io, [&] { return first.leadership.leads() || second.leadership.leads(); }));
  run_for(io, kTimes.duration);
  EXPECT_NE(first.leadership.leads(), second.leadership.leads());
}

}  // namespace
}  // namespace muster::cli
