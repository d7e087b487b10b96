#include "model/referee/referee.h"

#include <algorithm>
#include <array>

#include "model/base/require.h"
#include "model/referee/case.h"

namespace muster::referee {
namespace {

constexpr std::array<std::string_view, kRuleCount> kRuleNames = {
    "Plan",     "Action",       "QueueExists", "Node",       "Affinity",
    "Spread",   "HostPorts",    "Capacity",    "Devices",    "After",
    "Gang",     "MinResources", "Topology",    "Timeout",    "Reserved",
    "Limit",    "Quota",        "Who",         "WholeGangs", "Preempt",
    "Reclaim",  "Consolidate",  "Stale",       "Price",      "DisruptionBudget",
    "NotInVain"};

// In the order of the rules, without the last one, Not in vain. Anti-affinity and host ports come before the rules that
// use the pods that they keep out.
constexpr std::array kChecks = {referee::check_plan_form,     referee::check_actions,
                                referee::check_queue_exists,  referee::check_node,
                                referee::check_anti_affinity, referee::check_inter_pod,
                                referee::check_host_ports,    referee::check_device_counts,
                                referee::check_capacity,      referee::check_devices,
                                referee::check_after,         referee::check_gang,
                                referee::check_min_resources, referee::check_topology,
                                referee::check_timeout,       referee::check_reserved,
                                referee::check_limit,         referee::check_quota,
                                referee::check_who,           referee::check_whole_gangs,
                                referee::check_preempt,       referee::check_reclaim,
                                referee::check_consolidate,   referee::check_stale,
                                referee::check_price,         referee::check_disruption_budgets};

}  // namespace

std::string_view rule_name(Rule rule) { return kRuleNames[static_cast<std::size_t>(rule)]; }

bool is_well_formed(const Snapshot& snapshot, const Problem& problem, const Plan& plan) {
  return referee::broken_form(snapshot, problem, plan).empty();
}

std::vector<Violation> check_plan(const Snapshot& snapshot, const Problem& problem, const FairShares& shares,
                                  const Plan& plan, int threads, std::size_t most) {
  MUSTER_REQUIRE(snapshot.pods.size() == problem.pods.size() && snapshot.nodes.size() == problem.nodes.size());
  MUSTER_REQUIRE(shares.share.size() == problem.queues.size());
  std::vector<Violation> broken = referee::broken_form(snapshot, problem, plan);
  if (broken.empty()) {
    referee::Case c(snapshot, problem, shares, plan, threads);
    for (const auto check : kChecks) {
      if (c.violations.size() < most) check(c);
    }
    referee::check_not_in_vain(c, most);
    broken = std::move(c.violations);
  }
  std::ranges::stable_sort(broken, {}, &Violation::rule);
  return broken;
}

}  // namespace muster::referee
