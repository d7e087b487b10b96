// The referee: whether a plan obeys every rule of docs/semantics.md. The last thing that a plan passes before it
// leaves.
//
// It reads the snapshot's own names and quantities again and shares no arithmetic with the engines: no cluster state,
// no classes, no fit test. Of the problem it uses what names refer to (gangs, groups and their minimums, queues, nodes
// and devices of running pods), effective priorities, who is preemptible, inherited minimum run times, and the pods'
// work to tell a gang's core from its surplus; beside it the fair shares.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/fair_share.h"
#include "model/plan.h"
#include "model/problem.h"

namespace muster {

// One entry for each rule of docs/semantics.md, by its name there.
enum class Rule : std::uint8_t {
  kPlan,         // well formed: pods, gangs exist; sorted; each pod once; only pending or moved pods placed
  kAction,       // policy.actions
  kQueueExists,  // the gang's queue is a leaf that exists
  kNode,         // exists; cordon, taints, selector, affinity, anti-affinity, models
  kAffinity,     // required pod affinity
  kSpread,       // topology spread with DoNotSchedule
  kHostPorts,
  kCapacity,
  kDevices,
  kAfter,
  kGang,
  kMinResources,
  kTopology,
  kTimeout,
  kLimit,
  kQuota,
  kWho,
  kWholeGangs,
  kPreempt,
  kReclaim,
  kConsolidate,
  kStale,
  kDisruptionBudget,
  kNotInVain
};
inline constexpr std::size_t kRuleCount = static_cast<std::size_t>(Rule::kNotInVain) + 1;

std::string_view rule_name(Rule rule);

struct Violation {
  Rule rule = Rule::kPlan;
  std::string subject;  // the pod, node, gang or queue
  std::string message;  // for people: what is, what should be
};

// Whether the plan can be read at all: indices that point somewhere, lists in order. `check_plan` asks it first.
// Cost: O(placements + evictions).
bool is_well_formed(const Snapshot& snapshot, const Problem& problem, const Plan& plan);

// All violations, in the order of the rules. Empty: the plan may leave. Where the form is broken (an index that points
// nowhere, a list out of order), only that is told, as no other rule can be read then.
// Requires that snapshot, problem and shares belong together. Cost: O(pods + nodes x resources + placements x labels);
// the anti-affinity terms ask every pod once each; evictions cost O(pods of the gangs that they touch). Departures: a
// maximum flow for each node and resource that is short on the way, O(leaving x waiting) an augmentation. What the pods
// sum to is counted on up to `threads` of them; that changes nothing of what is told.
std::vector<Violation> check_plan(const Snapshot& snapshot, const Problem& problem, const FairShares& shares,
                                  const Plan& plan, int threads = 1);

}  // namespace muster
