#include "solver/cells/cell_snapshot.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "model/base/require.h"

namespace muster::cells {
namespace {

// The label of pods that must stay, and the name of the disruption budgets that keep them.
constexpr std::string_view kSpanning = "muster/spans-cells";
constexpr std::string_view kSpanningBudget = "muster-spans-cells";

// Where a pod is or may go; none: in no cell.
CellIndex cell_of(const Problem& problem, const Dealing& dealing, PodIndex index) {
  const Pod& pod = problem.pods[index];
  return pod.node.is_none() ? dealing.cell_of_gang[pod.gang] : dealing.cell_of_node[pod.node];
}

// Of a gang that runs in several cells: in one of them it asks for nothing, and is never stale.
SnapshotGang inert(const SnapshotGang& gang) {
  SnapshotGang part{gang.name, gang.terms, 0, {}, {}, {}, 0, false, {}, Disruption::kPods, kNever, {}};
  return part;
}

// Of a copied snapshot: only the specs that are in use, at new positions.
class SpecMap {
 public:
  SpecMap(const Snapshot& whole, Snapshot& part) : whole_(whole), part_(part), known_(whole.pod_specs.size()) {}
  PodSpecIndex of(PodSpecIndex spec) {
    if (known_[spec].is_none()) known_[spec] = part_.pod_specs.push_back(whole_.pod_specs[spec]);
    return known_[spec];
  }

 private:
  const Snapshot& whole_;
  Snapshot& part_;
  Indexed<PodSpecIndex, PodSpecIndex> known_;
};

}  // namespace

std::string cell_id(const Problem& problem, const std::string& name) {
  return std::string(problem.snapshot->id) + "#" + name;
}

CellSnapshots::CellSnapshots(const Problem& problem, const Dealing& dealing)
    : problem_(problem),
      dealing_(dealing),
      budgets_(divide(problem, dealing)),
      nodes_(dealing.size()),
      gangs_(dealing.size()),
      pods_(dealing.size()) {
  for (const NodeIndex node : problem.nodes.indices()) nodes_[dealing.cell_of_node[node].value()].push_back(node);
  std::vector<CellIndex> cell_of_last(problem.gangs.size());  // for which the gang was added
  for (const PodIndex pod : problem.pods.indices())
    if (const CellIndex cell = cell_of(problem, dealing, pod); !cell.is_none()) pods_[cell.value()].push_back(pod);
  for (std::size_t cell = 0; cell < dealing.size(); ++cell)
    for (const PodIndex pod : pods_[cell]) {
      const GangIndex gang = problem.pods[pod].gang;
      if (gang.value() >= problem.snapshot->gangs.size() || cell_of_last[gang.value()] == CellIndex(cell)) continue;
      cell_of_last[gang.value()] = CellIndex(cell);
      gangs_[cell].push_back(gang);
    }
  for (std::vector<GangIndex>& gangs : gangs_) std::ranges::sort(gangs);
}

bool CellSnapshots::is_inert(CellIndex cell, GangIndex gang) const {
  return dealing_.is_spanning[gang] != 0 || dealing_.cell_of_gang[gang] != cell;
}

Snapshot CellSnapshots::of(CellIndex cell) const {
  const Snapshot& whole = *problem_.snapshot;
  Snapshot part;
  part.text = whole.text;
  part.id = part.text.store(cell_id(problem_, dealing_.names[cell.value()]));
  part.time = whole.time;
  part.policy = whole.policy;
  part.policy.actions.reclaim = false;
  part.policy.over_time.reserve_after = kNever;
  part.definitions = whole.definitions;
  part.queues = whole.queues;
  part.resource_names = whole.resource_names;
  add_nodes(cell, part);
  add_gangs(cell, part);
  add_pods(cell, part);
  set_budgets(cell, part);
  return part;
}

void CellSnapshots::add_nodes(CellIndex cell, Snapshot& out) const {
  for (const NodeIndex node : nodes_[cell.value()]) {
    out.nodes.push_back(problem_.snapshot->nodes[node.value()]);
    if (!problem_.class_of(node).held_for.is_none()) out.nodes.back().unschedulable = true;
  }
}

void CellSnapshots::add_gangs(CellIndex cell, Snapshot& out) const {
  for (const GangIndex gang : gangs_[cell.value()]) {
    const SnapshotGang& whole = problem_.snapshot->gangs[gang.value()];
    out.gangs.push_back(is_inert(cell, gang) ? inert(whole) : whole);
  }
}

void CellSnapshots::add_pods(CellIndex cell, Snapshot& out) const {
  const Snapshot& whole = *problem_.snapshot;
  SpecMap specs(whole, out);
  if (out.policy.expected_workload)
    for (ExpectedPod& expected : *out.policy.expected_workload) expected.spec = specs.of(expected.spec);
  std::set<std::string_view> pinned;  // namespaces
  for (const PodIndex index : pods_[cell.value()]) {
    SnapshotPod pod = whole.pods[index.value()];
    pod.spec = specs.of(pod.spec);
    if (pod.own_gang >= 0) {
      out.own_gang_terms.push_back(whole.own_gang_terms[static_cast<std::size_t>(pod.own_gang)]);
      pod.own_gang = static_cast<std::int32_t>(out.own_gang_terms.size()) - 1;
    }
    if (is_inert(cell, problem_.pods[index].gang)) {
      pod.subgroup = {};
      if (pod.status == PodStatus::kRunning) {
        pod.labels.emplace_back(kSpanning, "true");
        std::ranges::sort(pod.labels);
        pinned.insert(pod.namespace_name);
      }
    }
    out.pods.push_back(std::move(pod));
  }
  out.disruption_budgets = whole.disruption_budgets;
  for (const std::string_view name : pinned)
    out.disruption_budgets.push_back(
        {kSpanningBudget, name, LabelSelector{{{kSpanning, SelectorOperator::kExists, {}}}}, 0, false});
}

void CellSnapshots::set_budgets(CellIndex cell, Snapshot& out) const {
  for (SnapshotQueue& queue : out.queues)
    for (const QueueIndex index : problem_.queues.indices()) {
      if (problem_.queues[index].name != queue.name) continue;
      const Budgets::OfQueue& bounds = budgets_.queues[cell.value()][index];
      QueueResource* const resources[] = {&queue.gpu, &queue.cpu, &queue.memory};
      for (std::size_t r = 0; r < kQueueResources; ++r) {
        resources[r]->quota = bounds.quota[r];
        resources[r]->limit = bounds.limit[r];
      }
      queue.other_resources = bounds.other_resources;  // quotas of them are not counted
    }
  for (SnapshotDisruptionBudget& budget : out.disruption_budgets)
    for (const DisruptionBudgetIndex index : problem_.disruption_budgets.all().indices()) {
      const DisruptionBudget& whole = problem_.disruption_budgets.all()[index];
      if (!whole.namespace_name.empty() && whole.name == budget.name && whole.namespace_name == budget.namespace_name)
        budget.allowed = budgets_.disruptions[cell.value()][index];
    }
  if (!budgets_.moves.empty()) out.policy.max_moves = budgets_.moves[cell.value()];
}

}  // namespace muster::cells
