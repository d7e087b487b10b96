// What a good line means: values, units, defaults, templates, equal specs.
#include "io/snapshot_reader/snapshot_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "model/snapshot/unread.h"

namespace muster::muster_v1 {
namespace {

Snapshot read(const std::string& members) {
  auto snapshot = SnapshotReader().read(R"({"format":"muster/v1",)" + members + "}");
  if (!snapshot) {
    ADD_FAILURE() << members << "\n"
                  << error_code_text(snapshot.error().code) << " " << snapshot.error().path << " "
                  << snapshot.error().message;
    return {};
  }
  return std::move(*snapshot);
}

std::string error(const std::string& members) {
  const auto snapshot = SnapshotReader().read(R"({"format":"muster/v1",)" + members + "}");
  return snapshot ? "" : std::string(error_code_text(snapshot.error().code)) + " " + snapshot.error().path;
}

Amount amount_of(const Snapshot& snapshot, const std::vector<ResourceAmount>& amounts, std::string_view name) {
  for (const ResourceAmount& amount : amounts) {
    if (snapshot.resource_names[amount.resource] == name) return amount.amount;
  }
  return -1;
}

const PodSpec& spec_of(const Snapshot& snapshot, std::size_t pod) {
  return snapshot.pod_specs[snapshot.pods[pod].spec];
}

TEST(SnapshotReader, GivesTheDefaultsOfTheContract) {
  const auto empty = SnapshotReader().read(R"({"format":"muster/v1"})");
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->id, "");
  EXPECT_EQ(empty->time, 0);
  EXPECT_EQ(empty->policy.actions, Actions{});
  EXPECT_EQ(empty->policy.placement, PlacementPolicy::kBinpack);
  EXPECT_TRUE(empty->policy.non_preemptible_within_quota);
  EXPECT_EQ(empty->policy.max_moves, std::nullopt);
  EXPECT_EQ(empty->policy.budget, std::nullopt);
  EXPECT_TRUE(empty->queues.empty());
  ASSERT_EQ(empty->resource_names.size(), 3U);
  EXPECT_EQ(empty->resource_names[kCpu], "cpu");
  EXPECT_EQ(empty->resource_names[kMemory], "memory");
  EXPECT_EQ(empty->resource_names[kPods], "pods");
}

TEST(SnapshotReader, RoundsNodesDownAndPodsUp) {
  const Snapshot s = read(R"("nodes":[{"name":"n","resources":{"cpu":"1500500u","memory":"1500m","rdma/hca":"1500m"},
      "gpus":{"count":2,"memory":"80G","model":"A100","ids":["a","b"]}}],
      "pods":[{"name":"p","resources":{"cpu":"1500500u","memory":"1500m","rdma/hca":"1500m"},"gpu":{"memory":"80G","devices":2}}])");
  const SnapshotNode& node = s.nodes.at(0);
  EXPECT_EQ(amount_of(s, node.resources, "cpu"), 1500);
  EXPECT_EQ(amount_of(s, node.resources, "memory"), 1);
  EXPECT_EQ(amount_of(s, node.resources, "rdma/hca"), 1);
  EXPECT_EQ(amount_of(s, node.resources, "pods"), 110);
  EXPECT_EQ(node.gpu_count, 2);
  EXPECT_EQ(node.gpu_memory_mib, 76'293);
  EXPECT_EQ(node.gpu_model, "A100");
  EXPECT_EQ(node.gpu_ids, (std::vector<std::string_view>{"a", "b"}));
  const PodSpec& spec = spec_of(s, 0);
  EXPECT_EQ(amount_of(s, spec.resources, "cpu"), 1501);
  EXPECT_EQ(amount_of(s, spec.resources, "memory"), 2);
  EXPECT_EQ(amount_of(s, spec.resources, "rdma/hca"), 2);
  EXPECT_EQ(amount_of(s, spec.resources, "pods"), 1);
  EXPECT_EQ(spec.gpu, (GpuRequest{GpuRequestKind::kMemory, 2, 76'294}));
}

TEST(SnapshotReader, KeepsResourcesSortedAndWithoutZeros) {
  const Snapshot s = read(
      R"("pods":[{"name":"p","resources":{"x":1,"pods":0,"memory":0,"cpu":1}},{"name":"q"}],"nodes":[{"name":"n","resources":{"pods":5}}])");
  EXPECT_EQ(spec_of(s, 0).resources.size(), 2U);
  EXPECT_EQ(spec_of(s, 0).resources[0], (ResourceAmount{kCpu, 1000}));
  EXPECT_EQ(amount_of(s, spec_of(s, 0).resources, "x"), 1);
  EXPECT_EQ(spec_of(s, 1).resources, (std::vector<ResourceAmount>{{kPods, 1}}));
  EXPECT_EQ(s.nodes[0].resources, (std::vector<ResourceAmount>{{kPods, 5}}));
}

TEST(SnapshotReader, ReadsNumbersByTheirTextAndNotAsDoubles) {
  const Snapshot s = read(R"("pods":[{"name":"a","resources":{"cpu":0.1},"gpu":{"fraction":0.29}},
      {"name":"b","resources":{"cpu":0.10000000000000000001},"gpu":{"fraction":2.9e-1}},{"name":"c","gpu":{"fraction":1}}])");
  EXPECT_EQ(amount_of(s, spec_of(s, 0).resources, "cpu"), 100);
  EXPECT_EQ(amount_of(s, spec_of(s, 1).resources, "cpu"), 101);
  EXPECT_EQ(spec_of(s, 0).gpu, (GpuRequest{GpuRequestKind::kFraction, 1, 290'000}));
  EXPECT_EQ(spec_of(s, 1).gpu, spec_of(s, 0).gpu);
  EXPECT_EQ(spec_of(s, 2).gpu.share, 1'000'000);
}

TEST(SnapshotReader, ReadsQueuesInTheirUnits) {
  const Snapshot s =
      read(R"("queues":[{"name":"q","parent":"r","priority":-3,"gpu":{"quota":0.1430009,"limit":"8","weight":2.5},
      "cpu":{"quota":"1500500u","limit":"unlimited"},"memory":{"quota":"3G"},"preemptMinRuntime":"5m","reclaimMinRuntime":1.5,"reclaimable":false},{"name":"r"}])");
  const SnapshotQueue& queue = s.queues.at(0);
  EXPECT_EQ(queue.parent, "r");
  EXPECT_EQ(queue.priority, -3);
  EXPECT_EQ(queue.gpu.quota, 143'000);
  EXPECT_EQ(queue.gpu.limit, 8'000'000);
  EXPECT_EQ(queue.gpu.weight, 2.5);
  EXPECT_EQ(queue.cpu.quota, 1500);
  EXPECT_EQ(queue.cpu.limit, kUnlimited);
  EXPECT_EQ(queue.cpu.weight, 1);
  EXPECT_EQ(queue.memory.quota, 3'000'000'000);
  EXPECT_EQ(queue.preempt_min_runtime, 300 * kNanosecondsPerSecond);
  EXPECT_EQ(queue.reclaim_min_runtime, 1'500'000'000);
  EXPECT_FALSE(queue.reclaimable);
  EXPECT_TRUE(s.queues[1].reclaimable);
  EXPECT_EQ(s.queues[1].priority, 100);
  EXPECT_EQ(s.queues[1].gpu.quota, kUnlimited);
  EXPECT_EQ(s.queues[1].preempt_min_runtime, std::nullopt);
}

TEST(SnapshotReader, ReadsBoundsOfAnyResourceOfAQueue) {
  const Snapshot s = read(R"("queues":[{"name":"q","resources":{"x.com/card":{"quota":"2500m","limit":"unlimited"},
      "pods":{"limit":2},"nvidia.com/mig-1g.10gb":{"limit":"1k"},"y.com/card":{}}},{"name":"r"}],
      "nodes":[{"name":"n","resources":{"y.com/card":1}}])");
  const std::vector<OtherQueueResource>& others = s.queues.at(0).other_resources;
  std::string bounds;
  for (const OtherQueueResource& other : others)
    bounds += std::string(s.resource_names[other.resource]) + " " + std::to_string(other.quota) + " " +
              std::to_string(other.limit) + "; ";
  EXPECT_EQ(bounds, "pods -1 2; y.com/card -1 -1; x.com/card 2 -1; nvidia.com/mig-1g.10gb -1 1000; ");
  EXPECT_TRUE(std::ranges::is_sorted(others, {}, &OtherQueueResource::resource));
  EXPECT_EQ(s.nodes[0].resources.back().resource, others[1].resource);
  EXPECT_TRUE(s.queues[1].other_resources.empty());
}

TEST(SnapshotReader, ReadsGangsAndTheirSubgroups) {
  const Snapshot s = read(
      R"("gangs":[{"name":"a/g","queue":"q","priorityClass":"c","priority":7,"preemptible":false,"preemptionPolicy":"Never",
      "minSubgroups":1,"subgroups":[{"name":"x","topology":{"required":"rack"}},{"name":"y","parent":"x","minMember":2}],
      "minResources":{"gpu":1.5,"cpu":"10"},"topology":{"preferred":"zone"},"created":100,"timeout":"1m","stalenessGracePeriod":"never","staleSince":50,"weight":0.5,"disruption":"surplus"},
      {"name":"b","minMember":0,"disruption":"whole"}])");
  const SnapshotGang& gang = s.gangs.at(0);
  EXPECT_EQ(gang.terms.queue, "q");
  EXPECT_EQ(gang.terms.priority_class, "c");
  EXPECT_EQ(gang.terms.priority, 7);
  EXPECT_EQ(gang.terms.preemptible, false);
  EXPECT_EQ(gang.terms.preemption_policy, PreemptionPolicy::kNever);
  EXPECT_EQ(gang.terms.created, 100 * kNanosecondsPerSecond);
  EXPECT_EQ(gang.terms.timeout, 60 * kNanosecondsPerSecond);
  EXPECT_EQ(gang.terms.weight, 0.5);
  EXPECT_EQ(gang.min_subgroups, 1);
  ASSERT_EQ(gang.subgroups.size(), 2U);
  EXPECT_EQ(gang.subgroups[0].topology.required, "rack");
  EXPECT_EQ(gang.subgroups[1].parent, "x");
  EXPECT_EQ(gang.subgroups[1].min_member, 2);
  EXPECT_TRUE(gang.has_min_resources);
  EXPECT_EQ(gang.min_resources_gpu, 1'500'000);
  EXPECT_EQ(gang.min_resources, (std::vector<ResourceAmount>{{kCpu, 10'000}}));
  EXPECT_EQ(gang.topology.preferred, "zone");
  EXPECT_EQ(gang.staleness_grace_period, kNever);
  EXPECT_EQ(gang.stale_since, 50 * kNanosecondsPerSecond);
  EXPECT_EQ(s.gangs[1].terms.queue, "default");
  EXPECT_EQ(gang.disruption, Disruption::kSurplus);
  EXPECT_EQ(s.gangs[1].disruption, Disruption::kWhole);
  EXPECT_EQ(s.gangs[1].min_member, 0);
  EXPECT_EQ(s.gangs[1].staleness_grace_period, 60 * kNanosecondsPerSecond);
}

TEST(SnapshotReader, ReadsPastUsageInTheUnitsOfQuotas) {
  const Snapshot s = read(R"("queues":[{"name":"a","gpu":{"usage":2.5},"cpu":{"usage":"1500m"},
      "memory":{"usage":"1Ki"}},{"name":"b","gpu":{"usage":"0.0000019"}}])");
  EXPECT_EQ(s.queues[0].gpu.usage, 2'500'000);
  EXPECT_EQ(s.queues[0].cpu.usage, 1'500);
  EXPECT_EQ(s.queues[0].memory.usage, 1'024);
  EXPECT_EQ(s.queues[1].gpu.usage, 1);
  EXPECT_EQ(s.queues[1].cpu.usage, std::nullopt);
  EXPECT_EQ(s.policy.over_time.usage_factor, 1);
}

TEST(SnapshotReader, ReadsSeveralTopologiesAndWhichOneARequestNames) {
  const Snapshot s = read(R"("topologies":[{"name":"a","levels":["block","rack"]},{"name":"b","levels":["rack"]}],
      "gangs":[{"name":"g","topology":{"name":"b","required":"rack"}}])");
  const std::vector<SnapshotTopology> expected = {{"a", {"block", "rack"}}, {"b", {"rack"}}};
  EXPECT_EQ(s.definitions.topologies, expected);
  EXPECT_EQ(s.gangs[0].topology.topology, "b");
}

TEST(SnapshotReader, RefusesTopologiesThatContradictEachOther) {
  const std::string a = R"({"name":"a","levels":["rack"]})";
  EXPECT_EQ(error(R"("topology":["zone"],"topologies":[)" + a + "]"), "InvalidValue $.topologies");
  EXPECT_EQ(error(R"("topologies":[)" + a + "," + a + "]"), "DuplicateName $.topologies[1]");
  EXPECT_EQ(error(R"("topologies":[{"name":"a","levels":["x","x"]}])"), "InvalidValue $.topologies[0].levels[1]");
  EXPECT_EQ(error(R"("topologies":[{"levels":["x"]}])"), "MissingKey $.topologies[0].name");
}

TEST(SnapshotReader, ReadsPriorityClassesAndPolicy) {
  const Snapshot s = read(R"("id":"x","time":"1970-01-01T00:00:10Z","topology":["zone","rack"],
      "priorityClasses":[{"name":"c","value":2000000000,"preemptible":true,"preemptionPolicy":"PreemptLowerPriority"}],
      "policy":{"actions":["place","stale"],"placement":"spread","nonPreemptibleWithinQuota":false,"maxMoves":3,"agingInterval":"1h","budget":"200ms",
        "overTime":{"reserveAfter":"never","usageFactor":2.5},"expectedDurations":[{"gpus":[2,3],"count":4,"mean":"1h"},{"queue":"a","gpus":[33],"count":1,"mean":5}],
        "expectedWorkload":[{"pod":{"template":"t","gpu":{"count":2}},"weight":0.25},{"pod":{}}]},"podTemplates":{"t":{"gpuModels":["A100"]}})");
  EXPECT_EQ(s.id, "x");
  EXPECT_EQ(s.time, 10 * kNanosecondsPerSecond);
  ASSERT_EQ(s.definitions.topologies.size(), 1U);
  EXPECT_EQ(s.definitions.topologies[0], (SnapshotTopology{"", {"zone", "rack"}}));
  EXPECT_EQ(s.definitions.priority_classes.at(0).value, 2'000'000'000);
  EXPECT_EQ(s.definitions.priority_classes[0].preemptible, true);
  EXPECT_EQ(s.policy.actions, (Actions{true, false, false, false, true}));
  EXPECT_EQ(s.policy.placement, PlacementPolicy::kSpread);
  EXPECT_FALSE(s.policy.non_preemptible_within_quota);
  EXPECT_EQ(s.policy.max_moves, 3);
  EXPECT_EQ(s.policy.aging_interval, 3'600 * kNanosecondsPerSecond);
  EXPECT_EQ(s.policy.budget, kNanosecondsPerSecond / 5);
  EXPECT_EQ(s.policy.over_time.order, SeniorityRule::kExpectedDuration);
  EXPECT_EQ(s.policy.over_time.reserve_after, kNever);
  EXPECT_EQ(s.policy.over_time.usage_factor, 2.5);
  ASSERT_EQ(s.policy.over_time.expected_durations->size(), 2U);
  const DurationHistory &first = s.policy.over_time.expected_durations->at(0),
                        &second = s.policy.over_time.expected_durations->at(1);
  EXPECT_EQ(first.queue, "");
  EXPECT_EQ(first.from, 2);
  EXPECT_EQ(first.to, 3);
  EXPECT_EQ(first.count, 4);
  EXPECT_EQ(first.mean, 3'600 * kNanosecondsPerSecond);
  EXPECT_EQ(second.queue, "a");
  EXPECT_EQ(second.to, 0) << "no end";
  ASSERT_EQ(s.policy.expected_workload->size(), 2U);
  const PodSpec& expected = s.pod_specs[s.policy.expected_workload->at(0).spec];
  EXPECT_EQ(expected.gpu, (GpuRequest{GpuRequestKind::kWhole, 2, 0}));
  EXPECT_EQ(expected.gpu_models, (std::vector<std::string_view>{"A100"}));
  EXPECT_EQ(s.policy.expected_workload->at(0).weight, 0.25);
  EXPECT_EQ(s.policy.expected_workload->at(1).weight, 1);
}

TEST(SnapshotReader, DerivesStatusAndNamespace) {
  const Snapshot s = read(
      R"("pods":[{"name":"a/p"},{"name":"p","node":"n"},{"name":"b/q","namespace":"c"},{"name":"/r","status":"succeeded","node":"n"},
      {"name":"d/e/f","status":"gated"}])");
  EXPECT_EQ(s.pods[0].status, PodStatus::kPending);
  EXPECT_EQ(s.pods[0].namespace_name, "a");
  EXPECT_EQ(s.pods[1].status, PodStatus::kRunning);
  EXPECT_EQ(s.pods[1].namespace_name, "default");
  EXPECT_EQ(s.pods[2].namespace_name, "c");
  EXPECT_EQ(s.pods[3].status, PodStatus::kSucceeded);
  EXPECT_EQ(s.pods[3].namespace_name, "default");
  EXPECT_EQ(s.pods[4].status, PodStatus::kGated);
  EXPECT_EQ(s.pods[4].namespace_name, "d");
}

TEST(SnapshotReader, HoldsWhatIsNotUnderstoodAndSaysWhatThatIs) {
  ReaderOptions options;
  options.strict = false;
  const auto s = SnapshotReader(options).read(
      R"({"format":"muster/v1","gangs":[{"name":"g"},{"name":"h","minMember":"x"}],"pods":[{"name":"g-0","gang":"g"},)"
      R"({"name":"g-1","gang":"g","gpu":{"count":-1}},{"name":"h-0","gang":"h"},{"name":"p","gpus":"all"}]})");
  ASSERT_TRUE(s);
  EXPECT_EQ(s->pods[0].notes.held, s->pods[1].notes.held);
  EXPECT_EQ(s->pods[1].notes.held, "it is not understood: pod g-1: gpu.count: must be a whole number from 0 to 65536");
  EXPECT_EQ(s->pods[2].notes.held, "it is not understood: minMember: expected a number, found a string");
  EXPECT_EQ(s->pods[3].notes.held, "it is not understood: gpus: expected a list, found a string");
}

TEST(SnapshotReader, ReadsWhereAPodRuns) {
  const Snapshot s = read(
      R"("pods":[{"name":"p","node":"n","gpu":{"count":3},"gpus":[4,0,2],"started":5,"created":4,"labels":{"b":"2","a":"1"},
      "status":"releasing","nominatedNode":"m","gang":"g","subgroup":"s"}])");
  const SnapshotPod& pod = s.pods[0];
  EXPECT_EQ(pod.node, "n");
  EXPECT_EQ(pod.devices, (std::vector<std::int32_t>{0, 2, 4}));
  EXPECT_EQ(pod.started, 5 * kNanosecondsPerSecond);
  EXPECT_EQ(pod.created, 4 * kNanosecondsPerSecond);
  EXPECT_EQ(pod.labels, (Labels{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(pod.status, PodStatus::kReleasing);
  EXPECT_EQ(pod.nominated_node, "m");
  EXPECT_EQ(pod.gang, "g");
  EXPECT_EQ(pod.subgroup, "s");
  EXPECT_EQ(pod.own_gang, -1);
}

TEST(SnapshotReader, KeepsWhatAPodSaysOfItsOwnGang) {
  const Snapshot s = read(
      R"("pods":[{"name":"a","queue":"q","priority":5,"created":9,"weight":2},{"name":"b"},{"name":"c","created":1},
      {"name":"d","created":1},{"name":"e","gang":"g","created":1}])");
  ASSERT_EQ(s.pods[0].own_gang, 0);
  const GangTerms& terms = s.own_gang_terms[0];
  EXPECT_EQ(terms.queue, "q");
  EXPECT_EQ(terms.priority, 5);
  EXPECT_EQ(terms.created, 9 * kNanosecondsPerSecond);
  EXPECT_EQ(terms.weight, 2);
  EXPECT_EQ(s.pods[1].own_gang, -1);
  EXPECT_EQ(s.own_gang_terms[static_cast<std::size_t>(s.pods[2].own_gang)].created, kNanosecondsPerSecond);
  EXPECT_EQ(s.pods[3].own_gang, s.pods[2].own_gang);
  EXPECT_EQ(s.pods[4].own_gang, -1);
}

TEST(SnapshotReader, LetsAPodReplaceItsTemplateKeyByKey) {
  const Snapshot s = read(R"("pods":[{"name":"a","template":"t"},{"name":"b","template":"t","resources":{"cpu":2}},
      {"name":"c","template":"t","gpu":{"memory":"1Gi"},"podAntiAffinity":{"topologyKey":"host","matchGang":true}}],
      "podTemplates":{"t":{"resources":{"cpu":1,"memory":1},"gpu":{"count":1},"nodeSelector":{"a":"b"}}})");
  EXPECT_EQ(amount_of(s, spec_of(s, 0).resources, "memory"), 1);
  EXPECT_EQ(amount_of(s, spec_of(s, 1).resources, "cpu"), 2000);
  EXPECT_EQ(amount_of(s, spec_of(s, 1).resources, "memory"), -1);
  EXPECT_EQ(spec_of(s, 1).gpu, (GpuRequest{GpuRequestKind::kWhole, 1, 0}));
  EXPECT_EQ(spec_of(s, 1).node_selector, (Labels{{"a", "b"}}));
  EXPECT_EQ(spec_of(s, 2).gpu, (GpuRequest{GpuRequestKind::kMemory, 1, 1024}));
  ASSERT_EQ(spec_of(s, 2).anti_affinity.size(), 1U);
  EXPECT_TRUE(spec_of(s, 2).anti_affinity[0].match_gang);
}

TEST(SnapshotReader, KeepsEqualSpecsOnceHoweverTheyAreWritten) {
  const Snapshot s = read(R"("podTemplates":{"t":{"resources":{"cpu":"1","memory":"1Gi"},"gpu":{"fraction":0.5}}},
      "pods":[{"name":"a","template":"t"},{"name":"b","resources":{"memory":"1024Mi","cpu":"1000m"},"gpu":{"devices":1,"fraction":0.50}},
      {"name":"c","resources":{"cpu":1,"memory":1073741824,"x":0},"gpu":{"fraction":5e-1}},{"name":"d","gpuModels":["B","A","B"]},
      {"name":"e","gpuModels":["A","B"]},{"name":"f","resources":{"cpu":1,"memory":1073741824},"gpu":{"fraction":0.500001}}])");
  EXPECT_EQ(s.pods[0].spec, s.pods[1].spec);
  EXPECT_EQ(s.pods[0].spec, s.pods[2].spec);
  EXPECT_EQ(s.pods[3].spec, s.pods[4].spec);
  EXPECT_NE(s.pods[0].spec, s.pods[5].spec);
  EXPECT_EQ(s.pod_specs.size(), 3U);
}

TEST(SnapshotReader, ReadsTaintsAndTolerations) {
  const Snapshot s = read(
      R"("nodes":[{"name":"n","taints":[{"key":"a","value":"b","effect":"NoExecute","timeAdded":"2026-01-01T00:00:00Z"},
      {"key":"c","effect":"PreferNoSchedule"}],"unschedulable":true}],
      "pods":[{"name":"p","tolerations":[{"operator":"Exists"},{"key":"a","value":"b","effect":"NoExecute","tolerationSeconds":30},
      {"key":"c","operator":"Exists","effect":""}]}])");
  EXPECT_EQ(s.nodes[0].taints,
            (std::vector<Taint>{{"a", "b", TaintEffect::kNoExecute}, {"c", "", TaintEffect::kPreferNoSchedule}}));
  EXPECT_TRUE(s.nodes[0].unschedulable);
  EXPECT_EQ(spec_of(s, 0).tolerations, (std::vector<Toleration>{{"", "", true, std::nullopt},
                                                                {"a", "b", false, TaintEffect::kNoExecute},
                                                                {"c", "", true, std::nullopt}}));
}

TEST(SnapshotReader, ReadsNodeAffinity) {
  const Snapshot s = read(
      R"("pods":[{"name":"p","nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[{"key":"a","operator":"In","values":["x","y"]},{"key":"b","operator":"Exists"},{"key":"c","operator":"Gt","values":["-3"]}]},
      {"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["n"]}]},{}]},
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,"preference":{"matchExpressions":[{"key":"d","operator":"DoesNotExist"}]}}]}},
      {"name":"q","nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]}}},{"name":"r","nodeAffinity":{}}])");
  const NodeAffinity& affinity = spec_of(s, 0).node_affinity;
  ASSERT_EQ(affinity.required->size(), 3U);
  EXPECT_EQ(affinity.required->at(0).match_expressions,
            (std::vector<SelectorRequirement>{{"a", SelectorOperator::kIn, {"x", "y"}},
                                              {"b", SelectorOperator::kExists, {}},
                                              {"c", SelectorOperator::kGt, {"-3"}}}));
  EXPECT_EQ(affinity.required->at(1).match_fields,
            (std::vector<SelectorRequirement>{{"metadata.name", SelectorOperator::kNotIn, {"n"}}}));
  EXPECT_EQ(affinity.required->at(2), NodeSelectorTerm{});
  ASSERT_EQ(affinity.preferred.size(), 1U);
  EXPECT_EQ(affinity.preferred[0].weight, 100);
  EXPECT_EQ(affinity.preferred[0].term.match_expressions[0].op, SelectorOperator::kDoesNotExist);
  EXPECT_TRUE(spec_of(s, 1).node_affinity.required->empty());
  EXPECT_EQ(spec_of(s, 2).node_affinity, NodeAffinity{});
}

TEST(SnapshotReader, ReadsWhereVolumesCanBeAttached) {
  const Snapshot s = read(
      R"("pods":[{"name":"p","volumeNodeAffinity":{"required":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}},
      {"name":"q","volumeNodeAffinity":{"required":{"nodeSelectorTerms":[]}}},{"name":"r"}])");
  EXPECT_EQ(spec_of(s, 0).volume_terms,
            (std::vector<NodeSelectorTerm>{{{}, {{"metadata.name", SelectorOperator::kIn, {"n"}}}}}));
  EXPECT_TRUE(spec_of(s, 1).volume_terms->empty());
  EXPECT_FALSE(spec_of(s, 2).volume_terms);
  EXPECT_FALSE(spec_of(s, 0).node_affinity.required) << "its own affinity says nothing of them";
}

TEST(SnapshotReader, ReadsPodAntiAffinityInItsThreeShapes) {
  const Snapshot s = read(R"("pods":[{"name":"a","podAntiAffinity":{"topologyKey":"host","matchGang":true}},
      {"name":"b","podAntiAffinity":[{"topologyKey":"host","labelSelector":{"matchLabels":{"b":"2","a":"1"},"matchExpressions":[{"key":"c","operator":"Exists"}]},"namespaces":["x"]}]},
      {"name":"c","podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{},"namespaceSelector":{}},{"topologyKey":"rack"}]}},
      {"name":"d","podAntiAffinity":{}}])");
  EXPECT_EQ(spec_of(s, 0).anti_affinity, (std::vector<PodTerm>{{"host", true, std::nullopt, {}, false, {}}}));
  const LabelSelector selector{
      {{"a", SelectorOperator::kIn, {"1"}}, {"b", SelectorOperator::kIn, {"2"}}, {"c", SelectorOperator::kExists, {}}}};
  EXPECT_EQ(spec_of(s, 1).anti_affinity, (std::vector<PodTerm>{{"host", false, selector, {"x"}, false, {}}}));
  EXPECT_EQ(spec_of(s, 2).anti_affinity, (std::vector<PodTerm>{{"zone", false, LabelSelector{}, {}, true, {}},
                                                               {"rack", false, std::nullopt, {}, false, {}}}));
  EXPECT_TRUE(spec_of(s, 3).anti_affinity.empty());
}

TEST(SnapshotReader, ReadsPodAffinityAndTopologySpread) {
  const Snapshot s = read(R"("namespaces":[{"name":"x","labels":{"team":"a"}},{"name":"y"}],
      "pods":[{"name":"a","podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{},
                 "namespaceSelector":{"matchLabels":{"team":"a"}}}],
               "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":7,"podAffinityTerm":{"topologyKey":"host"}}]}},
      {"name":"b","topologySpread":[{"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","minDomains":3,
         "matchLabelKeys":["k"],"nodeAffinityPolicy":"Ignore","nodeTaintsPolicy":"Honor"},
         {"maxSkew":1,"topologyKey":"host","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{}}]}])");
  ASSERT_EQ(s.definitions.namespaces.size(), 2U);
  EXPECT_EQ(s.definitions.namespaces[0].labels, (Labels{{"team", "a"}}));
  const PodSpec& affine = spec_of(s, 0);
  ASSERT_EQ(affine.affinity.size(), 1U);
  ASSERT_TRUE(affine.affinity[0].namespace_selector);
  EXPECT_EQ(affine.affinity[0].namespace_selector->requirements[0].key, "team");
  EXPECT_FALSE(affine.affinity[0].all_namespaces);
  ASSERT_EQ(affine.preferred_affinity.size(), 1U);
  EXPECT_EQ(affine.preferred_affinity[0].weight, 7);
  const std::vector<SpreadConstraint>& spread = spec_of(s, 1).topology_spread;
  ASSERT_EQ(spread.size(), 2U);
  EXPECT_EQ(spread[0], (SpreadConstraint{"zone", 2, 3, Unsatisfiable::kDoNotSchedule, {}, {"k"}, false, true}));
  EXPECT_EQ(spread[1],
            (SpreadConstraint{"host", 1, 1, Unsatisfiable::kScheduleAnyway, LabelSelector{}, {}, true, false}));
}

TEST(SnapshotReader, AcceptsWholeNumbersInEveryNotation) {
  const Snapshot s =
      read(R"("gangs":[{"name":"g","minMember":2e1,"priority":-3.0}],"nodes":[{"name":"n","gpus":{"count":8.0}}])");
  EXPECT_EQ(s.gangs[0].min_member, 20);
  EXPECT_EQ(s.gangs[0].terms.priority, -3);
  EXPECT_EQ(s.nodes[0].gpu_count, 8);
}

TEST(SnapshotReader, AsksForNoDeviceWithACountOfZero) {
  EXPECT_EQ(spec_of(read(R"("pods":[{"name":"p","gpu":{"count":0}}])"), 0).gpu, GpuRequest{});
}

TEST(SnapshotReader, OwnsItsTextAfterTheLineAndTheReaderAreGone) {
  Snapshot kept;
  {
    std::string line =
        R"({"format":"muster/v1","id":"\u00fcber","pods":[{"name":"a/b","gang":"g","labels":{"k\n":"v"}}]})";
    SnapshotReader reader;
    kept = std::move(*reader.read(line));
    line.assign(line.size(), 'x');
    EXPECT_TRUE(reader.read(R"({"format":"muster/v1","id":"another one that overwrites the buffers"})"));
  }
  EXPECT_EQ(kept.id,
            "\xC3\xBC"
            "ber");
  EXPECT_EQ(kept.pods[0].name, "a/b");
  EXPECT_EQ(kept.pods[0].namespace_name, "a");
  EXPECT_EQ(kept.pods[0].labels, (Labels{{"k\n", "v"}}));
}

TEST(SnapshotReader, ReadsALineOf64MegabytesAndThenAShortOne) {
  std::string line = R"({"format":"muster/v1","pods":[)";
  std::size_t count = 0;
  const std::string padding(1000, 'x');
  for (; line.size() < (std::size_t{64} << 20); ++count) {
    line += (count == 0 ? "" : ",") + (R"({"name":"p)" + std::to_string(count)) +
            R"(","gpu":{"fraction":0.25},"labels":{"a":")" + padding + "\"}}";
  }
  line += "]}";
  SnapshotReader reader;
  const auto snapshot = reader.read(line);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_EQ(snapshot->pods.size(), count);
  EXPECT_EQ(snapshot->pods.back().name, "p" + std::to_string(count - 1));
  EXPECT_EQ(snapshot->pods.back().labels[0].second, padding);
  EXPECT_EQ(snapshot->pod_specs.size(), 1U);
  EXPECT_TRUE(reader.read(R"({"format":"muster/v1"})"));
}

TEST(SnapshotReader, MakesAWarningOfEachKeyThatWasNotRead) {
  const Snapshot snapshot =
      read(R"("unread":[{"kind":"Pod","name":"a/b","place":"label","key":"x/y","value":"z","treatment":"held",)"
           R"("mayChange":"when it starts","count":3}])");
  ASSERT_EQ(snapshot.anomalies.warnings.size(), 1U);
  const Warning& warning = snapshot.anomalies.warnings.front();
  EXPECT_EQ(warning.object, "pod");
  EXPECT_EQ(warning.name, "a/b");
  EXPECT_EQ(
      warning.message,
      R"(label x/y "z" is not read; it may change when it starts; what it may concern is held; 3 objects have it)");
  EXPECT_TRUE(has_unread(snapshot.anomalies));
  EXPECT_FALSE(has_unread(read(R"("remarks":["1 time: Service is ignored"])").anomalies));
}

}  // namespace
}  // namespace muster::muster_v1
