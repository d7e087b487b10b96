// The option planned_gate: whose pods are planned, and what the others take.
#include <string>
#include <vector>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

Json gated(Json made, const std::vector<std::string>& gates) {
  for (const std::string& gate : gates) made["spec"]["schedulingGates"].push_back({{"name", gate}});
  return made;
}

KubernetesOptions options() {
  KubernetesOptions options;
  options.planned_gate = "muster/planned";
  return options;
}

TEST(KubernetesPlannedGate, PodsUnderItAreToBePlaced) {
  const auto made = imported({node("n1"), gated(pod("p"), {"muster/planned"})}, options());
  EXPECT_FALSE(made.pod("team/p").contains("status")) << "pending";
  EXPECT_EQ(imported({node("n1"), gated(pod("p"), {"muster/planned"})}).pod("team/p")["status"], "gated")
      << "without the option";
}

TEST(KubernetesPlannedGate, OtherGatesStillHold) {
  const auto made = imported({node("n1"), gated(pod("p"), {"muster/planned", "other"})}, options());
  EXPECT_EQ(made.pod("team/p")["status"], "gated");
}

TEST(KubernetesPlannedGate, PodsWithoutItAreLeftToTheirSchedulers) {
  Json nominated = pod("nominated");
  nominated["status"]["nominatedNodeName"] = "n1";
  const auto made = imported({node("n1"), pod("waits"), gated(pod("other"), {"other"}), nominated,
                              running(pod("runs"), "n1"), gated(pod("p"), {"muster/planned"})},
                             options());
  EXPECT_EQ(made.find("pods", "team/waits"), nullptr);
  EXPECT_EQ(made.find("pods", "team/other"), nullptr);
  EXPECT_EQ(made.pod("team/nominated")["node"], "n1");
  EXPECT_EQ(made.pod("team/runs")["node"], "n1");
}

TEST(KubernetesPlannedGate, APodWhoseGateWasTakenAwayRunsWhereItIsPinned) {
  const Json opened = annotated(pod("p"), "muster/node", "n1");
  EXPECT_EQ(imported({node("n1"), opened}, options()).pod("team/p")["node"], "n1");
  EXPECT_FALSE(imported({node("n1"), opened}).pod("team/p").contains("node")) << "without the option";
  const auto bound = imported({node("n1"), node("n2"), running(opened, "n2")}, options());
  EXPECT_EQ(bound.pod("team/p")["node"], "n2") << "where it is comes before where it was to be";
}

TEST(KubernetesPlannedGate, AnOpenedPodThatIsDeletedIsGone) {
  Json opened = annotated(pod("p"), "muster/node", "n1");
  opened["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(imported({node("n1"), opened}, options()).find("pods", "team/p"), nullptr);
}

}  // namespace
}  // namespace muster::kubernetes
