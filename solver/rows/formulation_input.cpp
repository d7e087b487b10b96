#include "solver/rows/formulation_input.h"

namespace muster::formulation {

Indexed<QueueIndex, std::vector<GangClassIndex>> classes_by_queue(const Problem& problem, const Demand& demand) {
  Indexed<QueueIndex, std::vector<GangClassIndex>> result(problem.queues.size());
  for (const GangClassIndex index : demand.gang_classes.indices())
    if (const QueueIndex queue = demand.gang_classes[index].queue; !queue.is_none()) result[queue].push_back(index);
  return result;
}

}  // namespace muster::formulation
