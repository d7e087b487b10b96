// What a trial gains in the levels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/local_search/part/neighbourhood.h"
#include "heuristics/local_search/part/step.h"
#include "heuristics/local_search/part/trial.h"
#include "heuristics/local_search/part/wholeness.h"
#include "heuristics/local_search/scope.h"
#include "heuristics/state/cluster_state.h"
#include "model/objective/preferred_terms.h"
#include "model/problem/problem.h"

namespace muster::local_search {

// Follows the trials of one part that are kept.
class TrialGain {
 public:
  // `counts_usable`: see SearchPart. All must outlive it.
  TrialGain(const SearchScope& scope, const ClusterState& state, bool counts_usable);

  // The gain of a trial that is matched; none if it is no improvement. Cost: O(pods of the trial), and of their gangs
  // if the policy packs.
  std::optional<Gain> of(const Trial& trial, const Neighbourhood& neighbourhood);
  // The trial of the last call of of() is kept.
  void keep(const Trial& trial);
  // By how many the pods increase in that trial that keep the node from being whole.
  std::int32_t breaking_change(NodeIndex node) const;

 private:
  enum class Direction : std::uint8_t { kForward, kBack };
  std::int64_t value_of(const Trial& trial) const;
  void add_pods(const Trial& trial, Gain& gain) const;
  std::int64_t gain_of_preferred_terms(const Trial& trial);
  void follow_preferred_terms(const Trial& trial, Direction direction);
  WholenessValues gain_of_wholeness(const Trial& trial, const Neighbourhood& neighbourhood);
  std::int64_t gain_of_last_level(const Neighbourhood& neighbourhood) const;
  double gain_of_usable(const Neighbourhood& neighbourhood) const;

  const SearchScope& scope_;
  const Problem& problem_;
  const bool counts_usable_;
  PartWholeness wholeness_;
  PreferenceTally preferred_terms_;
  // Of one trial; empty if the policy does not pack.
  std::vector<PartWholeness::Move> moves_;
  std::vector<PartWholeness::NodeChange> node_changes_;
};

}  // namespace muster::local_search
