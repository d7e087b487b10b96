// From an end state to a plan: evictions, placements, and which pods have to be gone first.
//
// Soundness of the `after` lists, for every order of departures. A resource of a node (a counted one, or one device) is
// *short* when what runs on, all that departs and all that is placed do not fit into it together. A placement that does
// not wait for the departures of its node has been entered into the node's ledger, which starts as what is free while
// everything that departs is still there; so these fit beside all departing pods. A placement that does wait names
// every departing pod of the node that holds some of a short resource that it needs; so by the time it starts nothing
// that departs holds any of that resource, and what is then there is part of the end state, which fits. Resources that
// are not short always fit. A pod that moves within its node gives up its old room as it takes the new one, so it waits
// for itself without saying so.
#include "heuristics/state/plan_of.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/state/binding_order.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "model/base/require.h"
#include "model/base/tuning.h"
#include "model/problem/exceeded.h"

namespace muster {

namespace {

// Counted resources of a node first, then its devices: position and amount.
using Needs = std::vector<std::pair<std::size_t, std::int64_t>>;

Needs needs_of(const Problem& problem, PodIndex pod, NodeIndex node, std::span<const std::int32_t> devices) {
  const PodClass& pod_class = problem.class_of(pod);
  Needs result;
  for (std::size_t r = 0; r < problem.resource_count; ++r) {
    if (pod_class.request[r] > 0) result.emplace_back(r, pod_class.request[r]);
  }
  if (devices.empty()) return result;
  const DeviceUnits units = share_units(pod_class, problem.class_of(node));
  for (const std::int32_t device : devices)
    result.emplace_back(problem.resource_count + static_cast<std::size_t>(device), units);
  return result;
}

void add(const Needs& needs, std::vector<std::int64_t>& amounts, std::int64_t sign) {
  for (const auto& [position, amount] : needs) amounts[position] += sign * amount;
}

// What one node has free while everything that departs from it is still there.
struct Ledger {
  NodeIndex node;
  std::vector<PodIndex> departing;
  std::vector<std::int64_t> free, wanted;  // `wanted`: by all placements there; empty: by none
  std::vector<bool> is_short;
};

// The ledgers of all nodes that something departs from.
class Departures {
 public:
  Departures(const Problem& problem, const std::vector<PodIndex>& departing, const std::vector<Placement>& placements)
      : problem_(problem) {
    if (departing.empty()) return;
    ledger_at_.assign(problem.nodes.size(), kNoLedger);
    for (const PodIndex pod : departing) {
      add_ledger(problem.pods[pod].node).departing.push_back(pod);
      for (const AntiAffinityIndex term : problem.class_of(pod).anti_affinity_owned) owning_[term].push_back(pod);
      for (const AntiAffinityIndex term : problem.class_of(pod).anti_affinity_matched) matching_[term].push_back(pod);
    }
    open_ledgers();
    find_short(placements);
  }

  // The pods that must be gone before the placement may start, ascending. Empty: it may start immediately, and its
  // capacity is taken.
  std::vector<PodIndex> enter(const Placement& placement) {
    std::vector<PodIndex> names;
    name_anti_affine(placement, names);
    if (Ledger* ledger = ledger_of(placement.node)) {
      const Needs needs = net_needs(*ledger, placement);
      if (names.empty() && fits(*ledger, needs)) {
        add(needs, ledger->free, -1);
      } else {
        name_holders(*ledger, placement, needs, names);
      }
    }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

 private:
  static constexpr std::uint32_t kNoLedger = std::numeric_limits<std::uint32_t>::max();

  Ledger& add_ledger(NodeIndex node) {
    std::uint32_t& at = ledger_at_[node];
    if (at == kNoLedger) {
      at = static_cast<std::uint32_t>(ledgers_.size());
      ledgers_.push_back({node, {}, {}, {}, {}});
    }
    return ledgers_[at];
  }
  // None: nothing departs from the node.
  Ledger* ledger_of(NodeIndex node) {
    return ledgers_.empty() || ledger_at_[node] == kNoLedger ? nullptr : &ledgers_[ledger_at_[node]];
  }

  void open_ledgers() {
    for (Ledger& ledger : ledgers_) {
      const NodeClass& node_class = problem_.class_of(ledger.node);
      const std::vector<Amount>& capacity = as_reported(problem_, node_class).capacity;
      ledger.free.assign(capacity.begin(), capacity.end());
      ledger.free.insert(ledger.free.end(), static_cast<std::size_t>(as_reported(problem_, node_class).device_count),
                         problem_.device_capacity(ledger.node));
      ledger.free.resize(capacity.size() + static_cast<std::size_t>(node_class.device_count), 0);
      ledger.is_short.assign(ledger.free.size(), false);
    }
    for (const PodIndex pod : problem_.pods.indices()) {
      const Pod& p = problem_.pods[pod];
      if ((p.status != PodStatus::kRunning && p.status != PodStatus::kReleasing) || p.node.is_none()) continue;
      if (Ledger* ledger = ledger_of(p.node))
        add(needs_of(problem_, pod, p.node, problem_.devices_of(pod)), ledger->free, -1);
    }
  }

  void find_short(const std::vector<Placement>& placements) {
    for (const Placement& placement : placements) {
      Ledger* ledger = ledger_of(placement.node);
      if (ledger == nullptr) continue;
      ledger->wanted.resize(ledger->free.size(), 0);
      add(needs_of(problem_, placement.pod, placement.node, placement.devices), ledger->wanted, 1);
    }
    for (Ledger& ledger : ledgers_) {
      for (std::size_t position = 0; position < ledger.wanted.size(); ++position)
        ledger.is_short[position] = ledger.wanted[position] > ledger.free[position];
    }
  }

  // The need of the placement beyond what the pod itself holds on that node. If pods exceed what the node reports, it
  // still needs others to leave.
  Needs net_needs(const Ledger& ledger, const Placement& placement) const {
    Needs needs = needs_of(problem_, placement.pod, placement.node, placement.devices);
    if (problem_.pods[placement.pod].node != placement.node) return needs;
    const Needs own = needs_of(problem_, placement.pod, placement.node, problem_.devices_of(placement.pod));
    std::erase_if(needs, [&](const auto& need) {
      return ledger.free[need.first] >= 0 && std::ranges::find(own, need) != own.end();
    });
    return needs;
  }

  static bool fits(const Ledger& ledger, const Needs& needs) {
    return std::ranges::all_of(needs, [&](const auto& need) {
      return !ledger.is_short[need.first] || need.second <= ledger.free[need.first];
    });
  }

  void name_holders(const Ledger& ledger, const Placement& placement, const Needs& needs,
                    std::vector<PodIndex>& names) const {
    for (const PodIndex departing : ledger.departing) {
      if (departing == placement.pod) continue;
      const Needs held = needs_of(problem_, departing, placement.node, problem_.devices_of(departing));
      const bool shares = std::ranges::any_of(needs, [&](const auto& need) {
        return ledger.is_short[need.first] &&
               std::ranges::any_of(held, [&](const auto& h) { return h.first == need.first; });
      });
      if (shares) names.push_back(departing);
    }
  }

  void name_anti_affine(const Placement& placement, std::vector<PodIndex>& names) const {
    const PodClass& pod_class = problem_.class_of(placement.pod);
    const auto look = [&](const std::vector<AntiAffinityIndex>& terms, const auto& departing_by_term) {
      for (const AntiAffinityIndex term : terms) {
        const auto found = departing_by_term.find(term);
        if (found == departing_by_term.end()) continue;
        const auto& domain_of = problem_.inter_pod.anti_affinities[term].domain_of;
        const DomainIndex domain = domain_of[placement.node];
        if (domain.is_none()) continue;
        for (const PodIndex pod : found->second) {
          if (pod != placement.pod && domain_of[problem_.pods[pod].node] == domain) names.push_back(pod);
        }
      }
    };
    look(pod_class.anti_affinity_owned, matching_);
    look(pod_class.anti_affinity_matched, owning_);
  }

  const Problem& problem_;
  std::vector<Ledger> ledgers_;
  Indexed<NodeIndex, std::uint32_t> ledger_at_;  // its position, or kNoLedger; empty if nothing departs
  std::map<AntiAffinityIndex, std::vector<PodIndex>> owning_, matching_;
};

bool is_moved(const ClusterState& end_state, PodIndex pod) {
  return end_state.is_present(pod) && !is_home(end_state, pod);
}

// Placements by gang: gangs of higher effective priority first, so that these start immediately if capacity is short.
std::vector<std::vector<std::size_t>> placements_by_gang(const Problem& problem,
                                                         const std::vector<Placement>& placements) {
  std::map<std::pair<std::int64_t, GangIndex>, std::vector<std::size_t>> by_gang;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const GangIndex gang = problem.pods[placements[i].pod].gang;
    by_gang[{-static_cast<std::int64_t>(problem.gangs[gang].priority), gang}].push_back(i);
  }
  std::vector<std::vector<std::size_t>> result;
  for (auto& [key, positions] : by_gang) result.push_back(std::move(positions));
  return result;
}

// Whether the gang's pods that run on (moved pods, too) and those that start immediately make up its minimum.
class Starters {
 public:
  Starters(const Problem& problem, const ClusterState& end_state) : problem_(problem), kept_(problem.groups.size(), 0) {
    for (const PodIndex pod : problem.pods.indices()) {
      const Pod& p = problem.pods[pod];
      const bool is_kept = p.status == PodStatus::kRunning && end_state.is_present(pod);
      if (is_kept || p.status == PodStatus::kSucceeded) ++kept_[p.group];
    }
  }

  bool is_minimum_met(GangIndex gang, const std::vector<PodIndex>& at_once) {
    const auto count = [&](std::int32_t change) {
      for (const PodIndex pod : at_once) {
        if (problem_.pods[pod].status == PodStatus::kPending) kept_[problem_.pods[pod].group] += change;
      }
    };
    count(+1);
    const bool met = is_satisfied(problem_, kept_, problem_.gangs[gang].root);
    count(-1);
    return met;
  }

 private:
  const Problem& problem_;
  Indexed<GroupIndex, std::int32_t> kept_;
};

void sort_names(std::vector<PodIndex>& names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

// If the minimum has to wait, all of the gang waits, and for the same pods. Gives the pods whose lists would be too
// long.
std::vector<PodIndex> let_gangs_wait(const Problem& problem, const std::vector<std::vector<std::size_t>>& by_gang,
                                     Starters& starters, std::vector<Placement>& placements) {
  std::vector<PodIndex> too_long;
  std::size_t names = 0;
  for (const auto& positions : by_gang) {
    std::vector<PodIndex> at_once, everything;
    for (const std::size_t i : positions) {
      if (placements[i].after.empty()) at_once.push_back(placements[i].pod);
      everything.insert(everything.end(), placements[i].after.begin(), placements[i].after.end());
    }
    if (everything.empty() || starters.is_minimum_met(problem.pods[placements[positions.front()].pod].gang, at_once))
      continue;
    sort_names(everything);
    names += positions.size() * everything.size();
    for (const std::size_t i : positions) {
      if (names > kTuning.heuristics.most_names) {
        too_long.push_back(placements[i].pod);
      } else {
        placements[i].after = everything;
      }
    }
  }
  return too_long;
}

// Orders the placements that depend on what is bound before them: first those that start immediately, then those that
// wait. A placement that passes only after others that wait are bound has to wait, too.
class BindingSteps {
 public:
  BindingSteps(const Problem& problem, const ClusterState& end_state, const std::vector<PodIndex>& departing,
               std::vector<Placement>& placements)
      : problem_(problem),
        departing_(departing),
        placements_(placements),
        present_(staying_inter_pod(end_state)),
        leaving_(leaving_inter_pod(end_state)),
        all_(ordered_bindings(end_state)) {}

  bool empty() const { return all_.empty(); }
  const std::vector<PodIndex>& unbound() const { return unbound_; }

  // Whether more have to wait now: their gangs have to be examined again.
  bool find() {
    std::vector<Binding> at_once, waiting;
    for (const Binding& binding : all_) (waits(binding) ? waiting : at_once).push_back(binding);
    BindingSequence sequence(problem_, present_);
    const std::vector<Binding> left =
        sequence.bind(at_once, [this](const Binding& binding, const InterPodCounts& present) {
          return departures_in_the_way(binding, present).empty();
        });
    if (!left.empty() && !departing_.empty()) {
      for (const Binding& binding : left) let_wait(binding);
      return true;
    }
    const std::size_t bound_at_once = sequence.bound().size();
    waiting.insert(waiting.end(), left.begin(), left.end());
    const std::vector<Binding> stuck = sequence.bind_by_search(waiting);
    // A placement that starts immediately may block one that waits, which has to be the first of its affinity.
    if (!stuck.empty() && bound_at_once > 0 && !departing_.empty()) {
      for (const Binding& binding : at_once) let_wait(binding);
      return true;
    }
    for (const Binding& binding : stuck) unbound_.push_back(binding.pod);
    name_departures(sequence.bound(), bound_at_once);
    number(std::span(sequence.bound()).first(bound_at_once));
    number(std::span(sequence.bound()).subspan(bound_at_once));
    return false;
  }

 private:
  Placement& placement_of(const Binding& binding) {
    return *std::ranges::lower_bound(placements_, binding.pod, {}, &Placement::pod);
  }
  bool waits(const Binding& binding) {
    return problem_.pods[binding.pod].status == PodStatus::kRunning || !placement_of(binding).after.empty();
  }

  // For whatever others wait for; else for all that leaves.
  void let_wait(const Binding& binding) {
    std::vector<PodIndex> names;
    for (const Placement& placement : placements_)
      names.insert(names.end(), placement.after.begin(), placement.after.end());
    if (names.empty()) names = departing_;
    sort_names(names);
    placement_of(binding).after = std::move(names);
  }

  // Pods that leave and have to be gone first: those in the way of the first of an affinity, and those that would be
  // too many in a domain of a spread.
  std::vector<PodIndex> departures_in_the_way(const Binding& binding, const InterPodCounts& present) const {
    std::vector<PodIndex> found;
    if (departing_.empty()) return found;
    if (would_be_first(problem_, present, binding.pod)) find_matching_affinity(binding, found);
    const PodClass& pod_class = problem_.class_of(binding.pod);
    if (!meets_spread_beside(leaving_, present, problem_, pod_class, binding.node)) {
      for (const OwnedSpread& owned : pod_class.spread_owned) find_matching_spread(binding, owned.spread, found);
    }
    return found;
  }

  void find_matching_affinity(const Binding& binding, std::vector<PodIndex>& found) const {
    const AffinityIndex affinity = problem_.class_of(binding.pod).affinity;
    for (const PodIndex pod : departing_) {
      const std::vector<AffinityIndex>& matched = problem_.class_of(pod).affinity_matched;
      if (pod == binding.pod || !std::ranges::binary_search(matched, affinity)) continue;
      const NodeIndex node = problem_.pods[pod].node;
      const auto has_domain = [&](const AntiAffinity& term) { return !term.domain_of[node].is_none(); };
      const bool is_in_domain = std::ranges::any_of(problem_.inter_pod.affinities[affinity].terms, has_domain);
      if (is_in_domain) found.push_back(pod);
    }
  }

  void find_matching_spread(const Binding& binding, SpreadIndex spread, std::vector<PodIndex>& found) const {
    const auto& domain_of = problem_.inter_pod.spreads[spread].domain_of;
    for (const PodIndex pod : departing_) {
      const std::vector<SpreadIndex>& matched = problem_.class_of(pod).spread_matched;
      if (pod == binding.pod || problem_.pods[pod].status != PodStatus::kRunning) continue;
      if (domain_of[problem_.pods[pod].node] != domain_of[binding.node]) continue;
      if (std::ranges::binary_search(matched, spread)) found.push_back(pod);
    }
  }

  // A waiting placement names whatever blocks it, in the order in which all is bound.
  void name_departures(std::span<const Binding> bound, std::size_t bound_at_once) {
    if (departing_.empty()) return;
    InterPodCounts present = present_;
    for (std::size_t i = 0; i < bound.size(); ++i) {
      if (i >= bound_at_once) {
        std::vector<PodIndex>& after = placement_of(bound[i]).after;
        const std::vector<PodIndex> in_the_way = departures_in_the_way(bound[i], present);
        after.insert(after.end(), in_the_way.begin(), in_the_way.end());
        sort_names(after);
      }
      present.count(problem_, problem_.class_of(bound[i].pod), bound[i].node, true);
    }
  }

  // Within a step the order is that of names.
  void number(std::span<const Binding> bound) {
    const auto name = [&](const Binding& binding) { return problem_.snapshot->pods[binding.pod.value()].name; };
    std::int32_t step = 0;
    for (std::size_t i = 0; i < bound.size(); ++i) {
      if (i > 0 && name(bound[i]) < name(bound[i - 1])) ++step;
      placement_of(bound[i]).step = step;
    }
  }

  const Problem& problem_;
  const std::vector<PodIndex>& departing_;
  std::vector<Placement>& placements_;
  InterPodCounts present_, leaving_;
  std::vector<Binding> all_;
  std::vector<PodIndex> unbound_;
};

// Gives the pods that cannot be bound.
std::vector<PodIndex> time_placements(const Problem& problem, const ClusterState& end_state,
                                      const std::vector<PodIndex>& departing, std::vector<Placement>& placements) {
  if (departing.empty() && !problem.has_ordered_rules()) return {};
  const auto by_gang = placements_by_gang(problem, placements);
  Starters starters(problem, end_state);
  if (!departing.empty()) {
    Departures departures(problem, departing, placements);
    for (const auto& positions : by_gang) {
      for (const std::size_t i : positions) placements[i].after = departures.enter(placements[i]);
    }
    std::vector<PodIndex> too_long = let_gangs_wait(problem, by_gang, starters, placements);
    if (!too_long.empty()) return too_long;
  }
  if (!problem.has_ordered_rules()) return {};
  BindingSteps steps(problem, end_state, departing, placements);
  while (!steps.empty() && steps.find()) {
    std::vector<PodIndex> too_long = let_gangs_wait(problem, by_gang, starters, placements);
    if (!too_long.empty()) return too_long;
  }
  return steps.unbound();
}

}  // namespace

Plan plan_of(const Problem& problem, const ClusterState& end_state, const std::vector<PlannedEviction>& evictions) {
  return ordered_plan_of(problem, end_state, evictions).plan;
}

OrderedPlan ordered_plan_of(const Problem& problem, const ClusterState& end_state,
                            const std::vector<PlannedEviction>& evictions) {
  Plan plan;
  std::vector<PodIndex> departing;
  for (const PodIndex pod : problem.pods.indices()) {
    const PodStatus status = problem.pods[pod].status;
    const bool moved = status == PodStatus::kRunning && is_moved(end_state, pod);
    if (status == PodStatus::kReleasing && !problem.pods[pod].node.is_none()) departing.push_back(pod);
    if (moved || (status == PodStatus::kPending && end_state.is_present(pod))) {
      const Place& place = end_state.place_of(pod);
      plan.placements.push_back({pod, place.node, place.devices, {}});
    }
  }
  for (const PlannedEviction& eviction : evictions) {
    const bool moved = is_moved(end_state, eviction.pod);
    if (end_state.is_present(eviction.pod) && !moved) continue;
    departing.push_back(eviction.pod);
    const EvictionReason reason = moved ? EvictionReason::kConsolidate : eviction.reason;
    plan.evictions.push_back(
        {eviction.pod, reason, reason == EvictionReason::kStale ? GangIndex::none() : eviction.for_gang});
  }
  std::vector<PodIndex> unbound = time_placements(problem, end_state, departing, plan.placements);
  for (Placement& placement : plan.placements) std::ranges::sort(placement.devices);
  std::ranges::sort(plan.evictions, {}, &Eviction::pod);  // everything else is in order
  return {std::move(plan), std::move(unbound)};
}

std::vector<PlannedEviction> carry_out(const Plan& plan, ClusterState& state, const std::vector<bool>& left_out) {
  const Problem& problem = state.problem();
  MUSTER_REQUIRE(left_out.empty() || left_out.size() == problem.gangs.size());
  const auto concerns = [&](PodIndex pod) { return left_out.empty() || !left_out[problem.pods[pod].gang.value()]; };
  std::vector<PlannedEviction> evictions;
  for (const Eviction& eviction : plan.evictions) {
    if (!concerns(eviction.pod)) continue;
    state.take(eviction.pod);
    evictions.push_back({eviction.pod, eviction.reason, eviction.for_gang});
  }
  for (const Placement& placement : plan.placements)
    if (concerns(placement.pod)) state.put(placement.pod, placement.node, placement.devices);
  return evictions;
}

}  // namespace muster
