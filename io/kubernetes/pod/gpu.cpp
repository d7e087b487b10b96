#include "io/kubernetes/pod/gpu.h"

#include <algorithm>
#include <limits>

namespace muster::kubernetes {

namespace {

constexpr std::string_view kGpuGroup = "runai-gpu-group", kGpuGroupPrefix = "runai-gpu-group/";
constexpr Billionths kWhole = 1'000'000'000;

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
    if (in.tried(in.digits(memory, gpu.amount)) && gpu.amount > 0) return true;
    return in.fail_value(memory, "must be a whole number of MiB, at least 1, in digits without a unit");
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
