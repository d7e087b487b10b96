// A plan that may be the answer of a cycle, and what is proven of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heuristics/state/candidate.h"
#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/objective/possibilities.h"

namespace muster::portfolio {

using LevelBounds = std::vector<std::optional<std::int64_t>>;

// A bound holds as long as the values before its level are those of the plan.
struct Offer {
  Candidate candidate;
  Origin origin = Origin::kNone;
  LevelBounds bounds;        // by level; may end early
  bool is_repacked = false;  // repacking would change nothing
};

// Every level is proven optimal.
inline bool is_settled(const Offer& offer) {
  const std::vector<std::int64_t>& values = offer.candidate.levels.values;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i >= offer.bounds.size() || offer.bounds[i] != values[i]) return false;
  return true;
}

// It reaches its bounds, or misses the first one that it does not reach by no more than the gap, which is relative.
bool is_within_gap(const Offer& offer, const std::vector<LevelId>& ids, double gap, PlacementPolicy policy);

inline Proof proof_of(const Offer& offer, const std::vector<LevelId>& ids, double gap, PlacementPolicy policy) {
  if (is_settled(offer)) return Proof::kOptimal;
  return is_within_gap(offer, ids, gap, policy) ? Proof::kWithinGap : Proof::kHeuristic;
}

// Nothing is placed, and only stale pods are evicted.
Offer least_offer(const Problem& problem, const FairShares& shares);

// A bound that the plan itself exceeds is a defect of the solver, whichever engine found it: removed, and described.
std::vector<std::string> drop_refuted_bounds(Offer& offer, const std::vector<LevelId>& ids);

// Of `now`, which has the bounds of `before`: those after the first level in which they differ do not hold.
inline void forget_bounds_after_change(const Offer& before, Offer& now) {
  const std::vector<std::int64_t>&values = now.candidate.levels.values, &others = before.candidate.levels.values;
  now.bounds.resize(values.size());
  std::size_t same = 0;
  while (same < values.size() && values[same] == others[same]) ++same;
  for (std::size_t i = same + 1; i < values.size(); ++i) now.bounds[i].reset();
}

// Of both bounds of a level the tighter one.
inline void merge_bounds(const LevelBounds& more, const std::vector<LevelId>& ids, LevelBounds& bounds) {
  bounds.resize(ids.size());
  for (std::size_t i = 0; i < more.size(); ++i) {
    const bool is_tighter =
        more[i] && (!bounds[i] || (is_maximised(ids[i].kind) ? *more[i] < *bounds[i] : *more[i] > *bounds[i]));
    if (is_tighter) bounds[i] = more[i];
  }
}

}  // namespace muster::portfolio
