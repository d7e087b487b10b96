// What a synthetic cluster is made of.
//
// Every share is of 0..1 and is met in expectation; the load and the occupation are met to within one pod.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "datasets/generator/instance.h"
#include "model/base/require.h"

namespace muster::generator {

// What the snapshot is about: drawn at random from the shares below, or one situation of policy that is hard at scale
// (situations.h).
enum class Situation : std::uint8_t { kDrawn, kReclaimGang, kReclaimSingles, kConsolidate, kUnplaceable };

// The nodes. Every node has the same resources.
struct GeneratedCluster {
  std::int32_t nodes = 100;
  std::int32_t gpus_per_node = 8;
  std::int32_t cores_per_node = 96;
  std::int32_t memory_gib_per_node = 768;
  std::int32_t gpu_memory_gib = 0;      // of one device; 0: the snapshot does not say
  std::vector<std::string> gpu_models;  // one drawn for each node; empty: no model is said
  std::int32_t zones = 0;               // > 0: topology zone/rack, nodes dealt to racks in equal, contiguous parts
  std::int32_t racks_per_zone = 4;
  double tainted = 0;    // share of nodes with a NoSchedule taint, and of gangs that tolerate it
  double selecting = 0;  // share of gangs that ask for one of three pools of nodes
  friend bool operator==(const GeneratedCluster&, const GeneratedCluster&) = default;
};

// The leaf queues. More than four have departments of four above them.
struct GeneratedQueues {
  std::int32_t count = 1;  // leaves; 1: none is written, all work is in `default`
  double quota = 1;        // the leaves' GPU quotas together, as a share of the cluster
  double limit = 0;        // a leaf's limit as a multiple of its quota; 0: none
  // > 0: this share of the running gangs is in the first queue, the rest even in the others; and as small a share of
  // the pending gangs as is left over from it. 0: all even. Needs two queues.
  double skew = 0;
  friend bool operator==(const GeneratedQueues&, const GeneratedQueues&) = default;
};

// The shapes of pods, by share; the whole-GPU pods divide the rest as 35 : 10 : 5 : 10 into those of 1, 2, 4 and 8
// GPUs, as far as a node has so many.
struct GeneratedPods {
  double fractions = 0.4;
  double memory_requests = 0;  // of device memory, in place of a fraction; needs gpu_memory_gib
  double cpu_only = 0;
  double selecting_models = 0;  // share of gangs that accept some of the GPU models only
  friend bool operator==(const GeneratedPods&, const GeneratedPods&) = default;
};

// Gangs: sizes 1..largest with weights 1/size^2, yet at most a quarter of the cluster's GPUs. The shares are of gangs
// of two pods and more.
struct GeneratedGangs {
  std::int32_t largest = 1;
  double elastic = 0;             // with a minimum below their size
  double subgroups = 0;           // of gangs of four and more: in two to four subgroups, each with a minimum
  double topology_required = 0;   // all in one rack; needs zones
  double topology_preferred = 0;  // in one zone if possible; needs zones
  double one_a_node = 0;          // no two of its pods on one node
  double gated = 0;               // of all pending gangs
  friend bool operator==(const GeneratedGangs&, const GeneratedGangs&) = default;
};

// What runs already, put down by random fit.
struct GeneratedRunning {
  double occupied = 0;     // share of the GPUs under running pods; falls short where too few draws find a place
  double preemptible = 0;  // share of the running gangs
  double releasing = 0;    // share of the running gangs that are on their way out
  // Distinct instants at which running gangs started; 0: each has its own.
  std::int32_t start_times = 0;
  friend bool operator==(const GeneratedRunning&, const GeneratedRunning&) = default;
};

// Of a situation only: pending gangs, and pods of each. 0: as many as the situation says.
struct SituationSize {
  std::int32_t gangs = 0, gang_pods = 0;
  friend bool operator==(const SituationSize&, const SituationSize&) = default;
};

struct GeneratorOptions {
  std::string id = "synth";
  std::uint64_t seed = 1;
  Situation situation = Situation::kDrawn;
  SituationSize size;
  GeneratedCluster cluster;
  GeneratedQueues queues;
  std::int32_t priorities = 1;  // classes of value 50, 75, 100, ...; 1: none is written, all is of priority 0
  // Pending gangs are of no lowest class, running ones of no highest. Needs two priorities.
  bool pending_above = false;
  GeneratedPods pods;
  GeneratedGangs gangs;
  GeneratedRunning running;
  // Pending pods ask for this many times the free GPUs. None: 1.2 on an empty cluster, 1.5 on an occupied one.
  std::optional<double> load;
  bool place_only = false;  // the policy's only action is to place
  friend bool operator==(const GeneratorOptions&, const GeneratorOptions&) = default;
};

// Gives each distinct pod shape one position in an instance's list of shapes.
class ShapeTable {
 public:
  // The shape's position, appended to `instance.shapes` if it is new. Requires the same instance in every call. Cost:
  // O(log shapes).
  std::int32_t position_of(const PodShape& shape, Instance& instance) {
    const auto [found, added] = positions_.try_emplace(shape, static_cast<std::int32_t>(instance.shapes.size()));
    if (added) instance.shapes.push_back(shape);
    MUSTER_REQUIRE(static_cast<std::size_t>(found->second) < instance.shapes.size());
    return found->second;
  }

 private:
  struct Before {
    static auto key(const PodShape& s) {
      return std::tie(s.cpu_milli, s.memory_mib, s.gpu.kind, s.gpu.devices, s.gpu.share, s.gpu_models, s.pool,
                      s.tolerates_taint, s.one_a_node);
    }
    bool operator()(const PodShape& a, const PodShape& b) const { return key(a) < key(b); }
  };
  std::map<PodShape, std::int32_t, Before> positions_;
};

}  // namespace muster::generator
