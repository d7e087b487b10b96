// The objects of one part of the search, as improve_part has them; for tests of the operators.
#pragma once

#include "heuristics/local_search/neighbourhood.h"
#include "heuristics/local_search/plan_value.h"
#include "heuristics/local_search/search_part.h"
#include "heuristics/local_search/trial.h"
#include "test/heuristics/local_search/search_case.h"

namespace muster::local_search {

struct OperatorsCase {
  OperatorsCase(const SearchCase& search, const SearchPart& of)
      : part(of),
        nodes(search.scope, search.state, part.nodes),
        gangs(search.scope, search.state, part, nodes),
        waiting(search.scope),
        neighbourhood(search.scope, nodes, random) {
    for (const PodIndex pod : part.waiting_pods) waiting.insert(pod);
  }

  void add_all_nodes() {
    for (std::size_t position = 0; position < nodes.size(); ++position) neighbourhood.add(position);
  }

  SearchPart part;
  RandomSource random{1};
  PartNodes nodes;
  PartGangs gangs;
  WaitingPods waiting;
  Neighbourhood neighbourhood;
  Trial trial;
};

}  // namespace muster::local_search
