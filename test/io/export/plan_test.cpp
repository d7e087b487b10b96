// Plans in the shapes of others: objects for the API server, patches, Volcano's and KAI's words, deltas.
#include "io/export/plan.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/io/kubernetes_objects.h"
#include "test/support/case.h"

namespace muster::exporting {
namespace {

Json placement(const char* pod, const char* node, Json gpus = nullptr, const std::vector<std::string>& after = {}) {
  Json made{{"pod", pod}, {"node", node}};
  if (!gpus.is_null()) made["gpus"] = std::move(gpus);
  if (!after.empty()) made["after"] = after;
  return made;
}

Json eviction(const char* pod, const char* node, const char* reason = "preempt") {
  return {{"pod", pod}, {"node", node}, {"reason", reason}};
}

Json devices(const std::vector<int>& indices, const Json& share) {
  Json made = Json::array();
  for (const int index : indices) made.push_back({{"index", index}, {"share", share}});
  return made;
}

struct PlanToExport {
  std::vector<Json> placements, evictions;
  std::string snapshot;  // empty: none
  std::string id;
};

Result<ExportedPlan> attempt(const PlanToExport& it, const ExportOptions& options) {
  const Json line{{"format", "muster/v1"},
                  {"id", it.id},
                  {"status", "ok"},
                  {"placements", it.placements},
                  {"evictions", it.evictions},
                  {"gangs", Json::array()},
                  {"queues", Json::array()},
                  {"objective", Json::array()},
                  {"solver", {{"origin", "none"}, {"proof", "heuristic"}, {"gap", 0}}}};
  const Result<muster_v1::ReadPlan> plan = muster_v1::read_plan(line.dump(), nullptr);
  EXPECT_TRUE(plan) << plan.error().path << plan.error().message;
  if (it.snapshot.empty()) return export_plan(plan->id, plan->named, ExportCluster(), options);
  const test::Case cluster = test::Case::of_line(it.snapshot);
  const Result<ObjectIdentities> identities = read_identities(it.snapshot);
  EXPECT_TRUE(identities) << identities.error().message;
  return export_plan(plan->id, plan->named, ExportCluster(*identities, *cluster), options);
}

std::vector<Json> lines(const PlanToExport& it, const ExportOptions& options) {
  const Result<ExportedPlan> made = attempt(it, options);
  EXPECT_TRUE(made) << made.error().path << made.error().message;
  std::vector<Json> all;
  if (!made) return all;
  const std::string text = made->text();
  std::size_t at = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    all.push_back(Json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  EXPECT_EQ(at, text.size()) << "the last line ends, too";
  return all;
}

Json with_uid(Json made, const char* uid) {
  made["metadata"]["uid"] = uid;
  return made;
}

Json sharing(Json made, const char* fraction, const char* uid) {
  return with_uid(annotated(std::move(made), "gpu-fraction", fraction), uid);
}

// One pod can start, one goes, one moves, one waits for both.
PlanToExport four_steps() {
  return {{placement("ns/a", "n1"), placement("ns/moved", "n2"), placement("ns/waits", "n1", nullptr, {"ns/gone"})},
          {eviction("ns/gone", "n1"), eviction("ns/moved", "n1", "consolidate")},
          {},
          {}};
}

TEST(ExportPlan, ABindingNamesPodAndNode) {
  EXPECT_EQ(lines({{placement("ns/a", "n1")}, {}, {}, {}}, {ExportFormat::kBindings})[0],
            Json::parse(R"({"apiVersion":"v1","kind":"Binding","metadata":{"namespace":"ns","name":"a"},
                            "target":{"apiVersion":"v1","kind":"Node","name":"n1"}})"));
}

TEST(ExportPlan, EvictionsComeBetweenWhatCanStartAndWhatWaits) {
  const std::vector<Json> all = lines(four_steps(), {ExportFormat::kBindings});
  ASSERT_EQ(all.size(), 5U);
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"Binding", "a"}, {"Eviction", "gone"}, {"Eviction", "moved"}, {"Binding", "moved"}, {"Binding", "waits"}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i]["kind"], expected[i].first) << i;
    EXPECT_EQ(all[i]["metadata"]["name"], expected[i].second) << i;
  }
  EXPECT_EQ(all[1], Json::parse(R"({"apiVersion":"policy/v1","kind":"Eviction",
                                    "metadata":{"namespace":"ns","name":"gone"}})"));
}

TEST(ExportPlan, PhasesAreTheWholeInPartsAndTellOfOneAnother) {
  for (const ExportFormat format : {ExportFormat::kBindings, ExportFormat::kPatches, ExportFormat::kDeltas}) {
    std::string parts;
    for (const ExportPhase phase : {ExportPhase::kNow, ExportPhase::kEvictions, ExportPhase::kAfterEvictions}) {
      const auto made = attempt(four_steps(), {format, phase, {}});
      ASSERT_TRUE(made);
      parts += made->text();
      EXPECT_GE(made->remarks.size(), 2U);
    }
    EXPECT_EQ(parts, attempt(four_steps(), {format})->text());
  }
  const auto now = attempt(four_steps(), {ExportFormat::kBindings, ExportPhase::kNow, {}});
  EXPECT_EQ(now->remarks,
            (std::vector<std::string>{"2 of its pods are to be evicted: --phase evictions",
                                      "2 of its placements wait for evictions: --phase after-evictions"}));
}

TEST(ExportPlan, WhatWaitsForAPodOnItsWayOutIsNotBoundNow) {
  const PlanToExport it{{placement("ns/waits", "n1", nullptr, {"ns/releasing"})}, {}, {}, {}};
  EXPECT_TRUE(lines(it, {ExportFormat::kBindings, ExportPhase::kNow, {}}).empty());
  EXPECT_EQ(lines(it, {ExportFormat::kBindings, ExportPhase::kAfterEvictions, {}}).size(), 1U);
}

TEST(ExportPlan, UidsOfKubernetesObjectsArePreconditions) {
  const std::string list =
      list_of({node("n1"), node("n2"), with_uid(pod("a"), "u-a"), with_uid(running(pod("gone"), "n1"), "u-gone"),
               with_uid(running(pod("moved"), "n1"), "u-moved")});
  const std::vector<Json> all = lines({{placement("team/a", "n1"), placement("team/moved", "n2")},
                                       {eviction("team/gone", "n1"), eviction("team/moved", "n1", "consolidate")},
                                       list,
                                       {}},
                                      {ExportFormat::kBindings});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0]["metadata"]["uid"], "u-a");
  EXPECT_EQ(all[1]["deleteOptions"]["preconditions"]["uid"], "u-gone");
  EXPECT_EQ(all[2]["deleteOptions"]["preconditions"]["uid"], "u-moved");
  EXPECT_FALSE(all[3]["metadata"].contains("uid")) << "the pod that comes in its place has another";
}

TEST(ExportPlan, AnOddPodCostsTheOthersNothing) {
  Json odd = pod("odd");
  odd["metadata"]["uid"] = 7;
  const std::string list = list_of({node("n1"), std::move(odd), with_uid(pod("a"), "u-a")});
  const std::vector<Json> all = lines({{placement("team/a", "n1")}, {}, list, {}}, {ExportFormat::kBindings});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["metadata"]["uid"], "u-a");
}

TEST(ExportPlan, EachObjectTellsItsPodPhaseAndGang) {
  const auto made = attempt(four_steps(), {ExportFormat::kBindings});
  ASSERT_TRUE(made);
  ASSERT_EQ(made->objects.size(), 5U);
  EXPECT_EQ(made->objects[0].phase, ExportPhase::kNow);
  EXPECT_EQ(made->objects[0].namespace_name, "ns");
  EXPECT_EQ(made->objects[0].name, "a");
  EXPECT_EQ(made->objects[0].node, "n1");
  EXPECT_EQ(made->objects[0].gang, "ns/a") << "a gang by itself";
  EXPECT_EQ(made->objects[1].phase, ExportPhase::kEvictions);
  EXPECT_EQ(made->objects[1].node, "n1");
  EXPECT_EQ(made->objects[4].phase, ExportPhase::kAfterEvictions);
}

TEST(ExportPlan, APatchTakesGatesAwayAndPinsTheHostname) {
  const PlanToExport it{{placement("team/a", "n1")},
                        {},
                        list_of({labelled(node("n1"), "kubernetes.io/hostname", "host-1"), with_uid(pod("a"), "u-a")}),
                        {}};
  EXPECT_EQ(lines(it, {ExportFormat::kPatches})[0],
            Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"team","name":"a","uid":"u-a",
                                                                        "annotations":{"muster/node":"n1"}},
                            "spec":{"nodeSelector":{"kubernetes.io/hostname":"host-1"},"schedulingGates":null}})"));
  EXPECT_EQ(
      lines(it, {ExportFormat::kPatches, ExportPhase::kAll, {"example.com/a", "b"}})[0]["spec"]["schedulingGates"],
      Json::parse(R"([{"$patch":"delete","name":"example.com/a"},{"$patch":"delete","name":"b"}])"));
  EXPECT_EQ(lines({{placement("team/a", "n1")}, {}, {}, {}}, {ExportFormat::kPatches})[0]["spec"]["nodeSelector"],
            Json::parse(R"({"kubernetes.io/hostname":"n1"})"))
      << "the node's name, where its label is not known";
}

// A line with one node of two devices and two pods that wait, one of them for a part of a device.
std::string devices_line(const char* node_keys) {
  return std::string(
             R"({"format":"muster/v1","time":1700000000,"nodes":[{"name":"n1","gpus":{"count":2,"memory":"16Gi")") +
         node_keys + R"(}}],"pods":[{"name":"ns/whole","gpu":{"count":1}},{"name":"ns/half","gpu":{"fraction":0.5}},
                       {"name":"ns/mem","gpu":{"memory":"4Gi"}},{"name":"ns/none"}]})";
}

PlanToExport devices_case(const char* node_keys) {
  return {{placement("ns/half", "n1", devices({1}, 0.5)), placement("ns/mem", "n1", devices({1}, 0.25)),
           placement("ns/none", "n1"), placement("ns/whole", "n1", devices({0}, 1))},
          {},
          devices_line(node_keys),
          {}};
}

TEST(ExportPlan, VolcanoIsToldTheIndicesOfDevices) {
  const std::vector<Json> all = lines(devices_case(""), {ExportFormat::kVolcano});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0]["metadata"]["annotations"],
            Json::parse(R"({"volcano.sh/gpu-index":"1","volcano.sh/predicate-time":"1700000000000000000"})"));
  EXPECT_EQ(all[3]["metadata"]["annotations"]["volcano.sh/gpu-index"], "0");
  EXPECT_FALSE(all[2]["metadata"].contains("annotations")) << "no devices, no annotations";
}

TEST(ExportPlan, VolcanoIsToldTheIdsOfDevicesWhereTheSnapshotHasThem) {
  const std::vector<Json> all = lines(devices_case(R"(,"ids":["GPU-a","GPU-b"])"), {ExportFormat::kVolcano});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0]["metadata"]["annotations"],
            Json::parse(R"({"volcano.sh/bind-phase":"allocating","volcano.sh/bind-time":"1700000000",
                            "volcano.sh/devices-to-allocate":"GPU-b,NVIDIA,8192,50:",
                            "volcano.sh/vgpu-ids-new":"GPU-b,NVIDIA,8192,50:",
                            "volcano.sh/vgpu-node":"n1","volcano.sh/vgpu-time":"1700000000"})"));
  EXPECT_EQ(all[1]["metadata"]["annotations"]["volcano.sh/vgpu-ids-new"], "GPU-b,NVIDIA,4096,0:");
  EXPECT_EQ(all[3]["metadata"]["annotations"]["volcano.sh/vgpu-ids-new"], "GPU-a,NVIDIA,16384,100:");
}

TEST(ExportPlan, IndicesThatTheImportMadeUpAreNotTold) {
  const std::string list = list_of({node("n1"), asking(pod("a"), "nvidia.com/gpu", "1")});
  const std::vector<Json> all =
      lines({{placement("team/a", "n1", devices({0}, 1))}, {}, list, {}}, {ExportFormat::kVolcano});
  EXPECT_FALSE(all[0]["metadata"].contains("annotations"));
}

// Two cards of Volcano's device plugin; gpu 0 is GPU-a.
std::string virtual_gpus() {
  Json cards =
      annotated(node("n1", 0), "volcano.sh/node-vgpu-register",
                "GPU-a,10,12288,NVIDIA-3080,true:GPU-bad,10,12288,NVIDIA-3080,false:GPU-b,10,8192,NVIDIA-3080,true:");
  cards["status"]["allocatable"].erase("nvidia.com/gpu");
  cards["status"]["allocatable"]["volcano.sh/vgpu-number"] = "20";
  Json half = asking(pod("half"), "volcano.sh/vgpu-number", "1"),
       part = asking(pod("part"), "volcano.sh/vgpu-number", "1");
  half["spec"]["containers"][0]["resources"]["limits"]["volcano.sh/vgpu-memory-percentage"] = "50";
  part["spec"]["containers"][0]["resources"]["limits"]["volcano.sh/vgpu-memory"] = "2000";
  return list_of({cards, half, part});
}

TEST(ExportPlan, VolcanoIsToldTheCardsOfVirtualGpus) {
  const PlanToExport plan{
      {placement("team/half", "n1", devices({1}, 0.5)), placement("team/part", "n1", devices({0}, 0.2))},
      {},
      virtual_gpus(),
      {}};
  const std::vector<Json> all = lines(plan, {ExportFormat::kVolcano});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["metadata"]["annotations"]["volcano.sh/vgpu-ids-new"], "GPU-b,NVIDIA,4096,0:");
  EXPECT_EQ(all[1]["metadata"]["annotations"]["volcano.sh/devices-to-allocate"], "GPU-a,NVIDIA,2000,0:");
  EXPECT_EQ(all[1]["metadata"]["annotations"]["volcano.sh/vgpu-node"], "n1");
  const auto bare = attempt(plan, {ExportFormat::kBindings, ExportPhase::kAll, {}, SharedDevices::kAllow});
  ASSERT_TRUE(bare);
  EXPECT_NE(bare->remarks.back().find("the Bindings of 2 of its gangs name no device"), std::string::npos);
}

TEST(ExportPlan, KaiIsAskedToBindOnWholeDevices) {
  const std::string list =
      list_of({node("n1"), with_uid(asking(pod("a"), "nvidia.com/gpu", "2"), "u-a"),
               with_uid(asking(pod("m"), "nvidia.com/mig-1g.5gb", "1"), "u-m"), with_uid(pod("c"), "u-c")});
  const std::vector<Json> all =
      lines({{placement("team/a", "n1", devices({0, 1}, 1)), placement("team/c", "n1"), placement("team/m", "n1")},
             {},
             list,
             {}},
            {ExportFormat::kKai});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0], Json::parse(R"({"apiVersion":"scheduling.run.ai/v1alpha2","kind":"BindRequest",
      "metadata":{"namespace":"team","name":"a","labels":{"selected-node":"n1"},
                  "ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u-a"}]},
      "spec":{"podName":"a","selectedNode":"n1","receivedResourceType":"Regular",
              "receivedGPU":{"count":2,"portion":"1"}}})"));
  EXPECT_EQ(all[1]["spec"]["receivedGPU"], Json::parse(R"({"count":0,"portion":"0"})"));
  EXPECT_EQ(all[2]["spec"]["receivedResourceType"], "MigInstance");
}

// gpu 0 of n1 is shared by a pod of the group `g-old`; gpu 1 is not used yet.
PlanToExport sharers() {
  const std::string list =
      list_of({node("n1", 2), sharing(labelled(running(pod("old"), "n1"), "runai-gpu-group", "g-old"), "0.5", "u-old"),
               sharing(pod("a"), "0.5", "u-a"), sharing(pod("b"), "0.5", "u-b"), sharing(pod("c"), "0.5", "u-c")});
  return {{placement("team/a", "n1", devices({0}, 0.5)), placement("team/b", "n1", devices({1}, 0.5)),
           placement("team/c", "n1", devices({1}, 0.5), {"team/old"})},
          {},
          list,
          {}};
}

TEST(ExportPlan, KaisSharersJoinTheGroupOfTheirDevice) {
  const std::vector<Json> all = lines(sharers(), {ExportFormat::kKai});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["spec"]["selectedGPUGroups"], Json::parse(R"(["g-old"])"));
  EXPECT_EQ(all[0]["spec"]["receivedResourceType"], "Fraction");
  EXPECT_EQ(all[0]["spec"]["receivedGPU"], Json::parse(R"({"count":1,"portion":"0.5"})"));
  EXPECT_EQ(all[1]["spec"]["selectedGPUGroups"], Json::parse(R"(["u-b-1"])"));
  EXPECT_EQ(all[2]["spec"]["selectedGPUGroups"], Json::parse(R"(["u-b-1"])"));
}

TEST(ExportPlan, AGroupHasOneNameInEveryPhase) {
  const std::vector<Json> later = lines(sharers(), {ExportFormat::kKai, ExportPhase::kAfterEvictions, {}});
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(later[0]["spec"]["selectedGPUGroups"], Json::parse(R"(["u-b-1"])"));
}

TEST(ExportPlan, BindingsLeaveOutGangsThatShareDevicesUnlessAsked) {
  for (const ExportFormat format : {ExportFormat::kBindings, ExportFormat::kVolcano}) {
    const auto made = attempt(sharers(), {format});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->text(), "");
    EXPECT_NE(made->remarks.back().find("3 of its gangs are left out: they share devices"), std::string::npos);
    EXPECT_EQ(lines(sharers(), {format, ExportPhase::kAll, {}, SharedDevices::kAllow}).size(), 3U);
  }
  PlanToExport without = sharers();
  without.snapshot.clear();
  EXPECT_TRUE(lines(without, {ExportFormat::kBindings}).empty()) << "the plan says it, too";
}

// A gang of two, one of which has a claim that its scheduler binds. Another gang waits for a pod that would be
// evicted for it.
TEST(ExportPlan, BindingsLeaveOutWholeGangsWhoseClaimsASchedulerBinds) {
  const std::string snapshot = R"({"format":"muster/v1","nodes":[{"name":"n1","resources":{"cpu":8}}],
      "gangs":[{"name":"g"},{"name":"h"},{"name":"low"}],"pods":[
      {"name":"ns/g-0","gang":"g","unboundVolumes":true},{"name":"ns/g-1","gang":"g"},
      {"name":"ns/h-0","gang":"h"},{"name":"ns/low-0","gang":"low","node":"n1"},
      {"name":"ns/low-1","gang":"low","node":"n1"},{"name":"ns/free"}]})";
  Json victim = eviction("ns/low-0", "n1"), other = eviction("ns/low-1", "n1");
  victim["for"] = "g";
  other["for"] = "ns/free";
  const PlanToExport it{
      {placement("ns/free", "n1", nullptr, {"ns/low-1"}), placement("ns/g-0", "n1", nullptr, {"ns/low-0"}),
       placement("ns/g-1", "n1"), placement("ns/h-0", "n1", nullptr, {"ns/low-0"})},
      {victim, other},
      snapshot,
      {}};
  const auto made = attempt(it, {ExportFormat::kBindings});
  ASSERT_TRUE(made);
  const std::string text = made->text();
  EXPECT_EQ(std::ranges::count(text, '\n'), 2) << text;
  EXPECT_NE(text.find(R"("name":"low-1")"), std::string::npos);
  EXPECT_NE(text.find(R"("name":"free")"), std::string::npos);
  ASSERT_EQ(made->remarks.size(), 2U) << testing::PrintToString(made->remarks);
  EXPECT_NE(made->remarks[0].find("1 of its gangs is left out: a scheduler has to bind"), std::string::npos);
  EXPECT_NE(made->remarks[1].find("1 of its gangs is left out: they wait"), std::string::npos);
  EXPECT_EQ(lines(it, {ExportFormat::kPatches}).size(), 6U) << "their scheduler binds both";
}

TEST(ExportPlan, WhatBindsLeavesOutGangsOfOtherSchedulersThanThePlans) {
  const std::string snapshot = R"({"format":"muster/v1","nodes":[{"name":"n1"}],"gangs":[{"name":"g"}],"pods":[
      {"name":"ns/a"},{"name":"ns/b"},{"name":"ns/g-0","gang":"g"},
      {"name":"ns/g-1","gang":"g","schedulerName":"other"}]})";
  const PlanToExport it{
      {placement("ns/a", "n1"), placement("ns/b", "n1"), placement("ns/g-0", "n1"), placement("ns/g-1", "n1")},
      {},
      snapshot,
      {}};
  for (const ExportFormat format : {ExportFormat::kBindings, ExportFormat::kVolcano}) {
    const auto made = attempt(it, {format});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->objects.size(), 2U) << made->text();
    EXPECT_NE(made->remarks.back().find("1 of its gangs is left out: scheduler other places"), std::string::npos);
  }
  EXPECT_EQ(lines(it, {ExportFormat::kPatches}).size(), 4U) << "each scheduler binds its own";
}

TEST(ExportPlan, AMoveForWhatIsLeftOutIsLeftOutWhole) {
  const std::string snapshot = R"({"format":"muster/v1","nodes":[{"name":"n1"},{"name":"n2"}],
      "pods":[{"name":"ns/p","unboundVolumes":true},{"name":"ns/m","node":"n1"}]})";
  Json move = eviction("ns/m", "n1", "consolidate");
  move["for"] = "ns/p";
  const PlanToExport it{{placement("ns/m", "n2"), placement("ns/p", "n1", nullptr, {"ns/m"})}, {move}, snapshot, {}};
  EXPECT_TRUE(lines(it, {ExportFormat::kBindings}).empty());
  EXPECT_EQ(lines(it, {ExportFormat::kPatches}).size(), 3U);
}

TEST(ExportPlan, KaiNeedsUids) {
  const PlanToExport it{{placement("team/a", "n1")}, {}, list_of({node("n1"), pod("a")}), {}};
  const auto refused = attempt(it, {ExportFormat::kKai});
  ASSERT_FALSE(refused);
  EXPECT_EQ(error_code_text(refused.error().code), "MissingUid");
  EXPECT_EQ(refused.error().path, "$.placements[0].pod");
}

TEST(ExportPlan, DeltasSayWhatBecomesOfEachPodOnce) {
  PlanToExport it = four_steps();
  it.id = "prod-1";
  it.evictions[0]["for"] = "ns/gang";
  const std::vector<Json> all = lines(it, {ExportFormat::kDeltas});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0], Json::parse(R"({"plan":"prod-1","type":"PLACE","pod":"ns/a","node":"n1"})"));
  EXPECT_EQ(all[1], Json::parse(R"({"plan":"prod-1","type":"PREEMPT","pod":"ns/gone","node":"n1","reason":"preempt",
                                    "for":"ns/gang"})"));
  EXPECT_EQ(all[2], Json::parse(R"({"plan":"prod-1","type":"MIGRATE","pod":"ns/moved","from":"n1","node":"n2",
                                    "reason":"consolidate"})"));
  EXPECT_EQ(all[3],
            Json::parse(R"({"plan":"prod-1","type":"PLACE","pod":"ns/waits","node":"n1","after":["ns/gone"]})"));
  const Json placed = lines({{placement("p", "n", devices({2}, 0.25))}, {}, {}, {}}, {ExportFormat::kDeltas})[0];
  EXPECT_EQ(placed, Json::parse(R"({"type":"PLACE","pod":"p","node":"n","gpus":[{"index":2,"share":0.25}]})"));
}

TEST(ExportPlan, NamesAreEscaped) {
  const char* odd = "ns/a\"\\\n\u00e9";
  for (const ExportFormat format : {ExportFormat::kBindings, ExportFormat::kPatches, ExportFormat::kDeltas}) {
    const std::string line = lines({{placement(odd, "n\"1")}, {}, {}, {}}, {format})[0].dump();
    EXPECT_NE(line.find("a\\\"\\\\\\n\u00e9"), std::string::npos) << line;
    EXPECT_NE(line.find("n\\\"1"), std::string::npos) << line;
  }
}

TEST(ExportPlan, ThePodsNamespaceIsWhatTheSnapshotSaysElseItsNamesElseDefault) {
  const auto metadata = [](const char* pod, const std::string& snapshot) {
    return lines({{placement(pod, "n1")}, {}, snapshot, {}}, {ExportFormat::kBindings})[0]["metadata"];
  };
  EXPECT_EQ(metadata("ns/a", ""), Json::parse(R"({"namespace":"ns","name":"a"})"));
  EXPECT_EQ(metadata("a", ""), Json::parse(R"({"namespace":"default","name":"a"})"));
  EXPECT_EQ(metadata("a", R"({"format":"muster/v1","nodes":[{"name":"n1"}],"pods":[{"name":"a","namespace":"team"}]})"),
            Json::parse(R"({"namespace":"team","name":"a"})"));
}

TEST(ExportPlan, ANameThatNoObjectCanHaveIsAnErrorWithItsPath) {
  for (const char* name : {"a/b/c", "ns/", "/a", ""}) {
    const auto refused =
        attempt({{placement("ns/ok", "n1"), placement(name, "n1")}, {}, {}, {}}, {ExportFormat::kBindings});
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(error_code_text(refused.error().code), "InvalidValue");
    EXPECT_EQ(refused.error().path, "$.placements[1].pod");
  }
  EXPECT_EQ(attempt({{}, {eviction("a/b/c", "n1")}, {}, {}}, {ExportFormat::kBindings}).error().path,
            "$.evictions[0].pod");
}

TEST(ExportPlan, APodThatIsInAListTwiceIsAnErrorWithItsPath) {
  const auto refused =
      attempt({{placement("ns/a", "n1"), placement("ns/a", "n2")}, {}, {}, {}}, {ExportFormat::kDeltas});
  ASSERT_FALSE(refused);
  EXPECT_EQ(error_code_text(refused.error().code), "DuplicateName");
  EXPECT_EQ(refused.error().path, "$.placements[1].pod");
}

}  // namespace
}  // namespace muster::exporting
