#include "io/kubernetes/dialects/share_dialect.h"

#include <algorithm>
#include <array>

#include "io/kubernetes/dialects/annotation_text.h"

namespace muster::kubernetes {

namespace {

constexpr std::array<CardRestriction, 1> kVolcanoRestrictions = {
    {{"volcano.sh/vgpu-mode", "hami-core", "the pod requests virtual GPUs in MIG mode, which Muster does not plan"}}};

constexpr std::array<CardRestriction, 7> kHamiRestrictions = {
    {{"nvidia.com/use-gputype", "",
      "its annotation nvidia.com/use-gputype restricts its cards, which Muster does not plan"},
     {"nvidia.com/nouse-gputype", "",
      "its annotation nvidia.com/nouse-gputype restricts its cards, which Muster does not plan"},
     {"nvidia.com/use-gpuuuid", "",
      "its annotation nvidia.com/use-gpuuuid restricts its cards, which Muster does not plan"},
     {"nvidia.com/nouse-gpuuuid", "",
      "its annotation nvidia.com/nouse-gpuuuid restricts its cards, which Muster does not plan"},
     {"nvidia.com/numa-bind", "false",
      "its annotation nvidia.com/numa-bind restricts its cards, which Muster does not plan"},
     {"nvidia.com/vgpu-mode", "hami-core",
      "its annotation nvidia.com/vgpu-mode restricts its cards, which Muster does not plan"},
     {"hami.io/gpu-scheduler-policy", "binpack",
      "its annotation hami.io/gpu-scheduler-policy is neither binpack nor spread, which Muster does not plan"}}};

constexpr std::array<CardRestriction, 3> kKoordinatorRestrictions = {
    {{"scheduling.koordinator.sh/device-allocate-hint", "",
      "its annotation scheduling.koordinator.sh/device-allocate-hint restricts its devices, which Muster does not "
      "plan"},
     {"scheduling.koordinator.sh/device-joint-allocate", "",
      "its annotation scheduling.koordinator.sh/device-joint-allocate joins its devices, which Muster does not plan"},
     {"scheduling.koordinator.sh/gpu-partition-spec", "",
      "its annotation scheduling.koordinator.sh/gpu-partition-spec restricts its devices, which Muster does not "
      "plan"}}};

constexpr std::array<ShareDialect, 7> kDialects = {{
    {"HAMi",
     {"nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores", "", kBytesOfMib},
     true,
     false,
     "hami.io/vgpu",
     {"", 1, "", "hami.io/node-nvidia-register", CardList::kHami},
     "hami.io/vgpu-devices-allocated",
     CardPlace::kIds,
     kHamiRestrictions},
    {"HAMi",
     {"hygon.com/dcunum", "hygon.com/dcumem", "", "hygon.com/dcucores", "", kBytesOfMib},
     true,
     false,
     "hygon.com/dcunum",
     {"", 1, "", "hami.io/node-dcu-register", CardList::kHami},
     "hami.io/dcu-devices-allocated",
     CardPlace::kIds,
     {}},
    {"Volcano",
     {"volcano.sh/vgpu-number", "volcano.sh/vgpu-memory", "volcano.sh/vgpu-memory-percentage", "volcano.sh/vgpu-cores",
      "", kBytesOfMib},
     true,
     false,
     "volcano.sh/vgpu-number",
     {"", 1, "", "volcano.sh/node-vgpu-register", CardList::kVolcano},
     "volcano.sh/vgpu-ids-new",
     CardPlace::kIds,
     kVolcanoRestrictions},
    {"Volcano",
     {"volcano.sh/gpu-number", "volcano.sh/gpu-memory", "", "", "", kBytesOfMib},
     false,
     true,
     "",
     {"volcano.sh/gpu-number", 1, "volcano.sh/gpu-memory", "", CardList::kNone},
     "volcano.sh/gpu-index",
     CardPlace::kIndices,
     {}},
    {"Koordinator",
     {"koordinator.sh/gpu.shared", "koordinator.sh/gpu-memory", "koordinator.sh/gpu-memory-ratio",
      "koordinator.sh/gpu-core", "koordinator.sh/gpu", 1},
     false,
     true,
     "",
     {"koordinator.sh/gpu-memory-ratio", 100, "koordinator.sh/gpu-memory", "", CardList::kNone},
     "scheduling.koordinator.sh/device-allocated",
     CardPlace::kKoordinator,
     kKoordinatorRestrictions},
    {"gpushare",
     {"", "aliyun.com/gpu-mem", "", "", "", 0},
     false,
     true,
     "",
     {"aliyun.com/gpu-count", 1, "aliyun.com/gpu-mem", "", CardList::kNone},
     "ALIYUN_COM_GPU_MEM_IDX",
     CardPlace::kIndices,
     {}},
    {"GPU Manager",
     {"", "tencent.com/vcuda-memory", "", "tencent.com/vcuda-core", "", 256 * kBytesOfMib},
     false,
     true,
     "",
     {"tencent.com/vcuda-core", 100, "tencent.com/vcuda-memory", "", CardList::kNone},
     "tencent.com/predicate-gpu-idx-0",
     CardPlace::kIndices,
     {}},
}};

}  // namespace

std::span<const ShareDialect> share_dialects() { return kDialects; }

const ShareDialect& hami_dialect() { return kDialects.front(); }

const ShareDialect* dialect_of_resource(std::string_view resource) {
  if (resource.find('/') == std::string_view::npos || resource == hami_dialect().resources.count) return nullptr;
  for (const ShareDialect& dialect : kDialects) {
    const auto& [count, memory, percent, cores, both, unit] = dialect.resources;
    if (resource == count || resource == memory || resource == percent || resource == cores || resource == both)
      return &dialect;
  }
  return nullptr;
}

}  // namespace muster::kubernetes
