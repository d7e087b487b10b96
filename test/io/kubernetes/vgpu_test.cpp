// Volcano's virtual GPUs.
#include <string>
#include <vector>

#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

Json virtual_gpus(Json limits) {
  Json made = pod("p");
  made["spec"]["containers"] = Json::array({{{"resources", {{"limits", std::move(limits)}}}}});
  return made;
}

Json virtual_node(const char* registered) {
  Json made = node("n", 0);
  made["status"]["allocatable"].erase("nvidia.com/gpu");
  made["status"]["allocatable"]["volcano.sh/vgpu-number"] = "20";
  made["metadata"]["labels"]["nvidia.com/gpu.count"] = "4";
  return *registered == 0 ? made : annotated(made, "volcano.sh/node-vgpu-register", registered);
}

TEST(KubernetesVirtualGpus, AreSharesOfDevices) {
  const std::vector<std::pair<Json, Json>> cases = {
      {{{"volcano.sh/vgpu-number", 2}}, {{"count", 2}}},
      {{{"volcano.sh/vgpu-number", 1}, {"volcano.sh/vgpu-memory", 3000}}, {{"memory", "3000Mi"}}},
      {{{"volcano.sh/vgpu-memory", "3000"}}, {{"memory", "3000Mi"}}},
      {{{"volcano.sh/vgpu-number", 2}, {"volcano.sh/vgpu-memory", 3000}}, {{"memory", "3000Mi"}, {"devices", 2}}},
      {{{"volcano.sh/vgpu-number", 1}, {"volcano.sh/vgpu-memory-percentage", 25}}, {{"fraction", 0.25}}},
      {{{"volcano.sh/vgpu-number", 1}, {"volcano.sh/vgpu-cores", 50}}, {{"count", 1}}},
      {{{"volcano.sh/vgpu-number", 1}, {"volcano.sh/vgpu-memory", 3000}, {"volcano.sh/vgpu-cores", 100}},
       {{"count", 1}}}};
  for (const auto& [limits, gpu] : cases) {
    const auto made = imported({virtual_gpus(limits)});
    EXPECT_EQ(made.pod("team/p")["gpu"], gpu) << limits.dump();
    const int pieces = limits.value("volcano.sh/vgpu-number", 1);
    EXPECT_EQ(made.pod("team/p")["resources"], Json({{"volcano.sh/vgpu-number", pieces}}))
        << "for nodes that have them";
    EXPECT_FALSE(made.pod("team/p").contains("status")) << limits.dump();
  }
}

TEST(KubernetesVirtualGpus, AreHeldWhereTheyCannotBeTold) {
  Json mixed = virtual_gpus({{"volcano.sh/vgpu-number", 1}, {"volcano.sh/vgpu-memory", 3000}});
  mixed["spec"]["containers"].push_back(
      {{"resources", {{"limits", {{"volcano.sh/vgpu-number", 1}, {"volcano.sh/vgpu-memory", 2000}}}}}});
  EXPECT_EQ(imported({mixed}).pod("team/p")["status"], "gated");
  const Json memory = {{"volcano.sh/vgpu-number", 1}, {"volcano.sh/vgpu-memory", 3000}};
  EXPECT_EQ(imported({annotated(virtual_gpus(memory), "volcano.sh/vgpu-mode", "mig")}).pod("team/p")["status"],
            "gated");
  const Json beside = {{"volcano.sh/vgpu-number", 1}, {"nvidia.com/gpu", 1}};
  EXPECT_EQ(refused({virtual_gpus(beside)}).message, "Pod team/p: cannot request both GPU and virtual GPU");
}

TEST(KubernetesVirtualGpus, OfOneContainerBesideOthersArePlanned) {
  Json made = virtual_gpus({{"volcano.sh/vgpu-number", 2}, {"volcano.sh/vgpu-memory", 3000}});
  made["spec"]["containers"].push_back({{"resources", {{"limits", {{"cpu", "1"}}}}}});
  EXPECT_EQ(imported({made}).pod("team/p")["gpu"], Json({{"memory", "3000Mi"}, {"devices", 2}}));
  EXPECT_FALSE(imported({made}).pod("team/p").contains("status"));
}

TEST(KubernetesVirtualGpus, DevicesOfANodeAreThoseThatAreRegistered) {
  const auto made =
      imported({virtual_node("GPU-a,10,32768,NVIDIA-V100,true,hami-core:GPU-b,10,32768,NVIDIA-V100,false,hami-core:"
                             "GPU-c,10,32768,NVIDIA-V100,true,hami-core:")});
  EXPECT_EQ(made.at("nodes", "n")["gpus"]["count"], 2);
  EXPECT_EQ(imported({virtual_node("")}).at("nodes", "n")["gpus"]["count"], 4);
  for (const char* broken : {":", ",,,,", "GPU-a", "a,b,c,d,e:::"}) {
    EXPECT_FALSE(imported({virtual_node(broken)}).at("nodes", "n").contains("gpus")) << broken;
  }
}

}  // namespace
}  // namespace muster::kubernetes
