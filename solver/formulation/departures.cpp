#include "solver/formulation/departures.h"

#include <map>
#include <optional>

namespace muster::formulation {
namespace {

// Gangs of which a pod that waited is placed, by node, and any of them.
struct Claimants {
  std::map<NodeIndex, GangIndex> by_node;
  GangIndex any = GangIndex::none();

  void add(const Problem& problem, const ClusterState& state, PodIndex pod) {
    if (!state.is_present(pod) || problem.pods[pod].status != PodStatus::kPending) return;
    by_node.try_emplace(state.node_of(pod), problem.pods[pod].gang);
    if (any.is_none()) any = problem.pods[pod].gang;
  }
  GangIndex on(NodeIndex node) const {
    const auto found = by_node.find(node);
    return found != by_node.end() ? found->second : any;
  }
};

class Explanation {
 public:
  Explanation(const DepartureInput& input, const ClusterState& state) : in_(input), state_(state) {}

  void explain(const std::vector<PodIndex>& leaving, std::vector<std::pair<std::size_t, std::int64_t>> evicted,
               std::vector<PlannedEviction>& evictions) {
    for (const PodIndex pod : leaving) {
      const NodeIndex node = in_.problem.pods[pod].node;
      if (state_.is_present(pod)) {
        if (!is_home(state_, pod)) evictions.push_back({pod, EvictionReason::kConsolidate, any_claimant(node)});
        continue;
      }
      while (!evicted.empty() && evicted.back().second == 0) evicted.pop_back();
      if (evicted.empty()) {  // a rounded solution: some evicted pod of the class has a reason
        evictions.push_back({pod, EvictionReason::kPreempt, GangIndex::none()});
        continue;
      }
      --evicted.back().second;
      const std::size_t channel = evicted.back().first;
      evictions.push_back({pod, in_.channels[channel].reason, claimant_of(channel, node)});
    }
  }

 private:
  GangIndex claimant_of(std::size_t channel, NodeIndex node) {
    const auto [found, is_new] = of_channel_.try_emplace(channel);
    if (is_new)
      for (const GangClassIndex index : in_.channels[channel].claimants)
        for (const GangIndex gang : in_.demand.gang_classes[index].gangs)
          for (const PodIndex pod : in_.problem.gangs[gang].pods) found->second.add(in_.problem, state_, pod);
    return found->second.on(node);
  }

  GangIndex any_claimant(NodeIndex node) {
    if (!all_) {
      all_.emplace();
      for (const PodIndex pod : in_.problem.pods.indices()) all_->add(in_.problem, state_, pod);
    }
    return all_->on(node);
  }

  const DepartureInput& in_;
  const ClusterState& state_;
  std::map<std::size_t, Claimants> of_channel_;
  std::optional<Claimants> all_;
};

}  // namespace

std::vector<PlannedEviction> explain_departures(
    const DepartureInput& input,
    const Indexed<RunningCellIndex, std::vector<std::pair<std::size_t, std::int64_t>>>& evicted,
    const Indexed<RunningCellIndex, std::vector<PodIndex>>& leaving, const ClusterState& state) {
  std::vector<PlannedEviction> evictions;
  Explanation explanation(input, state);
  for (const RunningCellIndex cell : input.demand.running.indices())
    explanation.explain(leaving[cell], evicted[cell], evictions);
  return evictions;
}

}  // namespace muster::formulation
