// Draws the nodes of a trial, most of them with idle devices: those of several pods, of a waiting gang, or of a gang
// that is to leave.
#pragma once

#include <cstddef>

#include "heuristics/local_search/part/gangs.h"
#include "heuristics/local_search/part/neighbourhood.h"
#include "heuristics/local_search/part/nodes.h"
#include "heuristics/local_search/random_source.h"
#include "model/problem/problem.h"

namespace muster::local_search {

// Each function adds to a neighbourhood that is empty. Cost: O(nodes that are added, squared).
class NeighbourhoodDraw {
 public:
  // All must outlive it. Requires at least one node.
  NeighbourhoodDraw(const Problem& problem, const PartNodes& nodes, const PartGangs& gangs, RandomSource& random);

  void add_some(Neighbourhood& neighbourhood);
  // Nodes that pass the filters of the first pod of a waiting gang: one more than it has pods, if there are as many.
  void add_for(GangIndex gang, Neighbourhood& neighbourhood);
  // All nodes of a gang that is whole in this part, and perhaps others. None: they are too many.
  void add_of(GangIndex gang, Neighbourhood& neighbourhood);

 private:
  std::size_t draw() { return random_.below(nodes_.size()); }
  std::size_t draw_idle();

  const Problem& problem_;
  const PartNodes& nodes_;
  const PartGangs& gangs_;
  RandomSource& random_;
};

}  // namespace muster::local_search
