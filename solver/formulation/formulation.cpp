#include "solver/formulation/formulation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "heuristics/state/fit.h"
#include "solver/formulation/ordered_rows.h"
#include "solver/formulation/ordered_rules.h"

namespace muster::formulation {
namespace {

std::string name(const char* kind, std::size_t a) { return kind + std::to_string(a); }
std::string name(const char* kind, std::size_t a, std::size_t b) { return name(kind, a) + "_" + std::to_string(b); }

bool asks_for_topology(const Problem& problem, const Gang& gang) {
  return std::ranges::any_of(gang.groups, [&](GroupIndex group) {
    return !problem.groups[group].required_level.is_none() || !problem.groups[group].preferred_level.is_none();
  });
}

}  // namespace

Formulation::Formulation(const FormulationInput& input)
    : in_(input),
      exits_(input.demand.gang_classes.size()),
      gang_columns_(input.demand.gang_classes.size()),
      cell_columns_(input.demand.cells.size()),
      supply_rows_(input.demand.classes.size()),
      part_columns_(input.demand.classes.size()),
      capacity_rows_(input.supply.residuals.size(), -1),
      vain_rows_(input.demand.running.size(), -1),
      right_rows_(input.demand.running.size(), -1),
      vain_gang_rows_(input.demand.gang_classes.size(), -1),
      configurations_(input.supply.residuals.size()),
      waiting_(input.problem.queues.size()),
      running_(input.problem.queues.size()) {
  if (in_.deadline) model_.begin_timed(*in_.deadline);
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    if (const QueueIndex queue = in_.demand.gang_classes[index].queue; !queue.is_none())
      waiting_[queue].push_back(index);
    if (const GangClass& gang_class = in_.demand.gang_classes[index];
        !gang_class.queue.is_none() && gang_class.minimum == 0 && !gang_class.is_singles)
      first_of_class_.emplace(gang_class.gangs[0], index);
    add_gang(index);
  }
  for (GangIndex gang : in_.problem.gangs.indices()) {
    const Gang& g = in_.problem.gangs[gang];
    if (g.queue.is_none()) continue;
    if (std::any_of(g.pods.begin(), g.pods.end(), [&](PodIndex pod) { return in_.base.is_present(pod); }))
      running_[g.queue].push_back(gang);
  }
  if (!in_.demand.running.empty()) add_exits();
  if (in_.pooled) {
    ask_pool();
  } else {
    add_parts();
    add_supply_rows();
    add_capacity_rows();
  }
  add_queue_rows();
  if (!in_.demand.running.empty()) add_claims();
  if (!in_.pooled && in_.anti_affinity.spans_nodes()) add_anti_affinity_rows();
  if (!in_.supply.parts.empty())
    OrderedRows({in_.problem, in_.demand, in_.supply, in_.base, part_columns_,
                 [&](RunningCellIndex cell) { return staying(cell); }},
                model_)
        .add();
}

// --- gangs

void Formulation::add_gang(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const Gang& gang = in_.problem.gangs[gang_class.gangs[0]];
  const bool located = asks_for_topology(in_.problem, gang);
  const bool may_wait = !gang_class.minimum_runs || gang_class.lacks_resources;
  if (!gang_class.running.empty() ? !gang_class.is_singles : may_wait)
    gang_columns_[index].admitted =
        model_.add_column(0, static_cast<double>(most_gangs(index)), true, name("z", index.value()));
  const std::int32_t admitted = gang_columns_[index].admitted;
  bool is_tied = false;  // all or nothing, anywhere: the gangs determine the pods
  for (CellIndex cell : gang_class.cells) {
    const bool is_counted = !in_.demand.cells[cell].moves.is_none() && !in_.demand.counted_parts.empty();
    const bool in_parts = located || is_counted || is_metered(in_.problem, in_.demand, in_.demand.cells[cell]);
    const std::int64_t all = in_.demand.cells[cell].count();
    is_tied = gang_class.running.empty() && gang_class.minimum == all && admitted >= 0 && !in_parts;
    if (is_tied)
      cell_columns_[cell].push_back({admitted, all});
    else
      add_cell_columns(cell, in_parts);
  }
  if (!gang_class.running.empty()) return;  // see add_exits
  if (is_tied) return;
  if (gang_class.minimum > 0) {  // one cell: m z <= x <= n z
    const CellIndex cell = gang_class.cells[0];
    const std::int64_t all = in_.demand.cells[cell].count();
    lp::LinearExpression least = placed(cell), most = placed(cell);
    least.add(admitted, -gang_class.minimum);
    most.add(admitted, -all);
    if (gang_class.minimum == all) {
      model_.add_constraint(least, 0, 0, name("whole", index.value()));
    } else {
      model_.add_constraint(least, 0, lp::kInfinity, name("minimum", index.value()));
      model_.add_constraint(most, -lp::kInfinity, 0, name("members", index.value()));
    }
  } else if (may_wait) {
    add_tree(index);
  } else {
    for (CellIndex cell : gang_class.cells)  // for one column its upper bound expresses this
      if (cell_columns_[cell].size() > 1)
        model_.add_constraint(placed(cell), -lp::kInfinity, static_cast<double>(in_.demand.cells[cell].count()),
                              name("members", cell.value()));
  }
  if (located) add_topology(index);
}

// The gangs of the class, but at most as many as its nodes could take if they took nothing else: if a gang is larger
// than that, the relaxation would admit a part of it.
std::int64_t Formulation::most_gangs(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  if (gang_class.minimum == 0) return gang_class.size();
  const DemandIndex demand = in_.demand.cells[gang_class.cells[0]].demand;
  return std::min(gang_class.size(), most_pods(demand) / gang_class.minimum);
}

// Pods of a demand class that all nodes could take if they took nothing else, at most.
std::int64_t Formulation::most_pods(DemandIndex demand) {
  if (most_pods_.empty()) {
    most_pods_ = Indexed<DemandIndex, std::int64_t>(in_.demand.classes.size(), 0);
    for (const ResidualClass& residual : in_.supply.residuals)
      for (std::size_t at = 0; at < residual.demands.size(); ++at) {
        const PodClassIndex pod_class = in_.demand.classes[residual.demands[at]].pod_class;
        const bool is_apart = !in_.problem.pod_classes[pod_class].anti_affinity_owned.empty() &&
                              in_.anti_affinity.conflict(pod_class, pod_class, residual.nodes.front());
        most_pods_[residual.demands[at]] +=
            residual.count() * (is_apart ? std::min<std::int64_t>(residual.most[at], 1) : residual.most[at]);
      }
  }
  return most_pods_[demand];
}

void Formulation::add_cell_columns(CellIndex index, bool located) {
  const Cell& cell = in_.demand.cells[index];
  const std::int64_t gangs = in_.demand.gang_classes[cell.gang_class].size();
  const auto most = static_cast<double>(cell.count() * gangs);
  const std::size_t parts = located ? in_.supply.zone_count : 1;
  for (std::size_t part = 0; part < parts; ++part)
    cell_columns_[index].push_back(
        {model_.add_column(0, most, true, parts == 1 ? name("x", index.value()) : name("x", index.value(), part)), 1});
}

lp::LinearExpression Formulation::placed(CellIndex cell) const {
  lp::LinearExpression sum;
  for (const CellColumn& column : cell_columns_[cell]) sum.add(column.column, column.pods);
  return sum;
}

// A gang of its own class whose minimum does not run: the root's minimum is met if it is admitted.
void Formulation::add_tree(GangClassIndex index) {
  const GangClass& gang_class = in_.demand.gang_classes[index];
  const Gang& gang = in_.problem.gangs[gang_class.gangs[0]];
  gang_columns_[index].satisfied[gang.root] = gang_columns_[index].admitted;
  for (GroupIndex group : gang.groups) add_satisfied(index, group);
  for (CellIndex cell : gang_class.cells) {
    if (!in_.demand.cells[cell].moves.is_none()) continue;  // see tie_exits
    lp::LinearExpression most = placed(cell);
    most.add(gang_columns_[index].admitted, -in_.demand.cells[cell].count());
    model_.add_constraint(most, -lp::kInfinity, 0, name("members", cell.value()));
  }
}

// b_h = 1 only if the group has its minimum: pods of a leaf, children of an inner group. Parents come first.
std::int32_t Formulation::add_satisfied(GangClassIndex index, GroupIndex group) {
  std::map<GroupIndex, std::int32_t>& satisfied = gang_columns_[index].satisfied;
  const Group& g = in_.problem.groups[group];
  lp::LinearExpression enough;
  if (g.is_leaf()) {
    enough.constant = in_.base.members(group);
    for (CellIndex cell : in_.demand.gang_classes[index].cells)
      if (in_.demand.cells[cell].leaf == group && in_.demand.cells[cell].moves.is_none()) enough.add(placed(cell));
    for (RunningCellIndex cell : in_.demand.gang_classes[index].running)
      if (in_.demand.running[cell].leaf == group) enough.add(kept(cell));
  } else {
    for (GroupIndex child : g.children) {
      const std::int32_t column = model_.add_column(0, 1, true, name("b", child.value()));
      satisfied[child] = column;
      enough.add(column, 1);
    }
  }
  enough.add(satisfied.at(group), -g.minimum);
  return model_.add_constraint(enough, 0, lp::kInfinity, name("minimum_group", group.value()));
}

// --- topology

bool Formulation::is_below(GroupIndex group, GroupIndex ancestor) const {
  for (; !group.is_none(); group = in_.problem.groups[group].parent)
    if (group == ancestor) return true;
  return false;
}

std::vector<CellIndex> Formulation::cells_below(GangClassIndex index, GroupIndex group) const {
  std::vector<CellIndex> result;
  for (CellIndex cell : in_.demand.gang_classes[index].cells)
    if (is_below(in_.demand.cells[cell].leaf, group)) result.push_back(cell);
  return result;
}

lp::LinearExpression Formulation::placed_in(CellIndex cell, DomainIndex domain, TopologyLevelIndex level) const {
  lp::LinearExpression sum;
  for (std::size_t zone = 0; zone < cell_columns_[cell].size(); ++zone)
    if (in_.zones.domains[zone][level.value()] == domain) sum.add(cell_columns_[cell][zone].column, 1);
  return sum;
}

void Formulation::add_topology(GangClassIndex index) {
  const Gang& gang = in_.problem.gangs[in_.demand.gang_classes[index].gangs[0]];
  for (GroupIndex group : gang.groups)
    if (!in_.problem.groups[group].required_level.is_none()) add_domains(index, group);
}

DomainIndex Formulation::domain_of(RunningCellIndex cell, TopologyLevelIndex level) const {
  return in_.problem.nodes[in_.demand.running[cell].node].domains[level.value()];
}

std::vector<RunningCellIndex> Formulation::running_below(GangClassIndex index, GroupIndex group) const {
  std::vector<RunningCellIndex> result;
  for (RunningCellIndex cell : in_.demand.gang_classes[index].running)
    if (is_below(in_.demand.running[cell].leaf, group)) result.push_back(cell);
  return result;
}

bool Formulation::is_torn(GangClassIndex index, GroupIndex group) const {
  const TopologyLevelIndex level = in_.problem.groups[group].required_level;
  const std::vector<RunningCellIndex> cells = running_below(index, group);
  return std::any_of(cells.begin(), cells.end(), [&](RunningCellIndex cell) {
    return domain_of(cell, level).is_none() || domain_of(cell, level) != domain_of(cells.front(), level);
  });
}

// All pods of the group in one domain of its level; if some run, in theirs.
void Formulation::add_domains(GangClassIndex index, GroupIndex group) {
  const TopologyLevelIndex level = in_.problem.groups[group].required_level;
  const std::vector<CellIndex> cells = cells_below(index, group);
  const std::vector<DomainIndex> running = running_domains(group, level);
  const std::vector<RunningCellIndex> leaving = running_below(index, group);
  std::int64_t members = 0;
  for (CellIndex cell : cells) members += in_.demand.cells[cell].count();
  for (RunningCellIndex cell : leaving) members += in_.demand.running[cell].count();
  // If the running pods are not in one domain, they may continue as long as nothing is placed in addition.
  std::int32_t touched = -1;
  if (is_torn(index, group)) {
    touched = model_.add_column(0, 1, true, name("touched", group.value()));
    lp::LinearExpression added;
    for (CellIndex cell : cells) added.add(placed(cell));
    added.add(touched, -members);
    model_.add_constraint(added, -lp::kInfinity, 0, name("touch", group.value()));
  }
  lp::LinearExpression chosen;
  for (DomainIndex domain : domains_of(level)) {
    lp::LinearExpression inside;
    for (CellIndex cell : cells) inside.add(placed_in(cell, domain, level));
    for (RunningCellIndex cell : leaving)
      if (domain_of(cell, level) == domain) inside.add(staying(cell));
    const bool possible =
        !domain.is_none() && std::all_of(running.begin(), running.end(), [&](DomainIndex d) { return d == domain; });
    if (touched >= 0) {
      inside.constant -= members;
      inside.add(touched, members);
    }
    if (!possible) {
      model_.add_constraint(inside, -lp::kInfinity, 0, name("outside", group.value()));
      continue;
    }
    const std::int32_t column = model_.add_column(0, 1, true, name("y", group.value(), domain.value()));
    chosen.add(column, 1);
    inside.add(column, -members);
    model_.add_constraint(inside, -lp::kInfinity, 0, name("domain", group.value(), domain.value()));
  }
  model_.add_constraint(chosen, -lp::kInfinity, 1, name("one_domain", group.value()));
}

// Domains of the level in which pods of the group run, one entry a pod.
std::vector<DomainIndex> Formulation::running_domains(GroupIndex group, TopologyLevelIndex level) const {
  std::vector<DomainIndex> running;
  for (PodIndex pod : in_.problem.gangs[in_.problem.groups[group].gang].pods)
    if (in_.base.is_present(pod) && is_below(in_.problem.pods[pod].group, group))
      running.push_back(in_.problem.nodes[in_.base.node_of(pod)].domains[level.value()]);
  return running;
}

// The domains that contain the zones, `none` if one lies outside the topology; ascending.
std::vector<DomainIndex> Formulation::domains_of(TopologyLevelIndex level) const {
  std::vector<DomainIndex> domains;
  for (const std::vector<DomainIndex>& zone : in_.zones.domains) domains.push_back(zone[level.value()]);
  std::sort(domains.begin(), domains.end());
  domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  return domains;
}

// --- supply

// One row for a class over the whole cluster; one for each zone, and a flow into them, if some cell of it is located.
void Formulation::add_supply_rows() {
  Indexed<DemandIndex, std::vector<CellIndex>> free_cells(in_.demand.classes.size()),
      located(in_.demand.classes.size());
  for (CellIndex cell : in_.demand.cells.indices()) {
    const bool is_located = cell_columns_[cell].size() > 1 && in_.supply.zone_count > 1;
    (is_located ? located : free_cells)[in_.demand.cells[cell].demand].push_back(cell);
  }
  for (DemandIndex d : in_.demand.classes.indices()) {
    if (const RunningCellIndex stays = in_.demand.classes[d].stays; !stays.is_none()) {
      supply_rows_[d].push_back(add_supply_row(staying(stays), name("stay", d.value())));
      continue;
    }
    if (!part_columns_[d].empty()) {
      add_part_rows(d, located[d], free_cells[d]);
      continue;
    }
    const std::size_t parts = located[d].empty() ? 1 : in_.supply.zone_count;
    lp::LinearExpression flow;
    for (CellIndex cell : free_cells[d]) flow.add(placed(cell));
    for (std::size_t part = 0; part < parts; ++part) {
      lp::LinearExpression asked;
      for (CellIndex cell : located[d]) asked.add(cell_columns_[cell][part].column, 1);
      if (parts == 1) {
        asked.add(flow);
      } else if (!flow.terms.empty()) {
        const auto most = static_cast<double>(in_.demand.classes[d].count);
        const std::int32_t column = model_.add_column(0, most, true, name("f", d.value(), part));
        asked.add(column, 1);
        flow.add(column, -1);
      }
      supply_rows_[d].push_back(add_supply_row(asked, name("supply", d.value(), part)));
    }
    if (parts > 1 && !flow.terms.empty()) model_.add_constraint(flow, 0, 0, name("flow", d.value()));
  }
}

// Every pod that is placed or stays, wherever it runs now.
void Formulation::ask_pool() {
  for (const CellIndex cell : in_.demand.cells.indices()) {
    const DemandIndex demand = in_.demand.cells[cell].demand;
    if (cell_columns_[cell].size() <= 1) {
      asked_.push_back({demand, ZoneIndex::none(), placed(cell)});
      continue;
    }
    for (std::size_t zone = 0; zone < cell_columns_[cell].size(); ++zone) {
      lp::LinearExpression there;
      there.add(cell_columns_[cell][zone].column, cell_columns_[cell][zone].pods);
      asked_.push_back({demand, ZoneIndex(zone), std::move(there)});
    }
  }
  for (const RunningCellIndex cell : in_.demand.running.indices())
    asked_.push_back({in_.demand.running[cell].stay, zone_of(cell), staying(cell)});
}

// The zone in which all pods of the cell run; none if they run in several, or if there is only one.
ZoneIndex Formulation::zone_of(RunningCellIndex cell) const {
  if (in_.supply.zone_count == 1) return ZoneIndex::none();
  const std::vector<PodIndex>& pods = in_.demand.running[cell].pods;
  const auto zone = [&](PodIndex pod) { return in_.zones.of_node[in_.problem.pods[pod].node]; };
  const bool is_one = std::ranges::all_of(pods, [&](PodIndex pod) { return zone(pod) == zone(pods.front()); });
  return is_one ? zone(pods.front()) : ZoneIndex::none();
}

// For each class that affinity or spread involves, the number of its pods in each part with a residual class that takes
// them.
void Formulation::add_parts() {
  if (in_.supply.parts.empty()) return;
  const OrderedRules rules(in_.problem, in_.demand);
  for (DemandIndex d : in_.demand.classes.indices()) {
    const DemandClass& demand = in_.demand.classes[d];
    if (!demand.stays.is_none() || !rules.concern(in_.problem.pod_classes[demand.pod_class])) continue;
    part_columns_[d].assign(in_.supply.parts.size(), -1);
  }
  std::map<std::pair<DemandIndex, PartIndex>, std::int64_t> most;
  for (const ResidualClass& residual : in_.supply.residuals)
    for (std::size_t at = 0; at < residual.demands.size(); ++at)
      if (!part_columns_[residual.demands[at]].empty())
        most[{residual.demands[at], residual.part}] += residual.count() * residual.most[at];
  for (const auto& [at, pods] : most) {
    const auto upper = static_cast<double>(std::min(pods, in_.demand.classes[at.first].count));
    part_columns_[at.first][at.second.value()] =
        model_.add_column(0, upper, true, name("p", at.first.value(), at.second.value()));
  }
}

// A row for each part, and one for each zone if some cell of the class is located, else one for all.
void Formulation::add_part_rows(DemandIndex d, const std::vector<CellIndex>& located,
                                const std::vector<CellIndex>& free) {
  const std::size_t zones = located.empty() ? 1 : in_.supply.zone_count;
  std::vector<lp::LinearExpression> asked(zones);  // minus the pods of the parts
  lp::LinearExpression flow;
  for (CellIndex cell : free) flow.add(placed(cell));
  for (std::size_t zone = 0; zone < zones; ++zone) {
    for (CellIndex cell : located) asked[zone].add(cell_columns_[cell][zone].column, 1);
    if (zones == 1) {
      asked[zone].add(flow);
    } else if (!flow.terms.empty()) {
      const auto most = static_cast<double>(in_.demand.classes[d].count);
      const std::int32_t column = model_.add_column(0, most, true, name("f", d.value(), zone));
      asked[zone].add(column, 1);
      flow.add(column, -1);
    }
  }
  if (zones > 1 && !flow.terms.empty()) model_.add_constraint(flow, 0, 0, name("flow", d.value()));
  supply_rows_[d].assign(in_.supply.parts.size(), -1);
  for (const PartIndex part : in_.supply.parts.indices()) {
    const std::int32_t column = part_columns_[d][part.value()];
    if (column < 0) continue;
    lp::LinearExpression there;
    there.add(column, 1);
    supply_rows_[d][part.value()] = add_supply_row(there, name("supply", d.value(), part.value()));
    asked[zones == 1 ? 0 : in_.supply.parts[part].zone.value()].add(column, -1);
  }
  for (std::size_t zone = 0; zone < zones; ++zone)
    model_.add_constraint(asked[zone], 0, 0, name("parts", d.value(), zone));
}

// Not add_constraint: the coefficients of the configurations are added later, so the common divisor is not known yet.
std::int32_t Formulation::add_supply_row(const lp::LinearExpression& asked, std::string label) {
  const auto there = static_cast<double>(asked.constant);
  const std::int32_t row = model_.add_row(in_.exact ? -there : -lp::kInfinity, -there, std::move(label));
  for (const auto& [column, coefficient] : asked.terms) model_.add_entry(row, column, static_cast<double>(coefficient));
  return row;
}

std::int32_t Formulation::supply_row(DemandIndex demand, ResidualClassIndex index) const {
  const std::vector<std::int32_t>& rows = supply_rows_[demand];
  const ResidualClass& residual = in_.supply.residuals[index];
  if (!part_columns_[demand].empty()) return rows[residual.part.value()];
  return rows.size() == 1 ? rows[0] : rows[residual.zone.value()];
}

void Formulation::add_capacity_rows() {
  for (ResidualClassIndex residual : in_.supply.residuals.indices()) {
    const auto nodes = static_cast<double>(in_.supply.residuals[residual].count());
    capacity_rows_[residual] = model_.add_row(in_.exact ? nodes : 0, nodes, name("nodes", residual.value()));
  }
}

std::vector<std::int32_t> Formulation::admission_columns() const {
  std::vector<std::int32_t> columns;
  for (const GangColumns& gang : gang_columns_)
    if (gang.admitted >= 0) columns.push_back(gang.admitted);
  return columns;
}

// --- queues

void Formulation::add_queue_rows() {
  const QueueBounds bounds = queue_bounds(in_.problem, ClusterState(in_.problem, ClusterState::Releasing::kFreed));
  for (QueueIndex queue : in_.problem.queues.indices())
    for (std::size_t resource = 0; resource < kQueueResources; ++resource) {
      add_queue_row(bounds, queue, resource, false);
      add_queue_row(bounds, queue, resource, true);
    }
  for (OtherLimitIndex limit : in_.problem.lists.other_limits.indices()) {
    const lp::LinearExpression usage = limited_usage(limit);
    if (!usage.terms.empty())
      model_.add_constraint(usage, -lp::kInfinity, static_cast<double>(bounds.limited_usage[limit]),
                            name("other_limit", limit.value()));
  }
}

// Usage stays within the limit (quota, for what is not preemptible) or does not grow.
void Formulation::add_queue_row(const QueueBounds& bounds, QueueIndex queue, std::size_t resource,
                                bool non_preemptible) {
  const Amount bound = (non_preemptible ? bounds.non_preemptible : bounds.usage)[queue][resource];
  if (bound == kNoBound) return;
  const lp::LinearExpression usage = usage_of(queue, resource, non_preemptible);
  if (usage.terms.empty()) return;
  model_.add_constraint(usage, -lp::kInfinity, static_cast<double>(bound),
                        name(non_preemptible ? "quota" : "limit", queue.value(), resource));
}

// The minimum that a pod of the class uses in a zone (or anywhere, for the index equal to the number of zones); none
// if it fits nowhere.
const std::optional<QueueAmounts>& Formulation::least_usage(DemandIndex demand, std::size_t zone) const {
  if (least_usage_.empty()) {
    least_usage_ = Indexed<DemandIndex, std::vector<std::optional<QueueAmounts>>>(in_.demand.classes.size());
    for (auto& by_zone : least_usage_) by_zone.resize(in_.supply.zone_count + 1);
    for (const ResidualClass& residual : in_.supply.residuals)
      for (const DemandIndex d : residual.demands) {
        const QueueAmounts here = queue_usage(in_.problem.pod_classes[in_.demand.classes[d].pod_class],
                                              in_.problem.node_classes[residual.node_class]);
        for (const std::size_t at : {std::size_t{residual.zone.value()}, in_.supply.zone_count}) {
          std::optional<QueueAmounts>& least = least_usage_[d][at];
          if (!least) least = here;
          for (std::size_t r = 0; r < kQueueResources; ++r) (*least)[r] = std::min((*least)[r], here[r]);
        }
      }
  }
  return least_usage_[demand][zone];
}

// What counts against the limit in the end. It is the same wherever pods are.
lp::LinearExpression Formulation::limited_usage(OtherLimitIndex limit) const {
  lp::LinearExpression usage;
  usage.constant = in_.base.queues().limited_usage()[limit];
  const ResourceIndex resource = in_.problem.lists.other_limits[limit].resource;
  // Of one pod; 0 if the limit is none of its queue's.
  const auto asked = [&](GangClassIndex index, DemandIndex demand) -> Amount {
    const QueueIndex queue = in_.demand.gang_classes[index].queue;
    if (queue.is_none()) return 0;
    const std::vector<OtherLimitIndex>& limits = in_.problem.queues[queue].other_limits;
    if (std::ranges::find(limits, limit) == limits.end()) return 0;
    const PodClass& pod_class = in_.problem.pod_classes[in_.demand.classes[demand].pod_class];
    return pod_class.request[resource.value()];
  };
  for (RunningCellIndex index : in_.demand.running.indices()) {
    const RunningCell& cell = in_.demand.running[index];
    if (const Amount one = asked(cell.gang_class, cell.stay); one > 0) usage.add(staying(index), one);
  }
  for (CellIndex index : in_.demand.cells.indices()) {
    const Amount one = asked(in_.demand.cells[index].gang_class, in_.demand.cells[index].demand);
    if (one <= 0) continue;
    for (const auto& part : cell_columns_[index]) usage.add(part.column, part.pods * one);
  }
  return usage;
}

// The usage of the queue in the end. The usage of a memory request depends on the device, so its cell is split by
// zones, in each of which all devices have one size.
lp::LinearExpression Formulation::usage_of(QueueIndex queue, std::size_t resource, bool non_preemptible) const {
  lp::LinearExpression usage;
  usage.constant =
      (non_preemptible ? in_.base.queues().non_preemptible_usage() : in_.base.queues().usage())[queue][resource];
  const auto counts = [&](GangClassIndex index) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    if (gang_class.queue.is_none() || (non_preemptible && gang_class.preemptible)) return false;
    const std::vector<QueueIndex>& above = in_.problem.queues[gang_class.queue].ancestors;
    return std::find(above.begin(), above.end(), queue) != above.end();
  };
  for (RunningCellIndex index : in_.demand.running.indices())
    if (counts(in_.demand.running[index].gang_class))
      usage.add(staying(index), in_.demand.running[index].usage[resource]);
  for (CellIndex index : in_.demand.cells.indices()) {
    const Cell& cell = in_.demand.cells[index];
    if (!counts(cell.gang_class)) continue;
    for (std::size_t part = 0; part < cell_columns_[index].size(); ++part)
      if (const auto& least = least_usage(cell.demand, cell_columns_[index].size() > 1 ? part : in_.supply.zone_count))
        usage.add(cell_columns_[index][part].column, cell_columns_[index][part].pods * (*least)[resource]);
  }
  return usage;
}

// --- solutions

FormulationSolution Formulation::read(const std::vector<double>& x) const {
  FormulationSolution solution =
      read_demand([&](std::int32_t column) { return std::lround(x[static_cast<std::size_t>(column)]); });
  for (ResidualClassIndex residual : in_.supply.residuals.indices()) {
    std::vector<std::pair<std::size_t, std::int64_t>> chosen;
    for (std::size_t j = 0; j < configurations_[residual].size(); ++j) {
      const auto nodes = std::lround(x[static_cast<std::size_t>(configurations_[residual][j].column)]);
      if (nodes > 0) chosen.emplace_back(j, nodes);
    }
    solution.configurations.push_back(std::move(chosen));
  }
  return solution;
}

FormulationSolution Formulation::round(const std::vector<double>& x) const {
  FormulationSolution solution = read_demand([&](std::int32_t column) {
    return static_cast<std::int64_t>(std::ceil(x[static_cast<std::size_t>(column)] - 1e-6));
  });
  for (ResidualClassIndex residual : in_.supply.residuals.indices()) {
    std::vector<std::pair<double, std::size_t>> remainders;
    std::vector<std::pair<std::size_t, std::int64_t>> chosen;
    std::int64_t left = in_.supply.residuals[residual].count();
    for (std::size_t j = 0; j < configurations_[residual].size(); ++j) {
      const auto column = static_cast<std::size_t>(configurations_[residual][j].column);
      if (column >= x.size()) break;  // priced after the solution was found
      const double nodes = x[column];
      const auto whole = std::min(left, static_cast<std::int64_t>(std::floor(nodes + 1e-6)));
      if (whole > 0) chosen.emplace_back(j, whole);
      left -= std::max<std::int64_t>(0, whole);
      if (nodes - static_cast<double>(whole) > 1e-6) remainders.emplace_back(static_cast<double>(whole) - nodes, j);
    }
    std::sort(remainders.begin(), remainders.end());
    for (std::size_t i = 0; i < remainders.size() && left > 0; ++i, --left)
      chosen.emplace_back(remainders[i].second, 1);
    solution.configurations.push_back(std::move(chosen));
  }
  return solution;
}

FormulationSolution Formulation::read_demand(const std::function<std::int64_t(std::int32_t)>& count_of) const {
  FormulationSolution solution;
  solution.by_zone = Indexed<CellIndex, std::vector<std::int64_t>>(in_.demand.cells.size());
  solution.pods = Indexed<CellIndex, std::int64_t>(in_.demand.cells.size(), 0);
  solution.by_part = Indexed<DemandIndex, std::vector<std::int64_t>>(in_.demand.classes.size());
  for (DemandIndex d : in_.demand.classes.indices())
    for (const std::int32_t column : part_columns_[d]) solution.by_part[d].push_back(column < 0 ? 0 : count_of(column));
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    const std::int32_t column = gang_columns_[index].admitted;
    solution.gangs.push_back(column < 0 ? 1 : count_of(column));
  }
  for (CellIndex cell : in_.demand.cells.indices())
    for (const CellColumn& column : cell_columns_[cell]) {
      const std::int64_t count = column.pods * count_of(column.column);
      solution.pods[cell] += count;
      if (cell_columns_[cell].size() > 1) solution.by_zone[cell].push_back(count);
    }
  solution.evicted =
      Indexed<RunningCellIndex, std::vector<std::pair<std::size_t, std::int64_t>>>(in_.demand.running.size());
  for (GangClassIndex index : in_.demand.gang_classes.indices()) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    for (const Exit& exit : exits_[index])
      for (std::size_t v = 0; v < gang_class.running.size(); ++v) {
        const RunningCellIndex cell = gang_class.running[v];
        const std::int64_t each = gang_class.is_singles ? 1 : in_.demand.running[cell].count();
        std::int64_t pods = exit.gone < 0 ? 0 : each * count_of(exit.gone);
        if (!exit.surplus.empty()) pods += count_of(exit.surplus[v]);
        if (pods > 0) solution.evicted[cell].emplace_back(exit.channel, pods);
      }
  }
  return solution;
}

}  // namespace muster::formulation
