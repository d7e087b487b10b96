#include "heuristics/local_search/part/trial_gain.h"

#include "heuristics/local_search/value.h"
#include "model/objective/evaluation.h"
#include "model/objective/level_values.h"

namespace muster::local_search {

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
  add_pods(trial, gain);
  if (!problem_.inter_pod.preferred_terms.empty())
    gain.preference += gain.preferred_terms = gain_of_preferred_terms(trial);
  if (scope_.has_whole_nodes()) gain.wholeness = gain_of_wholeness(trial, neighbourhood);
  gain.last_level = gain_of_last_level(neighbourhood);
  if (gain == Gain{} && counts_usable_) {
    gain.usable = gain_of_usable(neighbourhood);
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
  const auto add = [&](const TrialPod& pod, NodeIndex node, std::int64_t sign) {
    if (node.is_none()) return;
    gain.seniority += sign * seniority_of(problem_, pod.pod);
    gain.preference += sign * preference_of(problem_, pod.pod, node);
  };
  trial.for_each([&](const TrialPod& pod) {
    add(pod, pod.from, -1);
    add(pod, pod.to, +1);
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

double TrialGain::gain_of_usable(const Neighbourhood& neighbourhood) const {
  double gain = 0;
  for (std::size_t at = 0; at < neighbourhood.size(); ++at) {
    const PartNode& node = neighbourhood.node(at);
    gain += usable_thousandths(problem_, node.node, neighbourhood.contents(at).room()) -
            usable_thousandths(problem_, node.node, node.contents.room());
  }
  return gain;
}

}  // namespace muster::local_search
