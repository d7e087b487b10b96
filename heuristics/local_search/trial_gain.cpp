#include "heuristics/local_search/trial_gain.h"

#include <algorithm>

#include "heuristics/local_search/plan_value.h"
#include "model/base/tuning.h"
#include "model/objective/evaluation.h"
#include "model/objective/level_values.h"

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

namespace {

constexpr double kLeastUsable = 1e-3;  // less is rounding

}  // namespace

TrialGain::TrialGain(const SearchScope& scope, const ClusterState& state, bool counts_usable)
    : scope_(scope),
      problem_(scope.problem()),
      counts_usable_(counts_usable),
      wholeness_(scope, state),
      preferred_terms_(state.preferred_terms()) {}

std::optional<Gain> TrialGain::of(const Trial& trial, const Neighbourhood& neighbourhood) {
  Gain gain;
  gain.worth = value_of(trial);
  if (gain.worth < 0 || !trial.changes_anything()) return std::nullopt;
  if (scope_.aim() == SearchAim::kRoom) {
    gain.usable = gain_of(neighbourhood, room_for_more);
    return gain.worth > 0 || gain.usable > kLeastUsable ? std::optional(gain) : std::nullopt;
  }
  add_pods(trial, gain);
  if (!problem_.inter_pod.preferred_terms.empty())
    gain.preference += gain.preferred_terms = gain_of_preferred_terms(trial);
  if (scope_.has_whole_nodes()) gain.wholeness = gain_of_wholeness(trial, neighbourhood);
  gain.last_level = gain_of_last_level(neighbourhood);
  if (gain == Gain{} && counts_usable_) {
    gain.usable = gain_of(neighbourhood, usable_thousandths);
    if (gain.usable < kLeastUsable) return std::nullopt;
  }
  return gain > Gain{} ? std::optional(gain) : std::nullopt;
}

void TrialGain::keep(const Trial& trial) {
  if (!problem_.inter_pod.preferred_terms.empty()) follow_preferred_terms(trial, Direction::kForward);
  if (scope_.has_whole_nodes()) wholeness_.carry_out(moves_, node_changes_);
}

std::int64_t TrialGain::value_of(const Trial& trial) const {
  std::int64_t worth = 0;
  for (const TrialPod& pod : trial.optional) worth -= pod.is_dropped ? scope_.worth(pod.pod) : 0;
  for (const TrialPod& pod : trial.placed) worth += pod.from.is_none() ? scope_.worth(pod.pod) : 0;
  return worth;
}

void TrialGain::add_pods(const Trial& trial, Gain& gain) const {
  const auto add = [&](const TrialPod& pod, NodeIndex node, const DeviceList& devices, std::int64_t sign) {
    if (node.is_none()) return;
    const Pod& p = problem_.pods[pod.pod];
    if (p.status == PodStatus::kRunning) {
      const bool is_home = p.node == node && std::ranges::equal(devices, problem_.devices_of(pod.pod));
      if (is_home) return;
      gain.unmoved -= sign * p.weighted_work;
    }
    gain.seniority += sign * (p.status == PodStatus::kPending ? seniority_of(problem_, pod.pod) : 0);
    gain.preference += sign * preference_of(problem_, pod.pod, node);
  };
  trial.for_each([&](const TrialPod& pod) {
    add(pod, pod.from, pod.from_devices, -1);
    add(pod, pod.to, pod.to_devices, +1);
  });
}

// By how the pods of the trial, and all pods related to them, meet their preferred terms.
std::int64_t TrialGain::gain_of_preferred_terms(const Trial& trial) {
  const std::int64_t before = preferred_terms_.value();
  follow_preferred_terms(trial, Direction::kForward);
  const std::int64_t gain = preferred_terms_.value() - before;
  follow_preferred_terms(trial, Direction::kBack);
  return gain;
}

void TrialGain::follow_preferred_terms(const Trial& trial, Direction direction) {
  trial.for_each([&](const TrialPod& pod) {
    const PodClass& pod_class = problem_.pod_classes[pod.pod_class];
    const Work work = problem_.pods[pod.pod].weighted_work;
    if (pod.from == pod.to) return;
    if (!pod.from.is_none()) preferred_terms_.count(pod_class, pod.from, work, direction == Direction::kBack);
    if (!pod.to.is_none()) preferred_terms_.count(pod_class, pod.to, work, direction == Direction::kForward);
  });
}

WholenessValues TrialGain::gain_of_wholeness(const Trial& trial, const Neighbourhood& neighbourhood) {
  moves_.clear();
  node_changes_.clear();
  trial.for_each([&](const TrialPod& pod) {
    if (pod.from != pod.to) moves_.push_back({pod.pod, pod.from, pod.to});
  });
  if (moves_.empty()) return {};
  for (std::size_t at = 0; at < neighbourhood.size(); ++at) {
    const PartNode& node = neighbourhood.node(at);
    node_changes_.push_back({node.node, node.breaking, node.breaking + breaking_change(node.node)});
  }
  return wholeness_.gain_of(moves_, node_changes_);
}

std::int32_t TrialGain::breaking_change(NodeIndex node) const {
  std::int32_t change = 0;
  for (const PartWholeness::Move& move : moves_) change += (move.to == node ? 1 : 0) - (move.from == node ? 1 : 0);
  return change;
}

std::int64_t TrialGain::gain_of_last_level(const Neighbourhood& neighbourhood) const {
  std::int64_t gain = 0;
  for (std::size_t at = 0; at < neighbourhood.size(); ++at) {
    const PartNode& node = neighbourhood.node(at);
    const NodeContents& now = neighbourhood.contents(at);
    gain += node.last_level - last_level_of(problem_, {problem_.nodes[node.node].node_class, now.free, now.devices});
  }
  return gain;
}

double TrialGain::gain_of(const Neighbourhood& neighbourhood, RoomMeasure& measure) const {
  double gain = 0;
  for (std::size_t at = 0; at < neighbourhood.size(); ++at) {
    const PartNode& node = neighbourhood.node(at);
    gain += measure(problem_, node.node, neighbourhood.contents(at).room()) -
            measure(problem_, node.node, node.contents.room());
  }
  return gain;
}

}  // namespace muster::local_search
