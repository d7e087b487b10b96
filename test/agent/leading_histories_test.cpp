// Two agents, one API server, and time that is simulated: answers that are late, fail or get lost, watches that break,
// agents that stand still. Whatever happened, the gang that waits is bound soon after it has ended.
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/agent/leadership.h"
#include "cli/agent/plan_timer.h"
#include "io/api_server/api_request.h"

namespace muster::cli {
namespace {

using api_server::ApiHandler;
using api_server::ApiRequest;
using api_server::ApiResponse;
using Json = nlohmann::json;
using std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;
using std::chrono_literals::operator""s, std::chrono_literals::operator""ms, std::chrono_literals::operator""h;

// Tasks at their times.
class SimulatedTime {
 public:
  Time now() const { return now_; }
  void at(Time time, std::function<void()> task) { tasks_.emplace(std::max(time, now_), std::move(task)); }
  void after(milliseconds delay, std::function<void()> task) { at(now_ + delay, std::move(task)); }
  // The next task up to `end`; whether there was one.
  bool step(Time end) {
    if (tasks_.empty() || tasks_.begin()->first > end) return false;
    auto node = tasks_.extract(tasks_.begin());
    now_ = node.key();
    node.mapped()();
    return true;
  }

 private:
  Time now_{1h};
  std::multimap<Time, std::function<void()>> tasks_;
};

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  milliseconds between(milliseconds least, milliseconds most) {
    return milliseconds(std::uniform_int_distribution<std::int64_t>(least.count(), most.count())(random_));
  }
  bool one_in(int count) { return std::uniform_int_distribution<int>(1, count)(random_) == 1; }

 private:
  std::mt19937 random_;
};

constexpr int kGang = 4;
constexpr LeaseTimes kTimes;

// A Lease with optimistic concurrency, and the pods of one gang. Disturbed, it is slow, fails, and loses answers.
class SimulatedServer {
 public:
  SimulatedServer(SimulatedTime& time, Dice& dice) : time_(time), dice_(dice) {}

  void disturb(Time until) { disturbed_ = until; }  // all delays have ended then
  void freeze(Time until) { frozen_ = std::max(frozen_, until); }
  void follow(std::function<void()> watcher) { watchers_.push_back(std::move(watcher)); }
  void bring_gang() {
    has_gang_ = true;
    tell();
  }
  bool has_gang() const { return has_gang_; }
  bool is_bound() const { return bound_.size() == kGang; }
  bool is_bound(const std::string& pod) const { return bound_.contains(pod); }

  void send(const ApiRequest& request, ApiHandler handler) {
    // Answered once: by the server, or by the client when its time is up.
    const auto answer = [handler = std::make_shared<ApiHandler>(std::move(handler))](const ApiResponse& response) {
      if (const ApiHandler once = std::exchange(*handler, {})) once(response);
    };
    if (request.timeout.count() > 0)
      time_.after(request.timeout, [answer] { answer({0, {}, "", "", "", "no answer in time", ""}); });
    const bool is_disturbed = time_.now() < disturbed_;
    const milliseconds left = std::chrono::ceil<milliseconds>(disturbed_ - time_.now());
    const milliseconds most = is_disturbed && dice_.one_in(3) ? std::clamp(left / 2, 40ms, 8'000ms) : 40ms;
    const bool is_lost_before = is_disturbed && dice_.one_in(10), is_lost_after = is_disturbed && dice_.one_in(10);
    const milliseconds way = dice_.between(1ms, most), back = dice_.between(1ms, most);
    time_.after(way, [this, request, answer, is_lost_before, is_lost_after, back] {
      const auto served = [this, request, answer, is_lost_before, is_lost_after, back] {
        const ApiResponse response = is_lost_before ? ApiResponse{0, {}, "", "", "", "reset", ""} : serve(request);
        time_.after(back, [answer, response, is_lost_after] {
          answer(is_lost_after ? ApiResponse{0, {}, "", "", "", "reset", ""} : response);
        });
      };
      time_.now() < frozen_ ? time_.at(frozen_, served) : served();
    });
  }

 private:
  static ApiResponse response(unsigned status, const std::string& body) {
    return {status, {}, "", "", body, status / 100 == 2 ? "" : "refused", ""};
  }

  void tell() {
    for (const auto& watcher : watchers_) watcher();
  }

  ApiResponse serve(const ApiRequest& request) {
    if (request.target.starts_with("/pods/")) {
      if (!bound_.insert(request.target.substr(6)).second) return response(409, "{}");
      tell();
      return response(201, "{}");
    }
    if (request.method == "GET") return lease_.is_null() ? response(404, "{}") : response(200, lease_.dump());
    Json sent = Json::parse(request.body);
    const bool is_free = request.method == "POST" && lease_.is_null();
    if (!is_free && (lease_.is_null() || request.method == "POST" ||
                     sent["metadata"]["resourceVersion"] != lease_["metadata"]["resourceVersion"]))
      return response(409, "{}");
    sent["metadata"]["resourceVersion"] = std::to_string(++version_);
    lease_ = std::move(sent);
    return response(200, lease_.dump());
  }

  SimulatedTime& time_;
  Dice& dice_;
  Time disturbed_{}, frozen_{};
  Json lease_;
  int version_ = 0;
  bool has_gang_ = false;
  std::set<std::string> bound_;
  std::vector<std::function<void()>> watchers_;
};

// As Agent: what it does when something changes, with the real PlanTimer and the real Leadership.
class SimulatedAgent {
 public:
  SimulatedAgent(SimulatedTime& time, Dice& dice, SimulatedServer& server, const std::string& name,
                 std::array<int, 5>& seen)
      : time_(time),
        dice_(dice),
        server_(server),
        seen_(seen),
        leadership_({[this](ApiRequest request, ApiHandler handler) {
                       server_.send(request, [this, handler = std::move(handler)](const ApiResponse& response) {
                         when_awake([handler, response] { handler(response); });
                       });
                     },
                     [this](milliseconds delay, std::function<void()> task) {
                       time_.after(delay, [this, task = std::move(task)] { when_awake(task); });
                     },
                     [this] { return time_.now(); }, [this, name] { return name + std::to_string(++instants_); }},
                    {"muster", "agent"}, name, {[this] { consider(); }, [](const std::string&, bool) {}}) {
    server.follow([this] { time_.after(dice_.between(1ms, 300ms), [this] { when_awake([this] { changed(); }); }); });
    list();
    leadership_.start();
  }

  bool leads() const { return leadership_.leads(); }
  void stand_still(Time until) { asleep_ = std::max(asleep_, until); }
  void interrupt(Time until) {
    is_interrupted_ = true;
    consider();
    time_.at(until, [this] {
      is_interrupted_ = false;
      changed();
    });
  }

 private:
  void when_awake(std::function<void()> task) {
    if (time_.now() >= asleep_) return task();
    time_.at(asleep_, [this, task = std::move(task)] { when_awake(task); });
  }

  void list() {
    consider();
    time_.after(dice_.between(100ms, 3s), [this] {
      is_listed_ = true;
      changed();
    });
  }

  void changed() {
    ++revision_;
    if (server_.is_bound()) unseen_until_ = {};
    consider();
  }

  Obstacle obstacle() const {
    if (!is_listed_) return Obstacle::kUnread;
    if (is_interrupted_) return Obstacle::kInterrupted;
    if (!leads()) return Obstacle::kFollows;
    return time_.now() < unseen_until_ ? Obstacle::kUnseen : Obstacle::kNone;
  }

  void consider() {
    const PlanSituation situation{obstacle(), revision_, unseen_until_};
    ++seen_[static_cast<std::size_t>(situation.obstacle)];
    const auto next = plan_timer_.next(situation);
    if (!next) return;
    if (*next > time_.now()) return time_.at(*next, [this] { when_awake([this] { consider(); }); });
    plan_timer_.begin(revision_, time_.now());
    time_.after(dice_.between(20ms, 900ms), [this] { when_awake([this] { bind(0); }); });
  }

  // One pod after the other; as ActRunner, nothing more once it does not lead.
  void bind(int pod) {
    if (!server_.has_gang()) return end();
    while (pod < kGang && server_.is_bound(std::to_string(pod))) ++pod;
    if (pod == kGang) return end();
    if (!leads() || (pod == 0 && is_interrupted_)) {
      plan_timer_.plan_again(time_.now());
      return end();
    }
    server_.send({"POST", "/pods/" + std::to_string(pod)}, [this, pod](const ApiResponse& response) {
      when_awake([this, pod, response] {
        if (response.status == 0) {
          unseen_until_ = time_.now() + 5s;
          plan_timer_.plan_again(time_.now() + 1s);
          return end();
        }
        bind(pod + 1);
      });
    });
  }

  void end() {
    plan_timer_.end();
    consider();
  }

  SimulatedTime& time_;
  Dice& dice_;
  SimulatedServer& server_;
  std::array<int, 5>& seen_;
  bool is_listed_ = false, is_interrupted_ = false;
  std::uint64_t revision_ = 0;
  int instants_ = 0;
  Time unseen_until_{}, asleep_{};
  PlanTimer plan_timer_{1s, 60s};
  Leadership leadership_;
};

// Draws what happens until `end`. The gang comes in the last seconds before; nothing else changes in the cluster.
void draw(SimulatedTime& time, Dice& dice, SimulatedServer& server,
          const std::array<std::unique_ptr<SimulatedAgent>, 2>& agents, Time end) {
  const milliseconds whole = std::chrono::ceil<milliseconds>(end - time.now());
  server.disturb(end);
  time.at(end - dice.between(0ms, 5s), [&server] { server.bring_gang(); });
  const auto until = [&, end](milliseconds most) { return std::min(end, time.now() + dice.between(500ms, most)); };
  for (int i = 0; i < 2; ++i) time.after(dice.between(0ms, whole), [&server, until] { server.freeze(until(12s)); });
  for (const auto& agent : agents) {
    time.after(dice.between(0ms, whole), [&agent, until] { agent->stand_still(until(15s)); });
    time.after(dice.between(0ms, whole), [&agent, until] { agent->interrupt(until(8s)); });
  }
}

TEST(LeadingHistories, AGangThatWaitsIsBoundWithinOneLeaseAfterAllDisturbances) {
  std::array<int, 5> seen{};
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    SimulatedTime time;
    Dice dice(seed);
    SimulatedServer server(time, dice);
    std::array<std::unique_ptr<SimulatedAgent>, 2> agents;
    for (std::size_t i = 0; i < 2; ++i)
      agents[i] = std::make_unique<SimulatedAgent>(time, dice, server, i == 0 ? "a" : "b", seen);
    const Time end = time.now() + dice.between(5s, 40s);
    draw(time, dice, server, agents, end);
    while (!server.is_bound() && time.step(end + kTimes.duration))
      ASSERT_FALSE(agents[0]->leads() && agents[1]->leads()) << "both lead, seed " << seed;
    ASSERT_TRUE(server.is_bound()) << "not within one Lease, seed " << seed;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_GT(seen[i], 1'000) << "obstacle " << i;
}

}  // namespace
}  // namespace muster::cli
