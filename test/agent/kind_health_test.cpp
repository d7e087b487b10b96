#include "cli/agent/kind_health.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/kubernetes/object/kinds.h"

namespace muster::cli {
namespace {

using api_server::KindReport;
using api_server::WatchState;
using std::chrono_literals::operator""s, std::chrono_literals::operator""h;

const kubernetes::KnownKind* known(std::string_view group, std::string_view kind) {
  const auto kinds = kubernetes::known_kinds();
  return &*std::ranges::find_if(kinds, [&](const auto& one) { return one.group == group && one.kind == kind; });
}

KindReport report(const kubernetes::KnownKind* kind, WatchState state, bool is_listed) {
  KindReport made;
  made.kind.known = kind;
  made.kind.resource = kind->kind;
  made.state = state;
  made.is_listed = is_listed;
  return made;
}

class Health : public testing::Test {
 protected:
  void update(WatchState pods, WatchState workloads, std::chrono::seconds at, bool is_listed = true) {
    sentences_ = health_.update({report(pod_, pods, true), report(workload_, workloads, is_listed)}, start_ + at);
  }
  bool is_aside() const { return !health_.set_aside().empty(); }

  const kubernetes::KnownKind *pod_ = known("", "Pod"), *workload_ = known("kueue.x-k8s.io", "Workload");
  const KindHealth::Time start_{1h};
  KindHealth health_{ApplyMode::kBindings, 30s};
  std::vector<std::pair<std::string, bool>> sentences_;
};

TEST_F(Health, AKindThatFailsInterruptsUntilItIsSetAside) {
  update(WatchState::kWatching, WatchState::kRetrying, 0s);
  EXPECT_EQ(health_.interrupted(), "Workload.kueue.x-k8s.io");
  EXPECT_EQ(health_.next(), start_ + 30s) << "so that the agent need not wait for a message";
  update(WatchState::kWatching, WatchState::kListing, 29s);
  EXPECT_FALSE(is_aside());
  update(WatchState::kWatching, WatchState::kRetrying, 30s);
  EXPECT_TRUE(is_aside());
  EXPECT_EQ(health_.interrupted(), "");
  ASSERT_EQ(sentences_.size(), 1U);
  EXPECT_TRUE(sentences_[0].second);
  const auto revision = health_.revision();
  update(WatchState::kWatching, WatchState::kListing, 31s);
  EXPECT_TRUE(is_aside() && sentences_.empty()) << "it is tried again, and that is no news";
  EXPECT_EQ(health_.revision(), revision);
  update(WatchState::kWatching, WatchState::kWatching, 32s);
  EXPECT_FALSE(is_aside());
  ASSERT_EQ(sentences_.size(), 1U);
  EXPECT_FALSE(sentences_[0].second);
  EXPECT_GT(health_.revision(), revision) << "so that it is planned anew";
}

TEST_F(Health, AFreshAgentBecomesReadyWithoutIt) {
  update(WatchState::kWatching, WatchState::kListing, 0s, false);
  EXPECT_FALSE(health_.is_complete());
  update(WatchState::kWatching, WatchState::kRetrying, 1s, false);
  EXPECT_FALSE(health_.is_complete());
  update(WatchState::kWatching, WatchState::kRetrying, 31s, false);
  EXPECT_TRUE(health_.is_complete());
}

TEST_F(Health, AKindThatMayNotBeReadIsSetAsideImmediately) {
  update(WatchState::kWatching, WatchState::kForbidden, 0s, false);
  EXPECT_TRUE(is_aside() && health_.is_complete());
}

TEST_F(Health, AnApiServerThatStandsStillSetsNothingAside) {
  update(WatchState::kRetrying, WatchState::kRetrying, 0s);
  update(WatchState::kRetrying, WatchState::kRetrying, 60s);
  EXPECT_FALSE(is_aside());
  update(WatchState::kWatching, WatchState::kRetrying, 61s);
  EXPECT_FALSE(is_aside());
  update(WatchState::kWatching, WatchState::kRetrying, 89s);
  EXPECT_FALSE(is_aside());
  update(WatchState::kWatching, WatchState::kRetrying, 90s);
  EXPECT_TRUE(is_aside());
}

TEST_F(Health, PodsAreNeverSetAside) {
  update(WatchState::kRetrying, WatchState::kWatching, 0s);
  update(WatchState::kRetrying, WatchState::kWatching, 1h);
  EXPECT_FALSE(is_aside());
  EXPECT_EQ(health_.interrupted(), "Pod");
}

}  // namespace
}  // namespace muster::cli
