// What a trial gains in the levels.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "heuristics/local_search/neighbourhood.h"
#include "heuristics/local_search/scope.h"
#include "heuristics/local_search/trial.h"
#include "heuristics/state/cluster_state.h"
#include "model/objective/preferred_terms.h"
#include "model/objective/wholeness.h"
#include "model/problem/problem.h"

namespace muster::local_search {

// The gain of a step of the search in the levels of wholeness, on the nodes of one part.
//
// Follows the steps of one part; other parts change other nodes meanwhile, so what a gang or a domain shares with them
// is counted as of the beginning of the round.
class PartWholeness {
 public:
  struct Move {
    PodIndex pod;
    NodeIndex from, to;  // none: it was, or is then, nowhere
  };
  struct NodeChange {
    NodeIndex node;
    std::int32_t breaking_before = 0, breaking_after = 0;  // pods that keep it from being whole
  };

  // Both must outlive it.
  PartWholeness(const SearchScope& scope, const ClusterState& state)
      : scope_(scope), problem_(scope.problem()), state_(state) {}

  // In the order of the levels, more is better. Cost: O(moves, and pods of the gangs that move).
  WholenessValues gain_of(const std::vector<Move>& moves, const std::vector<NodeChange>& nodes);
  void carry_out(const std::vector<Move>& moves, const std::vector<NodeChange>& nodes);

 private:
  std::int64_t gained_domains(const std::vector<NodeChange>& nodes);
  std::int64_t& broken_in(DomainIndex domain);
  std::span<const DomainIndex> own_domains(NodeIndex node) const;  // those that the levels are counted by
  NodeIndex node_of(PodIndex pod, const std::vector<Move>* moves) const;
  GangSpread spread_of(GangIndex gang, const std::vector<Move>* moves);

  const SearchScope& scope_;
  const Problem& problem_;
  const ClusterState& state_;
  std::map<DomainIndex, std::int64_t> broken_;          // nodes that count and are not whole; once asked for
  std::map<DomainIndex, std::int64_t> changed_;         // the same since the round began
  std::unordered_map<std::uint32_t, NodeIndex> moved_;  // by pod: its new node
  std::vector<GangIndex> gangs_;
  std::vector<GangNode> gang_nodes_;
};

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
  double gain_of(const Neighbourhood& neighbourhood, RoomMeasure& measure) const;

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
