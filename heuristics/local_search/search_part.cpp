#include "heuristics/local_search/search_part.h"

#include <algorithm>
#include <utility>

#include "heuristics/local_search/plan_value.h"
#include "model/objective/evaluation.h"

namespace muster::local_search {

void NodeContents::add(const Problem& problem, NodeIndex node, const PodClass& pod_class, const DeviceList& on,
                       std::int64_t sign) {
  for (std::size_t r = 0; r < free.size(); ++r) free[r] += sign * pod_class.request[r];
  if (on.empty()) return;
  const DeviceUnits units = share_units(pod_class, problem.class_of(node));
  for (const std::int32_t device : on) devices[static_cast<std::size_t>(device)] += sign * units;
}

PartNodes::PartNodes(const SearchScope& scope, const ClusterState& state, const std::vector<NodeIndex>& nodes)
    : scope_(scope), problem_(scope.problem()) {
  nodes_.reserve(nodes.size());
  for (const NodeIndex node : nodes) add(state, node);
  list_idle();
}

void PartNodes::add(const ClusterState& state, NodeIndex node) {
  PartNode added;
  added.node = node;
  const auto free = state.free(node);
  const auto devices = state.free_devices(node);
  added.contents = {{free.begin(), free.end()}, {devices.begin(), devices.end()}};
  for (const PodIndex pod : state.pods_on(node)) {
    if (scope_.may_move(pod)) added.pods.push_back({pod, state.place_of(pod).devices});
    added.breaking += scope_.whole_nodes().breaks(pod, node) ? 1 : 0;
  }
  value(added);
  nodes_.push_back(std::move(added));
}

void PartNodes::value(PartNode& node) const {
  node.idle = idle_thousandths(problem_, node.node, node.contents.devices);
  node.last_level =
      last_level_of(problem_, {problem_.nodes[node.node].node_class, node.contents.free, node.contents.devices});
}

void PartNodes::change(std::size_t position, const NodeContents& contents, const Trial& trial,
                       std::int32_t breaking_change) {
  PartNode& node = nodes_[position];
  node.contents = contents;
  std::erase_if(node.pods, [&](const PartNode::Occupant& occupant) {
    const auto is_it = [&](const TrialPod& pod) { return pod.pod == occupant.pod; };
    return std::ranges::any_of(trial.required, is_it) || std::ranges::any_of(trial.optional, is_it);
  });
  trial.for_each([&](const TrialPod& pod) {
    if (pod.to == node.node) node.pods.push_back({pod.pod, pod.to_devices});
  });
  node.breaking += breaking_change;
  value(node);
}

void PartNodes::list_idle() {
  with_idle_devices_.clear();
  for (std::size_t position = 0; position < nodes_.size(); ++position) {
    if (nodes_[position].idle > 0) with_idle_devices_.push_back(position);
  }
}

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
      if (problem_.gangs[gang].pods.size() == 1 || !scope_.may_drop(gang) || !is_placed_by_plan(occupant.pod)) continue;
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
  if (!scope_.may_drop(gang) || !is_placed_by_plan(pod)) return false;
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
