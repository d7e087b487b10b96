// Parts of GPUs in the words of HAMi, Koordinator, gpushare and others.
#include <random>
#include <string>
#include <vector>

#include "io/kubernetes/pod/card_parts.h"
#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

Json asking_all(const char* name, Json limits) {
  Json made = pod(name);
  made["spec"]["containers"] = Json::array({{{"resources", {{"limits", std::move(limits)}}}}});
  return made;
}

Json bare_node(const char* name, Json allocatable) {
  Json made = node(name, 0);
  made["status"]["allocatable"].erase("nvidia.com/gpu");
  made["status"]["allocatable"].update(allocatable);
  return made;
}

Json hami_node(const char* name, const char* registered, int slots = 20) {
  return annotated(bare_node(name, {{"nvidia.com/gpu", std::to_string(slots)}}), "hami.io/node-nvidia-register",
                   registered);
}

constexpr const char* kOneCard = "GPU-1,10,24000,100,NVIDIA-A10,0,true,0,hami-core:";
constexpr const char* kTwoCards =
    "GPU-1,10,24000,100,NVIDIA-A10,0,true,0,hami-core:GPU-2,10,24000,100,NVIDIA-A10,0,true,1,hami-core:";

Json hami(const char* name, int memory, int cores = 0) {
  Json limits = {{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem", memory}};
  if (cores > 0) limits["nvidia.com/gpucores"] = cores;
  return asking_all(name, std::move(limits));
}

Json hami_on(Json made, const char* on, const char* placed) {
  return annotated(running(std::move(made), on), "hami.io/vgpu-devices-allocated", placed);
}

TEST(Hami, ANodeHasTheCardsThatItRegisters) {
  const Json made = imported({hami_node("n", kTwoCards)}).at("nodes", "n");
  EXPECT_EQ(made["gpus"], Json({{"count", 2}, {"memory", "24000Mi"}, {"model", "NVIDIA-A10"}}));
  EXPECT_EQ(made["resources"]["hami.io/vgpu"], 20) << "so many pods may share them";
  EXPECT_FALSE(made["resources"].contains("nvidia.com/gpu"));
}

TEST(Hami, CardsMayBeRegisteredAsObjects) {
  const char* listed = R"([{"id":"GPU-1","count":4,"devmem":16000,"type":"V100","health":true,"mode":"hami-core"},)"
                       R"({"id":"GPU-2","count":4,"devmem":16000,"type":"V100","health":false},)"
                       R"({"id":"GPU-3","count":4,"devmem":16000,"type":"V100","health":true,"mode":"mig"}])";
  EXPECT_EQ(imported({hami_node("n", listed)}).at("nodes", "n")["gpus"],
            Json({{"count", 1}, {"memory", "16000Mi"}, {"model", "V100"}}));
}

TEST(Hami, CardsThatAreNotHealthyOrCordonedAreNone) {
  const char* mixed =
      "GPU-1,10,24000,100,A,0,false,0,hami-core:GPU-2,10,24000,100,A,0,true,1,hami-core:"
      "GPU-3,10,24000,100,A,0,true,2,hami-core:";
  EXPECT_EQ(
      imported({annotated(hami_node("n", mixed), "hami.io/device-cordon", "GPU-3")}).at("nodes", "n")["gpus"]["count"],
      1);
}

TEST(Hami, AnAnnotationThatCannotBeReadLeavesNoCards) {
  for (const char* broken : {"[", "GPU-1", "GPU-1,x,24000,100,A,0,true:", R"([{"count":3}])"}) {
    const auto made = imported({hami_node("n", broken)});
    EXPECT_FALSE(made.at("nodes", "n").contains("gpus")) << broken;
    EXPECT_TRUE(made.says("hami.io/node-nvidia-register")) << broken;
  }
}

TEST(Hami, APartOfACardIsAShareOnNodesOfHamiAlone) {
  const auto made = imported({hami_node("n", kOneCard), node("plain"), hami("p", 3000)});
  EXPECT_EQ(made.pod("team/p")["gpu"], Json({{"memory", "3000Mi"}}));
  EXPECT_EQ(made.pod("team/p")["resources"], Json({{"hami.io/vgpu", 1}}));
  EXPECT_FALSE(made.at("nodes", "plain")["resources"].contains("hami.io/vgpu"));
}

TEST(Hami, WithoutMemoryACardIsWhole) {
  Json plain = asking_all("p", {{"nvidia.com/gpu", 2}});
  plain["spec"]["schedulerName"] = "hami-scheduler";
  EXPECT_EQ(imported({hami_node("n", kTwoCards), plain}).pod("team/p")["gpu"], Json({{"count", 2}}));
  const Json half = asking_all("p", {{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem-percentage", 50}});
  EXPECT_EQ(imported({hami_node("n", kTwoCards), half}).pod("team/p")["gpu"], Json({{"fraction", 0.5}}));
  const Json exclusive = hami("p", 1000, 100);
  EXPECT_EQ(imported({hami_node("n", kTwoCards), exclusive}).pod("team/p")["gpu"], Json({{"count", 1}}));
}

TEST(Hami, CoresThatNoPodsCanExceedDoNotCount) {
  const auto made = imported({hami_node("n", kOneCard), hami("p", 3000, 30), hami("q", 15000, 20)});
  EXPECT_EQ(made.pod("team/p")["gpu"], Json({{"memory", "3000Mi"}}));
  EXPECT_EQ(made.pod("team/q")["gpu"], Json({{"memory", "15000Mi"}}));
}

TEST(Hami, OfMemoryAndCoresTheLargerPartCounts) {
  const auto made =
      imported({hami_node("n", kOneCard), hami("p", 3000, 60), hami("q", 3000, 60), hami("r", 18000, 10)});
  EXPECT_EQ(made.pod("team/p")["gpu"], Json({{"fraction", 0.6}}));
  EXPECT_EQ(made.pod("team/r")["gpu"], Json({{"memory", "18000Mi"}}));
  EXPECT_TRUE(made.says("the largest of these counts"));
}

TEST(Hami, ACardHasNoMorePodsThanSlots) {
  const char* three = "GPU-1,3,24000,100,A,0,true,0,hami-core:";
  std::vector<Json> objects = {hami_node("n", three)};
  for (const char* name : {"a", "b", "c", "d"}) objects.push_back(hami(name, 100));
  const auto made = imported(objects);
  EXPECT_EQ(made.pod("team/a")["gpu"], Json({{"fraction", 0.333334}}));
  objects.pop_back();
  EXPECT_EQ(imported(objects).pod("team/a")["gpu"], Json({{"memory", "100Mi"}})) << "three have room by number";
}

TEST(Hami, ARunningPodIsOnItsCard) {
  const auto made = imported({hami_node("n", kTwoCards), hami_on(hami("p", 3000), "n", "GPU-2,NVIDIA,3000,0:;")});
  EXPECT_EQ(made.pod("team/p")["gpus"], Json::array({1}));
  const Json wide = asking_all("w", {{"nvidia.com/gpu", 2}, {"nvidia.com/gpumem", 500}});
  const auto both =
      imported({hami_node("n", kTwoCards), hami_on(wide, "n", ";GPU-2,NVIDIA,500,0:GPU-1,NVIDIA,500,0:;")});
  EXPECT_EQ(both.pod("team/w")["gpus"], Json::array({0, 1}));
  EXPECT_EQ(both.pod("team/w")["gpu"], Json({{"memory", "500Mi"}, {"devices", 2}}));
}

TEST(Hami, WhatARunningPodHasIsWhatItsAnnotationTells) {
  Json mixed = hami("p", 3000);
  mixed["spec"]["containers"].push_back(
      {{"resources", {{"limits", {{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem", 2000}}}}}});
  const auto made =
      imported({hami_node("n", kTwoCards), hami_on(mixed, "n", "GPU-1,NVIDIA,3000,0:;GPU-1,NVIDIA,2000,0:;")});
  EXPECT_EQ(made.pod("team/p")["gpu"], Json({{"memory", "5000Mi"}}));
  EXPECT_EQ(made.pod("team/p")["gpus"], Json::array({0}));
}

TEST(Hami, APodWhoseCardIsUnknownHasItsPartOfEachCard) {
  const auto made = imported({hami_node("n", kTwoCards), hami_on(hami("p", 3000), "n", "GPU-2,NVIDIA,3000,0:;"),
                              running(hami("q", 4000), "n")});
  EXPECT_EQ(made.pod("team/q")["gpu"], Json({{"memory", "4000Mi"}, {"devices", 2}}));
  EXPECT_EQ(made.pod("team/q")["gpus"], Json::array({0, 1}));
  EXPECT_TRUE(made.pod("team/q").contains("nodeAffinity")) << "it is not moved";
  EXPECT_TRUE(made.says("the cards of a running pod are unknown"));
}

TEST(Hami, APodIsOnTheOnlyCardThatHasRoomForIt) {
  const auto made = imported({hami_node("n", kTwoCards), hami_on(hami("p", 20000), "n", "GPU-2,NVIDIA,20000,0:;"),
                              running(hami("q", 5000), "n")});
  EXPECT_EQ(made.pod("team/q")["gpus"], Json::array({0}));
  EXPECT_EQ(made.pod("team/q")["gpu"], Json({{"memory", "5000Mi"}}));
  EXPECT_FALSE(made.says("unknown"));
}

TEST(Hami, OnTheOnlyCardOrAloneAPodNeedsNoAnnotation) {
  EXPECT_EQ(imported({hami_node("n", kOneCard), running(hami("p", 3000), "n"), running(hami("q", 3000), "n")})
                .pod("team/q")["gpus"],
            Json::array({0}));
  const auto alone = imported({hami_node("n", kTwoCards), running(hami("p", 3000), "n")});
  EXPECT_EQ(alone.pod("team/p")["gpu"], Json({{"memory", "3000Mi"}}));
  EXPECT_FALSE(alone.says("unknown"));
  const auto beside = imported({hami_node("n", kTwoCards), running(hami("p", 3000), "n"),
                                running(asking(pod("w"), "nvidia.com/gpu", "1"), "n")});
  EXPECT_EQ(beside.pod("team/p")["gpu"], Json({{"memory", "3000Mi"}})) << "on the card that is not whole";
  EXPECT_FALSE(beside.says("unknown"));
}

TEST(Hami, AWholeCardIsOneThatNoPodShares) {
  const auto made = imported({hami_node("n", kTwoCards), hami_on(hami("p", 3000), "n", "GPU-1,NVIDIA,3000,0:;"),
                              running(asking(pod("w"), "nvidia.com/gpu", "1"), "n")});
  EXPECT_EQ(made.pod("team/w")["gpus"], Json::array({1}));
}

constexpr const char* kTwoSizes = "GPU-1,10,24000,100,A,0,true,0,hami-core:GPU-2,10,48000,100,A,0,true,1,hami-core:";

TEST(Hami, IfAllPodsAskForMemoryEachCardHasItsOwnSize) {
  const auto made = imported({hami_node("n", kTwoSizes), hami("large", 40000), hami("small", 20000)});
  EXPECT_EQ(made.at("nodes", "n")["gpus"], Json({{"count", 2}, {"memory", "48000Mi"}, {"model", "A"}}));
  const Json stand_in = made.pod("muster/n/card/0");
  EXPECT_EQ(stand_in["gpu"], Json({{"memory", "24000Mi"}}));
  EXPECT_EQ(stand_in["gpus"], Json::array({0}));
  EXPECT_EQ(stand_in["node"], "n");
  EXPECT_EQ(stand_in["preemptible"], false);
  EXPECT_TRUE(stand_in.contains("nodeAffinity")) << "it stays when the node is drained";
  EXPECT_TRUE(made.says("it stands for the memory"));
}

TEST(Hami, OfSeveralSizesTheSmallestCountsIfAPodAsksForAllOfACard) {
  const Json whole = asking_all("whole", {{"nvidia.com/gpu", 2}, {"nvidia.com/gpucores", 100}});
  const auto made = imported({hami_node("n", kTwoSizes), whole});
  EXPECT_EQ(made.at("nodes", "n")["gpus"], Json({{"count", 2}, {"memory", "24000Mi"}, {"model", "A"}}));
  EXPECT_EQ(made.find("pods", "muster/n/card/0"), nullptr);
  EXPECT_TRUE(made.says("each counts as the smallest one"));
}

TEST(Hami, OfSeveralSizesTheOneCountsWithWhichMostMayHaveRoom) {
  const Json half = asking_all("half", {{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem-percentage", 5}});
  const auto made = imported({hami_node("n", kTwoSizes), half, hami("large", 40000),
                              hami_on(hami("small", 3000), "n", "GPU-1,NVIDIA,3000,0:;"),
                              hami_on(hami("other", 5000), "n", "GPU-2,NVIDIA,5000,0:;")});
  EXPECT_EQ(made.at("nodes", "n")["gpus"], Json({{"count", 1}, {"memory", "48000Mi"}, {"model", "A"}}));
  EXPECT_EQ(made.pod("team/other")["gpus"], Json::array({0}));
  EXPECT_FALSE(made.pod("team/small").contains("gpu")) << "its card has nothing to give";
  EXPECT_TRUE(made.pod("team/small").contains("nodeAffinity")) << "and it stays there";
}

TEST(Hami, ARunningPodOnACardThatIsNotHealthyTakesNoOther) {
  const char* broken = "GPU-1,10,24000,100,A,0,false,0,hami-core:GPU-2,10,24000,100,A,0,true,1,hami-core:";
  const auto made = imported({hami_node("n", broken), hami_on(hami("p", 3000), "n", "GPU-1,NVIDIA,3000,0:;")});
  EXPECT_EQ(made.at("nodes", "n")["gpus"]["count"], 1);
  EXPECT_FALSE(made.pod("team/p").contains("gpu"));
}

TEST(SharedCards, PodsThatAskForWholeGpusGoToNodesThatReportThem) {
  const Json cards = bare_node("n", {{"koordinator.sh/gpu-memory-ratio", "200"}});
  const auto made = imported(
      {cards, node("plain"), asking(pod("p"), "nvidia.com/gpu", "2"), asking(pod("q"), "koordinator.sh/gpu", "50")});
  EXPECT_EQ(made.at("nodes", "plain")["resources"]["nvidia.com/gpu"], 8);
  EXPECT_FALSE(made.at("nodes", "n")["resources"].contains("nvidia.com/gpu"));
  EXPECT_EQ(made.pod("team/p")["resources"], Json({{"nvidia.com/gpu", 2}}));
  EXPECT_EQ(made.at("nodes", "n")["gpus"]["count"], 2);
  const auto alone = imported({node("plain"), asking(pod("p"), "nvidia.com/gpu", "2")});
  EXPECT_FALSE(alone.pod("team/p")["resources"].contains("nvidia.com/gpu"));
}

TEST(Hami, AnnotationsThatChooseCardsHoldAPod) {
  for (const char* key : {"nvidia.com/use-gputype", "nvidia.com/nouse-gputype", "nvidia.com/use-gpuuuid",
                          "nvidia.com/nouse-gpuuuid", "nvidia.com/numa-bind", "nvidia.com/vgpu-mode"}) {
    const auto made = imported({hami_node("n", kOneCard), annotated(hami("p", 3000), key, "x")});
    EXPECT_TRUE(made.pod("team/p").contains("held")) << key;
    EXPECT_TRUE(made.says(key)) << key;
  }
  for (const char* policy : {"binpack", "spread"}) {
    const Json made = annotated(hami("p", 3000), "hami.io/gpu-scheduler-policy", policy);
    EXPECT_FALSE(imported({made}).pod("team/p").contains("held")) << policy;
  }
}

TEST(Hami, AnInitContainerThatAsksForMoreHoldsAPod) {
  Json made = hami("p", 3000);
  const auto asked = [](int memory) {
    return Json::array({{{"resources", {{"limits", {{"nvidia.com/gpu", 1}, {"nvidia.com/gpumem", memory}}}}}}});
  };
  made["spec"]["initContainers"] = asked(3000);
  EXPECT_FALSE(imported({made}).pod("team/p").contains("held"));
  made["spec"]["initContainers"] = asked(4000);
  EXPECT_TRUE(imported({made}).pod("team/p").contains("held"));
}

TEST(Hami, PartsOfCardsOfOtherVendorsAreHeld) {
  const auto made = imported({asking(pod("p"), "metax-tech.com/vmemory", "8")});
  EXPECT_TRUE(made.pod("team/p").contains("held"));
}

TEST(Koordinator, ACardIsAHundredPercent) {
  const Json two = bare_node("n", {{"koordinator.sh/gpu-core", "200"},
                                   {"koordinator.sh/gpu-memory-ratio", "200"},
                                   {"koordinator.sh/gpu-memory", "48Gi"}});
  EXPECT_EQ(imported({two}).at("nodes", "n")["gpus"], Json({{"count", 2}, {"memory", "24576Mi"}}));
  const std::vector<std::pair<Json, Json>> cases = {
      {{{"koordinator.sh/gpu-core", 60}, {"koordinator.sh/gpu-memory-ratio", 60}}, {{"fraction", 0.6}}},
      {{{"koordinator.sh/gpu", 50}}, {{"fraction", 0.5}}},
      {{{"koordinator.sh/gpu", 200}}, {{"count", 2}}},
      {{{"koordinator.sh/gpu-core", 100}, {"koordinator.sh/gpu-memory-ratio", 100}}, {{"count", 1}}},
      {{{"koordinator.sh/gpu-memory", "8Gi"}}, {{"memory", "8192Mi"}}},
      {{{"koordinator.sh/gpu.shared", 2}, {"koordinator.sh/gpu-core", 100}, {"koordinator.sh/gpu-memory-ratio", 100}},
       {{"fraction", 0.5}, {"devices", 2}}}};
  for (const auto& [limits, gpu] : cases) {
    const auto made = imported({two, asking_all("p", limits)});
    EXPECT_EQ(made.pod("team/p")["gpu"], gpu) << limits.dump();
    EXPECT_EQ(made.pod("team/p")["resources"].size(), limits.size()) << "the node reports them, and so they count";
  }
  EXPECT_TRUE(imported({two, asking_all("p", {{"koordinator.sh/gpu", 150}})}).pod("team/p").contains("held"));
}

TEST(Koordinator, ANodeHasEachNameOfItsCards) {
  const Json made = imported({bare_node("n", {{"koordinator.sh/gpu-memory-ratio", "200"}})}).at("nodes", "n");
  EXPECT_EQ(made["resources"]["koordinator.sh/gpu"], 200);
  EXPECT_EQ(made["resources"]["koordinator.sh/gpu-memory-ratio"], 200) << "as it reports";
}

TEST(Koordinator, DeviceObjectsTellTheCards) {
  Json devices = object("scheduling.koordinator.sh/v1alpha1", "Device", "n", Json::object());
  devices["spec"]["devices"] = Json::array();
  for (int minor = 0; minor < 3; ++minor) {
    devices["spec"]["devices"].push_back({{"type", "gpu"},
                                          {"minor", minor},
                                          {"health", minor != 0},
                                          {"resources", {{"koordinator.sh/gpu-memory", "16Gi"}}}});
  }
  devices["spec"]["devices"].push_back({{"type", "rdma"}, {"minor", 0}, {"health", true}});
  const Json three =
      bare_node("n", {{"koordinator.sh/gpu-memory-ratio", "300"}, {"koordinator.sh/gpu-memory", "48Gi"}});
  const Json placed =
      annotated(running(asking_all("p", {{"koordinator.sh/gpu", 50}}), "n"),
                "scheduling.koordinator.sh/device-allocated", R"({"gpu":[{"minor":2,"resources":{}}]})");
  const auto made = imported({devices, three, placed});
  EXPECT_EQ(made.at("nodes", "n")["gpus"], Json({{"count", 2}, {"memory", "16384Mi"}}));
  EXPECT_EQ(made.pod("team/p")["gpus"], Json::array({1})) << "the second healthy one";
}

TEST(Koordinator, HintsAndPartitionsHoldAPod) {
  const Json asks = asking_all("p", {{"koordinator.sh/gpu", 200}});
  EXPECT_TRUE(imported({annotated(asks, "scheduling.koordinator.sh/device-allocate-hint", "{}")})
                  .pod("team/p")
                  .contains("held"));
  const Json honored = labelled(bare_node("n", {{"koordinator.sh/gpu-memory-ratio", "800"}}),
                                "node.koordinator.sh/gpu-partition-policy", "Honor");
  EXPECT_TRUE(imported({honored, asks}).pod("team/p").contains("held"));
  EXPECT_FALSE(imported({honored, asking_all("p", {{"koordinator.sh/gpu", 50}})}).pod("team/p").contains("held"));
}

TEST(Gpushare, ShareIsOfOneCard) {
  const Json in_gib = bare_node("n", {{"aliyun.com/gpu-count", "2"}, {"aliyun.com/gpu-mem", "30"}});
  const auto made =
      imported({in_gib, asking(pod("p"), "aliyun.com/gpu-mem", "10"),
                annotated(running(asking(pod("q"), "aliyun.com/gpu-mem", "6"), "n"), "ALIYUN_COM_GPU_MEM_IDX", "1")});
  EXPECT_EQ(made.at("nodes", "n")["gpus"], Json({{"count", 2}, {"memory", "15360Mi"}}));
  EXPECT_EQ(made.pod("team/p")["gpu"], Json({{"memory", "10240Mi"}}));
  EXPECT_EQ(made.pod("team/q")["gpus"], Json::array({1}));
  const Json in_mib = bare_node("n", {{"aliyun.com/gpu-count", "2"}, {"aliyun.com/gpu-mem", "30000"}});
  EXPECT_EQ(imported({in_mib, asking(pod("p"), "aliyun.com/gpu-mem", "4000")}).pod("team/p")["gpu"],
            Json({{"memory", "4000Mi"}}));
}

TEST(Gpushare, ACountOfCardsAloneIsAnOrdinaryResource) {
  const Json plain = bare_node("n", {{"aliyun.com/gpu-count", "19"}});
  const auto made = imported({plain, asking(pod("p"), "aliyun.com/gpu-count", "4")});
  EXPECT_FALSE(made.at("nodes", "n").contains("gpus"));
  EXPECT_FALSE(made.pod("team/p").contains("gpu"));
}

TEST(GpuManager, AHundredCoresAreACard) {
  const Json two = bare_node("n", {{"tencent.com/vcuda-core", "200"}, {"tencent.com/vcuda-memory", "128"}});
  EXPECT_EQ(imported({two}).at("nodes", "n")["gpus"], Json({{"count", 2}, {"memory", "16384Mi"}}));
  const auto gpu = [&](int cores, int memory) {
    Json limits = {{"tencent.com/vcuda-core", cores}};
    if (memory > 0) limits["tencent.com/vcuda-memory"] = memory;
    return imported({two, asking_all("p", limits)}).pod("team/p")["gpu"];
  };
  EXPECT_EQ(gpu(200, 0), Json({{"count", 2}}));
  EXPECT_EQ(gpu(30, 16), Json({{"memory", "4096Mi"}}));
  EXPECT_EQ(gpu(30, 0), Json({{"fraction", 0.3}}));
}

TEST(VolcanoShares, MemoryIsOfOneCard) {
  const Json two = bare_node("n", {{"volcano.sh/gpu-number", "2"}, {"volcano.sh/gpu-memory", "32000"}});
  const auto made = imported(
      {two, asking(pod("p"), "volcano.sh/gpu-memory", "9000"),
       annotated(running(asking(pod("q"), "volcano.sh/gpu-memory", "9000"), "n"), "volcano.sh/gpu-index", "1")});
  EXPECT_EQ(made.at("nodes", "n")["gpus"], Json({{"count", 2}, {"memory", "16000Mi"}}));
  EXPECT_EQ(made.pod("team/p")["gpu"], Json({{"memory", "9000Mi"}}));
  EXPECT_EQ(made.pod("team/q")["gpus"], Json::array({1}));
}

CardShare asked(std::int64_t memory, std::int64_t percent, std::int64_t cores) {
  return {&hami_dialect(), 1, memory, percent, cores, {}};
}

TEST(CardParts, OnCardsOfSeveralSizesAPartIsNeverTooSmall) {
  CardSizes sizes;
  sizes.add(10'000, 10);
  sizes.add(40'000, 10);
  const auto part = [&](const CardShare& share) { return part_of(share, sizes, {true, false}).request; };
  const GpuShare by_cores = part(asked(2'000, 0, 50)), by_memory = part(asked(30'000, 0, 10)),
                 neither = part(asked(9'000, 0, 50)), beyond = part(asked(12'000, 0, 50));
  EXPECT_EQ(by_cores.kind, GpuRequestKind::kFraction);
  EXPECT_EQ(by_cores.amount, 500'000);
  EXPECT_EQ(by_memory.kind, GpuRequestKind::kMemory);
  EXPECT_EQ(by_memory.amount, 30'000);
  EXPECT_EQ(neither.kind, GpuRequestKind::kFraction);
  EXPECT_EQ(neither.amount, 900'000) << "of the smaller card";
  EXPECT_EQ(beyond.kind, GpuRequestKind::kMemory);
  EXPECT_EQ(beyond.amount, 20'000) << "half of the larger card; it does not fit on the smaller one";
}

// What a request takes of a card, in millionths of a MiB.
std::int64_t taken(const GpuShare& request, std::int64_t card) {
  constexpr std::int64_t kMillion = 1'000'000;
  if (request.kind == GpuRequestKind::kMemory) return request.amount * kMillion;
  return request.kind == GpuRequestKind::kWhole ? card * kMillion : request.amount * card;
}

TEST(CardParts, PodsThatFitByTheirPartsFitByEachMeasure) {
  std::mt19937 random(7);
  const auto draw = [&random](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most - least + 1));
  };
  std::int64_t fitting = 0;
  for (int instance = 0; instance < 400; ++instance) {
    CardSizes sizes;
    const std::int64_t slots = draw(1, 6);
    for (int i = 0; i < 2; ++i) sizes.add(draw(1, 4) * 1'000, slots);
    std::vector<CardShare> shares;
    for (int i = 0; i < 7; ++i) {
      const bool is_percent = draw(0, 3) == 0;
      const std::int64_t amount = is_percent ? draw(1, 60) : draw(50, 1'500);
      shares.push_back(asked(is_percent ? 0 : amount, is_percent ? amount : 0, draw(0, 1) * draw(1, 70)));
    }
    std::vector<const CardShare*> all;
    for (const CardShare& share : shares) all.push_back(&share);
    const CardMeasures measures = find_measures(all, sizes);
    for (const std::int64_t card : {sizes.least_memory, sizes.most_memory}) {
      for (unsigned subset = 1; subset < 1U << shares.size(); ++subset) {
        std::int64_t sum = 0, memory = 0, cores = 0, pods = 0;
        for (std::size_t i = 0; i < shares.size(); ++i) {
          if ((subset >> i & 1U) == 0) continue;
          sum += taken(part_of(shares[i], sizes, measures).request, card);
          memory += shares[i].percent > 0 ? shares[i].percent * card * 10'000 : shares[i].memory * 1'000'000;
          cores += shares[i].cores;
          ++pods;
        }
        if (sum > card * 1'000'000) continue;
        ++fitting;
        ASSERT_LE(memory, card * 1'000'000) << instance;
        ASSERT_LE(cores, 100) << instance;
        ASSERT_LE(pods, slots) << instance;
      }
    }
  }
  EXPECT_GT(fitting, 1'000);
}

TEST(CardPlaces, TextThatNamesNoCardsIsNone) {
  CardShare share = asked(100, 0, 0);
  for (const char* broken : {"", ";", "GPU-1", "GPU-1,NVIDIA,x,0:;", "GPU-1,NVIDIA:;"}) {
    share.placed = broken;
    EXPECT_FALSE(read_card_places(share)) << broken;
  }
}

}  // namespace
}  // namespace muster::kubernetes
