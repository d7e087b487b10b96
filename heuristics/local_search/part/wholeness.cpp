#include "heuristics/local_search/part/wholeness.h"

#include <algorithm>

#include "model/base/tuning.h"

namespace muster::local_search {

WholenessValues PartWholeness::gain_of(const std::vector<Move>& moves, const std::vector<NodeChange>& nodes) {
  WholenessValues gain{};
  bool any_domain = false;
  for (const NodeChange& change : nodes) {
    if (!scope_.whole_nodes().counts(change.node)) continue;
    const int whole_before = change.breaking_before == 0 ? 1 : 0, whole_after = change.breaking_after == 0 ? 1 : 0;
    gain[0] += whole_after - whole_before;
    any_domain = any_domain || whole_after != whole_before;
  }
  if (any_domain && problem_.topology.own_level_count > 0) gain[1] = gained_domains(nodes);
  gangs_.clear();
  for (const Move& move : moves) {
    if (!move.from.is_none()) gain[5] += scope_.whole_nodes().is_misplaced(move.pod, move.from) ? 1 : 0;
    if (!move.to.is_none()) gain[5] -= scope_.whole_nodes().is_misplaced(move.pod, move.to) ? 1 : 0;
    const GangIndex gang = problem_.pods[move.pod].gang;
    const std::size_t size = problem_.gangs[gang].pods.size();
    if (size > 1 && size <= kTuning.search.round_nodes() && std::ranges::find(gangs_, gang) == gangs_.end())
      gangs_.push_back(gang);
  }
  for (const GangIndex gang : gangs_) {
    const GangSpread before = spread_of(gang, nullptr), after = spread_of(gang, &moves);
    gain[2] += before.nodes - after.nodes;
    gain[3] += before.domains - after.domains;
    gain[4] += before.models - after.models;
  }
  return gain;
}

void PartWholeness::carry_out(const std::vector<Move>& moves, const std::vector<NodeChange>& nodes) {
  for (const Move& move : moves) {
    if (problem_.gangs[problem_.pods[move.pod].gang].pods.size() > 1) moved_[move.pod.value()] = move.to;
  }
  for (const NodeChange& change : nodes) {
    const int broken_before = change.breaking_before > 0 ? 1 : 0, broken_after = change.breaking_after > 0 ? 1 : 0;
    if (broken_before == broken_after || !scope_.whole_nodes().counts(change.node)) continue;
    for (const DomainIndex domain : own_domains(change.node)) {
      if (!domain.is_none()) changed_[domain] += broken_after - broken_before;
    }
  }
}

std::int64_t PartWholeness::gained_domains(const std::vector<NodeChange>& nodes) {
  std::map<DomainIndex, std::int64_t> change;
  for (const NodeChange& node : nodes) {
    const int broken_before = node.breaking_before > 0 ? 1 : 0, broken_after = node.breaking_after > 0 ? 1 : 0;
    if (broken_before == broken_after || !scope_.whole_nodes().counts(node.node)) continue;
    for (const DomainIndex domain : own_domains(node.node)) {
      if (!domain.is_none()) change[domain] += broken_after - broken_before;
    }
  }
  std::int64_t gained = 0;
  for (const auto& [domain, broken] : change) {
    const std::int64_t before = broken_in(domain) + changed_[domain];
    gained += (before + broken == 0 ? 1 : 0) - (before == 0 ? 1 : 0);
  }
  return gained;
}

std::span<const DomainIndex> PartWholeness::own_domains(NodeIndex node) const {
  return std::span(problem_.nodes[node].domains).first(problem_.topology.own_level_count);
}

std::int64_t& PartWholeness::broken_in(DomainIndex domain) {
  const auto [at, is_new] = broken_.try_emplace(domain, 0);
  if (!is_new) return at->second;
  for (const NodeIndex node : problem_.topology.domains[domain].nodes) {
    if (!scope_.whole_nodes().counts(node)) continue;
    const auto breaks = [&](PodIndex pod) { return scope_.whole_nodes().breaks(pod, node); };
    at->second += std::ranges::any_of(state_.pods_on(node), breaks) ? 1 : 0;
  }
  return at->second;
}

// `moves`: those that are tried, null for none.
NodeIndex PartWholeness::node_of(PodIndex pod, const std::vector<Move>* moves) const {
  if (moves != nullptr) {
    const auto tried = std::ranges::find(*moves, pod, &Move::pod);
    if (tried != moves->end()) return tried->to;
  }
  const auto moved = moved_.find(pod.value());
  return moved != moved_.end() ? moved->second : state_.node_of(pod);
}

GangSpread PartWholeness::spread_of(GangIndex gang, const std::vector<Move>* moves) {
  gang_nodes_.clear();
  bool is_placed = false;
  for (const PodIndex pod : problem_.gangs[gang].pods) {
    const NodeIndex node = node_of(pod, moves);
    if (node.is_none()) continue;
    is_placed = is_placed || problem_.pods[pod].status == PodStatus::kPending;
    gang_nodes_.push_back({node, problem_.class_of(pod).gpu.devices > 0});
  }
  return is_placed ? spread_of_gang(problem_, gang_nodes_) : GangSpread{};
}

}  // namespace muster::local_search
