// When each waiting gang is expected to start: an estimate, which no rule depends on.
//
// List scheduling (Graham, 1966) forward in time from the state that a plan leaves: wherever gangs are expected to end,
// waiting ones start in turn if quotas, limits and nodes have room, next to what is kept for the head of a quota (EASY
// backfilling, Lifka 1995). docs/semantics.md, "Expected starts", has the rules.
#pragma once

#include <functional>
#include <optional>

#include "model/forecast/quota_heads.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::forecast {

struct ExpectedStart {
  Nanoseconds time = 0;  // an instant, after the snapshot's
  StartObstacle waits_for = StartObstacle::kOther;
};
using ExpectedStarts = Indexed<GangIndex, std::optional<ExpectedStart>>;  // empty: durations are unknown

// Of the gangs whose minimum does not run once the plan is carried out, and can be met by their pending and evicted
// pods. None: it is not expected to start at all, or `stop` said true first; it is asked at each instant and may be
// empty. Requires a plan that the referee passes. Cost: O(pods + nodes + ends log ends), and O(waiting) for each of
// some hundred instants.
ExpectedStarts expected_starts(const Problem& problem, const Plan& plan, const std::function<bool()>& stop = {});

}  // namespace muster::forecast
