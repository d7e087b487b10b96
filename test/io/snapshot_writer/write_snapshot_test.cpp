// What write_snapshot writes, the reader reads back as the same snapshot.
#include "io/snapshot_writer/write_snapshot.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/snapshot_reader/snapshot_reader.h"
#include "test/support/paths.h"

namespace muster::snapshot_writer {
namespace {

using Json = nlohmann::ordered_json;
using Named = std::map<std::string_view, Amount>;

std::string written(const Snapshot& snapshot) {
  std::string line;
  write_snapshot(snapshot, line);
  return line;
}

// Resources by name: the order of their first appearance may differ.
Named named(const Snapshot& of, const std::vector<ResourceAmount>& amounts) {
  Named result;
  for (const ResourceAmount& amount : amounts) result[of.resource_names[amount.resource]] = amount.amount;
  return result;
}

bool same(const GangTerms& a, const GangTerms& b) {
  const auto tied = [](const GangTerms& t) {
    return std::tie(t.queue, t.priority_class, t.priority, t.preemptible, t.preemption_policy, t.created, t.timeout,
                    t.weight);
  };
  return tied(a) == tied(b);
}

bool same(const QueueResource& a, const QueueResource& b) {
  return std::tie(a.quota, a.limit, a.weight) == std::tie(b.quota, b.limit, b.weight);
}

bool same(const TopologyRequest& a, const TopologyRequest& b) {
  return std::tie(a.required, a.preferred, a.topology) == std::tie(b.required, b.preferred, b.topology);
}

bool same(const SnapshotSubgroup& a, const SnapshotSubgroup& b) {
  return std::tie(a.name, a.parent, a.min_member, a.min_subgroups) ==
             std::tie(b.name, b.parent, b.min_member, b.min_subgroups) &&
         same(a.topology, b.topology);
}

bool same_spec(const Snapshot& in_a, const PodSpec& a, const Snapshot& in_b, PodSpec b) {
  if (named(in_a, a.resources) != named(in_b, b.resources)) return false;
  b.resources = a.resources;
  return a == b;
}

GangTerms own_terms(const Snapshot& in, const SnapshotPod& pod) {
  return pod.own_gang < 0 ? GangTerms{} : in.own_gang_terms[static_cast<std::size_t>(pod.own_gang)];
}

bool same_pod(const Snapshot& in_a, const SnapshotPod& a, const Snapshot& in_b, const SnapshotPod& b) {
  const auto tied = [](const SnapshotPod& p) {
    return std::tie(p.name, p.gang, p.subgroup, p.namespace_name, p.status, p.node, p.devices, p.started, p.created,
                    p.nominated_node, p.notes.held, p.notes.owner, p.scheduler.name, p.labels,
                    p.scheduler.binds_volumes);
  };
  return tied(a) == tied(b) && same(own_terms(in_a, a), own_terms(in_b, b)) &&
         same_spec(in_a, in_a.pod_specs[a.spec], in_b, in_b.pod_specs[b.spec]);
}

bool same_gang(const Snapshot& in_a, const SnapshotGang& a, const Snapshot& in_b, const SnapshotGang& b) {
  const auto tied = [](const SnapshotGang& g) {
    return std::tie(g.name, g.min_member, g.min_subgroups, g.min_resources_gpu, g.has_min_resources,
                    g.staleness_grace_period, g.stale_since, g.disruption);
  };
  return tied(a) == tied(b) && same(a.terms, b.terms) && same(a.topology, b.topology) &&
         named(in_a, a.min_resources) == named(in_b, b.min_resources) &&
         std::ranges::equal(a.subgroups, b.subgroups, [](const auto& x, const auto& y) { return same(x, y); });
}

bool same_node(const Snapshot& in_a, const SnapshotNode& a, const Snapshot& in_b, const SnapshotNode& b) {
  const auto tied = [](const SnapshotNode& n) {
    return std::tie(n.name, n.gpu_count, n.gpu_memory_mib, n.gpu_model, n.gpu_ids, n.labels, n.taints, n.unschedulable);
  };
  return tied(a) == tied(b) && named(in_a, a.resources) == named(in_b, b.resources);
}

std::map<std::string_view, std::pair<Amount, Amount>> named(const Snapshot& of, const SnapshotQueue& queue) {
  std::map<std::string_view, std::pair<Amount, Amount>> result;
  for (const OtherQueueResource& other : queue.other_resources)
    result[of.resource_names[other.resource]] = {other.quota, other.limit};
  return result;
}

bool same_queue(const Snapshot& in_a, const SnapshotQueue& a, const Snapshot& in_b, const SnapshotQueue& b) {
  const auto tied = [](const SnapshotQueue& q) {
    return std::tie(q.name, q.parent, q.priority, q.preempt_min_runtime, q.reclaim_min_runtime, q.reclaimable);
  };
  return tied(a) == tied(b) && same(a.gpu, b.gpu) && same(a.cpu, b.cpu) && same(a.memory, b.memory) &&
         named(in_a, a) == named(in_b, b);
}

bool same_policy(const Snapshot& in_a, const Snapshot& in_b) {
  const Policy &a = in_a.policy, &b = in_b.policy;
  const auto tied = [](const Policy& p) {
    return std::tie(p.actions, p.placement, p.whole_nodes, p.non_preemptible_within_quota, p.max_moves, p.protect,
                    p.schedulers, p.aging_interval, p.budget);
  };
  if (tied(a) != tied(b) || a.expected_workload.has_value() != b.expected_workload.has_value()) return false;
  return !a.expected_workload ||
         std::ranges::equal(*a.expected_workload, *b.expected_workload, [&](const auto& x, const auto& y) {
           return x.weight == y.weight && same_spec(in_a, in_a.pod_specs[x.spec], in_b, in_b.pod_specs[y.spec]);
         });
}

void expect_same(const Snapshot& a, const Snapshot& b, const std::string& why) {
  EXPECT_EQ(a.id, b.id) << why;
  EXPECT_EQ(a.time, b.time) << why;
  EXPECT_EQ(a.definitions.topologies, b.definitions.topologies) << why;
  EXPECT_TRUE(same_policy(a, b)) << why;
  const auto in = [&](auto same_one) {
    return [&a, &b, same_one](const auto& x, const auto& y) { return same_one(a, x, b, y); };
  };
  EXPECT_TRUE(std::ranges::equal(a.nodes, b.nodes, in(same_node))) << why;
  EXPECT_TRUE(std::ranges::equal(a.gangs, b.gangs, in(same_gang))) << why;
  EXPECT_TRUE(std::equal(a.pods.begin(), a.pods.end(), b.pods.begin(), b.pods.end(), in(same_pod))) << why;
  EXPECT_TRUE(std::ranges::equal(a.queues, b.queues, in(same_queue))) << why;
  EXPECT_TRUE(std::ranges::equal(a.definitions.namespaces, b.definitions.namespaces, [](const auto& x, const auto& y) {
    return std::tie(x.name, x.labels) == std::tie(y.name, y.labels);
  })) << why;
  EXPECT_TRUE(std::ranges::equal(a.definitions.priority_classes, b.definitions.priority_classes,
                                 [](const auto& x, const auto& y) {
                                   return std::tie(x.name, x.value, x.preemptible, x.preemption_policy) ==
                                          std::tie(y.name, y.value, y.preemptible, y.preemption_policy);
                                 }))
      << why;
  EXPECT_TRUE(std::ranges::equal(a.disruption_budgets, b.disruption_budgets, [](const auto& x, const auto& y) {
    return std::tie(x.name, x.namespace_name, x.selector, x.allowed, x.exclusive) ==
           std::tie(y.name, y.namespace_name, y.selector, y.allowed, y.exclusive);
  })) << why;
}

void expect_round_trip(const std::string& line) {
  const Result<Snapshot> before = muster_v1::SnapshotReader().read(line);
  if (!before) return;  // an error is no snapshot
  const std::string again = written(*before);
  const Result<Snapshot> after = muster_v1::SnapshotReader().read(again);
  ASSERT_TRUE(after) << after.error().path << " " << after.error().message << "\n" << again;
  expect_same(*before, *after, line + "\n" + again);
}

TEST(WriteSnapshot, ASnapshotIsReadBackAsItWas) {
  const std::filesystem::path folder = test::source_folder() + "/test/scenarios";
  int snapshots = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jsonl") continue;
    std::ifstream file(entry.path());
    for (std::string text; std::getline(file, text);) {
      const Json scenario = Json::parse(text);
      if (!scenario.contains("snapshot")) continue;
      expect_round_trip(scenario["snapshot"].dump());
      ++snapshots;
    }
  }
  EXPECT_GT(snapshots, 100);
}

TEST(WriteSnapshot, AnImportedListIsReadBackAsItWas) {
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/test/scenarios/kubernetes")) {
    std::ifstream file(entry.path());
    expect_round_trip(Json::parse(file).dump());
  }
}

TEST(WriteSnapshot, WritesSeveralTopologiesByTheirNames) {
  expect_round_trip(
      R"({"format":"muster/v1","topologies":[{"name":"a","levels":["zone","rack"]},{"name":"b","levels":["rack"]}],
    "gangs":[{"name":"g","topology":{"name":"b","required":"rack"}}]})");
  expect_round_trip(R"({"format":"muster/v1","topologies":[{"name":"a","levels":["zone"]}]})");
}

TEST(WriteSnapshot, WritesEveryKeyThatIsNotItsDefault) {
  expect_round_trip(R"({"format":"muster/v1","id":"all","time":12.5,
    "policy":{"actions":["place","stale"],"placement":"spread","wholeNodes":false,"nonPreemptibleWithinQuota":false,
      "maxMoves":3,"protect":{"matchLabels":{"a":"b"}},"schedulers":["s"],"agingInterval":"1m","budget":"200ms",
      "overTime":{"order":"waited","reserveAfter":"2h","holds":4,"evictionPrice":0.3,"usageFactor":0.5},"expectedDurations":[{"gpus":[1,7],"count":3,"mean":"90s"},
        {"queue":"q","gpus":[8],"count":0,"mean":0.5}],
      "expectedWorkload":[{"pod":{"template":"t"},"weight":0.5},{"pod":{"gpu":{"count":1}}}]},
    "topology":["zone","rack"],
    "nodes":[{"name":"n","resources":{"cpu":"1500m","memory":"1Gi","pods":5,"rdma/hca":2},
      "gpus":{"count":2,"memory":"80Gi","model":"A","ids":["x","y"]},"labels":{"zone":"z"},
      "taints":[{"key":"k","value":"v","effect":"NoExecute"}],"unschedulable":true}],
    "namespaces":[{"name":"default","labels":{"a":"b"}},{"name":"bare"}],
    "queues":[{"name":"top","gpu":{"usage":1.25},"cpu":{"usage":0},"memory":{"usage":"3Gi"},
      "resources":{"x.com/card":{"quota":1,"limit":2},"pods":{"limit":0},"y.com/card":{"quota":3},"z.com/card":{}}},{"name":"q","parent":"top","priority":7,"gpu":{"quota":1.5,"limit":2,"weight":0.5},
      "cpu":{"quota":"1500m","usage":"250m"},"memory":{"limit":"3","weight":2},"preemptMinRuntime":"1m","reclaimMinRuntime":"90s","reclaimable":false}],
    "priorityClasses":[{"name":"c","value":-3,"preemptible":false,"preemptionPolicy":"PreemptLowerPriority"}],
    "podTemplates":{"t":{"resources":{"cpu":1,"pods":0},"gpu":{"fraction":0.25,"devices":2},"gpuModels":["A"],
      "nodeSelector":{"zone":"z"},"tolerations":[{"operator":"Exists"},{"key":"k","value":"v","effect":"NoExecute"}],
      "hostPorts":[{"port":80},{"port":53,"protocol":"UDP","address":"10.0.0.1"}]}},
    "gangs":[{"name":"g","queue":"q","priorityClass":"c","preemptionPolicy":"Never","minSubgroups":1,
      "subgroups":[{"name":"s","minMember":2,"topology":{"required":"rack","preferred":"zone"}}],
      "minResources":{"gpu":0.5,"cpu":"500m"},"topology":{"preferred":"zone"},"created":3,"timeout":"5m","expectedDuration":"1h","expectedEnd":9,"checkpointed":8,
      "stalenessGracePeriod":"never","staleSince":4,"weight":2,"disruption":"surplus"},
      {"name":"h","priority":5,"preemptible":true,"minMember":1,"queue":"q","stalenessGracePeriod":"5s","disruption":"whole"}],
    "pods":[{"name":"a/p","gang":"g","subgroup":"s","template":"t","status":"gated","held":"why","owner":"Job/p","labels":{"l":"m"},
      "nominatedNode":"n","schedulerName":"s","unboundVolumes":true,"created":1},
      {"name":"r","namespace":"other","queue":"q","priority":4,"timeout":"1s","weight":3,"created":2,"expectedDuration":5,
       "gpu":{"memory":"1Gi"},"node":"n","gpus":[1],"started":5,"status":"releasing"},
      {"name":"s","queue":"q","nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
         {"matchExpressions":[{"key":"a","operator":"Gt","values":["3"]},{"key":"b","operator":"Exists"}]},
         {"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]},
        "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":5,"preference":{"matchExpressions":[
         {"key":"a","operator":"NotIn","values":["x","y"]}]}}]},
       "volumeNodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[
         {"key":"a","operator":"DoesNotExist"}]}]}},
       "podAntiAffinity":{"topologyKey":"zone","matchGang":true},
       "podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","namespaces":["x"],
         "labelSelector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"Exists"}]}},
         {"topologyKey":"rack","namespaceSelector":{},"labelSelector":{}}],
        "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":2,"podAffinityTerm":{"topologyKey":"zone",
         "namespaceSelector":{"matchLabels":{"a":"b"}}}}]},
       "topologySpread":[{"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","minDomains":2,
         "labelSelector":{"matchLabels":{"a":"b"}},"matchLabelKeys":["l"],"nodeAffinityPolicy":"Ignore",
         "nodeTaintsPolicy":"Honor"},{"maxSkew":1,"topologyKey":"rack","whenUnsatisfiable":"ScheduleAnyway"}]}],
    "disruptionBudgets":[{"name":"b","namespace":"other","selector":{},"allowed":2,"exclusive":true},
      {"name":"c","allowed":0}]})");
}

TEST(WriteSnapshot, LeavesOutWhatEqualsTheDefaults) {
  EXPECT_EQ(written(Snapshot{}), R"({"format":"muster/v1","id":""})");
  const Result<Snapshot> read = muster_v1::SnapshotReader().read(
      R"({"format":"muster/v1","nodes":[{"name":"n","resources":{"cpu":2}}],"pods":[{"name":"p"}]})");
  ASSERT_TRUE(read);
  EXPECT_EQ(written(*read),
            R"({"format":"muster/v1","id":"","nodes":[{"name":"n","resources":{"cpu":2}}],)"
            R"("podTemplates":{"t0":{"resources":{}}},"pods":[{"name":"p","template":"t0","namespace":"default"}]})");
}

}  // namespace
}  // namespace muster::snapshot_writer
