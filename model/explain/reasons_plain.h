// Reasons that need no scan of the nodes: of the gang itself, of its queue, of where its pods already run.
#pragma once

#include <string>
#include <string_view>

#include "model/explain/reason.h"
#include "model/explain/reasons_need.h"
#include "model/explain/remaining_capacity.h"
#include "model/problem/problem.h"
#include "model/snapshot/plan.h"

namespace muster::explain {

// The name of a subgroup; empty: the gang itself. Cost: O(subgroups of the gang x log).
std::string_view subgroup_name(const Problem& problem, GroupIndex group);

// Of a resource, for people: cores, bytes in binary units, or a plain number.
std::string amount_words(ResourceIndex resource, Amount amount);

struct PlainReason {
  ReasonCode code = ReasonCode::kNone;  // none: none of these holds
  std::string sentence;                 // for people
};

// `SchedulingTimeout`, `Held`, `Gated`, `NotEnoughPods`, `UnknownQueue`, `Reserved` of a quota. Cost: O(pods + groups)
// of the gang.
PlainReason reason_of_gang(const Problem& problem, const AfterPlan& end, GangIndex gang);

// `Reserved`, of a gang that needs nodes which are held for another one.
PlainReason reason_of_hold(const Problem& problem, GangIndex gang, GangIndex holder);

// `LimitExceeded`, `NonPreemptibleOverQuota`, as if the need were placed after the plan. Cost: O(depth of the queue).
PlainReason reason_of_queue(const Problem& problem, const AfterPlan& end, GangIndex gang, const GangNeed& need);

// Why no place can satisfy the levels that the gang requires for the need: its present pods after the plan are outside
// the topology, or in different domains. Empty: they bind the need to one domain at most. Cost: O(pods x levels) of the
// gang.
std::string topology_conflict(const Problem& problem, const AfterPlan& end, GangIndex gang, const GangNeed& need);

}  // namespace muster::explain
