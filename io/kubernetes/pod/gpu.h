// The GPUs that a pod requests: whole devices, a share by KAI's annotations, or a part of cards that another system
// shares (card_share.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "io/kubernetes/pod/card_share.h"
#include "io/kubernetes/pod/parts.h"
#include "io/kubernetes/pod/requests.h"
#include "model/snapshot/snapshot.h"

namespace muster::kubernetes {

struct GpuShare {
  GpuRequestKind kind = GpuRequestKind::kNone;
  std::int64_t devices = 0;
  std::int64_t amount = 0;  // millionths of a device, or MiB
  bool is_shared() const { return kind == GpuRequestKind::kFraction || kind == GpuRequestKind::kMemory; }
};

// What the pod requests, and where a running pod has it.
struct PodGpus {
  GpuShare request;
  CardShare share;                       // what `request` stands for; settle_cards decides how
  std::vector<std::string_view> groups;  // KAI's groups of sharers that the pod names, sorted; one device each
  std::vector<std::int32_t> devices;     // of its node; empty: any
};

// Takes the GPUs out of `requests`.
// Errors: InvalidValue, of requests that contradict each other or are no whole number.
[[nodiscard]] bool read_gpu_request(KubernetesReading& reading, const PodParts& parts, RequestedAmounts& requests,
                                    GpuShare& out);

// The device groups in the labels of a pod; absent labels have none. Errors: WrongType.
[[nodiscard]] bool read_gpu_groups(KubernetesReading& reading, json::JsonValue labels,
                                   std::vector<std::string_view>& out);

}  // namespace muster::kubernetes
