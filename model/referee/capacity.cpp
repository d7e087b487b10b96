// Rules Capacity, Devices and After: whether all that is on a node fits it, before, after and in every order in
// between.
//
// On one node and resource (or device), let L last (what stays), R leave, and W come, each w in W as soon as its own
// set A(w), a subset of R, is gone. At any moment some D of R is gone, and at most those w with A(w) within D have
// started: the load is L + sum(R \ D) + sum{w : A(w) within D}. Its largest value over all D is a maximum-weight
// closure: L + R + W less the maximum flow in which each w sends at most its demand to the pods in A(w), and each of
// these takes in at most what it frees (Picard 1976). So the check is exact and polynomial: each arriving pod must be
// covered by the pods that it waits for.
//
// Running and releasing pods may exceed what the node reports (rule Exceeded). Then only those moments count at which
// some w has started: for each w the largest load over all D that contain A(w).
#include <algorithm>
#include <deque>
#include <numeric>

#include "model/base/saturating.h"
#include "model/base/words.h"
#include "model/problem/exceeded.h"
#include "model/referee/case.h"

namespace muster::referee {
namespace {

struct Departing {
  PodIndex pod;
  Amount amount = 0;
};

struct Arriving {
  const Placement* placement = nullptr;
  Amount amount = 0;
  std::vector<std::size_t> waits_for;  // positions in Load::leaving
};

// For one resource of one node, or one of its devices; only pods that take some of it.
struct Load {
  Amount capacity = 0, lasting = 0;
  std::vector<Departing> leaving;
  std::vector<Arriving> arriving;
};

Amount sum_of(const auto& entries) {
  return std::accumulate(entries.begin(), entries.end(), Amount{0},
                         [](Amount sum, const auto& entry) { return saturating_add(sum, entry.amount); });
}

// Arriving pods send what they take to the pods that they wait for. Shortest augmenting paths (Edmonds and Karp 1972).
class DepartureFlow {
 public:
  explicit DepartureFlow(const Load& load) : load_(load), sent_(load.arriving.size()), open_(load.leaving.size()) {
    for (std::size_t p = 0; p < open_.size(); ++p) open_[p] = load.leaving[p].amount;
    for (std::size_t w = 0; w < sent_.size(); ++w) {
      rest_.push_back(load.arriving[w].amount);
      sent_[w].assign(load.arriving[w].waits_for.size(), 0);
    }
  }

  Amount maximum() {
    Amount total = 0;
    while (const Amount more = augment()) total += more;
    return total;
  }

 private:
  // How a search reached a leaving pod p: from arrival w by its edge; and an arrival: back from p by the same edge.
  struct Step {
    std::size_t arrival = 0, edge = 0;
  };

  Amount augment() {
    reached_.assign(load_.leaving.size(), false);
    came_.assign(load_.leaving.size(), {});
    back_.assign(load_.arriving.size(), kNone);
    seen_.assign(load_.arriving.size(), false);
    std::deque<std::size_t> arrivals;
    for (std::size_t w = 0; w < rest_.size(); ++w) {
      if (rest_[w] > 0) arrivals.push_back(w), seen_[w] = true;
    }
    for (; !arrivals.empty(); arrivals.pop_front()) {
      const std::size_t w = arrivals.front();
      const std::vector<std::size_t>& targets = load_.arriving[w].waits_for;
      for (std::size_t edge = 0; edge < targets.size(); ++edge) {
        const std::size_t p = targets[edge];
        if (reached_[p]) continue;
        reached_[p] = true;
        came_[p] = {w, edge};
        if (open_[p] > 0) return push_along(p);
        turn_back_from(p, arrivals);
      }
    }
    return 0;
  }

  // Arrivals that send to p could send elsewhere.
  void turn_back_from(std::size_t p, std::deque<std::size_t>& arrivals) {
    for (std::size_t w = 0; w < sent_.size(); ++w) {
      const std::size_t edge = edge_to(w, p);
      if (seen_[w] || edge == kNone || sent_[w][edge] == 0) continue;
      seen_[w] = true;
      back_[w] = p;
      arrivals.push_back(w);
    }
  }

  Amount push_along(std::size_t last) {
    Amount amount = open_[last];
    std::size_t source = 0;
    for (std::size_t p = last; p != kNone; p = back_[source]) {
      source = came_[p].arrival;
      if (back_[source] != kNone) amount = std::min(amount, sent_[source][edge_to(source, back_[source])]);
    }
    amount = std::min(amount, rest_[source]);
    open_[last] -= amount;
    rest_[source] -= amount;
    for (std::size_t p = last; p != kNone;) {
      const Step step = came_[p];
      sent_[step.arrival][step.edge] += amount;
      p = back_[step.arrival];
      if (p != kNone) sent_[step.arrival][edge_to(step.arrival, p)] -= amount;
    }
    return amount;
  }

  std::size_t edge_to(std::size_t w, std::size_t p) const {
    const std::vector<std::size_t>& targets = load_.arriving[w].waits_for;
    const auto at = std::ranges::find(targets, p);
    return at == targets.end() ? kNone : static_cast<std::size_t>(at - targets.begin());
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  const Load& load_;
  std::vector<std::vector<Amount>> sent_;  // by arrival and edge
  std::vector<Amount> open_, rest_;        // what a leaving pod can still accept, an arrival still has to send
  std::vector<bool> reached_, seen_;
  std::vector<Step> came_;
  std::vector<std::size_t> back_;
};

// The maximum that arriving pods send to the pods that they wait for; a single arrival needs no search.
Amount covered(const Load& load) {
  if (load.arriving.size() > 1) return DepartureFlow(load).maximum();
  Amount freed = 0;
  for (const std::size_t p : load.arriving.front().waits_for) freed = saturating_add(freed, load.leaving[p].amount);
  return std::min(freed, load.arriving.front().amount);
}

// Requires that what lasts and all that arrives fit together.
Amount largest_load(const Load& load) {
  return saturating_add(load.lasting + sum_of(load.arriving) - covered(load), sum_of(load.leaving));
}

// The same over all moments at which arrival `w` has started.
Amount largest_load_with(const Load& load, std::size_t w) {
  const std::vector<std::size_t>& gone = load.arriving[w].waits_for;
  constexpr auto kGone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> position(load.leaving.size(), kGone);
  Load rest{load.capacity, load.lasting, {}, {}};
  for (std::size_t p = 0; p < load.leaving.size(); ++p) {
    if (std::ranges::find(gone, p) != gone.end()) continue;
    position[p] = rest.leaving.size();
    rest.leaving.push_back(load.leaving[p]);
  }
  for (const Arriving& arriving : load.arriving) {
    Arriving left{arriving.placement, arriving.amount, {}};
    for (const std::size_t p : arriving.waits_for) {
      if (position[p] != kGone) left.waits_for.push_back(position[p]);
    }
    rest.arriving.push_back(std::move(left));
  }
  return largest_load(rest);
}

Amount largest_load_once_started(const Load& load) {
  Amount largest = 0;
  for (std::size_t w = 0; w < load.arriving.size(); ++w) largest = std::max(largest, largest_load_with(load, w));
  return largest;
}

// The pods of `leaving` that the placement waits for; its own old place, if it is moved, is one of them.
std::vector<std::size_t> positions_waited_for(const Case& c, const Placement& placement,
                                              const std::vector<Departing>& leaving) {
  std::vector<std::size_t> positions;
  for (std::size_t p = 0; p < leaving.size(); ++p) {
    const bool itself = leaving[p].pod == placement.pod && c.is_moved(placement.pod);
    if (itself || std::ranges::binary_search(placement.after, leaving[p].pod)) positions.push_back(p);
  }
  return positions;
}

// `amount_before(pod)` and `amount_after(placement)`: what a resident takes, what a placed pod will.
Load load_of(const Case& c, const CrowdedNode& crowded, Amount capacity, const auto& amount_before,
             const auto& amount_after) {
  Load load{capacity, 0, {}, {}};
  for (const PodIndex pod : crowded.residents) {
    const Amount amount = amount_before(pod);
    if (!c.leaves(pod)) load.lasting = saturating_add(load.lasting, amount);
    if (c.leaves(pod) && amount > 0) load.leaving.push_back({pod, amount});
  }
  for (const Placement* placement : crowded.arrivals) {
    const Amount amount = amount_after(*placement);
    if (amount > 0) load.arriving.push_back({placement, amount, positions_waited_for(c, *placement, load.leaving)});
  }
  return load;
}

Amount sum_at_once(const Load& load) {
  Amount sum = 0;
  for (const Arriving& arriving : load.arriving) {
    if (arriving.placement->after.empty() && arriving.waits_for.empty()) sum = saturating_add(sum, arriving.amount);
  }
  return sum;
}

// The subject of a load, for people: one resource of a node, or one device.
struct LoadSubject {
  Rule rule = Rule::kCapacity;
  NodeIndex node;
  ResourceIndex resource;    // with kCapacity
  std::int32_t device = -1;  // with kDevices
};
constexpr std::int32_t kAllDevices = -2;  // their number

std::string what(const Case& c, const LoadSubject& subject) {
  if (subject.device == kAllDevices) return "number of devices";
  return subject.device < 0 ? std::string(c.snapshot.resource_names[subject.resource])
                            : "device " + std::to_string(subject.device);
}

std::string amount_of(const Case& c, const LoadSubject& subject, Amount amount) {
  if (subject.device == kAllDevices) return std::to_string(amount);
  if (subject.device < 0) return amount_text(subject.resource, amount);
  return std::to_string(amount) + " of " + std::to_string(c.capacities.of_device(subject.node)) + " units";
}

// Rule After, its first sentence: names the arriving pods that would not fit even alone next to the pods that they do
// not wait for.
void name_culprits(Case& c, const LoadSubject& subject, const Load& load) {
  for (const Arriving& arriving : load.arriving) {
    Amount there = saturating_add(load.lasting, arriving.amount);
    for (std::size_t p = 0; p < load.leaving.size(); ++p) {
      const bool is_named = std::ranges::find(arriving.waits_for, p) != arriving.waits_for.end();
      if (!is_named) there = saturating_add(there, load.leaving[p].amount);
    }
    if (there <= load.capacity) continue;
    c.object(Rule::kAfter, c.pod(arriving.placement->pod).name,
             "it needs " + what(c, subject) + " of node \"" + std::string(c.node(subject.node).name) +
                 "\" held by pods that its `after` does not name");
  }
}

// Rule Exceeded: by the pods before the plan.
bool is_exceeded(const Load& load) { return saturating_add(load.lasting, sum_of(load.leaving)) > load.capacity; }

// The three sentences of rule Capacity, for one resource or device.
void check_load(Case& c, const LoadSubject& subject, const Load& load) {
  if (load.arriving.empty()) return;
  const auto object = [&](Amount amount, std::string_view when) {
    c.object(subject.rule, c.node(subject.node).name,
             what(c, subject) + ": capacity " + amount_of(c, subject, load.capacity) + ", but " +
                 amount_of(c, subject, amount) + " would be in use " + std::string(when));
  };
  const Amount in_the_end = saturating_add(load.lasting, sum_of(load.arriving)), at_once = sum_at_once(load);
  const Amount at_the_start = saturating_add(saturating_add(load.lasting, sum_of(load.leaving)), at_once);
  if (in_the_end > load.capacity) return object(in_the_end, "after all departures");
  if (at_once > 0 && at_the_start > load.capacity) {
    object(at_the_start, "with the placements that wait for nothing and all running or releasing pods");
    name_culprits(c, subject, load);
  } else if (const Amount between = is_exceeded(load) ? largest_load_once_started(load) : largest_load(load);
             between > load.capacity) {
    object(between, "in some order of departures");
    name_culprits(c, subject, load);
  }
}

Amount request_of(const PodSpec& spec, ResourceIndex resource) {
  const auto at = std::ranges::find(spec.resources, resource, &ResourceAmount::resource);
  return at == spec.resources.end() ? 0 : at->amount;
}

bool uses(std::span<const std::int32_t> devices, std::int32_t device) {
  return std::ranges::find(devices, device) != devices.end();
}

void check_device_request(Case& c, const Placement& placement) {
  const GpuRequest& gpu = c.spec(placement.pod).gpu;
  const SnapshotNode& node = c.node(placement.node);
  if (static_cast<std::int32_t>(placement.devices.size()) != gpu.devices) {
    c.object(Rule::kDevices, c.pod(placement.pod).name,
             "it requests " + counted(gpu.devices, "device") + " and gets " + std::to_string(placement.devices.size()));
  }
  if (gpu.kind == GpuRequestKind::kMemory && node.gpu_memory_mib == 0) {
    c.object(Rule::kDevices, c.pod(placement.pod).name,
             "it requests GPU memory, but node \"" + std::string(node.name) + "\" does not state its device memory");
  }
}

void check_device_loads(Case& c, const CrowdedNode& crowded) {
  const std::int64_t mib = c.capacities.device_memory_mib(crowded.node);
  for (std::int32_t device = 0; device < c.capacities.devices(crowded.node); ++device) {
    const DeviceUnits capacity = c.capacities.of_device(crowded.node, device);
    if (c.sums.at_once.device_taken(crowded.node, device) <= capacity) continue;
    const auto before = [&](PodIndex pod) {
      return uses(c.problem.devices_of(pod), device) ? device_units(c.spec(pod), mib) : 0;
    };
    const auto after = [&](const Placement& placement) {
      return uses(placement.devices, device) ? device_units(c.spec(placement.pod), mib) : 0;
    };
    check_load(c, {Rule::kDevices, crowded.node, {}, device}, load_of(c, crowded, capacity, before, after));
  }
}

bool is_unclear(const Case& c, NodeIndex node) {
  const NodeClass& reported = as_reported(c.problem, c.problem.class_of(node));
  return reported.capacity[device_count_resource(c.problem).value()] == 0;
}

}  // namespace

// If pods hold more devices than the node reports, their number counts, a sharer's as a whole device: which of them are
// on missing devices may be a guess. If not even the number is known, no pod that asks for devices may be placed.
void check_device_counts(Case& c) {
  for (const CrowdedNode& crowded : c.crowded_nodes) {
    const std::int32_t reported = c.node(crowded.node).gpu_count;
    if (c.capacities.devices(crowded.node) == reported) continue;
    const Amount capacity = is_unclear(c, crowded.node) ? 0 : reported;
    const auto before = [&](PodIndex pod) { return Amount{c.spec(pod).gpu.devices}; };
    const auto after = [&](const Placement& placement) { return Amount{c.spec(placement.pod).gpu.devices}; };
    check_load(c, {Rule::kDevices, crowded.node, {}, kAllDevices}, load_of(c, crowded, capacity, before, after));
  }
}

void check_capacity(Case& c) {
  for (const CrowdedNode& crowded : c.crowded_nodes) {
    for (const ResourceIndex resource : c.snapshot.resource_names.indices()) {
      const Amount capacity = c.capacities.of(crowded.node, resource);
      if (c.sums.at_once.taken(crowded.node, resource) <= capacity) continue;
      const auto before = [&](PodIndex pod) { return request_of(c.spec(pod), resource); };
      const auto after = [&](const Placement& placement) { return request_of(c.spec(placement.pod), resource); };
      check_load(c, {Rule::kCapacity, crowded.node, resource, -1}, load_of(c, crowded, capacity, before, after));
    }
  }
}

void check_devices(Case& c) {
  for (const Placement& placement : c.plan.placements) check_device_request(c, placement);
  for (const CrowdedNode& crowded : c.crowded_nodes) check_device_loads(c, crowded);
}

// A placement names only pods that leave. If running pods (moved ones included) and placements that start immediately
// do not make up a gang's minimum, each of its placements names at least one pod.
void check_after(Case& c) {
  for (const Placement& placement : c.plan.placements) {
    for (const PodIndex named : placement.after) {
      if (c.leaves(named)) continue;
      c.object(Rule::kAfter, c.pod(placement.pod).name,
               "it waits for " + c.quoted(named) + ", which is neither evicted nor releasing");
    }
  }
  for (const GangIndex index : c.placed_gangs) {
    const Gang& gang = c.problem.gangs[index];
    const auto there_at_once = [&c](PodIndex pod) {
      return c.is_kept(pod) || c.succeeded(pod) || (c.placement[pod] && c.placement[pod]->after.empty());
    };
    if (minimum_met(c.problem, gang, there_at_once)) continue;
    for (const PodIndex pod : gang.pods) {
      if (!c.placement[pod] || !c.placement[pod]->after.empty()) continue;
      c.object(Rule::kAfter, c.pod(pod).name,
               "the minimum of gang " + c.quoted(index) + " waits for departures, so this pod must wait, too");
    }
  }
}

}  // namespace muster::referee
