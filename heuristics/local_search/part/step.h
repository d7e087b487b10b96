// A step of the search: the pods that change their places in one trial, and the gain in the levels.
#pragma once

#include <compare>
#include <cstdint>
#include <tuple>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/objective/wholeness.h"
#include "model/problem/problem.h"

namespace muster::local_search {

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
  std::int64_t preferred_terms = 0;
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

}  // namespace muster::local_search
