
#include "io/muster_v1/policy_overrides.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace muster::muster_v1 {
namespace {

// The requirements as Kubernetes writes them in an object: "team In infra; spot DoesNotExist".
std::string read(const std::string& text) {
  const Result<LabelSelector> selector = parse_label_selector(text);
  if (!selector) return std::string(error_code_text(selector.error().code));
  std::string told;
  for (const SelectorRequirement& requirement : selector->requirements) {
    static const char* const kNames[] = {"In", "NotIn", "Exists", "DoesNotExist"};
    told += (told.empty() ? "" : "; ") + std::string(requirement.key) + " " +
            kNames[static_cast<std::size_t>(requirement.op)];
    for (const std::string_view value : requirement.values) told += " " + std::string(value);
  }
  return told;
}

TEST(LabelSelectorText, IsThatOfKubectl) {
  EXPECT_EQ(read("team=infra"), "team In infra");
  EXPECT_EQ(read("team == infra , tier!=edge"), "team In infra; tier NotIn edge");
  EXPECT_EQ(read("tier in (prod, edge),zone notin (a)"), "tier In prod edge; zone NotIn a");
  EXPECT_EQ(read("example.com/gpu,!spot"), "example.com/gpu Exists; spot DoesNotExist");
  EXPECT_EQ(read("team="), "team In ") << "an empty value is a value";
}

TEST(LabelSelectorText, IsRefusedWhereItIsNone) {
  for (const char* text : {"", ",", "=a", "team=a b", "team in prod", "in (a)", "a in (b", "!", "team>3", "a=b,"})
    EXPECT_EQ(read(text), "InvalidValue") << text;
  EXPECT_NE(parse_label_selector("team=a,b c").error().message.find("\"b c\""), std::string::npos);
}

// What the policy is once the overrides are applied.
Policy applied(const muster_v1::PolicyOverrides& overrides, const std::function<void(Policy&)>& before) {
  Snapshot snapshot;
  before(snapshot.policy);
  muster_v1::apply(overrides, snapshot);
  return snapshot.policy;
}

TEST(PolicyOverrides, TakeThePlaceOfThePolicysActions) {
  muster_v1::PolicyOverrides overrides;
  overrides.actions = *muster_v1::parse_actions("place, stale");
  const auto none = [](Policy& policy) { policy.actions = {false, false, false, false, false}; };
  EXPECT_EQ(applied(overrides, none).actions, (Actions{true, false, false, false, true}));
  overrides.no_evictions = true;
  EXPECT_EQ(applied(overrides, none).actions, (Actions{true, false, false, false, false}));
  EXPECT_EQ(applied({}, none).actions, (Actions{false, false, false, false, false}));
}

TEST(PolicyOverrides, NarrowTheNumberOfMoves) {
  muster_v1::PolicyOverrides overrides;
  overrides.max_moves = 3;
  EXPECT_EQ(applied(overrides, [](Policy& policy) { policy.max_moves = 5; }).max_moves, 3);
  EXPECT_EQ(applied(overrides, [](Policy& policy) { policy.max_moves = 2; }).max_moves, 2);
  EXPECT_EQ(applied(overrides, [](Policy&) {}).max_moves, 3);
}

TEST(PolicyOverrides, TakeThePlaceOfThePolicysOrder) {
  muster_v1::PolicyOverrides overrides;
  const auto waited = [](Policy& policy) { policy.over_time.order = SeniorityRule::kWaited; };
  EXPECT_EQ(applied(overrides, waited).over_time.order, SeniorityRule::kWaited);
  overrides.order = SeniorityRule::kExpectedDuration;
  EXPECT_EQ(applied(overrides, waited).over_time.order, SeniorityRule::kExpectedDuration);
}

TEST(PolicyOverrides, NameUnknownActionsAndThoseThatThereAre) {
  const std::string message = muster_v1::parse_actions("place,evict").error().message;
  EXPECT_NE(message.find("\"evict\""), std::string::npos) << message;
  EXPECT_NE(message.find("place, consolidate, reclaim, preempt and stale"), std::string::npos) << message;
  EXPECT_FALSE(muster_v1::parse_scheduler_names("a,,b"));
  EXPECT_EQ(*muster_v1::parse_scheduler_names("a, b"), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace muster::muster_v1
