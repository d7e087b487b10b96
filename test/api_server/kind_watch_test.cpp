// A list and a watch of one kind, through everything that a server may do to them.
#include "io/api_server/kind_watch.h"

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "test/api_server/fake_cluster.h"
#include "test/api_server/running.h"

namespace muster::api_server {
namespace {

using std::chrono::milliseconds;

// Versions of objects by name, as they should be.
class RecordingSink final : public KindSink {
 public:
  void list_begins() override {
    listed_.clear();
    is_listing_ = true;
  }
  void list_ends(std::string_view version) override {
    objects = listed_;
    is_listing_ = false;
    ++lists;
    reached(version);
  }
  bool set(json::JsonValue object) override {
    const auto [name, version] = identity(object);
    if (name.empty()) return false;
    (is_listing_ ? listed_ : objects)[name] = version;
    return true;
  }
  bool remove(json::JsonValue object) override { return objects.erase(identity(object).first) > 0; }
  void reached(std::string_view version) override { last_version = version; }
  void changed(WatchState now, const std::string& why) override {
    state = now;
    error = why;
    states.push_back(now);
    if (!why.empty()) errors.push_back(why);
  }

  std::map<std::string, std::string> objects;
  std::string last_version, error;
  WatchState state = WatchState::kListing;
  std::vector<WatchState> states;
  std::vector<std::string> errors;
  int lists = 0;

 private:
  static std::pair<std::string, std::string> identity(json::JsonValue object) {
    std::pair<std::string, std::string> found;
    if (!object.is(json::JsonKind::kObject)) return found;
    for (const auto& member : object.members()) {
      if (member.key != "metadata") continue;
      for (const auto& part : member.value.members()) {
        if (part.key == "name") found.first = part.value.string();
        if (part.key == "resourceVersion") found.second = part.value.string();
      }
    }
    return found;
  }
  std::map<std::string, std::string> listed_;
  bool is_listing_ = false;
};

class KindWatchOf : public ::testing::Test {
 protected:
  static WatchOptions quick() {
    WatchOptions options;
    options.page_objects = 2;
    options.slow_retry = milliseconds(10);
    options.backoff = {.first = milliseconds(4), .most = milliseconds(16), .most_retry_after = milliseconds(20)};
    return options;
  }

  void start(const WatchOptions& options = quick()) {
    watch_.emplace(client_, KindWatch::Target{kPods.path()}, sink_, scratch_, options, 1);
    watch_->start();
  }
  bool is_equal() const {
    const auto there = cluster_.objects(kPods);
    if (there.size() != sink_.objects.size()) return false;
    for (const auto& [key, object] : there) {
      const auto here = sink_.objects.find(object["metadata"]["name"]);
      if (here == sink_.objects.end() || here->second != object["metadata"]["resourceVersion"]) return false;
    }
    return true;
  }
  // Equal to the server, and watching.
  bool settles() {
    return run_until(io_, [&] { return is_equal() && sink_.state == WatchState::kWatching; });
  }
  void add_pods(int count) {
    for (int i = 0; i < count; ++i) cluster_.set(kPods, small_pod("p" + std::to_string(i)));
  }
  int count_of(const std::string& part) const {
    int count = 0;
    for (const FakeRequest& request : server_.requests()) count += request.target.find(part) != std::string::npos;
    return count;
  }

  FakeCluster cluster_{{kPods}};
  FakeServer server_{[this](const FakeRequest& request) { return cluster_.answer(request); }};
  boost::asio::io_context io_;
  ApiClient client_{io_, address_of(server_), steady()};
  RecordingSink sink_;
  json::JsonDocument scratch_;
  std::optional<KindWatch> watch_;
};

TEST_F(KindWatchOf, ListsInPagesAndWatchesOn) {
  add_pods(5);
  start();
  EXPECT_TRUE(settles());
  EXPECT_EQ(count_of("limit=2"), 3);
  EXPECT_EQ(count_of("continue="), 2);
  cluster_.set(kPods, small_pod("new"));
  cluster_.set(kPods, small_pod("p0", 1));
  cluster_.remove(kPods, "default/p1");
  EXPECT_TRUE(settles());
  EXPECT_EQ(sink_.lists, 1);
  EXPECT_EQ(watch_->watches(), 1U);
  const FakeRequest last = server_.requests().back();
  EXPECT_EQ(last.query.at("allowWatchBookmarks"), "true");
  EXPECT_EQ(last.query.at("resourceVersion"), "105");
  EXPECT_GE(std::stoi(last.query.at("timeoutSeconds")), 300);
  EXPECT_LT(std::stoi(last.query.at("timeoutSeconds")), 600);
}

TEST_F(KindWatchOf, PagesThatExpireAreListedAnew) {
  add_pods(5);
  std::atomic<int> left{3};
  cluster_.set_fault([&](const FakeRequest& request) -> std::optional<FakeAnswer> {
    if (request.query.contains("continue") && left-- > 0) return status_answer(410, "Expired", "too old");
    return std::nullopt;
  });
  start();
  EXPECT_TRUE(settles());
  EXPECT_EQ(watch_->lists(), 3U);
  EXPECT_EQ(sink_.lists, 1);
  EXPECT_EQ(count_of("limit=2"), 4);  // the third list is whole
}

TEST_F(KindWatchOf, ResumesWhereItWasCut) {
  add_pods(3);
  start();
  EXPECT_TRUE(settles());
  for (int i = 0; i < 3; ++i) {
    server_.cut();
    cluster_.set(kPods, small_pod("p0", i + 10));
    EXPECT_TRUE(settles());
    cluster_.end_watches();
    cluster_.set(kPods, small_pod("p1", i + 10));
    EXPECT_TRUE(settles());
  }
  EXPECT_EQ(watch_->lists(), 1U);
}

TEST_F(KindWatchOf, HalfAnEventIsNone) {
  start();
  EXPECT_TRUE(settles());
  cluster_.tear();
  cluster_.set(kPods, small_pod("p0"));
  EXPECT_TRUE(settles());
  EXPECT_EQ(watch_->lists(), 1U);
  EXPECT_EQ(watch_->watches(), 2U);
}

TEST_F(KindWatchOf, BookmarksMoveTheVersion) {
  add_pods(1);
  start();
  EXPECT_TRUE(settles());
  cluster_.set(kNodes, {{"metadata", {{"name", "n"}}}});  // another kind
  cluster_.bookmark();
  EXPECT_TRUE(run_until(io_, [&] { return sink_.last_version == "102"; }));
  cluster_.end_watches();
  EXPECT_TRUE(run_until(io_, [&] { return watch_->watches() == 2; }));
  EXPECT_TRUE(run_until(io_, [&] { return count_of("resourceVersion=102") == 1; }));
}

TEST_F(KindWatchOf, AVersionThatIsGoneIsListedAnew) {
  for (int i = 0; i < 2; ++i) {  // the server says so in its status, and in the stream
    add_pods(3 + i);
    start();
    EXPECT_TRUE(settles());
    cluster_.remove(kPods, "default/p0");
    EXPECT_TRUE(settles());
    server_.cut();
    cluster_.set_fault([](const FakeRequest&) { return std::optional(status_answer(500, "InternalError", "")); });
    run_for(io_, milliseconds(10));
    cluster_.remove(kPods, "default/p1");
    cluster_.set(kPods, small_pod("late", i));
    cluster_.compact();
    cluster_.set_fault({});
    EXPECT_TRUE(settles());
    EXPECT_EQ(watch_->lists(), 2U);
    EXPECT_EQ(sink_.objects.count("p1"), 0U);
  }
}

TEST_F(KindWatchOf, WhatMakesNoSenseIsAskedAgainAndThenListedAnew) {
  add_pods(2);
  start();
  EXPECT_TRUE(settles());
  const std::vector<std::string> nonsense = {
      "garbage\n",
      "[1]\n",
      "{\"type\":\"ADDED\"}\n",
      "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}\n",
      "{\"type\":\"FLOWN\",\"object\":{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"9\"}}}\n",
      "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"}}}\n",
      "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":500,\"message\":\"etcd\"}}\n"};
  for (const std::string& line : nonsense) {
    const std::uint64_t before = watch_->watches();
    const std::size_t errors = sink_.errors.size();
    cluster_.say(line);
    EXPECT_TRUE(run_until(io_, [&] { return watch_->watches() > before; })) << line;
    EXPECT_EQ(sink_.errors.size(), errors + 1) << line;
    EXPECT_TRUE(settles());
  }
  EXPECT_EQ(watch_->lists(), 1U + nonsense.size() / 2);
  cluster_.set(kPods, small_pod("p0", 5));
  EXPECT_TRUE(settles());
}

TEST_F(KindWatchOf, AnObjectThatIsTooLongEndsTheWatch) {
  WatchOptions options = quick();
  options.max_object_bytes = 1000;
  start(options);
  EXPECT_TRUE(settles());
  Json large = small_pod("large");
  large["metadata"]["labels"]["long"] = std::string(2000, 'x');
  cluster_.set(kPods, large);
  EXPECT_TRUE(settles());  // by the second list
  EXPECT_EQ(watch_->lists(), 2U);
  EXPECT_EQ(sink_.errors.front(), "watch of /api/v1/pods: an object is longer than 1000 bytes");
}

TEST_F(KindWatchOf, EmptyLinesAndSpacesMeanNothing) {
  start();
  EXPECT_TRUE(settles());
  cluster_.say("\n\r\n  \n");
  add_pods(1);
  EXPECT_TRUE(settles());
  EXPECT_EQ(watch_->watches(), 1U);
}

TEST_F(KindWatchOf, ASilentWatchIsOpenedAgain) {
  WatchOptions options = quick();
  options.silence = milliseconds(30);
  add_pods(1);
  start(options);
  EXPECT_TRUE(run_until(io_, [&] { return watch_->watches() >= 3; }));
  EXPECT_EQ(watch_->lists(), 1U);
  EXPECT_EQ(sink_.errors.front(), "GET /api/v1/pods: nothing has come for 0.03 s");
}

TEST_F(KindWatchOf, ForbiddenAndGoneAreReportedAndTriedAgain) {
  add_pods(2);
  for (const auto& [status, state] :
       std::vector<std::pair<unsigned, WatchState>>{{403, WatchState::kForbidden}, {404, WatchState::kGone}}) {
    cluster_.set_fault([code = status](const FakeRequest&) { return std::optional(status_answer(code, "", "no")); });
    start();
    EXPECT_TRUE(run_until(io_, [&, wanted = state] { return sink_.state == wanted && watch_->lists() > 1; }));
    cluster_.set_fault({});
    EXPECT_TRUE(settles());
    EXPECT_EQ(sink_.error, "");
  }
  EXPECT_EQ(sink_.errors.front(), "GET /api/v1/pods: 403 Forbidden: no");
}

TEST_F(KindWatchOf, FailuresAreRetried) {
  add_pods(2);
  std::atomic<int> count{0};
  cluster_.set_fault([&](const FakeRequest&) -> std::optional<FakeAnswer> {
    const int now = count++;
    if (now % 2 == 1) return std::nullopt;
    if (now == 0) {
      FakeAnswer busy = status_answer(429, "TooManyRequests", "busy");
      busy.fields = "Retry-After: 1\r\n";
      return busy;
    }
    if (now < 4) return status_answer(500, "InternalError", "oh");
    FakeAnswer garbage;
    garbage.body = "{\"kind\":";
    return now < 6 ? std::optional(garbage) : std::nullopt;
  });
  start();
  EXPECT_TRUE(settles());
  EXPECT_EQ(sink_.errors.front(), "GET /api/v1/pods: 429 Too Many Requests: busy");
}

TEST_F(KindWatchOf, ItsEndLeavesTheSinkAlone) {
  add_pods(3);
  start();
  watch_.reset();
  run_for(io_, milliseconds(30));
  EXPECT_TRUE(sink_.objects.empty());
  start();
  EXPECT_TRUE(settles());
  watch_.reset();
  cluster_.set(kPods, small_pod("late"));
  run_for(io_, milliseconds(30));
  EXPECT_EQ(sink_.objects.count("late"), 0U);
}

}  // namespace
}  // namespace muster::api_server
