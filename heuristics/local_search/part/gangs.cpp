#include "heuristics/local_search/part/gangs.h"

namespace muster::local_search {

PartGangs::PartGangs(const SearchScope& scope, const ClusterState& state, const SearchPart& part,
                     const PartNodes& nodes)
    : scope_(scope), problem_(scope.problem()), state_(state), part_(part), waiting_(part.waiting_gangs) {
  find_whole_gangs(nodes);
}

void PartGangs::find_whole_gangs(const PartNodes& nodes) {
  std::map<GangIndex, std::int32_t> here;
  for (std::size_t position = 0; position < nodes.size(); ++position) {
    for (const PartNode::Occupant& occupant : nodes[position].pods) {
      const GangIndex gang = problem_.pods[occupant.pod].gang;
      if (problem_.gangs[gang].pods.size() == 1 || !scope_.may_drop(gang)) continue;
      positions_[occupant.pod] = position;
      ++here[gang];
    }
  }
  for (const auto& [gang, pods] : here) {
    if (pods == std::ssize(problem_.gangs[gang].pods) && scope_.spare(state_, gang) == 0) whole_.push_back(gang);
  }
}

bool PartGangs::may_drop(PodIndex pod) {
  const GangIndex gang = problem_.pods[pod].gang;
  if (!scope_.may_drop(gang)) return false;
  return problem_.gangs[gang].pods.size() == 1 || (gang.value() % part_.of == part_.number && spare(gang) > 0);
}

std::int32_t& PartGangs::spare(GangIndex gang) {
  const auto [at, is_new] = spare_.try_emplace(gang, 0);
  if (is_new) at->second = scope_.spare(state_, gang);
  return at->second;
}

void PartGangs::change_spare(PodIndex pod, std::int32_t change) {
  const GangIndex gang = problem_.pods[pod].gang;
  if (problem_.gangs[gang].pods.size() > 1) spare(gang) += change;
}

void PartGangs::note_kept(const Trial& trial) {
  if (!trial.leaving.is_none()) {
    std::erase(whole_, trial.leaving);
    waiting_.push_back(trial.leaving);
  }
  for (const GangIndex gang : trial.completed) {
    std::erase(waiting_, gang);
    spare_[gang] = 0;
    if (problem_.groups[problem_.gangs[gang].root].minimum == std::ssize(problem_.gangs[gang].pods))
      whole_.push_back(gang);
  }
}

}  // namespace muster::local_search
