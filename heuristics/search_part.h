// The search on some nodes by themselves: one change after another, each better than what was there.
#pragma once

#include <compare>
#include <cstdint>
#include <tuple>
#include <vector>

#include "heuristics/cluster_state.h"
#include "heuristics/greedy.h"
#include "heuristics/search_scope.h"
#include "model/problem.h"
#include "model/wholeness.h"

namespace muster {

// A pod that goes from one place to another; node none: it was, or is then, nowhere.
struct Change {
  PodIndex pod;
  Place from, to;
};

// What a step gains, in the order of the levels; `worth` as SearchScope::worth. More is better of all of them:
// `wholeness` has the levels that are minimised with their sign changed. The last one is no level: how much more of
// what is idle the expected workload could use, were it all to come.
struct Gain {
  std::int64_t worth = 0, seniority = 0;
  WholenessValues wholeness{};  // zeros where the policy does not pack
  std::int64_t preference = 0, last_level = 0;
  double usable = 0;
  // The part of `preference` that wishes of other pods have, as the part sees it: other parts may know better.
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
  std::vector<GangIndex> bundles;    // gangs that wait, whose minimum may be put down whole
  std::uint32_t number = 0, of = 1;  // this one, and how many there are: gangs that could lose pods belong to one
  std::uint64_t seed = 0;
  std::int64_t trials = 0;
  bool counts_usable = true;  // whether what is equal in all levels is told apart, which takes longer
};

// The steps that were found, each of which builds on those before it. A pure function of its input, but for `stop`.
std::vector<Step> improve_part(const SearchScope& scope, const ClusterState& state, const SearchPart& part,
                               const StopRequest& stop);

}  // namespace muster
