#include "io/kubernetes/pod/gpu.h"

#include <algorithm>
#include <limits>

namespace muster::kubernetes {

namespace {

constexpr std::string_view kGpuGroup = "runai-gpu-group", kGpuGroupPrefix = "runai-gpu-group/";
constexpr Billionths kWhole = 1'000'000'000;

bool read_whole(KubernetesReading& in, const PodParts& parts, Billionths amount, std::int64_t most, std::int64_t& out) {
  if (amount % kWhole != 0 || amount / kWhole > most) {
    return in.fail_value(parts.spec[PodParts::kContainers],
                         "a resource of Volcano's virtual GPUs is not a whole number, or too large");
  }
  out = static_cast<std::int64_t>(amount / kWhole);
  return true;
}

}  // namespace

bool read_gpu_request(KubernetesReading& in, const PodParts& parts, RequestedAmounts& requests, GpuShare& gpu) {
  const json::JsonValue memory = parts.annotations[PodParts::kGpuMemory],
                        fraction = parts.annotations[PodParts::kGpuFraction];
  const json::JsonValue devices = parts.annotations[PodParts::kGpuFractionDevices];
  const Billionths whole = remove_resource(requests, "nvidia.com/gpu");
  if (memory && (whole > 0 || fraction)) return in.fail_value(memory, "cannot request both GPU and GPU memory");
  if (fraction && whole > 0) {
    return in.fail_value(fraction, "cannot have both GPU fraction request and whole GPU resource request/limit");
  }
  if (devices && !memory && !fraction) {
    return in.fail_value(devices, "gpu-fraction-num-devices requires gpu-fraction or gpu-memory");
  }
  std::int64_t count = 1;
  if (devices && !in.digits(devices, count)) return false;
  if (count == 0) return in.fail_value(devices, "must be greater than 0");
  if (memory) {
    gpu = {GpuRequestKind::kMemory, count, 0};
    return in.digits(memory, gpu.amount) && (gpu.amount > 0 || in.fail_value(memory, "must be greater than 0"));
  }
  if (fraction) {
    if (!in.expect(fraction, json::JsonKind::kString)) return false;
    const auto number = parse_number(fraction.string());
    const auto share =
        number ? count_units(*number, QuantityUnit::kMillionth, Rounding::kDown) : Result<std::int64_t>(number.error());
    if (!share) return in.fail_value(fraction, share.error().message);
    gpu = {GpuRequestKind::kFraction, count, *share};
    return (*share > 0 && *share < 1'000'000) || in.fail_value(fraction, "must be greater than 0 and less than 1");
  }
  if (whole % kWhole != 0 || whole / kWhole > std::numeric_limits<std::int32_t>::max()) {
    return in.fail_value(parts.spec[PodParts::kContainers], "nvidia.com/gpu must be a whole number of devices");
  }
  if (whole > 0) gpu = {GpuRequestKind::kWhole, static_cast<std::int64_t>(whole / kWhole), 0};
  return true;
}

// Volcano's virtual GPUs: a share of each of `vgpu-number` devices. Without memory it is all of the device. Other
// requests next to the memory cannot be expressed with it.
bool read_virtual_gpus(KubernetesReading& in, const PodParts& parts, RequestedAmounts& requests, GpuShare& gpu,
                       std::string_view& held) {
  const Billionths number = remove_resource(requests, "volcano.sh/vgpu-number");
  const Billionths memory = remove_resource(requests, "volcano.sh/vgpu-memory");
  const Billionths percentage = remove_resource(requests, "volcano.sh/vgpu-memory-percentage");
  const Billionths cores = remove_resource(requests, "volcano.sh/vgpu-cores");
  if (number == 0 && memory == 0) return true;
  if (gpu.kind != GpuRequestKind::kNone) {
    return in.fail_value(parts.spec[PodParts::kContainers], "cannot request both GPU and virtual GPU");
  }
  std::int64_t devices = 1, mib = 0, percent = 0;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (number > 0 && !read_whole(in, parts, number, kMost, devices)) return false;
  if (!read_whole(in, parts, memory, kMost, mib) || !read_whole(in, parts, percentage, kMost, percent)) return false;
  const bool is_whole = cores >= 100 * kWhole || (mib == 0 && (percent == 0 || percent >= 100));
  if (is_whole) {
    gpu = {GpuRequestKind::kWhole, devices, 0};
  } else if (mib > 0) {
    gpu = {GpuRequestKind::kMemory, devices, mib};
  } else {
    gpu = {GpuRequestKind::kFraction, devices, percent * 10'000};
  }
  const bool has_several = devices > 1 && parts.spec[PodParts::kContainers].size() > 1;
  if (!is_whole && cores > 0)
    keep_first_reason(held, "the pod requests both a share of GPU cores and GPU memory, which Muster does not plan");
  if (!is_whole && (has_several || (mib > 0 && percent > 0)))
    keep_first_reason(held, "the pod requests virtual GPUs of several sizes, which Muster does not plan");
  if (!is_whole && parts.annotations[PodParts::kVgpuMode] &&
      parts.annotations[PodParts::kVgpuMode].is(json::JsonKind::kString) &&
      parts.annotations[PodParts::kVgpuMode].string() == "mig") {
    keep_first_reason(held, "the pod requests virtual GPUs in MIG mode, which Muster does not plan");
  }
  return true;
}

bool read_gpu_groups(KubernetesReading& in, json::JsonValue labels, std::vector<std::string_view>& out) {
  if (!labels) return true;
  for (const json::JsonMember label : labels.members()) {
    if (label.key.starts_with(kGpuGroupPrefix)) {
      out.push_back(label.key.substr(kGpuGroupPrefix.size()));
    } else if (label.key == kGpuGroup) {
      std::string_view group;
      if (!in.text(label.value, group)) return false;
      if (!group.empty()) out.push_back(group);
    }
  }
  std::ranges::sort(out);
  const auto rest = std::ranges::unique(out);
  out.erase(rest.begin(), rest.end());
  return true;
}

}  // namespace muster::kubernetes
