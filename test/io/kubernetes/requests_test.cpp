// The total requests of pods. The expected sums are those of kube-scheduler's own rule: PodRequests of the module
// k8s.io/component-helpers, version v0.34.1, package resource, gave all of them for these pods, a limit made a request
// if there is none, as the API server does. The sum of the containers, with the restartable init containers; at least
// each other init container with the restartable ones before it; requests of the whole pod in place of that; plus
// overhead.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/snapshot_reader/snapshot_reader.h"

namespace muster::kubernetes {
namespace {

constexpr Amount kMi = 1 << 20, kGi = 1 << 30;

struct Case {
  const char* what;
  const char* spec;
  Amount cpu, memory;  // thousandths, bytes
  std::int32_t gpus = 0;
  const char* other = "";  // one more resource
  Amount amount = 0;
};

// A container that asks for `cpu` and `memory`.
#define ASKS(cpu, memory) R"({"resources":{"requests":{"cpu":")" cpu R"(","memory":")" memory R"("}}})"
#define RESTARTABLE(cpu, memory) \
  R"({"restartPolicy":"Always","resources":{"requests":{"cpu":")" cpu R"(","memory":")" memory R"("}}})"
#define OF(...) "\"containers\":[" __VA_ARGS__ "]"
#define INIT(...) ",\"initContainers\":[" __VA_ARGS__ "]"

const std::vector<Case> kCases = {
    {"nothing at all", R"("containers":[{}])", 0, 0},
    {"no containers", R"("containers":[])", 0, 0},
    {"resources are null", R"("containers":[{"resources":null}])", 0, 0},
    {"requests are null", R"("containers":[{"resources":{"requests":null,"limits":null}}])", 0, 0},
    {"one container", OF(ASKS("500m", "1Gi")), 500, kGi},
    {"two containers in total", OF(ASKS("500m", "1Gi") "," ASKS("250m", "512Mi")), 750, 1536 * kMi},
    {"three containers in total", OF(ASKS("1", "1Gi") "," ASKS("1", "1Gi") "," ASKS("100m", "1Mi")), 2100,
     2 * kGi + kMi},
    {"cpu as a number", R"("containers":[{"resources":{"requests":{"cpu":2,"memory":1048576}}}])", 2000, kMi},
    {"cpu with decimals", R"("containers":[{"resources":{"requests":{"cpu":0.25,"memory":"1M"}}}])", 250, 1'000'000},
    {"an exponent", R"("containers":[{"resources":{"requests":{"cpu":"2e-1","memory":"1e3"}}}])", 200, 1000},
    {"decimal and binary units", OF(ASKS("1", "1G") "," ASKS("1", "1Gi")), 2000, 1'000'000'000 + kGi},
    {"below a thousandth: rounded up once, after the sum", OF(ASKS("100u", "1") "," ASKS("100u", "1")), 1, 2},
    {"billionths", OF(ASKS("1500000n", "1")), 2, 1},
    {"a tenth of a byte", OF(ASKS("1", "100m") "," ASKS("1", "100m")), 2000, 1},
    {"only a limit", R"("containers":[{"resources":{"limits":{"cpu":"2","memory":"4Gi"}}}])", 2000, 4 * kGi},
    {"a request below its limit", R"("containers":[{"resources":{"limits":{"cpu":"2"},"requests":{"cpu":"1"}}}])", 1000,
     0},
    {"a limit of one, a request of another",
     R"("containers":[{"resources":{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"1"}}}])", 1000, kGi},
    {"a request of zero with a limit", R"("containers":[{"resources":{"limits":{"cpu":"2"},"requests":{"cpu":"0"}}}])",
     0, 0},
    {"limits in one container, requests in another",
     R"("containers":[{"resources":{"limits":{"cpu":"2"}}},{"resources":{"requests":{"cpu":"1"}}}])", 3000, 0},
    {"an init container smaller than the sum", OF(ASKS("2", "2Gi")) INIT(ASKS("1", "1Gi")), 2000, 2 * kGi},
    {"an init container larger than the sum", OF(ASKS("1", "1Gi")) INIT(ASKS("4", "8Gi")), 4000, 8 * kGi},
    {"larger in one resource only", OF(ASKS("2", "1Gi")) INIT(ASKS("1", "4Gi")), 2000, 4 * kGi},
    {"init containers one after another: the largest, not the sum",
     OF(ASKS("1", "1Gi")) INIT(ASKS("2", "1Gi") "," ASKS("3", "2Gi")), 3000, 2 * kGi},
    {"init containers, each largest in something", OF(ASKS("1", "1Gi")) INIT(ASKS("3", "1Gi") "," ASKS("2", "4Gi")),
     3000, 4 * kGi},
    {"a limit of an init container", R"("containers":[{}],"initContainers":[{"resources":{"limits":{"cpu":"3"}}}])",
     3000, 0},
    {"a restartable one is added", OF(ASKS("1", "1Gi")) INIT(RESTARTABLE("500m", "1Gi")), 1500, 2 * kGi},
    {"two restartable ones are added", OF(ASKS("1", "1Gi")) INIT(RESTARTABLE("1", "1Gi") "," RESTARTABLE("2", "2Gi")),
     4000, 4 * kGi},
    {"restartable before another: both together",
     OF(ASKS("1", "1Gi")) INIT(RESTARTABLE("2", "1Gi") "," ASKS("4", "1Gi")), 6000, 2 * kGi},
    {"restartable after another: not beside it",
     OF(ASKS("1", "1Gi")) INIT(ASKS("4", "1Gi") "," RESTARTABLE("2", "1Gi")), 4000, 2 * kGi},
    {"restartable after a small one: the sum", OF(ASKS("1", "1Gi")) INIT(ASKS("2", "1Gi") "," RESTARTABLE("2", "1Gi")),
     3000, 2 * kGi},
    {"between two: only the second beside it",
     OF(ASKS("1", "1Gi")) INIT(ASKS("5", "1Gi") "," RESTARTABLE("1", "1Gi") "," ASKS("3", "3Gi")), 5000, 4 * kGi},
    {"restartable ones on both sides",
     OF(ASKS("1", "1Gi")) INIT(RESTARTABLE("1", "1Gi") "," ASKS("3", "1Gi") "," RESTARTABLE("2", "1Gi")), 4000,
     3 * kGi},
    {"only restartable ones", OF("{}") INIT(RESTARTABLE("1", "1Gi") "," RESTARTABLE("1", "1Gi")), 2000, 2 * kGi},
    {"restartPolicy other than Always is none",
     R"("containers":[{}],"initContainers":[{"restartPolicy":"OnFailure","resources":{"requests":{"cpu":"1"}}},
        {"resources":{"requests":{"cpu":"2"}}}])",
     2000, 0},
    {"restartPolicy of a main container changes nothing",
     R"("containers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}])", 1000, 0},
    {"overhead is added", OF(ASKS("1", "1Gi")) R"(,"overhead":{"cpu":"250m","memory":"120Mi"})", 1250, kGi + 120 * kMi},
    {"overhead comes on top of the largest init container",
     OF(ASKS("1", "1Gi")) INIT(ASKS("4", "1Gi")) R"(,"overhead":{"cpu":"1"})", 5000, kGi},
    {"overhead alone", R"("containers":[{}],"overhead":{"cpu":"1","memory":"1Mi"})", 1000, kMi},
    {"whole devices", R"("containers":[{"resources":{"requests":{"nvidia.com/gpu":"2"}}}])", 0, 0, 2},
    {"devices by their limit", R"("containers":[{"resources":{"limits":{"nvidia.com/gpu":4}}}])", 0, 0, 4},
    {"devices of two containers in total",
     R"("containers":[{"resources":{"limits":{"nvidia.com/gpu":1}}},{"resources":{"limits":{"nvidia.com/gpu":"1"}}}])",
     0, 0, 2},
    {"devices of an init container",
     R"("containers":[{}],"initContainers":[{"resources":{"limits":{"nvidia.com/gpu":1}}}])", 0, 0, 1},
    {"no devices", R"("containers":[{"resources":{"limits":{"nvidia.com/gpu":"0"}}}])", 0, 0, 0},
    {"extended resources", R"("containers":[{"resources":{"limits":{"rdma/hca":"1"}}},
        {"resources":{"limits":{"rdma/hca":"2"}}}])",
     0, 0, 0, "rdma/hca", 3},
    {"slices of a device", R"("containers":[{"resources":{"limits":{"nvidia.com/mig-1g.10gb":"2"}}}])", 0, 0, 0,
     "nvidia.com/mig-1g.10gb", 2},
    {"ephemeral storage", R"("containers":[{"resources":{"requests":{"ephemeral-storage":"1Gi"}}}])", 0, 0, 0,
     "ephemeral-storage", kGi},
    {"the whole pod's request in place of the sum",
     OF(ASKS("1", "1Gi") "," ASKS("1", "1Gi")) R"(,"resources":{"requests":{"cpu":"3"}})", 3000, 2 * kGi},
    {"the whole pod's request, below the sum",
     OF(ASKS("2", "1Gi")) R"(,"resources":{"requests":{"cpu":"1","memory":"4Gi"}})", 1000, 4 * kGi},
    {"the whole pod's limit, where no container requests",
     R"("containers":[{}],"resources":{"limits":{"memory":"2Gi"}})", 0, 2 * kGi},
    {"the whole pod's limit, where a container requests",
     OF(ASKS("1", "1Gi")) R"(,"resources":{"limits":{"cpu":"4","memory":"4Gi"}})", 1000, kGi},
    {"the whole pod's request, and overhead",
     OF(ASKS("1", "1Gi")) R"(,"resources":{"requests":{"cpu":"2"}},"overhead":{"cpu":"1"})", 3000, kGi},
    {"of the whole pod, cpu, memory and huge pages count, nothing else",
     R"("containers":[{}],"resources":{"requests":{"rdma/hca":"1","hugepages-2Mi":"4Mi"}})", 0, 0, 0, "hugepages-2Mi",
     4 * kMi},
    {"all together",
     OF(ASKS("1", "1Gi") "," ASKS("1", "2Gi")) INIT(RESTARTABLE("500m", "256Mi") "," ASKS("3", "1Gi") "," RESTARTABLE(
         "500m", "256Mi")) R"(,"overhead":{"cpu":"100m","memory":"64Mi"})",
     3600, 3 * kGi + 512 * kMi + 64 * kMi},
};

TEST(KubernetesRequests, AreThoseOfKubeScheduler) {
  EXPECT_GE(kCases.size(), 40U);
  muster_v1::SnapshotReader reader;
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.what);
    const auto snapshot = reader.read(
        std::string(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{)") + one.spec + "}}");
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    const PodSpec& spec = snapshot->pod_specs[snapshot->pods[0].spec];
    const auto amount = [&](std::string_view name) {
      for (const ResourceAmount& each : spec.resources) {
        if (snapshot->resource_names[each.resource] == name) return each.amount;
      }
      return Amount{0};
    };
    EXPECT_EQ(amount("cpu"), one.cpu);
    EXPECT_EQ(amount("memory"), one.memory);
    EXPECT_EQ(spec.gpu.devices, one.gpus);
    EXPECT_EQ(amount("nvidia.com/gpu"), 0);
    if (*one.other != '\0') {
      EXPECT_EQ(amount(one.other), one.amount);
    }
    EXPECT_EQ(amount("rdma/hca"), std::string_view(one.other) == "rdma/hca" ? one.amount : 0);
  }
}

TEST(KubernetesRequests, BeyondSixtyFourBitsAreAnErrorThatNamesThePod) {
  const auto snapshot = muster_v1::SnapshotReader().read(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n"},"spec":{)" OF(
          ASKS("1", "8000P") "," ASKS("1", "8000P")) "}}");
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(error_code_text(snapshot.error().code), "TooLarge");
  EXPECT_NE(snapshot.error().message.find("Pod n/p"), std::string::npos);
}

}  // namespace
}  // namespace muster::kubernetes
