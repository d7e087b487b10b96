#include "model/snapshot/filters.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

SelectorRequirement requirement(SelectorOperator op, std::vector<std::string_view> values = {}) {
  return {"k", op, std::move(values)};
}

TEST(Filters, RequirementsTreatAnAbsentKeyAsKubernetesDoes) {
  EXPECT_TRUE(matches(requirement(SelectorOperator::kIn, {"a", "b"}), "b"));
  EXPECT_FALSE(matches(requirement(SelectorOperator::kIn, {"a"}), std::nullopt));
  EXPECT_FALSE(matches(requirement(SelectorOperator::kNotIn, {"a"}), "a"));
  EXPECT_TRUE(matches(requirement(SelectorOperator::kNotIn, {"a"}), std::nullopt));
  EXPECT_TRUE(matches(requirement(SelectorOperator::kExists), ""));
  EXPECT_FALSE(matches(requirement(SelectorOperator::kExists), std::nullopt));
  EXPECT_TRUE(matches(requirement(SelectorOperator::kDoesNotExist), std::nullopt));
}

TEST(Filters, GreaterAndLessCompareIntegersAndNothingElse) {
  EXPECT_TRUE(matches(requirement(SelectorOperator::kGt, {"9"}), "10"));
  EXPECT_FALSE(matches(requirement(SelectorOperator::kGt, {"10"}), "10"));
  EXPECT_TRUE(matches(requirement(SelectorOperator::kLt, {"10"}), "-3"));
  EXPECT_FALSE(matches(requirement(SelectorOperator::kGt, {"9"}), "10x"));
  EXPECT_FALSE(matches(requirement(SelectorOperator::kLt, {"9"}), std::nullopt));
}

TEST(Filters, TolerationMatchesByEffectKeyAndValue) {
  const Taint taint{"k", "v", TaintEffect::kNoSchedule};
  const auto tolerated = [&](Toleration toleration) { return tolerates({toleration}, taint); };
  EXPECT_TRUE(tolerated({"k", "v", false, TaintEffect::kNoSchedule}));
  EXPECT_TRUE(tolerated({"k", "v", false, std::nullopt}));
  EXPECT_FALSE(tolerated({"k", "v", false, TaintEffect::kNoExecute}));
  EXPECT_FALSE(tolerated({"k", "w", false, std::nullopt}));
  EXPECT_TRUE(tolerated({"k", "", true, std::nullopt}));
  EXPECT_TRUE(tolerated({"", "", true, std::nullopt}));
  EXPECT_FALSE(tolerated({"", "v", false, std::nullopt}));
}

TEST(Filters, OnlyHardTaintsExclude) {
  SnapshotNode node;
  node.taints = {{"soft", "", TaintEffect::kPreferNoSchedule}};
  EXPECT_TRUE(passes_filters({}, node));
  EXPECT_EQ(untolerated_soft_taints({}, node), 1);
  node.taints.push_back({"hard", "", TaintEffect::kNoExecute});
  EXPECT_FALSE(passes_filters({}, node));
}

TEST(Filters, AnyTermOfARequiredAffinitySufficesAndAnEmptyOneMatchesNothing) {
  SnapshotNode node;
  node.name = "n";
  node.labels = {{"a", "1"}};
  PodSpec spec;
  spec.node_affinity.required.emplace();
  EXPECT_FALSE(required_affinity_holds(spec, node));
  spec.node_affinity.required->push_back({});
  EXPECT_FALSE(required_affinity_holds(spec, node));
  spec.node_affinity.required->push_back({{}, {{"metadata.name", SelectorOperator::kIn, {"n"}}}});
  EXPECT_TRUE(required_affinity_holds(spec, node));
  spec.node_affinity.required->back().match_expressions.push_back({"a", SelectorOperator::kIn, {"2"}});
  EXPECT_FALSE(required_affinity_holds(spec, node));
}

TEST(Filters, PodThatNamesModelsGoesToNoUnknownOne) {
  SnapshotNode node;
  PodSpec spec;
  EXPECT_TRUE(gpu_models_hold(spec, node));
  spec.gpu_models = {"A", "B"};
  EXPECT_FALSE(gpu_models_hold(spec, node));
  node.gpu_model = "B";
  EXPECT_TRUE(gpu_models_hold(spec, node));
}

TEST(Filters, CordonAndSelectorExclude) {
  SnapshotNode node;
  node.labels = {{"disk", "ssd"}};
  PodSpec spec;
  spec.node_selector = {{"disk", "ssd"}};
  EXPECT_TRUE(passes_filters(spec, node));
  spec.node_selector = {{"disk", "hdd"}};
  EXPECT_FALSE(passes_filters(spec, node));
  spec.node_selector.clear();
  node.unschedulable = true;
  EXPECT_FALSE(passes_filters(spec, node));
}

}  // namespace
}  // namespace muster
