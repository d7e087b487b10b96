// A plan by the names of its pods, nodes and gangs: what a plan line says, for a cluster that may have changed since.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/error_code.h"
#include "model/base/interning.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::muster_v1 {

// In the order of the line.
struct NamedPlan {
  struct Device {
    std::int64_t index = 0;
    std::string share;  // the decimal text
  };
  struct Placement {
    std::string pod, node;
    std::vector<Device> devices;
    std::vector<std::string> after;
    std::int64_t step = 0;
  };
  struct Eviction {
    std::string pod, node, for_gang;  // for_gang empty: none
    EvictionReason reason = EvictionReason::kPreempt;
  };
  std::vector<Placement> placements;
  std::vector<Eviction> evictions;
};

// As the line of the plan would have it. Cost: O(n log n).
NamedPlan named_plan(const Problem& problem, const Plan& plan);

// Finds the objects of a problem by name, for one plan or for many plans of parts of it.
//
// Refers to the problem, which must outlive it.
class PlanResolver {
 public:
  // Cost: O(pods + nodes + gangs).
  explicit PlanResolver(const Problem& problem);

  bool has_gang(std::string_view name) const { return gangs_.find(name) != NameTable::kAbsent; }
  // The plan by indices. Errors, with their path in the line: UnknownName, of a name that the snapshot does not have;
  // DuplicateName, of a pod that is listed twice; InvalidValue, of a wrong share of a device, and of a pod that runs
  // elsewhere.
  Result<Plan> resolve(const NamedPlan& named) const;

 private:
  const Problem& problem_;
  NameTable pods_, nodes_, gangs_;
};

// The part of one device that a pod takes, as written in a plan line.
inline constexpr std::int64_t kWholeDevice = 1'000'000;

// Millionths of a device: 10^6 for a whole one, the fraction, or a memory request's part of the device's MiB, rounded
// to the nearest, halves up. 0 if the device's memory is unknown, which no rule lets a memory request meet.
std::int64_t device_share(const GpuRequest& request, std::int64_t device_memory_mib);

}  // namespace muster::muster_v1
