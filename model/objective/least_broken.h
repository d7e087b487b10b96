// How many nodes a plan with given levels cannot leave whole. Internal to model/objective/wholeness_bounds.h.
//
// A node that counts and holds a pod that breaks it is in use. It ends whole only if all such pods leave, and each of
// them adds to the level `evicted` or `moved`: so only a limited number can. The nodes that are in use in the end must
// hold all pods that are present then: those that certainly stay where they are, and those that may leave or come,
// except the missing ones (model/objective/missing_pods.h). If j nodes are freed, those with the least free capacity
// are the best
// choice, and the largest of the idle nodes take what the rest cannot hold; the best j counts.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "model/objective/free_capacity.h"
#include "model/objective/missing_pods.h"
#include "model/objective/possibilities.h"
#include "model/objective/wholeness.h"
#include "model/problem/problem.h"

namespace muster {

// Prices of pods that no node can exceed: the sum of the prices then bounds the number of nodes that the pods need.
//
// Any such price gives a valid bound. They are dual solutions of the bin packing relaxation (Martello and Toth 1990,
// section 8.3), chosen heuristically.
//
// A price of pods, and the maximum total of all pods in the capacity of a node.
struct PodPrice {
  std::function<std::int64_t(const PodClass&)> of_pod;
  std::function<std::int64_t(const NodeEnd&)> of_room;
};

// Whole devices that the pod asks for; 0: none, or parts of them.
std::int64_t whole_devices(const PodClass& pod_class);

// The tightest prices come first. `sizes`: the numbers of whole devices that pods ask for. The problem must outlive
// them.
std::vector<PodPrice> pod_prices(const Problem& problem, const std::set<std::int64_t>& sizes);

class LeastBroken {
 public:
  // `leaves`: by pod, whether it may leave. `room`: what is free without these pods. `is_broken`: by node, whether it
  // is not whole even without them. All must outlive it. Cost: O(pods).
  struct Input {
    const Problem& problem;
    const WholeNodes& whole_nodes;
    const Possibilities& possibilities;
    const MissingPods& missing;
    const Indexed<PodIndex, std::uint8_t>& leaves;
    const Indexed<NodeIndex, std::uint8_t>& is_broken;
    const FreeCapacity& room;
  };
  explicit LeastBroken(const Input& input);

  // Nodes that count and are not whole in the end; counting stops at `enough`. Cost: O(prices x (nodes + pods) x log).
  std::int64_t count(std::int64_t enough) const;

 private:
  // Equal pods that must be somewhere in the end, unless they are missing.
  struct Asked {
    PodClassIndex pod_class;
    MissingPods::Cost cost;
    std::int64_t count = 0;
  };
  enum class Use : std::uint8_t {
    kFree,      // it does not count, so pods may use it at no cost
    kBroken,    // for certain
    kFreeable,  // in use, but all pods that use it may leave
    kIdle
  };

  bool is_on_exceeded(PodIndex pod) const;
  void add_asked(PodIndex pod);
  void find_uses();
  Wide cost_of_leaving(PodIndex pod) const;
  void find_most_freed();
  std::int64_t by_price(const PodPrice& price) const;
  std::int64_t asked_for(const PodPrice& price) const;

  Input in_;
  std::vector<Asked> asked_;
  Indexed<NodeIndex, Use> use_;
  std::int64_t broken_ = 0, freeable_ = 0, most_freed_ = 0;
};

}  // namespace muster
