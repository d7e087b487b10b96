#include "test/brute_force/actors.h"

#include <algorithm>

namespace muster::brute_force {
namespace {

class Minimum {
 public:
  Minimum(const Problem& problem, const Cast& cast, ActorSet there) : problem_(problem) {
    for_each_actor(there, [&](std::size_t actor) { present_.push_back(cast.actors[actor].pod); });
  }

  bool is_met(GroupIndex index) const {
    const Group& group = problem_.groups[index];
    const std::int64_t count = group.is_leaf()
                                   ? std::ranges::count_if(group.pods, [this](PodIndex pod) { return counts(pod); })
                                   : std::ranges::count_if(group.children, [this](GroupIndex g) { return is_met(g); });
    return count >= group.minimum;
  }

 private:
  bool counts(PodIndex pod) const {
    return problem_.pods[pod].status == PodStatus::kSucceeded || std::ranges::find(present_, pod) != present_.end();
  }

  const Problem& problem_;
  std::vector<PodIndex> present_;
};

}  // namespace

Cast::Cast(const Problem& problem) : at_home(problem.nodes.size(), 0), of_gang(problem.gangs.size(), 0) {
  for (const PodIndex index : problem.pods.indices()) {
    const Pod& pod = problem.pods[index];
    const bool runs = pod.status == PodStatus::kRunning;
    if (!runs && pod.status != PodStatus::kPending) continue;
    const std::size_t actor = actors.size();
    actors.push_back({index, pod.gang, runs ? pod.node : NodeIndex::none()});
    if (actor >= kMostActors) continue;
    (runs ? running : pending) |= only(actor);
    of_gang[pod.gang] |= only(actor);
    if (runs) at_home[pod.node] |= only(actor);
  }
}

bool minimum_is_met(const Problem& problem, const Cast& cast, GangIndex gang, ActorSet there) {
  return Minimum(problem, cast, there & cast.of_gang[gang]).is_met(problem.gangs[gang].root);
}

}  // namespace muster::brute_force
