// The rules of placement and of queues: valid plans pass, and each way to break one is found.
#include "test/model/breaches.h"

namespace muster::test {
namespace {

// Filters, devices, a gang in one rack, a share of a device, a memory request, a queue with limits.
const Scenario kFreshJobs{"fresh jobs", R"json({"format":"muster/v1","time":1000,"topology":["zone","rack"],
 "nodes":[
  {"name":"a1","resources":{"cpu":"16","memory":"64Gi","pods":4,"rdma/hca":1},"gpus":{"count":2,"memory":"80Gi","model":"A100"},"labels":{"zone":"z","rack":"r1","disk":"ssd","cores":"64"}},
  {"name":"a2","resources":{"cpu":"16","memory":"64Gi"},"gpus":{"count":2,"memory":"80Gi","model":"A100"},"labels":{"zone":"z","rack":"r1","disk":"ssd","cores":"64"}},
  {"name":"b1","resources":{"cpu":"16","memory":"64Gi","rdma/hca":1},"gpus":{"count":2,"memory":"80Gi","model":"A100"},"labels":{"zone":"z","rack":"r2","disk":"hdd","cores":"32"}},
  {"name":"cordoned","unschedulable":true,"resources":{"cpu":"16","memory":"64Gi"},"gpus":{"count":2,"memory":"80Gi","model":"A100"},"labels":{"zone":"z","rack":"r1","disk":"ssd","cores":"64"}},
  {"name":"tainted","taints":[{"key":"gpu","value":"yes","effect":"NoSchedule"}],"resources":{"cpu":"16","memory":"64Gi"},"gpus":{"count":2,"memory":"80Gi","model":"A100"},"labels":{"zone":"z","rack":"r1","disk":"ssd","cores":"64"}},
  {"name":"outside","resources":{"cpu":"16","memory":"64Gi"},"gpus":{"count":2,"memory":"80Gi","model":"A100"},"labels":{"rack":"r1","disk":"ssd","cores":"64"}},
  {"name":"old","resources":{"cpu":"16","memory":"64Gi"},"gpus":{"count":2,"model":"T4"},"labels":{"zone":"z","rack":"r1","disk":"ssd","cores":"64"}}],
 "queues":[{"name":"org","gpu":{"limit":5}},{"name":"team","parent":"org","gpu":{"limit":4,"quota":4}},{"name":"other","parent":"org"}],
 "gangs":[
  {"name":"job","queue":"team","minMember":2,"topology":{"required":"rack"},"timeout":"10m","created":900,"minResources":{"gpu":3,"cpu":"4"}},
  {"name":"tree","queue":"team","minSubgroups":2,"subgroups":[{"name":"x","minMember":1},{"name":"y","minMember":2,"topology":{"required":"rack"}}]},
  {"name":"wide","queue":"other","minMember":1,"priority":200},
  {"name":"runs","queue":"other","minMember":1}],
 "podTemplates":{"worker":{"resources":{"cpu":"4","memory":"8Gi"},"gpu":{"count":1},"gpuModels":["A100"],"nodeSelector":{"disk":"ssd"},
   "nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"cores","operator":"Gt","values":["48"]}]}]}}}},
 "pods":[
  {"name":"job-0","gang":"job","template":"worker"},
  {"name":"job-1","gang":"job","template":"worker"},
  {"name":"x-0","gang":"tree","subgroup":"x","resources":{"cpu":"1"},"gpu":{"fraction":0.5}},
  {"name":"y-0","gang":"tree","subgroup":"y","resources":{"cpu":"1"},"gpu":{"memory":"40Gi"}},
  {"name":"y-1","gang":"tree","subgroup":"y","resources":{"cpu":"1","rdma/hca":1}},
  {"name":"wide-0","gang":"wide","resources":{"cpu":"10"}},
  {"name":"wide-1","gang":"wide","resources":{"cpu":"1"},"status":"gated"},
  {"name":"runs-0","gang":"runs","resources":{"cpu":"2","rdma/hca":1},"gpu":{"count":1},"node":"b1","gpus":[0],"started":500},
  {"name":"runs-1","gang":"runs","resources":{"cpu":"1"},"gpu":{"count":1}},
  {"name":"solo","queue":"other","resources":{"cpu":"1"},"volumeNodeAffinity":{"required":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["b1"]}]}]}}},
  {"name":"homeless","queue":"nowhere","resources":{"cpu":"1"}},
  {"name":"high","queue":"org","resources":{"cpu":"1"}}]})json",
                          R"(place job-0 a1 gpus 0
place job-1 a2 gpus 0
place x-0 a1 gpus 1
place y-0 a1 gpus 1
place y-1 a1
place wide-0 a2
place runs-1 b1 gpus 1
place solo b1
)"};

const Breach kFreshJobsBreaches[] = {
    {"a gated pod is placed", referee::Rule::kPlan, "place solo b1", "place wide-1 b1"},
    {"a running pod is placed that is not evicted", referee::Rule::kPlan, "place runs-1 b1 gpus 1",
     "place runs-0 b1 gpus 1"},
    {"the policy places nothing", referee::Rule::kAction, R"("topology":["zone)",
     R"("policy":{"actions":["preempt"]},"topology":["zone)"},
    {"a gang without a queue is placed", referee::Rule::kQueueExists, "place solo b1", "place homeless b1"},
    {"a gang of an inner queue is placed", referee::Rule::kQueueExists, "place solo b1", "place high b1"},
    {"a cordoned node is used", referee::Rule::kNode, "place job-1 a2 gpus 0", "place job-1 cordoned gpus 0"},
    {"a taint is not tolerated", referee::Rule::kNode, "place job-1 a2 gpus 0", "place job-1 tainted gpus 0"},
    {"nodeSelector and nodeAffinity do not hold", referee::Rule::kNode, "place job-1 a2 gpus 0",
     "place job-1 b1 gpus 1"},
    {"nodeSelector alone does not hold", referee::Rule::kNode, R"("nodeSelector":{"disk":"ssd"})",
     R"("nodeSelector":{"disk":"tape"})"},
    {"nodeAffinity alone does not hold", referee::Rule::kNode, R"("values":["48"])", R"("values":["64"])"},
    {"an affinity of no terms that match", referee::Rule::kNode, R"([{"key":"cores","operator":"Gt","values":["48"]}])",
     "[]"},
    {"the volumes cannot be attached", referee::Rule::kNode, R"("values":["b1"])", R"("values":["a1"])"},
    {"the model is not accepted", referee::Rule::kNode, "place job-1 a2 gpus 0", "place job-1 old gpus 0"},
    {"too little cpu", referee::Rule::kCapacity, "place wide-0 a2", "place wide-0 a1"},
    {"too many pods", referee::Rule::kCapacity, R"("pods":4)", R"("pods":3)"},
    {"an extended resource is not there", referee::Rule::kCapacity, "place y-1 a1", "place y-1 a2"},
    {"an extended resource is taken by what runs", referee::Rule::kCapacity, "place y-1 a1", "place y-1 b1"},
    {"two whole users of a device", referee::Rule::kDevices, "place x-0 a1 gpus 1", "place x-0 a1 gpus 0"},
    {"a device that runs something else", referee::Rule::kDevices, "place runs-1 b1 gpus 1", "place runs-1 b1 gpus 0"},
    {"sharers of more than one device", referee::Rule::kDevices, R"("fraction":0.5)", R"("fraction":0.500001)"},
    {"a memory request of more than is left", referee::Rule::kDevices, R"("memory":"40Gi"})", R"("memory":"40961Mi"})"},
    {"memory of a device that states none", referee::Rule::kDevices, "place y-0 a1 gpus 1", "place y-0 old gpus 1"},
    {"no device at all", referee::Rule::kDevices, "place job-0 a1 gpus 0", "place job-0 a1"},
    {"a device too many", referee::Rule::kDevices, "place job-1 a2 gpus 0", "place job-1 a2 gpus 0 1"},
    {"a device twice", referee::Rule::kDevices, R"("gpu":{"count":1}},
  {"name":"solo")",
     R"("gpu":{"count":2}},
  {"name":"solo")"},
    {"a device that is not there", referee::Rule::kDevices, "place job-1 a2 gpus 0", "place job-1 a2 gpus 2"},
    {"a device below the first", referee::Rule::kDevices, "place job-1 a2 gpus 0", "place job-1 a2 gpus -1"},
    {"a placement waits for one that stays", referee::Rule::kAfter, "place runs-1 b1 gpus 1",
     "place runs-1 b1 gpus 1 after runs-0"},
    {"one of two pods of a gang is placed", referee::Rule::kGang, "place job-1 a2 gpus 0\n", ""},
    {"one of two subgroups is placed", referee::Rule::kGang, "place x-0 a1 gpus 1\n", ""},
    {"a subgroup lacks a pod", referee::Rule::kGang, "place y-1 a1\n", ""},
    {"minResources asks for more GPUs than are free", referee::Rule::kMinResources, R"("gpu":3,)", R"("gpu":11,)"},
    {"minResources asks for more cpu than is free", referee::Rule::kMinResources, R"("cpu":"4"}},)",
     R"("cpu":"111"}},)"},
    {"a gang in two racks", referee::Rule::kTopology, R"("rack":"r1","disk":"ssd","cores":"64"}},
  {"name":"b1")",
     R"("rack":"r2","disk":"ssd","cores":"64"}},
  {"name":"b1")"},
    {"a rack of the same name in another zone", referee::Rule::kTopology,
     R"("labels":{"zone":"z","rack":"r1","disk":"ssd","cores":"64"}},
  {"name":"b1")",
     R"("labels":{"zone":"y","rack":"r1","disk":"ssd","cores":"64"}},
  {"name":"b1")"},
    {"a pod outside the topology", referee::Rule::kTopology, "place job-1 a2 gpus 0", "place job-1 outside gpus 0"},
    {"a subgroup in two racks", referee::Rule::kTopology, "place y-0 a1 gpus 1", "place y-0 b1 gpus 1"},
    {"a gang that has waited its timeout", referee::Rule::kTimeout, R"("timeout":"10m")", R"("timeout":"100s")"},
    {"a leaf queue above its limit", referee::Rule::kLimit, R"("gpu":{"limit":4,"quota":4})",
     R"("gpu":{"limit":2.999999,"quota":4})"},
    {"an inner queue above its limit", referee::Rule::kLimit, R"("gpu":{"limit":5})", R"("gpu":{"limit":4.5})"},
    {"what is not preemptible above its quota", referee::Rule::kQuota, R"({"name":"other","parent":"org"})",
     R"({"name":"other","parent":"org","cpu":{"quota":"9.999"}})"},
};

TEST(RefereeOfPlacements, PassesAValidPlan) { expect_valid(kFreshJobs); }

TEST(RefereeOfPlacements, FindsEveryBreach) {
  for (const Breach& breach : kFreshJobsBreaches) expect_found(kFreshJobs, breach);
}

TEST(RefereeOfPlacements, PassesThePlanThatDoesNothing) {
  Scenario nothing = kFreshJobs;
  nothing.plan.clear();
  expect_valid(nothing);
}

// Anti-affinity: own gang by host, and a service that keeps batch pods out of its rack.
const Scenario kApart{"apart", R"json({"format":"muster/v1","time":1000,
 "nodes":[
  {"name":"n1","resources":{"cpu":8},"labels":{"host":"n1","rack":"r1"}},
  {"name":"n2","resources":{"cpu":8},"labels":{"host":"n2","rack":"r1"}},
  {"name":"n3","resources":{"cpu":8},"labels":{"host":"n3","rack":"r2"}},
  {"name":"bare","resources":{"cpu":8}}],
 "gangs":[{"name":"spread","minMember":2},{"name":"batch","minMember":1},{"name":"low","minMember":1,"priority":-1}],
 "pods":[
  {"name":"spread-0","gang":"spread","resources":{"cpu":1},"podAntiAffinity":{"topologyKey":"host","matchGang":true}},
  {"name":"spread-1","gang":"spread","resources":{"cpu":1},"podAntiAffinity":{"topologyKey":"host","matchGang":true}},
  {"name":"service","resources":{"cpu":1},"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"rack","labelSelector":{"matchLabels":{"kind":"batch"}}}]},"labels":{"kind":"service"},"node":"n3","started":0},
  {"name":"batch-0","gang":"batch","resources":{"cpu":1},"labels":{"kind":"batch"}},
  {"name":"other-space","gang":"batch","namespace":"elsewhere","resources":{"cpu":1},"labels":{"kind":"batch"}},
  {"name":"guard","resources":{"cpu":1},"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"rack","labelSelector":{"matchLabels":{"kind":"batch"}}}]},"labels":{"kind":"guard"}},
  {"name":"low-0","gang":"low","resources":{"cpu":1},"labels":{"kind":"batch"},"node":"n1","started":0}]})json",
                      R"(evict low-0 preempt guard
place spread-0 n1 after low-0
place spread-1 n2 after low-0
place batch-0 bare
place other-space n3
place guard n2 after low-0
)"};

const Breach kApartBreaches[] = {
    {"two of a gang on one host", referee::Rule::kNode, "place spread-1 n2", "place spread-1 n1"},
    {"beside a running pod with anti-affinity", referee::Rule::kNode, "place batch-0 bare", "place batch-0 n3"},
    {"beside a placed pod with anti-affinity", referee::Rule::kNode, "place batch-0 bare", "place batch-0 n2"},
    {"beside one that leaves, at once", referee::Rule::kNode, "place guard n2 after low-0", "place guard n2"},
    {"the other namespace is its own", referee::Rule::kNode, R"("namespace":"elsewhere",)", ""},
};

TEST(RefereeOfAntiAffinity, PassesAValidPlan) { expect_valid(kApart); }

TEST(RefereeOfAntiAffinity, FindsEveryBreach) {
  for (const Breach& breach : kApartBreaches) expect_found(kApart, breach);
}

// Host ports: of one node a port belongs to one pod; of different addresses or protocols to one each.
const Scenario kPorts{"ports", R"json({"format":"muster/v1","time":1000,
 "nodes":[{"name":"n1","resources":{"cpu":8}},{"name":"n2","resources":{"cpu":8}},{"name":"n3","resources":{"cpu":8}}],
 "gangs":[{"name":"low","minMember":1,"priority":-1}],
 "pods":[
  {"name":"all","resources":{"cpu":1},"hostPorts":[{"port":80}]},
  {"name":"one","resources":{"cpu":1},"hostPorts":[{"port":80,"address":"10.0.0.1"}]},
  {"name":"two","resources":{"cpu":1},"hostPorts":[{"port":80,"address":"10.0.0.2"}]},
  {"name":"udp","resources":{"cpu":1},"hostPorts":[{"port":80,"protocol":"UDP"}]},
  {"name":"next","resources":{"cpu":1},"hostPorts":[{"port":443}]},
  {"name":"there","resources":{"cpu":1},"hostPorts":[{"port":443},{"port":9100}],"node":"n3","started":0},
  {"name":"low-0","gang":"low","resources":{"cpu":1},"hostPorts":[{"port":443}],"node":"n1","started":0}]})json",
                      R"(evict low-0 preempt next
place all n2
place one n1
place two n1
place udp n1
place next n1 after low-0
)"};

const Breach kPortsBreaches[] = {
    {"all addresses beside one", referee::Rule::kHostPorts, "place all n2", "place all n1"},
    {"two of one address", referee::Rule::kHostPorts, R"("address":"10.0.0.2")", R"("address":"10.0.0.1")"},
    {"two of one protocol", referee::Rule::kHostPorts, R"("protocol":"UDP")", R"("address":"0.0.0.0")"},
    {"beside a running pod", referee::Rule::kHostPorts, "place next n1 after low-0", "place next n3 after low-0"},
    {"beside one that leaves, at once", referee::Rule::kHostPorts, "place next n1 after low-0", "place next n1"},
    {"an eviction for a port that is free", referee::Rule::kNotInVain,
     R"({"name":"next","resources":{"cpu":1},"hostPorts":[{"port":443}]})",
     R"({"name":"next","resources":{"cpu":1},"hostPorts":[{"port":444}]})"},
};

TEST(RefereeOfHostPorts, PassesAValidPlan) { expect_valid(kPorts); }

TEST(RefereeOfHostPorts, FindsEveryBreach) {
  for (const Breach& breach : kPortsBreaches) expect_found(kPorts, breach);
}

// What runs counts: an elastic gang grows in its rack, a queue above its limit may stay there, a started gang needs no
// minResources any more.
const Scenario kGrowing{"growing", R"json({"format":"muster/v1","time":1000,"topology":["rack"],
 "nodes":[
  {"name":"n1","resources":{"cpu":8},"gpus":{"count":2},"labels":{"rack":"r1"}},
  {"name":"n2","resources":{"cpu":8},"gpus":{"count":2},"labels":{"rack":"r2"}}],
 "queues":[{"name":"full","gpu":{"limit":1},"cpu":{"limit":6}},{"name":"slices"}],
 "gangs":[{"name":"elastic","queue":"full","minMember":2,"topology":{"required":"rack"},"minResources":{"cpu":"100"}}],
 "pods":[
  {"name":"e-0","gang":"elastic","resources":{"cpu":1},"gpu":{"count":2},"node":"n1","started":0},
  {"name":"e-1","gang":"elastic","resources":{"cpu":1},"status":"succeeded"},
  {"name":"e-2","gang":"elastic","resources":{"cpu":1}},
  {"name":"e-3","gang":"elastic","resources":{"cpu":1},"gpu":{"count":1}}]})json",
                        "place e-2 n1\n"};

const Breach kGrowingBreaches[] = {
    {"away from what runs", referee::Rule::kTopology, "place e-2 n1", "place e-2 n2"},
    {"a queue above its limit grows", referee::Rule::kLimit, "place e-2 n1", "place e-3 n2 gpus 0"},
};

// Two pools with chains of their own, and a topology that crosses both. `rack` is a level of two of them.
const Scenario kPools{"pools", R"json({"format":"muster/v1",
 "topologies":[{"name":"a","levels":["block","rack"]},{"name":"b","levels":["rack","host"]},{"name":"power","levels":["feed"]}],
 "nodes":[
  {"name":"a1","labels":{"block":"1","rack":"r","feed":"x"}},{"name":"a2","labels":{"block":"1","rack":"r","feed":"y"}},
  {"name":"a3","labels":{"block":"2","rack":"r","feed":"x"}},
  {"name":"b1","labels":{"rack":"r","host":"1","feed":"x"}},{"name":"b2","labels":{"rack":"r","host":"2","feed":"y"}}],
 "gangs":[{"name":"of-a","topology":{"name":"a","required":"rack"}},{"name":"of-b","topology":{"name":"b","required":"rack"}},
          {"name":"of-any","topology":{"required":"rack"}},{"name":"of-power","topology":{"required":"feed"}}],
 "pods":[{"name":"a-0","gang":"of-a"},{"name":"a-1","gang":"of-a"},{"name":"b-0","gang":"of-b"},{"name":"b-1","gang":"of-b"},
         {"name":"any-0","gang":"of-any"},{"name":"any-1","gang":"of-any"},{"name":"p-0","gang":"of-power"},{"name":"p-1","gang":"of-power"}]})json",
                      R"(place a-0 a1
place a-1 a2
place b-0 b1
place b-1 b2
place any-0 b1
place any-1 b2
place p-0 a3
place p-1 b1
)"};

const Breach kPoolsBreaches[] = {
    {"a rack of the same name in another block", referee::Rule::kTopology, "place a-1 a2", "place a-1 a3"},
    {"a node outside of the topology that is named", referee::Rule::kTopology, "place b-1 b2", "place b-1 a1"},
    {"both nodes outside of it", referee::Rule::kTopology, "place b-0 b1\nplace b-1 b2", "place b-0 a1\nplace b-1 a1"},
    {"one pod in each of two topologies", referee::Rule::kTopology, "place any-0 b1", "place any-0 a1"},
    {"two racks of the first topology", referee::Rule::kTopology, "place any-0 b1\nplace any-1 b2",
     "place any-0 a1\nplace any-1 a3"},
    {"a domain of a topology that crosses", referee::Rule::kTopology, "place p-0 a3", "place p-0 a2"},
};

TEST(RefereeOfTopologies, PassesAValidPlan) { expect_valid(kPools); }

TEST(RefereeOfTopologies, FindsEveryBreach) {
  for (const Breach& breach : kPoolsBreaches) expect_found(kPools, breach);
}

TEST(RefereeOfGrowth, PassesAValidPlan) { expect_valid(kGrowing); }

TEST(RefereeOfGrowth, FindsEveryBreach) {
  for (const Breach& breach : kGrowingBreaches) expect_found(kGrowing, breach);
}

// Limits of any resource: of a leaf queue, of an inner one, and one that what runs has passed already.
const Scenario kLimited{"limited", R"json({"format":"muster/v1","time":1000,
 "nodes":[{"name":"n","resources":{"cpu":8,"nvidia.com/mig-1g.10gb":7,"x.com/card":8}}],
 "queues":[{"name":"org","resources":{"nvidia.com/mig-1g.10gb":{"limit":3}}},
  {"name":"a","parent":"org","resources":{"pods":{"limit":2},"x.com/card":{"limit":1}}},{"name":"b","parent":"org"}],
 "pods":[
  {"name":"r","queue":"a","resources":{"x.com/card":2},"node":"n","started":0},
  {"name":"p","queue":"a","resources":{"nvidia.com/mig-1g.10gb":2}},
  {"name":"q","queue":"b","resources":{"nvidia.com/mig-1g.10gb":1}},
  {"name":"s","queue":"b","resources":{"x.com/card":5}}]})json",
                        "place p n\nplace q n\nplace s n\n"};

const Breach kLimitedBreaches[] = {
    {"a pod too many", referee::Rule::kLimit, R"("pods":{"limit":2})", R"("pods":{"limit":1})"},
    {"a slice too many below an inner queue", referee::Rule::kLimit, R"({"limit":3})", R"({"limit":2})"},
    {"more of what is above its limit already", referee::Rule::kLimit, R"({"nvidia.com/mig-1g.10gb":2})",
     R"({"nvidia.com/mig-1g.10gb":2,"x.com/card":1})"},
};

TEST(RefereeOfLimits, PassesAValidPlan) { expect_valid(kLimited); }

TEST(RefereeOfLimits, FindsEveryBreachForAnyResource) {
  for (const Breach& breach : kLimitedBreaches) expect_found(kLimited, breach);
}

}  // namespace
}  // namespace muster::test
