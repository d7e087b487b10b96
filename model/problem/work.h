// The size of a pod's request, in the units in which work, devices and queue usage are counted (docs/semantics.md,
// "Quantities").
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/problem/problem.h"

namespace muster {

// A kind of device in the snapshot: its model (empty: unknown) and its memory (never 0).
struct DeviceKind {
  std::string_view model;
  std::int64_t memory_mib = 0;
};

// The distinct kinds of the cluster's devices with known memory, smallest first; cordoned nodes included.
std::vector<DeviceKind> device_kinds(const Snapshot& snapshot);

// Memory of the smallest device that a memory request of the spec accepts: of an accepted model and large enough; if
// there is none, the smallest of an accepted model; else the smallest. 0 if no memory is known.
std::int64_t reference_device_mib(const PodSpec& spec, std::span<const DeviceKind> kinds);

// Millionths of a device of all that the request takes on devices with this many MiB (relevant to memory requests only;
// each device is rounded to the nearest, halves up). A memory request counts as whole devices if the MiB are 0.
MicroGpu gpu_usage(const GpuRequest& request, std::int64_t device_mib);

// Thousandths of a GPU that a request for devices is worth, before MIG slices; the rules as for gpu_usage, rounded
// once.
Work device_work(const GpuRequest& request, std::int64_t device_mib);

// The larger of the cpu and memory shares of `total`, times `total_gpu_work`, rounded down. A total of 0 counts as a
// share of 0.
Work dominant_share_work(Amount cpu, Amount memory, const QueueAmounts& total, Work total_gpu_work);

// Work x weight, rounded to the nearest, halves up; at least 1, so that the eviction or move of a pod always has a
// cost.
Work weighted(Work work, double weight);

}  // namespace muster
