// Plans that would be best only because of the devices that placed pods use: rule NotInVain does not let them choose
// the devices of a pod so that this one has to leave.
#include <string>

#include <gtest/gtest.h>

#include "test/brute_force/comparison.h"
#include "test/support/paths.h"

namespace muster::brute_force {
namespace {

void expect_agreement_without_evictions(const std::string& line) {
  portfolio::Portfolio portfolio(test::program());
  ComparisonOptions options;
  options.with_evictions = true;
  const Comparison comparison = compare_engines(line, portfolio, options);
  EXPECT_EQ(finding_name(comparison.finding), finding_name(Finding::kAgrees));
  EXPECT_EQ(comparison.remarks, std::vector<std::string>{});
  EXPECT_FALSE(comparison.evicts);
}

// Three pods of 8 GiB could fill the device of r1-3 once that is evicted and r1-4 moved away. On the other device they
// take as much room, and leave enough for r1-3.
const std::string kSharers =
    R"({"format":"muster/v1","id":"tiny-policy","time":1000000,"policy":{"nonPreemptibleWithinQuota":false},)"
    R"("nodes":[{"name":"n0","resources":{"cpu":32,"memory":"64Gi"},"gpus":{"count":3,"memory":"24Gi"},)"
    R"("labels":{"pool":"a","host":"n0"}},{"name":"n1","resources":{"cpu":32,"memory":"64Gi"},)"
    R"("gpus":{"count":2,"memory":"24Gi"},"labels":{"pool":"a","host":"n1"}},{"name":"n2",)"
    R"("resources":{"cpu":32,"memory":"64Gi"},"gpus":{"count":2,"memory":"24Gi"},"labels":{"pool":"a",)"
    R"("host":"n2"}},{"name":"n3","resources":{"cpu":32,"memory":"64Gi"},"gpus":{"count":3,"memory":"16Gi"},)"
    R"("labels":{"pool":"a","host":"n3"}}],"queues":[{"name":"q0","gpu":{"quota":0,"weight":1}},{"name":"q1",)"
    R"("gpu":{}}],"gangs":[{"name":"r0","created":999987,"queue":"q1","priority":10,"weight":1.5,)"
    R"("minMember":2},{"name":"r1","created":999994,"queue":"q0","priority":50,"minMember":2},{"name":"r2",)"
    R"("created":999993,"queue":"q1","priority":50,"minMember":1},{"name":"p0","created":999998,"queue":"q0",)"
    R"("priority":80,"weight":0.5},{"name":"p1","created":999959,"queue":"q1","priority":50,"weight":2.0},)"
    R"({"name":"p2","created":999950,"queue":"q1","priority":80,"weight":1.5,"minMember":2}],)"
    R"("pods":[{"name":"r0-0","gang":"r0","gpu":{"memory":"8Gi","devices":1},"node":"n2","gpus":[0],)"
    R"("started":999950},{"name":"r0-1","gang":"r0","gpu":{"memory":"8Gi","devices":1},"node":"n0","gpus":[0],)"
    R"("started":999950},{"name":"r0-2","gang":"r0","gpu":{"memory":"8Gi","devices":1},"status":"succeeded"},)"
    R"({"name":"r1-3","gang":"r1","gpu":{"memory":"4Gi","devices":1},"node":"n2","gpus":[1],"started":999995},)"
    R"({"name":"r1-4","gang":"r1","gpu":{"memory":"4Gi","devices":1},"node":"n2","gpus":[1],"started":999500},)"
    R"({"name":"r1-5","gang":"r1","gpu":{"count":1},"node":"n3","gpus":[0],"started":999950},{"name":"r2-6",)"
    R"("gang":"r2","gpu":{"memory":"8Gi","devices":1},"node":"n2","gpus":[0],"started":999950},{"name":"p0-7",)"
    R"("gang":"p0","gpu":{"count":2}},{"name":"p1-8","gang":"p1","gpu":{"memory":"8Gi","devices":1}},)"
    R"({"name":"p2-9","gang":"p2","gpu":{"memory":"8Gi","devices":1}},{"name":"p2-10","gang":"p2",)"
    R"("gpu":{"memory":"8Gi","devices":1}}]})";

TEST(EnginesWhereDevicesMatter, EvictNoSharerWhoseDeviceOthersNeedNotFill) {
  expect_agreement_without_evictions(kSharers);
}

// Were a evicted, x0 could take the device that it leaves; the other device of n0 is idle.
const std::string kWholeDevices =
    R"({"format":"muster/v1","time":1000000,"policy":{"nonPreemptibleWithinQuota":false},"nodes":[{"name":"n0",)"
    R"("gpus":{"count":2},"labels":{"n":"n0"}},{"name":"n1","gpus":{"count":3},"labels":{"n":"n1"}},)"
    R"({"name":"n2","gpus":{"count":2},"labels":{"n":"n2"}},{"name":"n3","gpus":{"count":5},)"
    R"("labels":{"n":"n3"}},{"name":"n4","gpus":{"count":1},"labels":{"n":"n4"}}],"queues":[{"name":"q0",)"
    R"("gpu":{"quota":0,"weight":1}},{"name":"q1","gpu":{"quota":0,"weight":1.2}}],"gangs":[{"name":"r1",)"
    R"("queue":"q0","priority":50,"minMember":2,"created":999000},{"name":"p0","queue":"q0","priority":80,)"
    R"("created":999900},{"name":"x","queue":"q1","priority":50,"created":999900},{"name":"big","queue":"q1",)"
    R"("priority":50,"created":999900},{"name":"k0","queue":"q1","priority":50,"preemptible":false,)"
    R"("created":999000},{"name":"k1","queue":"q1","priority":50,"preemptible":false,"created":999000},)"
    R"({"name":"k2","queue":"q1","priority":50,"preemptible":false,"created":999000},{"name":"k3","queue":"q1",)"
    R"("priority":50,"preemptible":false,"created":999000},{"name":"k4","queue":"q1","priority":50,)"
    R"("preemptible":false,"created":999000}],"pods":[{"name":"a","gang":"r1","gpu":{"count":1},"node":"n0",)"
    R"("gpus":[0],"started":999950},{"name":"b","gang":"r1","gpu":{"count":1},"node":"n4","gpus":[0],)"
    R"("started":999950},{"name":"c","gang":"r1","gpu":{"count":2},"node":"n2","gpus":[0,1],"started":999950},)"
    R"({"name":"p","gang":"p0","gpu":{"count":3}},{"name":"x0","gang":"x","gpu":{"count":1},)"
    R"("nodeSelector":{"n":"n0"}},{"name":"big0","gang":"big","gpu":{"count":3},"nodeSelector":{"n":"n1"}},)"
    R"({"name":"k0-0","gang":"k0","gpu":{"count":1},"node":"n3","gpus":[0],"started":999950},{"name":"k1-0",)"
    R"("gang":"k1","gpu":{"count":1},"node":"n3","gpus":[1],"started":999950},{"name":"k2-0","gang":"k2",)"
    R"("gpu":{"count":1},"node":"n3","gpus":[2],"started":999950},{"name":"k3-0","gang":"k3","gpu":{"count":1},)"
    R"("node":"n3","gpus":[3],"started":999950},{"name":"k4-0","gang":"k4","gpu":{"count":1},"node":"n3",)"
    R"("gpus":[4],"started":999950}]})";

TEST(EnginesWhereDevicesMatter, EvictNoPodWhoseDeviceAnotherNeedNotTake) {
  expect_agreement_without_evictions(kWholeDevices);
}

}  // namespace
}  // namespace muster::brute_force
