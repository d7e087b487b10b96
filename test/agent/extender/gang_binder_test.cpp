#include "cli/agent/extender/gang_binder.h"

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/api_server/running.h"

namespace muster::cli {
namespace {

using api_server::FakeAnswer;
using api_server::FakeRequest;
using api_server::run_until;
using exporting::ExportPhase;

// A plan that starts the gang ml/g on n1, n2 and n3.
std::shared_ptr<const PlanView> view_of(const std::vector<std::string>& nodes = {"n1", "n2", "n3"}) {
  exporting::ExportedPlan plan;
  std::vector<PendingPod> pending;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string name = "g-" + std::to_string(i);
    plan.objects.push_back({"{}", ExportPhase::kNow, "ml", name, "u-" + name, nodes[i], "ml/g", {}});
    pending.push_back({"ml/" + name, "ml/g"});
  }
  return std::make_shared<const PlanView>(plan, pending, std::vector<WaitingGangNote>(), PlanView::Time());
}

class Binder : public testing::Test {
 protected:
  void start(std::chrono::milliseconds most_wait = std::chrono::seconds(20), bool dry_run = false) {
    binder_.emplace(
        client_, dry_run, [](const std::string&, bool) {}, most_wait);
    binder_->publish(view_of());
  }
  void bind(const std::string& name, const std::string& node) {
    binder_->bind({"ml/" + name, "u-" + name, node},
                  [this, name](const std::string& error) { answers_[name] = error.empty() ? "bound" : error; });
  }
  bool await(std::size_t answers) {
    return run_until(io_, [&] { return answers_.size() >= answers; });
  }
  std::vector<std::string> writes() const {
    const std::scoped_lock lock(mutex_);
    return writes_;
  }
  FakeAnswer take(const FakeRequest& request) {
    const std::size_t end = request.path.rfind('/'), begin = request.path.rfind('/', end - 1) + 1;
    const std::string pod = request.path.substr(begin, end - begin);
    const std::scoped_lock lock(mutex_);
    writes_.push_back((request.query.contains("dryRun") ? "dry " : "") + pod);
    if (refused_.contains(pod)) return {409, "", R"({"kind":"Status","message":"is bound already"})"};
    return {201, "", "{}"};
  }

  mutable std::mutex mutex_;
  std::vector<std::string> writes_;
  std::set<std::string> refused_;
  api_server::FakeServer server_{[this](const FakeRequest& request) { return take(request); }};
  boost::asio::io_context io_;
  api_server::ApiClient client_{io_, api_server::address_of(server_), api_server::steady()};
  std::optional<GangBinder> binder_;
  std::map<std::string, std::string> answers_;
};

TEST_F(Binder, NoPodOfAGangIsBoundBeforeAllHaveCome) {
  start();
  bind("g-0", "n1");
  bind("g-2", "n3");
  api_server::run_for(io_, std::chrono::milliseconds(30));
  EXPECT_TRUE(answers_.empty());
  EXPECT_TRUE(writes().empty());
  bind("g-1", "n2");
  ASSERT_TRUE(await(3));
  EXPECT_EQ(answers_["g-0"], "bound");
  const std::vector<std::string> all = writes();
  ASSERT_EQ(all.size(), 6U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(all[i].starts_with("dry ")) << all[i];
}

TEST_F(Binder, NoPodIsBoundIfTheServerRefusesOne) {
  refused_ = {"g-1"};
  start();
  for (int i = 0; i < 3; ++i) bind("g-" + std::to_string(i), "n" + std::to_string(i + 1));
  ASSERT_TRUE(await(3));
  for (const std::string& write : writes()) EXPECT_TRUE(write.starts_with("dry ")) << write;
  EXPECT_NE(answers_["g-0"].find("is bound already"), std::string::npos) << answers_["g-0"];
}

TEST_F(Binder, AGangThatDoesNotComeWholeIsGivenBack) {
  start(std::chrono::milliseconds(20));
  bind("g-0", "n1");
  ASSERT_TRUE(await(1));
  EXPECT_EQ(answers_["g-0"], "only 1 of the pods that start with it have come");
  EXPECT_TRUE(writes().empty());
}

TEST_F(Binder, AnotherNodeThanThePlannedOneIsRefused) {
  start();
  bind("g-0", "n2");
  ASSERT_TRUE(await(1));
  EXPECT_EQ(answers_["g-0"], "the plan has it on n1");
}

TEST_F(Binder, AnotherPlanGivesBackWhatItContradicts) {
  start();
  bind("g-0", "n1");
  bind("g-1", "n2");
  binder_->publish(view_of({"n1", "n4"}));
  EXPECT_EQ(answers_["g-1"], "the plan has it on n4");
  EXPECT_FALSE(answers_.contains("g-0")) << "it stays where it was";
  bind("g-1", "n4");
  ASSERT_TRUE(await(2));
  EXPECT_EQ(answers_["g-0"], "bound");
}

TEST_F(Binder, APlanWithoutThoseThatAreMissingCompletesTheGang) {
  start();
  bind("g-0", "n1");
  bind("g-1", "n2");
  binder_->publish(view_of({"n1", "n2"}));
  ASSERT_TRUE(await(2));
  EXPECT_EQ(answers_["g-1"], "bound");
}

TEST_F(Binder, APodByItselfIsBoundAtOnce) {
  start();
  bind("single", "n9");
  ASSERT_TRUE(await(1));
  EXPECT_EQ(answers_["single"], "bound");
  EXPECT_EQ(writes(), std::vector<std::string>{"single"});
}

TEST_F(Binder, ADryRunBindsNothing) {
  start(std::chrono::seconds(20), true);
  bind("single", "n9");
  ASSERT_TRUE(await(1));
  EXPECT_EQ(answers_["single"], "dry run");
  EXPECT_EQ(writes(), std::vector<std::string>{"dry single"});
}

TEST_F(Binder, WhatWaitsFailsWhenItIsGivenUp) {
  start();
  bind("g-0", "n1");
  binder_->give_up("another agent leads");
  EXPECT_EQ(answers_["g-0"], "another agent leads");
}

}  // namespace
}  // namespace muster::cli
