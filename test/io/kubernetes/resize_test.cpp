// Requests of pods that are resized in place (KEP-1287): what is asked for or what is given, whichever is more.
#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

// A running pod of one container; `status` is that of the container.
Json resized(const char* wanted, Json status, Json conditions = Json::array()) {
  Json made = running(pod("p"), "n");
  made["spec"]["containers"] = Json::array({{{"name", "main"}, {"resources", {{"requests", {{"cpu", wanted}}}}}}});
  status["name"] = "main";
  made["status"]["containerStatuses"] = Json::array({status});
  made["status"]["conditions"] = std::move(conditions);
  return made;
}

Json cpu_of(const Json& one) { return imported({node("n"), one}).pod("team/p")["resources"]["cpu"]; }

const Json kInfeasible = Json::array({{{"type", "PodResizePending"}, {"status", "True"}, {"reason", "Infeasible"}}});
const Json kDeferred = Json::array({{{"type", "PodResizePending"}, {"status", "True"}, {"reason", "Deferred"}}});

TEST(KubernetesResize, CountsWhatIsStillAllocatedWhileAPodShrinks) {
  EXPECT_EQ(cpu_of(resized("1", {{"allocatedResources", {{"cpu", "3"}}}})), 3);
  EXPECT_EQ(cpu_of(resized("1", {{"resources", {{"requests", {{"cpu", "4"}}}}}})), 4) << "what it has";
  const Json both{{"allocatedResources", {{"cpu", "3"}}}, {"resources", {{"requests", {{"cpu", "4"}}}}}};
  EXPECT_EQ(cpu_of(resized("1", both)), 4);
  EXPECT_EQ(cpu_of(resized("1", Json::object())), 1);
}

TEST(KubernetesResize, CountsWhatIsAskedForWhileAPodGrows) {
  EXPECT_EQ(cpu_of(resized("5", {{"allocatedResources", {{"cpu", "3"}}}})), 5);
  EXPECT_EQ(cpu_of(resized("5", {{"allocatedResources", {{"cpu", "3"}}}}, kDeferred)), 5);
}

TEST(KubernetesResize, CountsWhatIsAllocatedWhereTheResizeIsInfeasible) {
  EXPECT_EQ(cpu_of(resized("500", {{"allocatedResources", {{"cpu", "3"}}}}, kInfeasible)), 3);
  EXPECT_EQ(cpu_of(resized("500", Json::object(), kInfeasible)), 500) << "what it has is unknown";
}

TEST(KubernetesResize, CountsEachContainerByItself) {
  Json two = resized("1", {{"allocatedResources", {{"cpu", "3"}}}});
  two["spec"]["containers"].push_back({{"name", "beside"}, {"resources", {{"requests", {{"cpu", "2"}}}}}});
  two["status"]["containerStatuses"].push_back({{"name", "beside"}, {"allocatedResources", {{"cpu", "1"}}}});
  EXPECT_EQ(cpu_of(two), 5);
  two["spec"]["initContainers"] =
      Json::array({{{"name", "side"}, {"restartPolicy", "Always"}, {"resources", {{"requests", {{"cpu", "1"}}}}}}});
  two["status"]["initContainerStatuses"] = Json::array({{{"name", "side"}, {"allocatedResources", {{"cpu", "2"}}}}});
  EXPECT_EQ(cpu_of(two), 7);
}

TEST(KubernetesResize, CountsWhatThePodAsAWholeIsGiven) {
  Json whole = resized("1", Json::object());
  whole["spec"]["resources"]["requests"]["cpu"] = "2";
  whole["status"]["allocatedResources"]["cpu"] = "6";
  whole["status"]["resources"]["requests"]["cpu"] = "4";
  EXPECT_EQ(cpu_of(whole), 6);
  whole["status"]["conditions"] = kInfeasible;
  whole["spec"]["resources"]["requests"]["cpu"] = "100";
  EXPECT_EQ(cpu_of(whole), 6);
}

}  // namespace
}  // namespace muster::kubernetes
