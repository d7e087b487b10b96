#include "model/build/build_problem.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/problem/problem.h"
#include "model/problem/work.h"
#include "test/support/case.h"

namespace muster {
namespace {

const std::string kNode = R"("nodes":[{"name":"n","resources":{"cpu":8,"memory":800},"gpus":{"count":4}}])";

TEST(BuildProblem, SnapshotWithoutQueuesHasTheUnlimitedQueueDefault) {
  const test::Case built(kNode + R"(,"pods":[{"name":"p"}])");
  ASSERT_EQ(built->queues.size(), 1U);
  const Queue& queue = built->queues[QueueIndex(0)];
  EXPECT_EQ(queue.name, "default");
  EXPECT_EQ(queue.quota, (QueueAmounts{kUnlimited, kUnlimited, kUnlimited}));
  EXPECT_TRUE(built->gangs[built.gang("p")].queue_is_leaf);
}

TEST(BuildProblem, QueuesKnowTheLimitsOfAnyResourceOnTheWayToTheRoot) {
  const test::Case built(kNode +
                         R"(,"queues":[{"name":"leaf","parent":"top","resources":{"pods":{"limit":2},"x":{"quota":1}}},
      {"name":"top","resources":{"x":{"limit":5}}}])");
  std::string limits;
  for (const OtherLimitIndex index : built->queues[built.queue("leaf")].other_limits) {
    const OtherLimit& limit = built->lists.other_limits[index];
    limits += std::string(built->queues[limit.queue].name) + " " + std::string(built->resource_name(limit.resource)) +
              " " + std::to_string(limit.limit) + "; ";
  }
  EXPECT_EQ(limits, "leaf pods 2; top x 5; ");
  EXPECT_EQ(built->queues[built.queue("top")].other_limits.size(), 1U);
}

TEST(BuildProblem, TellsOnceWhichQuotasOfAQueueAreNotCounted) {
  Snapshot snapshot = test::Case::read(
      R"({"format":"muster/v1","queues":[{"name":"q","resources":{"y":{"quota":4},"x":{"limit":5},"pods":{"quota":0}}}]})");
  ASSERT_TRUE(build_problem(snapshot));
  ASSERT_TRUE(build_problem(snapshot)) << "again";
  ASSERT_EQ(snapshot.anomalies.warnings.size(), 1U);
  const Warning& warning = snapshot.anomalies.warnings.front();
  EXPECT_EQ(warning.code, ErrorCode::kRemark);
  EXPECT_EQ(warning.object + " " + warning.name, "queue q");
  EXPECT_TRUE(warning.message.starts_with("its quota (pods 0, y 4) is not counted")) << warning.message;
}

TEST(BuildProblem, QueuesFormAForestAndInheritMinimumRunTimes) {
  const test::Case built(kNode + R"(,"queues":[{"name":"leaf","parent":"mid"},
      {"name":"mid","parent":"top","reclaimMinRuntime":5},{"name":"top","preemptMinRuntime":"1m",
      "reclaimMinRuntime":7}])");
  const Queue& leaf = built->queues[built.queue("leaf")];
  EXPECT_EQ(leaf.ancestors, (std::vector{built.queue("leaf"), built.queue("mid"), built.queue("top")}));
  EXPECT_EQ(leaf.preempt_min_runtime, 60 * kNanosecondsPerSecond);
  EXPECT_EQ(leaf.reclaim_min_runtime, 5 * kNanosecondsPerSecond);
  EXPECT_EQ(root_queues(*built), std::vector{built.queue("top")});
}

TEST(BuildProblem, GangOfAQueueThatIsMissingOrInnerIsNoError) {
  const test::Case built(kNode + R"(,"queues":[{"name":"a"},{"name":"b","parent":"a"}],
      "gangs":[{"name":"inner","queue":"a"},{"name":"missing","queue":"x"},{"name":"leaf","queue":"b"}])");
  EXPECT_EQ(built->gangs[built.gang("inner")].queue, built.queue("a"));
  EXPECT_FALSE(built->gangs[built.gang("inner")].queue_is_leaf);
  EXPECT_TRUE(built->gangs[built.gang("missing")].queue.is_none());
  EXPECT_TRUE(built->gangs[built.gang("leaf")].queue_is_leaf);
}

TEST(BuildProblem, NamesThatAreThereTwiceOrNotAtAllAreErrorsWithTheirPath) {
  const auto error = [](const std::string& rest) { return test::error_of(kNode + rest); };
  EXPECT_EQ(error(R"(,"queues":[{"name":"a"},{"name":"a"}])"), "DuplicateName $.queues[1].name");
  EXPECT_EQ(error(R"(,"queues":[{"name":"a","parent":"x"}])"), "UnknownQueue $.queues[0].parent");
  EXPECT_EQ(error(R"(,"queues":[{"name":"r"},{"name":"a","parent":"b"},{"name":"b","parent":"a"}])"),
            "QueueCycle $.queues[1].parent");
  EXPECT_EQ(error(R"(,"priorityClasses":[{"name":"a","value":1},{"name":"a","value":2}])"),
            "DuplicateName $.priorityClasses[1].name");
  EXPECT_EQ(error(R"(,"gangs":[{"name":"a"},{"name":"a"}])"), "DuplicateName $.gangs[1].name");
  EXPECT_EQ(error(R"(,"gangs":[{"name":"a","priorityClass":"x"}])"), "UnknownPriorityClass $.gangs[0].priorityClass");
  EXPECT_EQ(error(R"(,"gangs":[{"name":"a","topology":{"required":"rack"}}])"),
            "UnknownTopologyLevel $.gangs[0].topology.required");
  EXPECT_EQ(error(R"(,"topologies":[{"name":"a","levels":["rack"]}],
                     "gangs":[{"name":"a","topology":{"name":"b","required":"rack"}}])"),
            "UnknownTopologyLevel $.gangs[0].topology.required");
  EXPECT_EQ(error(R"(,"pods":[{"name":"a"},{"name":"a"}])"), "DuplicateName $.pods[1].name");
  EXPECT_EQ(error(R"(,"pods":[{"name":"a","gang":"x"}])"), "UnknownGang $.pods[0].gang");
  EXPECT_EQ(error(R"(,"gangs":[{"name":"a"}],"pods":[{"name":"a"}])"), "DuplicateName $.pods[0].name");
  EXPECT_EQ(error(R"(,"pods":[{"name":"a","node":"x"}])"), "UnknownNode $.pods[0].node");
  EXPECT_EQ(error(R"(,"pods":[{"name":"a","status":"running"}])"), "MissingKey $.pods[0].node");
  EXPECT_EQ(error(R"(,"pods":[{"name":"a","status":"releasing"}])"), "MissingKey $.pods[0].node");
  EXPECT_EQ(error(R"(,"pods":[{"name":"a","status":"gated","node":"n"}])"), "InvalidValue $.pods[0].status");
  EXPECT_EQ(test::error_of(R"("nodes":[{"name":"a"},{"name":"a"}])"), "DuplicateName $.nodes[1].name");
}

TEST(BuildProblem, SubgroupsThatMakeNoTreeAreErrors) {
  const auto error = [](const std::string& subgroups, const std::string& pod = "") {
    return test::error_of(kNode + R"(,"gangs":[{"name":"g","subgroups":[)" + subgroups + R"(]}],"pods":[)" + pod + "]");
  };
  EXPECT_EQ(error(R"({"name":"a"},{"name":"a"})"), "DuplicateName $.gangs[0].subgroups[1].name");
  EXPECT_EQ(error(R"({"name":"a","parent":"x"})"), "UnknownSubgroup $.gangs[0].subgroups[0].parent");
  EXPECT_EQ(error(R"({"name":"r"},{"name":"a","parent":"b"},{"name":"b","parent":"a"})"),
            "SubgroupCycle $.gangs[0].subgroups[1].parent");
  const std::string tree = R"({"name":"inner"},{"name":"leaf","parent":"inner"})";
  EXPECT_EQ(error(tree, R"({"name":"p","gang":"g"})"), "MissingSubgroup $.pods[0].subgroup");
  EXPECT_EQ(error(tree, R"({"name":"p","gang":"g","subgroup":"x"})"), "UnknownSubgroup $.pods[0].subgroup");
  EXPECT_EQ(error(tree, R"({"name":"p","gang":"g","subgroup":"inner"})"), "InnerSubgroup $.pods[0].subgroup");
  EXPECT_EQ(error(tree, R"({"name":"p","gang":"g","subgroup":"leaf"})"), "");
}

TEST(BuildProblem, PriorityAndWhatFollowsComesFromTheGangThenItsClassThenTheDefault) {
  const test::Case built(kNode + R"(,
      "priorityClasses":[{"name":"high","value":125},{"name":"odd","value":130,"preemptible":true,
      "preemptionPolicy":"Never"}],
      "gangs":[{"name":"plain"},{"name":"of-class","priorityClass":"high"},{"name":"of-odd","priorityClass":"odd"},
               {"name":"own","priorityClass":"odd","priority":7,"preemptible":false,
      "preemptionPolicy":"PreemptLowerPriority"}])");
  const auto gang = [&](std::string_view name) -> const Gang& { return built->gangs[built.gang(name)]; };
  EXPECT_EQ(gang("plain").priority, 0);
  EXPECT_TRUE(gang("plain").preemptible);
  EXPECT_EQ(gang("of-class").priority, 125);
  EXPECT_FALSE(gang("of-class").preemptible);
  EXPECT_TRUE(gang("of-odd").preemptible);
  EXPECT_EQ(gang("of-odd").preemption_policy, PreemptionPolicy::kNever);
  EXPECT_EQ(gang("own").priority, 7);
  EXPECT_FALSE(gang("own").preemptible);
  EXPECT_EQ(gang("own").preemption_policy, PreemptionPolicy::kPreemptLowerPriority);
}

TEST(BuildProblem, AgingRaisesThePriorityButMakesNothingNonPreemptible) {
  const test::Case built(kNode +
                         R"(,"policy":{"agingInterval":"10m"},"gangs":[{"name":"g","priority":99,"created":998799}])");
  EXPECT_EQ(built->gangs[built.gang("g")].times.waited_seconds, 1201);
  EXPECT_EQ(built->gangs[built.gang("g")].priority, 101);
  EXPECT_TRUE(built->gangs[built.gang("g")].preemptible);
}

TEST(BuildProblem, PodWithoutGangIsAGangOfItsOwnOnItsOwnTerms) {
  const test::Case built(
      kNode +
      R"(,"gangs":[{"name":"g"}],"pods":[{"name":"p","priority":3,"created":999990,"weight":2,"gpu":{"count":1}},
      {"name":"q","gang":"g"}])");
  ASSERT_EQ(built->gangs.size(), 2U);
  const Gang& own = built->gangs[built->pods[built.pod("p")].gang];
  EXPECT_EQ(own.name, "p");
  EXPECT_EQ(own.priority, 3);
  EXPECT_EQ(own.times.waited_seconds, 10);
  EXPECT_EQ(built->groups[own.root].minimum, 1);
  EXPECT_EQ(built->pods[built.pod("p")].weighted_work, 2000);
}

TEST(BuildProblem, MinimumThatIsNotGivenCountsOutFailedAndReleasingPods) {
  const test::Case built(
      kNode +
      R"(,"gangs":[{"name":"all"},{"name":"tree","subgroups":[{"name":"a"},{"name":"b","minMember":1}]}],"pods":[
      {"name":"1","gang":"all"},{"name":"2","gang":"all","status":"failed"},{"name":"3",
      "gang":"all","status":"releasing","node":"n"},
      {"name":"4","gang":"all","status":"succeeded"},{"name":"5","gang":"all","status":"gated"},
      {"name":"6","gang":"tree","subgroup":"a"},{"name":"7","gang":"tree","subgroup":"a"},
      {"name":"8","gang":"tree","subgroup":"b"}])");
  EXPECT_EQ(built->groups[built->gangs[built.gang("all")].root].minimum, 3);
  const Gang& tree = built->gangs[built.gang("tree")];
  ASSERT_EQ(tree.groups.size(), 3U);
  EXPECT_EQ(built->groups[tree.root].minimum, 2);
  EXPECT_EQ(built->groups[tree.groups[1]].minimum, 2);
  EXPECT_EQ(built->groups[tree.groups[2]].minimum, 1);
  EXPECT_TRUE(std::ranges::equal(built->groups[tree.groups[1]].pods, std::vector{built.pod("6"), built.pod("7")}));
}

TEST(BuildProblem, ParentsComeBeforeChildrenWhateverTheOrderOfSubgroups) {
  const test::Case built(
      kNode +
      R"(,"gangs":[{"name":"g","subgroups":[{"name":"leaf","parent":"mid"},{"name":"mid","parent":"top"},
      {"name":"top"}]}],
      "pods":[{"name":"p","gang":"g","subgroup":"leaf"}])");
  const Gang& gang = built->gangs[built.gang("g")];
  for (std::size_t i = 1; i < gang.groups.size(); ++i)
    EXPECT_EQ(built->groups[gang.groups[i]].parent, gang.groups[i - 1]);
  EXPECT_EQ(built->pods[built.pod("p")].group, gang.groups.back());
}

TEST(BuildProblem, NodesThatNoFilterTellsApartAreOneClass) {
  const std::string nodes =
      R"("nodes":[{"name":"a","labels":{"host":"a","disk":"ssd"}},{"name":"b","labels":{"host":"b","disk":"ssd"}},
      {"name":"c","labels":{"host":"c","disk":"hdd"}}])";
  EXPECT_EQ(test::Case(nodes)->node_classes.size(), 1U);
  EXPECT_EQ(test::Case(nodes + R"(,"pods":[{"name":"p","nodeSelector":{"disk":"ssd"}}])")->node_classes.size(), 2U);
  // Values that no filter names are equivalent: one pod that wants host b splits off b alone.
  const test::Case host(nodes + R"(,"pods":[{"name":"p","nodeSelector":{"host":"b"}}])");
  EXPECT_EQ(host->node_classes.size(), 2U);
  EXPECT_EQ(host->nodes[host.node("a")].node_class, host->nodes[host.node("c")].node_class);
  EXPECT_TRUE(host.class_of("p").allowed[host->nodes[host.node("b")].node_class.value()]);
  EXPECT_FALSE(host.class_of("p").allowed[host->nodes[host.node("a")].node_class.value()]);
}

TEST(BuildProblem, NodesOfDifferentCapacityTaintsOrCordonAreDifferentClasses) {
  const test::Case built(
      R"("nodes":[{"name":"a"},{"name":"b","resources":{"cpu":1}},{"name":"c","unschedulable":true},
      {"name":"d","taints":[{"key":"k","effect":"NoSchedule"}]},{"name":"e","gpus":{"count":1}},
      {"name":"f","gpus":{"count":1,"memory":"1Gi"}},
      {"name":"g","gpus":{"count":1,"model":"A"}},{"name":"h"}])");
  EXPECT_EQ(built->node_classes.size(), 7U);
  EXPECT_EQ(built->node_classes[built->nodes[built.node("a")].node_class].nodes,
            (std::vector{built.node("a"), built.node("h")}));
}

TEST(BuildProblem, DomainIsAValueTogetherWithAllCoarserOnes) {
  const test::Case built(
      R"("topology":["zone","rack"],"nodes":[{"name":"a","labels":{"zone":"1","rack":"r"}},
      {"name":"b","labels":{"zone":"2","rack":"r"}},
      {"name":"c","labels":{"zone":"1","rack":"r"}},{"name":"d","labels":{"rack":"r"}}])");
  const auto domains = [&](std::string_view node) { return built->nodes[built.node(node)].domains; };
  EXPECT_NE(domains("a")[1], domains("b")[1]);
  EXPECT_EQ(domains("a"), domains("c"));
  EXPECT_TRUE(domains("d")[0].is_none());
  EXPECT_TRUE(domains("d")[1].is_none());
  EXPECT_EQ(built->topology.domains[domains("a")[1]].nodes, (std::vector{built.node("a"), built.node("c")}));
  EXPECT_EQ(built->topology.domains.size(), 4U);
}

constexpr const char* kTwoPools =
    R"("topologies":[{"name":"a","levels":["block","rack"]},{"name":"b","levels":["rack"]}],
    "nodes":[{"name":"a0","labels":{"block":"1","rack":"r"}},{"name":"a1","labels":{"block":"2","rack":"r"}},
             {"name":"b0","labels":{"rack":"r"}},{"name":"out","labels":{"block":"1"}}])";

TEST(BuildProblem, DomainsCountTheCoarserLevelsOfTheirOwnTopologyAlone) {
  const test::Case built(kTwoPools);
  const auto domains = [&](std::string_view node) { return built->nodes[built.node(node)].domains; };
  EXPECT_NE(domains("a0")[1], domains("a1")[1]);
  EXPECT_EQ(domains("a0")[2], domains("a1")[2]);
  EXPECT_EQ(domains("a0")[2], domains("b0")[2]);
  EXPECT_TRUE(domains("b0")[0].is_none());
  EXPECT_EQ(domains("out"), std::vector<DomainIndex>(3));
  EXPECT_EQ(built->topology.levels.size(), 3U);
}

TEST(BuildProblem, ARequestWithoutATopologyMeansTheFirstThatANodeIsIn) {
  const test::Case built(std::string(kTwoPools) +
                         R"(,"gangs":[{"name":"any","topology":{"required":"rack"}},
                             {"name":"b","topology":{"required":"rack","name":"b"}}],
                             "pods":[{"name":"p","gang":"any"},{"name":"q","gang":"b"}])");
  const auto level_of = [&](std::string_view gang) {
    return built->groups[built->gangs[built.gang(gang)].root].required_level;
  };
  const auto domain_of = [&](std::string_view node) {
    return built->nodes[built.node(node)].domains[level_of("any").value()];
  };
  EXPECT_TRUE(built->topology.levels[level_of("any")].is_joint());
  EXPECT_EQ(level_of("b"), TopologyLevelIndex(2));
  EXPECT_NE(domain_of("a0"), domain_of("a1"));
  EXPECT_NE(domain_of("a0"), domain_of("b0"));
  EXPECT_FALSE(domain_of("b0").is_none());
  EXPECT_TRUE(domain_of("out").is_none());
  EXPECT_FALSE(built->topology.is_own(built->topology.domains[domain_of("b0")].level));
}

TEST(BuildProblem, ALevelCoversTheFinerOnesOfItsTopologyAlone) {
  const test::Case built(kTwoPools);
  EXPECT_TRUE(built->topology.covers(TopologyLevelIndex(0), TopologyLevelIndex(1)));
  EXPECT_FALSE(built->topology.covers(TopologyLevelIndex(1), TopologyLevelIndex(0)));
  EXPECT_FALSE(built->topology.covers(TopologyLevelIndex(0), TopologyLevelIndex(2)));
}

TEST(BuildProblem, EqualPodsAreOneClassAndFiltersAreToldByNodeClass) {
  const test::Case built(
      R"("nodes":[{"name":"plain","gpus":{"count":1,"model":"A"}},{"name":"cordoned","unschedulable":true},
      {"name":"tainted","taints":[{"key":"k","effect":"NoExecute"}]},{"name":"soft",
      "taints":[{"key":"s","effect":"PreferNoSchedule"}]}],
      "pods":[{"name":"p"},{"name":"q"},{"name":"tolerant","tolerations":[{"key":"k","operator":"Exists"}]},
      {"name":"model","gpuModels":["A"]}])");
  const auto allowed = [&](std::string_view pod) {
    std::string nodes;
    for (const NodeIndex node : built->nodes.indices())
      nodes += built.class_of(pod).allowed[built->nodes[node].node_class.value()] ? '1' : '0';
    return nodes;
  };
  EXPECT_EQ(built->pods[built.pod("p")].pod_class, built->pods[built.pod("q")].pod_class);
  EXPECT_EQ(allowed("p"), "1001");
  EXPECT_EQ(allowed("tolerant"), "1011");
  EXPECT_EQ(allowed("model"), "1000");
  EXPECT_EQ(
      built.class_of("p").preferences.untolerated_soft_taints[built->nodes[built.node("soft")].node_class.value()], 1);
}

TEST(BuildProblem, PreferredTermsThatANodeMeetsAddUp) {
  const test::Case built(
      R"("nodes":[{"name":"a","labels":{"x":"1","y":"1"}},{"name":"b","labels":{"x":"1"}}],
      "pods":[{"name":"p","nodeAffinity":
      {"preferredDuringSchedulingIgnoredDuringExecution":[
        {"weight":30,"preference":{"matchExpressions":[{"key":"x","operator":"In","values":["1"]}]}},
        {"weight":5,"preference":{"matchExpressions":[{"key":"y","operator":"Exists"}]}}]}}])");
  EXPECT_EQ(built.class_of("p").preferences.preferred_weight[built->nodes[built.node("a")].node_class.value()], 35);
  EXPECT_EQ(built.class_of("p").preferences.preferred_weight[built->nodes[built.node("b")].node_class.value()], 30);
}

TEST(BuildProblem, AntiAffinityWithinAGangIsOneTermOfItsOwnersAndAllItsPods) {
  const test::Case built(
      R"("nodes":[{"name":"a","labels":{"rack":"1"}},{"name":"b","labels":{"rack":"1"}},
      {"name":"c","labels":{"rack":"2"}},{"name":"d"}],
      "gangs":[{"name":"g"},{"name":"h"}],"pods":[{"name":"g0","gang":"g","podAntiAffinity":{"topologyKey":"rack",
      "matchGang":true}},{"name":"g1","gang":"g"},
      {"name":"h0","gang":"h","podAntiAffinity":{"topologyKey":"rack","matchGang":true}},{"name":"h1","gang":"h"},
      {"name":"alone","podAntiAffinity":{"topologyKey":"rack","matchGang":true}}])");
  ASSERT_EQ(built->inter_pod.anti_affinities.size(), 2U);
  EXPECT_EQ(built.class_of("g0").anti_affinity_owned, std::vector{AntiAffinityIndex(0)});
  EXPECT_EQ(built.class_of("g0").anti_affinity_matched, std::vector{AntiAffinityIndex(0)});
  EXPECT_TRUE(built.class_of("g1").anti_affinity_owned.empty());
  EXPECT_EQ(built.class_of("g1").anti_affinity_matched, std::vector{AntiAffinityIndex(0)});
  EXPECT_EQ(built.class_of("h1").anti_affinity_matched, std::vector{AntiAffinityIndex(1)});
  EXPECT_TRUE(built.class_of("alone").anti_affinity_matched.empty());
  const AntiAffinity& term = built->inter_pod.anti_affinities[AntiAffinityIndex(0)];
  EXPECT_EQ(term.domain_count, 2U);
  EXPECT_EQ(term.domain_of[built.node("a")], term.domain_of[built.node("b")]);
  EXPECT_NE(term.domain_of[built.node("a")], term.domain_of[built.node("c")]);
  EXPECT_TRUE(term.domain_of[built.node("d")].is_none());
}

TEST(BuildProblem, AntiAffinityBySelectorMatchesLabelsWithinTheOwnersNamespace) {
  const std::string term =
      R"({"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"host",
      "labelSelector":{"matchLabels":{"app":"db"}}}]})";
  const test::Case built(R"("nodes":[{"name":"a","labels":{"host":"a"}}],"pods":[
      {"name":"owner","namespace":"x","podAntiAffinity":)" +
                         term + R"(},{"name":"twin","namespace":"x","labels":{"app":"web"},"podAntiAffinity":)" + term +
                         R"(},
      {"name":"db","namespace":"x","labels":{"app":"db","noise":"1"}},{"name":"db2",
      "namespace":"x","labels":{"app":"db","noise":"2"}},
      {"name":"elsewhere","namespace":"y","labels":{"app":"db"}},{"name":"other-owner",
      "namespace":"y","podAntiAffinity":)" +
                         term + "}]");
  ASSERT_EQ(built->inter_pod.anti_affinities.size(), 2U);
  EXPECT_EQ(built.class_of("owner").anti_affinity_owned, built.class_of("twin").anti_affinity_owned);
  EXPECT_TRUE(built.class_of("owner").anti_affinity_matched.empty());
  EXPECT_EQ(built.class_of("db").anti_affinity_matched, built.class_of("owner").anti_affinity_owned);
  EXPECT_EQ(built->pods[built.pod("db")].pod_class, built->pods[built.pod("db2")].pod_class);
  EXPECT_EQ(built.class_of("elsewhere").anti_affinity_matched, built.class_of("other-owner").anti_affinity_owned);
}

TEST(BuildProblem, WorkIsInThousandthsOfAGpuRoundedHalvesUp) {
  const test::Case built(
      R"("nodes":[{"name":"small","resources":{"cpu":10,"memory":1000},"gpus":{"count":2,
      "memory":"1000Mi","model":"S"}},
      {"name":"large","resources":{"cpu":10,"memory":1000},"gpus":{"count":2,"memory":"4000Mi","model":"L"}}],"pods":[
      {"name":"whole","gpu":{"count":2}},{"name":"fraction","gpu":{"fraction":0.2505}},
      {"name":"fractions","gpu":{"fraction":0.25,"devices":2}},
      {"name":"memory","gpu":{"memory":"250Mi"}},{"name":"large-memory","gpu":{"memory":"2000Mi"}},
      {"name":"on-l","gpu":{"memory":"250Mi"},"gpuModels":["L"]},
      {"name":"third","gpu":{"memory":"333Mi"},"gpuModels":["L"]},
      {"name":"slices","resources":{"nvidia.com/mig-3g.20gb":2}},{"name":"cores","resources":{"cpu":5,"memory":100}},
      {"name":"nothing"}])");
  EXPECT_EQ(built.class_of("whole").work, 2000);
  EXPECT_EQ(built.class_of("fraction").work, 251);
  EXPECT_EQ(built.class_of("fractions").work, 500);
  EXPECT_EQ(built.class_of("memory").work, 250);
  EXPECT_EQ(built.class_of("large-memory").work, 500);
  EXPECT_EQ(built.class_of("on-l").work, 63);
  EXPECT_EQ(built.class_of("third").work, 83);
  EXPECT_EQ(built.class_of("third").smallest_gpu_usage, 83'250);
  EXPECT_EQ(built.class_of("slices").work, 2 * 429);
  EXPECT_TRUE(built.class_of("slices").counts_as_gpu);
  EXPECT_EQ(built.class_of("cores").work, 1000);  // 5 of 20 cores of a cluster of 4 GPUs
  EXPECT_FALSE(built.class_of("cores").counts_as_gpu);
  EXPECT_EQ(built.class_of("nothing").work, 1);
}

TEST(BuildProblem, UsageOfAMemoryRequestIsOfTheDeviceItIsOn) {
  const test::Case built(
      R"("nodes":[{"name":"a","gpus":{"count":1,"memory":"1000Mi"}},{"name":"b","gpus":{"count":1,"memory":"3000Mi"}},
      {"name":"c","gpus":{"count":1}}],
      "pods":[{"name":"p","gpu":{"memory":"500Mi"}},{"name":"f","gpu":{"fraction":0.3}}])");
  const auto usage = [&](std::string_view pod, std::string_view node) {
    return queue_usage(built.class_of(pod), built->class_of(built.node(node)))[kQueueGpu];
  };
  EXPECT_EQ(usage("p", "a"), 500'000);
  EXPECT_EQ(usage("p", "b"), 166'667);
  EXPECT_EQ(usage("f", "b"), 300'000);
  const auto units = [&](std::string_view pod, std::string_view node) {
    return share_units(built.class_of(pod), built->class_of(built.node(node)));
  };
  EXPECT_EQ(units("p", "a"), 500'000'000);
  EXPECT_EQ(units("f", "b"), 900'000'000);
  EXPECT_EQ(units("f", "c"), 300'000);
  EXPECT_GT(units("p", "c"), built->device_capacity(built.node("c")));
}

TEST(BuildProblem, SliceIsASeventhOfAGpuRoundedUp) {
  EXPECT_EQ(mig_slice_work("nvidia.com/mig-1g.10gb"), 143);
  EXPECT_EQ(mig_slice_work("nvidia.com/mig-7g.80gb"), 1000);
  EXPECT_EQ(mig_slice_work("nvidia.com/gpu"), 0);
  EXPECT_EQ(mig_slice_work("nvidia.com/mig-g.10gb"), 0);
}

TEST(BuildProblem, TotalLeavesOutCordonedNodesButForWhatRunsThere) {
  const test::Case built(
      R"("nodes":[{"name":"a","resources":{"cpu":4,"memory":100,"nvidia.com/mig-1g.5gb":7},"gpus":{"count":2}},
      {"name":"b","unschedulable":true,"resources":{"cpu":4,"memory":100},"gpus":{"count":2}}],
      "pods":[{"name":"p","node":"b","resources":{"cpu":1},"gpu":{"fraction":0.5}},
      {"name":"q","node":"b","status":"releasing","resources":{"cpu":1}}])");
  EXPECT_EQ(built->total, (QueueAmounts{2'000'000 + 7 * 143'000 + 500'000, 5000, 100}));
  EXPECT_EQ(built->objective.total_gpu_work, 3501);
}

TEST(BuildProblem, RunningPodsThatListNoDevicesGetTheLowestThatFitWholeOnesFirst) {
  const test::Case built(
      kNode +
      R"(,"pods":[{"name":"share","node":"n","gpu":{"fraction":0.5}},{"name":"whole","node":"n","gpu":{"count":1}},
      {"name":"listed","node":"n","gpu":{"count":1},"gpus":[0]},{"name":"share2","node":"n","gpu":{"fraction":0.5}},
      {"name":"both","node":"n","gpu":{"fraction":0.6,"devices":1}}])");
  EXPECT_EQ(built.devices_of("listed"), std::vector{0});
  EXPECT_EQ(built.devices_of("whole"), std::vector{1});
  EXPECT_EQ(built.devices_of("share"), std::vector{2});
  EXPECT_EQ(built.devices_of("share2"), std::vector{2});
  EXPECT_EQ(built.devices_of("both"), std::vector{3});
  EXPECT_EQ(built.snapshot().pods[0].devices, std::vector{2});
}

TEST(BuildProblem, RunningSharersThatFitInSomeWayAreNotRefusedWhereFirstFitFails) {
  const test::Case built(
      R"("nodes":[{"name":"n","gpus":{"count":2}}],"pods":[{"name":"a","node":"n","gpu":{"fraction":0.5}},
      {"name":"b","node":"n","gpu":{"fraction":0.3}},
      {"name":"c","node":"n","gpu":{"fraction":0.7}},{"name":"d","node":"n","gpu":{"fraction":0.5}}])");
  EXPECT_EQ(built.devices_of("a"), built.devices_of("d"));
  EXPECT_EQ(built.devices_of("b"), built.devices_of("c"));
}

TEST(BuildProblem, RunningPodsThatDoNotFitAreAnErrorOfTheirNode) {
  const auto error = [](const std::string& pods) { return test::error_of(kNode + R"(,"pods":[)" + pods + "]"); };
  EXPECT_EQ(error(
                R"({"name":"a","node":"n","resources":{"cpu":5}},{"name":"b","status":"releasing",
      "node":"n","resources":{"cpu":4}})"),
            "DoesNotFit $.nodes[0]");
  EXPECT_EQ(error(R"({"name":"a","node":"n","resources":{"x":1}})"), "DoesNotFit $.nodes[0]");
  EXPECT_EQ(error(R"({"name":"a","node":"n","gpu":{"count":5}})"), "DoesNotFit $.nodes[0]");
  EXPECT_EQ(error(
                R"({"name":"a","node":"n","gpu":{"count":1},"gpus":[1]},{"name":"b","node":"n",
      "gpu":{"fraction":0.1},"gpus":[1]})"),
            "DoesNotFit $.nodes[0]");
  EXPECT_EQ(error(R"({"name":"a","node":"n","gpu":{"memory":"1Mi"}})"),
            "DoesNotFit $.nodes[0]");  // the node's memory is unknown
  EXPECT_EQ(error(R"({"name":"a","node":"n","gpu":{"count":1},"gpus":[4]})"), "InvalidValue $.pods[0].gpus");
  EXPECT_EQ(error(R"({"name":"a","node":"n","gpu":{"count":2},"gpus":[1,1]})"), "InvalidValue $.pods[0].gpus");
  EXPECT_EQ(error(R"({"name":"a","node":"n","gpu":{"count":2},"gpus":[1]})"), "InvalidValue $.pods[0].gpus");
  EXPECT_EQ(error(R"({"name":"a","status":"succeeded","node":"gone","resources":{"cpu":50}})"), "");
}

TEST(BuildProblem, GangIsStaleOnceItsGracePeriodIsOver) {
  const auto is_stale = [](const std::string& gang, const std::string& pods) {
    const test::Case built(kNode + R"(,"gangs":[{"name":"g","minMember":2,)" + gang + R"(}],"pods":[)" + pods + "]");
    return built->gangs[built.gang("g")].stale;
  };
  const std::string one = R"({"name":"a","gang":"g","node":"n"},{"name":"b","gang":"g"})";
  EXPECT_TRUE(is_stale(R"("staleSince":999940)", one));
  EXPECT_FALSE(is_stale(R"("staleSince":999941)", one));
  EXPECT_FALSE(is_stale(R"("queue":"default")", one));
  EXPECT_TRUE(is_stale(R"("stalenessGracePeriod":0)", one)) << "it has only just begun, and that is long enough";
  EXPECT_FALSE(is_stale(R"("staleSince":0,"stalenessGracePeriod":"never")", one));
  EXPECT_FALSE(is_stale(R"("staleSince":0)", one + R"(,{"name":"c","gang":"g","status":"succeeded"})"));
  EXPECT_TRUE(is_stale(R"("staleSince":0)", one + R"(,{"name":"c","gang":"g","status":"releasing","node":"n"})"));
  EXPECT_FALSE(is_stale(R"("staleSince":0)",
                        R"({"name":"a","gang":"g","status":"releasing","node":"n"},{"name":"b","gang":"g"})"));
}

TEST(BuildProblem, GangThatHasWaitedItsTimeoutIsGivenUp) {
  const test::Case built(
      kNode +
      R"(,"gangs":[{"name":"over","created":999990,"timeout":10},{"name":"not-yet","created":999990,"timeout":11},
      {"name":"runs","created":999990,"timeout":1}],"pods":[{"name":"a","gang":"over"},{"name":"b","gang":"not-yet"},
      {"name":"c","gang":"runs","node":"n"}])");
  EXPECT_TRUE(built->gangs[built.gang("over")].times.timed_out);
  EXPECT_FALSE(built->gangs[built.gang("not-yet")].times.timed_out);
  EXPECT_FALSE(built->gangs[built.gang("runs")].times.timed_out);
}

TEST(BuildProblem, PrioritiesAreThoseOfGangsThatRunOrArePendingHighestFirst) {
  const test::Case built(
      kNode +
      R"(,"gangs":[{"name":"g","priority":5},{"name":"empty","priority":9}],"pods":[{"name":"a","gang":"g"},
      {"name":"b","priority":7,"node":"n"},
      {"name":"c","priority":7},{"name":"d","priority":8,"status":"gated"}])");
  EXPECT_EQ(built->objective.priorities, (std::vector{7, 5}));
}

TEST(BuildProblem, RunTimeIsAtLeastASecondAndThatOfAPodWithoutStartIsNone) {
  const test::Case built(kNode +
                         R"(,"pods":[{"name":"a","node":"n","started":999000},{"name":"b","node":"n"},
      {"name":"c","node":"n","started":1000005}])");
  EXPECT_EQ(built->pods[built.pod("a")].run_seconds, 1000);
  EXPECT_EQ(built->pods[built.pod("b")].run_seconds, 1);
  EXPECT_EQ(built->pods[built.pod("b")].run_time, 0);
  EXPECT_EQ(built->pods[built.pod("c")].run_time, 0);
}

TEST(BuildProblem, ExpectedWorkloadIsDerivedFromTheSnapshotsOwnPods) {
  const test::Case built(kNode +
                         R"(,"pods":[{"name":"a","gpu":{"count":1}},{"name":"b","gpu":{"count":1},"node":"n"},
      {"name":"c","gpu":{"count":4},"status":"gated"},
      {"name":"d","status":"succeeded"}])");
  ASSERT_EQ(built->objective.expected_workload.size(), 2U);
  EXPECT_EQ(built->objective.expected_workload[0].weight_millionths, 666'667);
  EXPECT_EQ(built->objective.expected_workload[0].pod_class, built->pods[built.pod("a")].pod_class);
  EXPECT_EQ(built->objective.expected_workload[1].weight_millionths, 333'333);
}

// Of the nodes that a pod may use, two have four devices of A, and one has two of no known model. A single device is no
// whole node, and a cordoned node accepts no pods.
constexpr const char* kKindsOfNodes = R"("nodes":[{"name":"a","gpus":{"count":4,"model":"A"}},
    {"name":"a2","gpus":{"count":4,"model":"A"},"labels":{"zone":"2"}},{"name":"b","gpus":{"count":2}},
    {"name":"c","gpus":{"count":1}},{"name":"d","gpus":{"count":8},"unschedulable":true}])";

TEST(BuildProblem, ExpectedWorkloadHoldsAWholeNodeJobOfEachKindOfNodeWhereNoPodIsOne) {
  const test::Case built(std::string(kKindsOfNodes) +
                         R"(,"pods":[{"name":"p","gpu":{"count":1}},{"name":"q","gpu":{"count":1}}])");
  ASSERT_EQ(built->objective.expected_workload.size(), 3U);
  EXPECT_EQ(built->objective.expected_workload[0].weight_millionths, 500'000);
  using Names = std::vector<std::string_view>;
  for (const auto& [at, devices, nodes] : {std::tuple(1, 4, Names{"a", "a2"}), std::tuple(2, 2, Names{"b"})}) {
    const ExpectedClass& job = built->objective.expected_workload[static_cast<std::size_t>(at)];
    EXPECT_EQ(job.weight_millionths, 250'000);
    EXPECT_EQ(job.gpu.devices, devices);
    EXPECT_EQ(built->pod_classes[job.pod_class].gpu.devices, devices);
    for (const std::string_view name : {"a", "a2", "b", "c", "d"}) {
      const bool is_of_kind = std::ranges::find(nodes, name) != nodes.end();
      const NodeClassIndex node_class = built->nodes[built.node(name)].node_class;
      EXPECT_EQ(built->pod_classes[job.pod_class].allowed[node_class.value()], is_of_kind) << name;
    }
  }
}

TEST(BuildProblem, ExpectedWorkloadIsThatOfThePodsAloneWhereOneOfThemFillsANode) {
  const test::Case fills(std::string(kKindsOfNodes) + R"(,"pods":[{"name":"p","gpu":{"count":2}}])");
  EXPECT_EQ(fills->objective.expected_workload.size(), 1U);
  const test::Case may_not(std::string(kKindsOfNodes) +
                           R"(,"pods":[{"name":"p","gpu":{"count":2},"gpuModels":["A"]}])");
  EXPECT_EQ(may_not->objective.expected_workload.size(), 3U);
}

TEST(BuildProblem, ExpectedWorkloadThatIsGivenNeedsNoPods) {
  const test::Case built(kNode +
                         R"(,"policy":{"expectedWorkload":[{"pod":{"gpu":{"count":2}},"weight":0.5},
      {"pod":{"gpu":{"count":2}},"weight":1}]},"pods":[{"name":"a"}])");
  ASSERT_EQ(built->objective.expected_workload.size(), 1U);
  EXPECT_EQ(built->objective.expected_workload[0].weight_millionths, 1'500'000);
  EXPECT_EQ(built->pod_classes[built->objective.expected_workload[0].pod_class].gpu.devices, 2);
}

TEST(BuildProblem, ReferenceDeviceIsTheSmallestThatIsAcceptedAndLargeEnough) {
  const std::vector<DeviceKind> kinds{{"A", 100}, {"B", 200}, {"A", 400}};
  PodSpec spec;
  spec.gpu = {GpuRequestKind::kMemory, 1, 150};
  EXPECT_EQ(reference_device_mib(spec, kinds), 200);
  spec.gpu_models = {"A"};
  EXPECT_EQ(reference_device_mib(spec, kinds), 400);
  spec.gpu.share = 500;
  EXPECT_EQ(reference_device_mib(spec, kinds), 100);
  spec.gpu_models = {"C"};
  EXPECT_EQ(reference_device_mib(spec, kinds), 100);
  EXPECT_EQ(reference_device_mib(spec, {}), 0);
}

// 40,000 pods on 1,000 nodes, in gangs of four and alone, on devices that are listed or not; `more` after them.
std::string large_cluster(const std::string& more) {
  std::string text = R"("nodes":[)";
  for (int i = 0; i < 1'000; ++i) {
    text += (i ? "," : "") + std::string(R"({"name":"n)") + std::to_string(i) +
            R"(","resources":{"cpu":30},"gpus":{"count":8}})";
  }
  text += R"(],"gangs":[)";
  for (int i = 0; i < 5'000; ++i) text += (i ? "," : "") + std::string(R"({"name":"g)") + std::to_string(i) + "\"}";
  text += R"(],"pods":[)";
  for (int i = 0; i < 40'000; ++i) {
    text += (i ? "," : "") + std::string(R"({"name":"p)") + std::to_string(i) + "\"";
    if (i < 20'000) text += R"(,"gang":"g)" + std::to_string(i / 4) + "\"";
    if (i % 2 == 0) text += R"(,"resources":{"cpu":1},"node":"n)" + std::to_string(i / 2 * 7 % 1'000) + "\"";
    if (i % 10 == 0) text += R"(,"gpu":{"fraction":0.25})";
    if (i % 20 == 0) text += R"(,"gpus":[)" + std::to_string(i / 2'000 % 8) + "]";
    text += "}";
  }
  return text + more + "]";
}

TEST(BuildProblem, IsTheSameForAnyNumberOfThreads) {
  const std::string body = large_cluster("");
  Snapshot alone_snapshot = test::Case::read(test::line_of(body));
  const Result<Problem> alone = build_problem(alone_snapshot);
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->lists.running_devices.size(), 4'000U);
  for (const int threads : {2, 3, 8}) {
    Snapshot snapshot = test::Case::read(test::line_of(body));
    const Result<Problem> built = build_problem(snapshot, threads);
    ASSERT_TRUE(built);
    EXPECT_EQ(built->lists.running_devices, alone->lists.running_devices);
    for (const PodIndex pod : alone->pods.indices()) {
      const Pod &a = built->pods[pod], &b = alone->pods[pod];
      ASSERT_EQ(std::tie(a.gang, a.group, a.node, a.pod_class, a.devices_begin, a.devices_count),
                std::tie(b.gang, b.group, b.node, b.pod_class, b.devices_begin, b.devices_count));
      ASSERT_EQ(snapshot.pods[pod.value()].devices, alone_snapshot.pods[pod.value()].devices);
    }
    for (const GangIndex gang : alone->gangs.indices()) {
      ASSERT_TRUE(std::ranges::equal(built->gangs[gang].pods, alone->gangs[gang].pods));
    }
  }
}

TEST(BuildProblem, NamesTheSameErrorForAnyNumberOfThreads) {
  const std::string full = R"(,"resources":{"cpu":25},"node":"n)";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"(,{"name":"x")" + full + R"(900"},{"name":"y")" + full + R"(100"})", "DoesNotFit $.nodes[100]"},
      {R"(,{"name":"x","node":"n"},{"name":"x"})", "UnknownNode $.pods[40000].node"},
      {R"(,{"name":"p7"},{"name":"x","gang":"h"})", "DuplicateName $.pods[40000].name"},
      {R"(,{"name":"x","gang":"h"},{"name":"p7"})", "UnknownGang $.pods[40000].gang"},
      {R"(,{"name":"g77"},{"name":"x","gang":"h"})", "DuplicateName $.pods[40000].name"}};
  for (const auto& [more, expected] : cases) {
    for (const int threads : {1, 2, 8}) {
      Snapshot snapshot = test::Case::read(test::line_of(large_cluster(more)));
      const Result<Problem> built = build_problem(snapshot, threads);
      ASSERT_FALSE(built) << expected;
      EXPECT_EQ(std::string(error_code_text(built.error().code)) + " " + built.error().path, expected) << threads;
    }
  }
}

}  // namespace
}  // namespace muster
