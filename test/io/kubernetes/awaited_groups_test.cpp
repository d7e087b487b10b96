// The option awaits_groups: pods that come before the object of their group.
#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

KubernetesOptions awaiting() {
  KubernetesOptions options;
  options.awaits_groups = true;
  return options;
}

Json coscheduled(const char* name) { return labelled(pod(name), "scheduling.x-k8s.io/pod-group", "g"); }

TEST(KubernetesAwaitedGroups, APodOfCoschedulingIsHeldUntilItsGroupComes) {
  EXPECT_TRUE(imported({node("n"), coscheduled("p")}, awaiting()).pod("team/p").contains("held"));
  EXPECT_FALSE(imported({node("n"), coscheduled("p")}).pod("team/p").contains("held")) << "without the option";
  const Json group = in_namespace(object("scheduling.x-k8s.io/v1alpha1", "PodGroup", "g", {{"minMember", 2}}));
  const auto made = imported({node("n"), group, coscheduled("p")}, awaiting());
  EXPECT_FALSE(made.pod("team/p").contains("held"));
  EXPECT_EQ(made.pod("team/p")["gang"], "team/g");
}

TEST(KubernetesAwaitedGroups, PodsThatTellTheSizeOfTheirGroupAreNotHeld) {
  Json told = labelled(pod("p"), "pod-group.scheduling.sigs.k8s.io/name", "g");
  EXPECT_TRUE(imported({node("n"), told}, awaiting()).pod("team/p").contains("held"));
  told = labelled(told, "pod-group.scheduling.sigs.k8s.io/min-available", "1");
  EXPECT_FALSE(imported({node("n"), told}, awaiting()).pod("team/p").contains("held"));
}

TEST(KubernetesAwaitedGroups, SinglePodsAreNotHeld) {
  EXPECT_FALSE(imported({node("n"), pod("p")}, awaiting()).pod("team/p").contains("held"));
}

}  // namespace
}  // namespace muster::kubernetes
