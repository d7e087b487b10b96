#include "cli/agent/runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/json/json_document.h"
#include "io/kubernetes/object/kinds.h"
#include "test/api_server/running.h"

namespace muster::cli {
namespace {

using api_server::FakeAnswer;
using api_server::FakeRequest;
using api_server::run_until;

// Takes all acts but those on some pods.
class ActServer {
 public:
  explicit ActServer(std::set<std::string> refused) : refused_(std::move(refused)) {}
  api_server::FakeServer& server() { return server_; }
  // "binding a", "dry binding a", in the order of their arrival
  std::vector<std::string> acts() const {
    const std::scoped_lock lock(mutex_);
    return acts_;
  }

 private:
  FakeAnswer answer(const FakeRequest& request) {
    const std::size_t end = request.path.rfind('/'), begin = request.path.rfind('/', end - 1) + 1;
    const std::string pod = request.path.substr(begin, end - begin), kind = request.path.substr(end + 1);
    const std::scoped_lock lock(mutex_);
    acts_.push_back((request.query.contains("dryRun") ? "dry " : "") + kind + " " + pod);
    if (!refused_.contains(pod)) return {201, "", "{}"};
    if (kind == "eviction") return {429, "Retry-After: 10\r\n", R"({"kind":"Status","message":"budget"})"};
    return {409, "", R"({"kind":"Status","message":"is bound already"})"};
  }

  const std::set<std::string> refused_;
  mutable std::mutex mutex_;
  std::vector<std::string> acts_;
  api_server::FakeServer server_{[this](const FakeRequest& request) { return answer(request); }};
};

ActGroup group(ActKind kind, const std::string& gang, const std::vector<std::string>& pods) {
  ActGroup made{kind, gang, {}};
  for (const std::string& pod : pods)
    made.acts.push_back({kind, {"{}", exporting::ExportPhase::kNow, "team", pod, "u", "n1", gang, {}}});
  return made;
}

class Runner : public testing::Test {
 protected:
  // What it did, with the texts of refusals by pod.
  ActsDone run(std::vector<ActGroup> groups, std::set<std::string> refused = {}) {
    server_.emplace(std::move(refused));
    api_server::ApiClient client(io_, api_server::address_of(server_->server()), api_server::steady());
    ActRunner runner(client, options_, api_server::steady(),
                     {[this](const Act& act, const std::string& error) {
                        told_.push_back(act.object.name + (error.empty() ? " made" : " refused"));
                      },
                      [this] { return may_begin_; }, [this] { return requests_left_-- > 0; }});
    std::optional<ActsDone> done;
    runner.run(std::move(groups), [&](const ActsDone& made) { done = made; });
    EXPECT_TRUE(run_until(io_, [&] { return done.has_value(); }));
    return done.value_or(ActsDone());
  }
  static AgentOptions bindings() {
    AgentOptions options;
    options.mode = ApplyMode::kBindings;
    return options;
  }

  boost::asio::io_context io_;
  AgentOptions options_ = bindings();
  std::optional<ActServer> server_;
  std::vector<std::string> told_;
  bool may_begin_ = true;
  int requests_left_ = 1'000;
};

TEST_F(Runner, AGangIsBoundOnceTheServerWouldTakeAllOfIt) {
  const ActsDone done = run({group(ActKind::kStart, "g", {"a", "b"})});
  EXPECT_EQ(done.refused, 0);
  const std::vector<std::string> acts = server_->acts();
  ASSERT_EQ(acts.size(), 4U);
  EXPECT_TRUE(acts[0].starts_with("dry ") && acts[1].starts_with("dry "));
  EXPECT_TRUE(acts[2].starts_with("binding ") && acts[3].starts_with("binding "));
}

TEST_F(Runner, NoPodOfAGangIsBoundIfOneIsRefused) {
  const ActsDone done = run({group(ActKind::kStart, "g", {"a", "b", "c"}), group(ActKind::kStart, "h", {"d"})}, {"b"});
  EXPECT_EQ(done.refused, 3);
  for (const std::string& act : server_->acts()) EXPECT_TRUE(act.starts_with("dry ") || act == "binding d") << act;
  EXPECT_EQ(told_.back(), "d made") << "the next gang does not mind";
}

// Another agent may lead by then, and complete the gang.
TEST_F(Runner, TheRestOfAGangIsNotSentOnceNothingMayBeSent) {
  std::vector<std::string> pods;
  for (int i = 0; i < 20; ++i) pods.push_back("p" + std::to_string(i));
  requests_left_ = 20 + 3;  // asked for all, then three
  const ActsDone done = run({group(ActKind::kStart, "g", pods), group(ActKind::kStart, "h", {"d"})});
  EXPECT_EQ(std::ranges::count_if(server_->acts(), [](const auto& act) { return act.starts_with("binding "); }), 3);
  EXPECT_EQ(done.refused, 17 + 1);
  EXPECT_TRUE(done.is_cut);
}

TEST_F(Runner, NothingIsBegunThatMayNotBegin) {
  may_begin_ = false;
  const ActsDone done = run({group(ActKind::kStart, "g", {"a"})});
  EXPECT_TRUE(server_->acts().empty());
  EXPECT_TRUE(done.is_cut);
}

TEST_F(Runner, NoPodIsEvictedForAGangIfABudgetForbidsOne) {
  const ActsDone done = run({group(ActKind::kEvict, "g", {"a", "b"})}, {"a"});
  EXPECT_EQ(done.refused, 2);
  const std::set<std::string> asked = {"dry eviction a", "dry eviction b"};
  const std::vector<std::string> acts = server_->acts();
  EXPECT_EQ(acts.size(), 2U) << "nothing is asked again";
  EXPECT_EQ(std::set(acts.begin(), acts.end()), asked);
}

TEST_F(Runner, AnEvictionThatABudgetForbidsIsNotTriedAgain) {
  EXPECT_EQ(run({group(ActKind::kEvict, "g", {"a"})}, {"a"}).refused, 1);
  EXPECT_EQ(server_->acts().size(), 1U);
}

// The API server may have made it before it went down: a plan made before the watch shows it would use its room again.
TEST_F(Runner, AWriteWithoutAnAnswerIsAwaitedForAWhile) {
  api_server::FakeServer server([](const FakeRequest&) { return FakeAnswer{504, "", "{}"}; });
  api_server::ApiClient client(io_, api_server::address_of(server), api_server::steady());
  const auto start = std::chrono::steady_clock::now();
  auto now = start;
  ActRunner runner(client, options_, [&] { return now; },
                   {[](const Act&, const std::string&) {}, [] { return true; }, [] { return true; }});
  bool is_done = false;
  runner.run({group(ActKind::kStart, "g", {"a"})}, [&](const ActsDone&) { is_done = true; });
  ASSERT_TRUE(run_until(io_, [&] { return is_done; }));
  api_server::ObjectStore objects([&] { return now; });
  const auto pods = std::ranges::find(kubernetes::known_kinds(), "Pod", &kubernetes::KnownKind::kind);
  api_server::KindSink& sink = objects.add_kind({&*pods, "v1", "pods", true});
  json::JsonDocument document;
  sink.list_begins();
  const std::string pod =
      R"({"metadata":{"name":"a","namespace":"team","uid":"u","resourceVersion":"1","labels":{"nodeName":"n"}}})";
  ASSERT_FALSE(document.parse(pod, {})) << "a label is no node";
  ASSERT_TRUE(sink.set(document.root()));
  sink.list_ends("1");
  EXPECT_FALSE(runner.are_seen(objects));
  EXPECT_EQ(runner.seen_at_latest(), start + WrittenActs::kMostWaitOfUnanswered);
  now = runner.seen_at_latest();
  EXPECT_TRUE(runner.are_seen(objects));
}

TEST_F(Runner, ADryRunOnlyAsks) {
  options_.dry_run = true;
  run({group(ActKind::kStart, "g", {"a", "b"}), group(ActKind::kEvict, "h", {"c"})});
  for (const std::string& act : server_->acts()) EXPECT_TRUE(act.starts_with("dry ")) << act;
  EXPECT_EQ(server_->acts().size(), 3U);
}

TEST_F(Runner, WhatExceedsThePaceIsLeftForTheNextPlan) {
  options_.pace = {.evictions_per_minute = 2, .binds_per_second = 3};
  const auto begun = std::chrono::steady_clock::now();
  const ActsDone done = run({group(ActKind::kEvict, "e", {"e1", "e2"}), group(ActKind::kEvict, "f", {"f1"}),
                             group(ActKind::kStart, "g", {"a", "b"}), group(ActKind::kStart, "h", {"c", "d"}),
                             group(ActKind::kStart, "i", {"i"})});
  EXPECT_EQ(done.held_back, 1 + 2 + 1) << "a small gang does not overtake a large one";
  EXPECT_GT(done.next, begun);
}

TEST_F(Runner, WithoutEvictionsNoneIsEverMade) {
  options_.pace.evictions_per_minute = 0;
  const ActsDone done = run({group(ActKind::kEvict, "e", {"e1"})});
  EXPECT_EQ(done.held_back, 1);
  EXPECT_EQ(done.next, std::chrono::steady_clock::time_point::max());
  EXPECT_TRUE(server_->acts().empty());
}

TEST_F(Runner, StopsBetweenGroupsOnceItMayNotGoOn) {
  may_begin_ = false;
  run({group(ActKind::kStart, "g", {"a"})});
  EXPECT_TRUE(server_->acts().empty());
}

}  // namespace
}  // namespace muster::cli
