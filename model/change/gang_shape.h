// A workload that the cluster has no example of: pods of one shape that start together, by names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/base/error.h"
#include "model/snapshot/snapshot.h"

namespace muster::change {

struct PodShape {
  std::vector<std::pair<std::string, Amount>> resources;  // by name: cpu in thousandths, memory in bytes; without GPUs
  GpuRequest gpu;
  std::vector<std::string> gpu_models;  // empty: any
  // Keys of taints that it tolerates, whatever their value and effect. If it asks for GPUs, also `nvidia.com/gpu`, as
  // the admission plugin ExtendedResourceToleration adds it.
  std::vector<std::string> tolerated;

  friend bool operator==(const PodShape&, const PodShape&) = default;
};

struct GangShape {
  std::int32_t pods = 1;       // all of which start together
  PodShape pod;                // of each of them
  std::string required_level;  // as SetRequiredLevel::level: all pods in one domain; empty: none

  friend bool operator==(const GangShape&, const GangShape&) = default;
};

// `count` more gangs that wait, created at the time of the snapshot. One is called `gang`, more of them `gang+1`,
// `gang+2`, ...; the pods of each have its name and a number.
struct AddGang {
  std::string gang;
  std::string queue = "default";
  std::int32_t priority = 0;
  GangShape shape;
  std::int64_t count = 1;
  std::optional<bool> preemptible;  // none: as its priority says
};

// The request of a pod of the shape, in the names of the snapshot, which keeps its texts.
PodSpec spec_of(const PodShape& shape, Snapshot& snapshot);

// The same with `devices` GPUs for each pod, and all other requests reduced alike, rounded up. Requires whole GPUs, and
// no more of them than it has.
GangShape reduced(GangShape shape, std::int32_t devices);

// "16x8,model=H100,cpu=4,memory=16Gi": a text of which parse_shape makes the same shape (cli/answers/shape.h).
std::string text_of(const GangShape& shape);

}  // namespace muster::change
