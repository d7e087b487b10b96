#include "heuristics/local_search/part/neighbourhood_draw.h"

#include <algorithm>

#include "heuristics/state/fit.h"
#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::local_search {

NeighbourhoodDraw::NeighbourhoodDraw(const Problem& problem, const PartNodes& nodes, const PartGangs& gangs,
                                     RandomSource& random)
    : problem_(problem), nodes_(nodes), gangs_(gangs), random_(random) {
  MUSTER_REQUIRE(nodes.size() > 0);
}

void NeighbourhoodDraw::add_some(Neighbourhood& neighbourhood) {
  const std::size_t count = std::min(1 + random_.below(kTuning.heuristics.few), nodes_.size());
  for (std::size_t i = 0; i < count; ++i) neighbourhood.add(random_.coin() ? draw() : draw_idle());
}

void NeighbourhoodDraw::add_for(GangIndex gang, Neighbourhood& neighbourhood) {
  const PodClass& pod_class = problem_.class_of(problem_.gangs[gang].pods.front());
  const std::size_t count = std::min({problem_.gangs[gang].pods.size() + 1, kTuning.search.trial_nodes, nodes_.size()});
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t position = i % 2 == 0 ? draw_idle() : draw();
    if (fit::node(problem_, pod_class, nodes_[position].node)) neighbourhood.add(position);
  }
}

void NeighbourhoodDraw::add_of(GangIndex gang, Neighbourhood& neighbourhood) {
  for (const PodIndex pod : problem_.gangs[gang].pods) neighbourhood.add(gangs_.position_of(pod));
  if (neighbourhood.size() > kTuning.search.trial_nodes) neighbourhood.clear();
  if (neighbourhood.is_empty()) return;
  for (std::size_t more = random_.below(kTuning.heuristics.few); more > 0; --more) neighbourhood.add(draw());
}

std::size_t NeighbourhoodDraw::draw_idle() {
  const std::vector<std::size_t>& idle = nodes_.with_idle_devices();
  if (idle.empty()) return draw();
  const auto draw_one = [&] { return idle[random_.below(idle.size())]; };
  std::size_t best = draw_one();
  for (std::size_t draws = 1; draws < kTuning.heuristics.few; ++draws) {
    const std::size_t other = draw_one();
    if (nodes_[other].idle > nodes_[best].idle) best = other;
  }
  return best;
}

}  // namespace muster::local_search
