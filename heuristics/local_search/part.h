// The search on some nodes by themselves: one improving change after another.
#pragma once

#include <compare>
#include <cstdint>
#include <tuple>
#include <vector>

#include "heuristics/local_search/scope.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/stop_request.h"
#include "model/objective/wholeness.h"
#include "model/problem/problem.h"

namespace muster {

// A pod that changes its place; node none: it had, or then has, no node.
struct Change {
  PodIndex pod;
  Place from, to;
};

// The gain of a step, in the order of the levels; `worth` as SearchScope::worth. Greater is better for all of them:
// `wholeness` has the minimised levels with their sign changed. The last one is not a level: the additional idle
// capacity that the expected workload could use if all of it arrived.
struct Gain {
  std::int64_t worth = 0, seniority = 0;
  WholenessValues wholeness{};  // zeros if the policy does not pack
  std::int64_t preference = 0, last_level = 0;
  double usable = 0;
  // The part of `preference` that comes from the preferred terms of other pods, as this part sees it: other parts may
  // know better.
  std::int64_t wishes = 0;
  friend bool operator==(const Gain& a, const Gain& b) { return a.key() == b.key(); }
  friend auto operator<=>(const Gain& a, const Gain& b) { return a.key() <=> b.key(); }
  Gain& operator+=(const Gain& other);

 private:
  std::tuple<std::int64_t, std::int64_t, WholenessValues, std::int64_t, std::int64_t, double> key() const {
    return {worth, seniority, wholeness, preference, last_level, usable};
  }
};

struct Step {
  std::vector<Change> changes;
  Gain gain;
};

struct SearchPart {
  std::vector<NodeIndex> nodes;
  std::vector<PodIndex> singles;     // pods that wait, each of which may be put down by itself
  std::vector<GangIndex> bundles;    // waiting gangs whose minimum may be placed as a whole
  std::uint32_t number = 0, of = 1;  // this one, and how many there are: gangs that could lose pods belong to one
  std::uint64_t seed = 0;
  std::int64_t trials = 0;
  bool counts_usable = true;  // whether plans equal in all levels are distinguished, which takes longer
};

// The steps that were found, each of which builds on those before it. A pure function of its input, except `stop`.
std::vector<Step> improve_part(const SearchScope& scope, const ClusterState& state, const SearchPart& part,
                               const StopRequest& stop);

}  // namespace muster
