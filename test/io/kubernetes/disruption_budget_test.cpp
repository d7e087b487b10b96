// PodDisruptionBudgets of a list, as the eviction API reads them.
#include <string>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

Json budget(Json spec, Json status) {
  Json made = in_namespace(object("policy/v1", "PodDisruptionBudget", "web", std::move(spec)));
  made["metadata"]["generation"] = 2;
  made["status"] = std::move(status);
  return made;
}

const Json kSelector = {{"matchLabels", {{"app", "web"}}},
                        {"matchExpressions", {{{"key", "tier"}, {"operator", "Exists"}}}}};
const Json kReadSelector = {
    {"matchExpressions",
     {{{"key", "tier"}, {"operator", "Exists"}}, {{"key", "app"}, {"operator", "In"}, {"values", {"web"}}}}}};

std::int64_t allowed(Json status) {
  return imported({budget({{"selector", kSelector}}, std::move(status))}).at("disruptionBudgets", "web")["allowed"];
}

TEST(KubernetesDisruptionBudget, IsThatOfItsNamespaceAndSelector) {
  const ImportedObjects made = imported(
      {budget({{"selector", kSelector}, {"minAvailable", 2}}, {{"disruptionsAllowed", 3}, {"observedGeneration", 2}})});
  const Json expected{
      {"name", "web"}, {"namespace", "team"}, {"selector", kReadSelector}, {"allowed", 3}, {"exclusive", true}};
  EXPECT_EQ(made.at("disruptionBudgets", "web"), expected);
  EXPECT_TRUE(made.remarks.empty());
}

TEST(KubernetesDisruptionBudget, WithoutASelectorOrWithAnEmptyOneStaysSo) {
  const auto made = [](Json spec) {
    return imported({budget(std::move(spec), Json::object())}).at("disruptionBudgets", "web");
  };
  EXPECT_FALSE(made(Json::object()).contains("selector"));
  EXPECT_EQ(made({{"selector", Json::object()}})["selector"], Json::object());
}

TEST(KubernetesDisruptionBudget, AllowsNothingWhereItsStatusIsAbsentBehindOrNegative) {
  EXPECT_EQ(allowed({{"disruptionsAllowed", 3}, {"observedGeneration", 2}}), 3);
  EXPECT_EQ(allowed({{"disruptionsAllowed", 3}, {"observedGeneration", 1}}), 0);
  EXPECT_EQ(allowed({{"disruptionsAllowed", 3}}), 0);
  EXPECT_EQ(allowed({{"disruptionsAllowed", -1}, {"observedGeneration", 2}}), 0);
  EXPECT_EQ(allowed(Json::object()), 0);
}

TEST(KubernetesDisruptionBudget, OfWhichEvictionsOfUnreadyPodsAreAlwaysAllowedIsRemarkedUpon) {
  const Json spec{{"selector", kSelector}, {"unhealthyPodEvictionPolicy", "AlwaysAllow"}};
  EXPECT_TRUE(imported({budget(spec, {{"disruptionsAllowed", 3}, {"observedGeneration", 2}})}).says("AlwaysAllow"));
}

TEST(KubernetesDisruptionBudget, WithoutAStatusOrWithAnOldOneIsRemarkedUpon) {
  const auto remarks = [](Json status) { return imported({budget({{"selector", kSelector}}, std::move(status))}); };
  EXPECT_TRUE(remarks(Json::object()).says("has no status yet"));
  EXPECT_TRUE(remarks({{"disruptionsAllowed", 3}, {"observedGeneration", 1}}).says("is behind"));
}

// The result of a budget whose objects are not read strictly, and of which something cannot be read.
Json settled(Json spec, Json status) {
  json::JsonDocument document;
  const std::string list = list_of({budget(std::move(spec), std::move(status))});
  EXPECT_FALSE(document.parse(list, {list.size(), 64}));
  const auto made = import_kubernetes(document.root(), {.strict = false});
  if (!made) return {};
  EXPECT_EQ(made->anomalies.warnings.front().code, ErrorCode::kUnclear);
  return json_of(*made)["disruptionBudgets"][0];
}

TEST(KubernetesDisruptionBudget, ThatCannotBeReadKeepsItsSelectorAndIsUnclear) {
  const Json odd = settled({{"selector", kSelector}}, {{"disruptionsAllowed", "many"}});
  EXPECT_EQ(odd["selector"], kReadSelector);
  EXPECT_EQ(odd["allowed"], 0);
  EXPECT_EQ(settled("none", Json::object())["allowed"], 0);
}

TEST(KubernetesDisruptionBudget, WhoseSelectorCannotBeReadCostsTheOthersNothing) {
  const Json spec{{"selector", {{"matchExpressions", {{{"key", "app"}, {"operator", "Near"}}}}}}};
  const auto read = muster_v1::SnapshotReader({.strict = false, .kubernetes = {.strict = false}})
                        .read(list_of({budget(spec, {{"disruptionsAllowed", 3}, {"observedGeneration", 2}})}));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->disruption_budgets.size(), 1U);
  EXPECT_EQ(read->disruption_budgets.front().allowed, 0);
  EXPECT_TRUE(read->disruption_budgets.front().selector->requirements.empty()) << "all pods of the namespace";
  EXPECT_EQ(read->anomalies.count(), 1U);
}

TEST(KubernetesRemarks, AreWarningsOfTheSnapshot) {
  const auto read =
      muster_v1::SnapshotReader().read(list_of({in_namespace(object("apps/v1", "DaemonSet", "d", Json::object()))}));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->anomalies.count(), 1U);
  EXPECT_EQ(read->anomalies.warnings.front().object, "import");
  EXPECT_EQ(read->anomalies.warnings.front().message, "1 time: DaemonSet is ignored; first: DaemonSet team/d");
}

TEST(KubernetesPod, NamesItsSchedulerUnlessThatIsTheDefault) {
  const ImportedObjects made =
      imported({pod("a"), pod("b", {{"schedulerName", "default-scheduler"}}), pod("c", {{"schedulerName", "kai"}})});
  EXPECT_FALSE(made.pod("team/a").contains("schedulerName"));
  EXPECT_FALSE(made.pod("team/b").contains("schedulerName"));
  EXPECT_EQ(made.pod("team/c")["schedulerName"], "kai");
}

}  // namespace
}  // namespace muster::kubernetes
