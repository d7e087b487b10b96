// The referee: whether a plan obeys every rule of docs/semantics.md. The last thing that a plan passes before it leaves.
//
// It reads the snapshot's own names and quantities again and shares no arithmetic with the engines: no cluster state, no
// classes, no fit test. Of the model it uses the index of names, the effective priorities and the fair shares alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/fair_share.h"
#include "model/plan.h"
#include "model/problem.h"

namespace muster {

// One entry for each rule of docs/semantics.md, by its name there.
enum class Rule : std::uint8_t {
  kPlan,          // well formed: pods, nodes, devices exist; sorted; each pod once; only pending or moved pods placed
  kAction,        // policy.actions
  kQueueExists,   // the gang's queue is a leaf that exists
  kNode,          // cordon, taints, selector, affinity, anti-affinity, models
  kCapacity, kDevices, kAfter, kGang, kMinResources, kTopology, kTimeout,
  kLimit, kQuota,
  kWho, kWholeGangs, kPreempt, kReclaim, kConsolidate, kStale, kNotInVain
};

std::string_view rule_name(Rule rule);

struct Violation {
  Rule rule = Rule::kPlan;
  std::string subject;  // the pod, node, gang or queue
  std::string message;  // for people: what is, what should be
};

// All violations, in the order of the rules. Empty: the plan may leave. Cost: O(pods + nodes x resources + placements x
// labels), plus the evictions' checks.
std::vector<Violation> check_plan(const Snapshot& snapshot, const Problem& problem, const FairShares& shares, const Plan& plan);

}  // namespace muster
