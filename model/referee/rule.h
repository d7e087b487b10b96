// The rules of docs/semantics.md, and what is said where a plan breaks one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::referee {

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
  kReserved,
  kLimit,
  kQuota,
  kWho,
  kWholeGangs,
  kPreempt,
  kReclaim,
  kConsolidate,
  kStale,
  kPrice,
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

}  // namespace muster::referee
