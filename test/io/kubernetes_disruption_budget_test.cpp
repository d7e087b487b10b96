// PodDisruptionBudgets of a list, as the eviction API reads them.
#include <string>

#include "test/io/kubernetes_objects.h"

namespace muster {
namespace {

Json budget(Json spec, Json status) {
  Json made = in_namespace(object("policy/v1", "PodDisruptionBudget", "web", std::move(spec)));
  made["metadata"]["generation"] = 2;
  made["status"] = std::move(status);
  return made;
}

const Json kSelector = {{"matchLabels", {{"app", "web"}}},
                        {"matchExpressions", {{{"key", "tier"}, {"operator", "Exists"}}}}};

std::int64_t allowed(Json status) {
  return imported({budget({{"selector", kSelector}}, std::move(status))}).at("disruptionBudgets", "web")["allowed"];
}

TEST(KubernetesDisruptionBudget, IsThatOfItsNamespaceAndSelector) {
  const ImportedObjects made = imported({budget({{"selector", kSelector}, {"minAvailable", 2}},
                                                {{"disruptionsAllowed", 3}, {"observedGeneration", 2}})});
  const Json expected{
      {"name", "web"}, {"namespace", "team"}, {"selector", kSelector}, {"allowed", 3}, {"exclusive", true}};
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

TEST(KubernetesPod, NamesItsSchedulerUnlessThatIsTheDefault) {
  const ImportedObjects made =
      imported({pod("a"), pod("b", {{"schedulerName", "default-scheduler"}}), pod("c", {{"schedulerName", "kai"}})});
  EXPECT_FALSE(made.pod("team/a").contains("schedulerName"));
  EXPECT_FALSE(made.pod("team/b").contains("schedulerName"));
  EXPECT_EQ(made.pod("team/c")["schedulerName"], "kai");
}

}  // namespace
}  // namespace muster
