// The pod sets of a Workload of Kueue, from the pods of its gang.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/kubernetes/groups.h"

namespace muster::kubernetes {

class KueuePodSets {
 public:
  // Counts the pod with its set. The subgroup of that name, if the sets need subgroups.
  std::string_view add(const KubernetesPod& pod);

  // The minimum and the topology of the gang, once all pods are added. A Workload is admitted whole; once it is, each
  // of its pods starts by itself. If several sets ask for a topology, each is a subgroup.
  void settle(KubernetesGroup& group) const;

 private:
  struct PodSet {
    std::string_view name;
    std::int64_t there = 0, started = 0;  // that have not failed or left; that run or have succeeded
    TopologyRequest topology;
  };
  std::vector<PodSet> sets_;
  std::unordered_map<std::string_view, std::size_t> positions_;  // by name
};

}  // namespace muster::kubernetes
