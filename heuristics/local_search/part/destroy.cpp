#include "heuristics/local_search/part/destroy.h"

#include <cstddef>
#include <utility>

#include "model/base/require.h"

namespace muster::local_search {

void DestroyOperator::apply(Neighbourhood& neighbourhood, Trial& trial) {
  MUSTER_REQUIRE(trial.required.empty() && trial.optional.empty() && trial.placed.empty());
  const double part = random_.coin() ? 1 : random_.unit();  // of the pods that may be destroyed
  for (std::size_t at = 0; at < neighbourhood.size(); ++at) {
    const PartNode& node = neighbourhood.node(at);
    for (const PartNode::Occupant& occupant : node.pods) {
      const bool leaves = problem_.pods[occupant.pod].gang == trial.leaving;
      if (!leaves && random_.unit() >= part) continue;
      neighbourhood.take(at, occupant);
      add(occupant, node.node, trial);
    }
  }
}

void DestroyOperator::add(const PartNode::Occupant& occupant, NodeIndex node, Trial& trial) {
  const PodIndex pod = occupant.pod;
  TrialPod destroyed{pod, problem_.pods[pod].pod_class, node, NodeIndex::none(), occupant.devices, {}};
  if (problem_.pods[pod].gang == trial.leaving) {
    trial.optional.push_back(std::move(destroyed));
  } else if (gangs_.may_drop(pod)) {
    destroyed.is_offered = true;
    gangs_.note_dropped(pod);
    waiting_.insert(pod);
    trial.optional.push_back(std::move(destroyed));
  } else {
    trial.required.push_back(std::move(destroyed));
  }
}

}  // namespace muster::local_search
