#include <algorithm>
#include <map>
#include <optional>
#include <ranges>

#include "model/base/saturating.h"
#include "model/referee/case.h"

namespace muster::referee {

// Rules Gang, MinResources, Topology and Timeout: the conditions on a placed gang as a whole.

namespace {

// Free amount of one resource, gpu in millionths of a device each rounded to the nearest: a device half in use counts
// half, since its other half is available to sharers and minResources does not define how its GPUs are to be divided.
MicroGpu free_micro_gpu(const Case& c, const Occupancy& occupancy, NodeIndex node) {
  const DeviceUnits whole = c.capacities.of_device(node);
  MicroGpu sum = 0;
  for (std::int32_t device = 0; device < c.capacities.devices(node); ++device) {
    const DeviceUnits capacity = c.capacities.of_device(node, device);
    const DeviceUnits free = std::max<DeviceUnits>(0, capacity - occupancy.device_taken(node, device));
    const DeviceUnits mib = whole / 1'000'000;
    sum = saturating_add(sum, saturate((Wide{2} * free + mib) / (Wide{2} * mib)));
  }
  return sum;
}

// The different kinds of pods of the gang that are placed now or later.
std::vector<PodSpecIndex> specs_of(const Case& c, const Gang& gang) {
  std::vector<PodSpecIndex> specs;
  for (const PodIndex pod : gang.pods) {
    if (c.pod(pod).status != PodStatus::kFailed && c.pod(pod).status != PodStatus::kReleasing)
      specs.push_back(c.pod(pod).spec);
  }
  std::ranges::sort(specs);
  specs.erase(std::ranges::unique(specs).begin(), specs.end());
  return specs;
}

std::vector<NodeIndex> usable_nodes(const Case& c, const std::vector<PodSpecIndex>& specs) {
  std::vector<NodeIndex> nodes;
  for (std::size_t n = 0; n < c.snapshot.nodes.size(); ++n) {
    const auto lets_in = [&](PodSpecIndex spec) {
      return filter_objection(c.snapshot.pod_specs[spec], c.snapshot.nodes[n]).empty();
    };
    if (std::ranges::any_of(specs, lets_in)) nodes.push_back(NodeIndex(n));
  }
  return nodes;
}

void check_group_topology(Case& c, GroupIndex index) {
  const TopologyLevelIndex level = c.problem.groups[index].required_level;
  if (level.is_none()) return;
  std::vector<PodIndex> there = pods_below(c.problem, index);
  std::erase_if(there, [&c](PodIndex pod) { return !c.is_there_after(pod); });
  if (std::ranges::none_of(there, [&c](PodIndex pod) { return c.placement[pod] != nullptr; })) return;
  const NodeIndex first = c.node_after(there.front());
  for (const PodIndex pod : there) {
    if (in_one_domain(c, first, c.node_after(pod), level)) continue;
    const Gang& gang = c.problem.gangs[c.problem.groups[index].gang];
    c.object(Rule::kTopology, gang.name,
             c.quoted(there.front()) + " on node \"" + std::string(c.node(first).name) + "\" and " + c.quoted(pod) +
                 " on node \"" + std::string(c.node(c.node_after(pod)).name) + "\" must be in one domain of level " +
                 std::string(c.problem.topology.levels[level].label));
    return;
  }
}

}  // namespace

const GangTerms* terms_of(const Snapshot& snapshot, const Problem& problem, GangIndex gang) {
  if (gang.value() < snapshot.gangs.size()) return &snapshot.gangs[gang.value()].terms;
  const std::int32_t own = snapshot.pods[problem.gangs[gang].pods.front().value()].own_gang;
  return own < 0 ? nullptr : &snapshot.own_gang_terms[static_cast<std::size_t>(own)];
}

Nanoseconds waited_of(const Snapshot& snapshot, const Problem& problem, GangIndex gang) {
  std::optional<Nanoseconds> created;
  if (const GangTerms* terms = terms_of(snapshot, problem, gang)) created = terms->created;
  if (!created && gang.value() >= snapshot.gangs.size())
    created = snapshot.pods[problem.gangs[gang].pods.front().value()].created;
  return std::max<Nanoseconds>(0, saturating_subtract(snapshot.time, created.value_or(snapshot.time)));
}

bool gets_new_pod(const Case& c, GangIndex gang) {
  return std::ranges::any_of(c.problem.gangs[gang].pods, [&c](PodIndex pod) { return c.is_new(pod); });
}

// Of every gang with a placement, the minimum runs or is placed; succeeded pods count as running.
void check_gang(Case& c) {
  for (const GangIndex index : c.placed_gangs) {
    const Gang& gang = c.problem.gangs[index];
    const auto counts = [&c](PodIndex pod) { return c.is_there_after(pod) || c.succeeded(pod); };
    if (minimum_met(c.problem, gang, counts)) continue;
    const auto there = std::ranges::count_if(gang.pods, counts);
    const Group& root = c.problem.groups[gang.root];
    c.object(Rule::kGang, gang.name,
             std::to_string(there) + " of its pods run or are placed, fewer than its minimum of " +
                 std::to_string(root.minimum) + (root.is_leaf() ? " pods" : " subgroups"));
  }
}

namespace {

// Before any pod of the gang starts: once one of its pods runs or has succeeded, the gang has started, and nothing is
// required.
bool asks_for_min_resources(const Case& c, GangIndex index) {
  const SnapshotGang* source = c.snapshot_gang(index);
  return source != nullptr && source->has_min_resources &&
         std::ranges::none_of(c.problem.gangs[index].pods,
                              [&c](PodIndex pod) { return c.runs(pod) || c.succeeded(pod); });
}

Amount free_amount(const Case& c, const Occupancy& occupancy, NodeIndex node, ResourceIndex resource) {
  return std::max<Amount>(0, c.capacities.of(node, resource) - occupancy.taken(node, resource));
}

std::vector<AskedTogether> asked_together(const Case& c) {
  std::map<std::vector<PodSpecIndex>, AskedTogether> by_specs;
  for (const GangIndex index : c.placed_gangs) {
    if (!asks_for_min_resources(c, index)) continue;
    const std::vector<PodSpecIndex> specs = specs_of(c, c.problem.gangs[index]);
    const auto [at, is_new] = by_specs.try_emplace(specs);
    AskedTogether& asked = at->second;
    if (is_new) asked.nodes = usable_nodes(c, specs);
    asked.gangs.push_back(index);
    const SnapshotGang& source = *c.snapshot_gang(index);
    asked.gpu = std::max(asked.gpu, source.min_resources_gpu);
    for (const auto& [resource, wanted] : source.min_resources) {
      Amount& most = asked.amounts[resource];
      most = std::max(most, wanted);
    }
  }
  std::vector<AskedTogether> all;
  for (auto& [specs, asked] : by_specs) all.push_back(std::move(asked));
  return all;
}

// Whether there is enough for the largest of the requests. Each kind is counted only until that is reached.
bool are_free(const Case& c, const AskedTogether& asked, const Occupancy& occupancy) {
  MicroGpu gpu = 0;
  for (std::size_t i = 0; i < asked.nodes.size() && gpu < asked.gpu; ++i)
    gpu = saturating_add(gpu, free_micro_gpu(c, occupancy, asked.nodes[i]));
  return gpu >= asked.gpu && std::ranges::all_of(asked.amounts, [&](const auto& amount) {
           const auto& [resource, wanted] = amount;
           Amount free = 0;
           for (std::size_t i = 0; i < asked.nodes.size() && free < wanted; ++i)
             free = saturating_add(free, free_amount(c, occupancy, asked.nodes[i], resource));
           return free >= wanted;
         });
}

// What is lacking for the gang alone; empty: nothing.
std::string lacking(const Case& c, const SnapshotGang& source, const std::vector<NodeIndex>& nodes,
                    const Occupancy& occupancy) {
  MicroGpu gpu = 0;
  for (const NodeIndex node : nodes) gpu = saturating_add(gpu, free_micro_gpu(c, occupancy, node));
  if (gpu < source.min_resources_gpu) {
    return "minResources requests " + queue_amount_text(kQueueGpu, source.min_resources_gpu) + " gpu, " +
           queue_amount_text(kQueueGpu, gpu) + " are free or freed on the nodes that its pods may use";
  }
  for (const auto& [resource, wanted] : source.min_resources) {
    Amount free = 0;
    for (const NodeIndex node : nodes) free = saturating_add(free, free_amount(c, occupancy, node, resource));
    if (free >= wanted) continue;
    return "minResources requests " + amount_text(resource, wanted) + " of " +
           std::string(c.snapshot.resource_names[resource]) + ", " + amount_text(resource, free) +
           " are free or freed on the nodes that its pods may use";
  }
  return {};
}

}  // namespace

bool min_resources_are_free(const Case& c, const Occupancy& occupancy) {
  return std::ranges::all_of(c.asked_together,
                             [&](const AskedTogether& asked) { return are_free(c, asked, occupancy); });
}

// Each gang by itself: new pods are not counted, neither its own nor others'. Moved pods are at their new place.
void check_min_resources(Case& c) {
  if (!c.has_min_resources) return;
  c.asked_together = asked_together(c);
  std::map<GangIndex, std::string> objections;
  for (const AskedTogether& asked : c.asked_together) {
    if (are_free(c, asked, c.sums.settled)) continue;
    for (const GangIndex gang : asked.gangs) {
      std::string objection = lacking(c, *c.snapshot_gang(gang), asked.nodes, c.sums.settled);
      if (!objection.empty()) objections.emplace(gang, std::move(objection));
    }
  }
  for (const auto& [gang, objection] : objections) c.object(Rule::kMinResources, c.problem.gangs[gang].name, objection);
}

bool in_one_domain(const Case& c, NodeIndex a, NodeIndex b, TopologyLevelIndex level) {
  const auto value = [&c](NodeIndex node, std::string_view key) -> std::optional<std::string_view> {
    const Labels& labels = c.node(node).labels;
    const auto at = std::ranges::find(labels, key, &Labels::value_type::first);
    return at == labels.end() ? std::nullopt : std::optional(at->second);
  };
  for (const LevelPlace& place : c.problem.topology.levels[level].places) {
    const std::vector<std::string_view>& chain = c.snapshot.definitions.topologies[place.topology].levels;
    const auto lies_in = [&](NodeIndex node) {
      return std::ranges::all_of(chain, [&](std::string_view key) { return value(node, key).has_value(); });
    };
    const bool has_a = lies_in(a), has_b = lies_in(b);
    if (!has_a && !has_b) continue;
    const auto are_equal = [&](std::string_view key) { return value(a, key) == value(b, key); };
    return has_a && has_b && std::ranges::all_of(chain | std::views::take(place.level + 1), are_equal);
  }
  return false;  // outside of all
}

std::vector<GroupIndex> groups_above(const Case& c, PodIndex pod) {
  std::vector<GroupIndex> groups;
  for (GroupIndex at = c.problem.pods[pod].group; !at.is_none(); at = c.problem.groups[at].parent) groups.push_back(at);
  return groups;
}

std::vector<PodIndex> pods_below(const Problem& problem, GroupIndex group) {
  std::vector<PodIndex> pods;
  std::vector<GroupIndex> open{group};
  while (!open.empty()) {
    const Group& next = problem.groups[open.back()];
    open.pop_back();
    pods.insert(pods.end(), next.pods.begin(), next.pods.end());
    open.insert(open.end(), next.children.begin(), next.children.end());
  }
  std::ranges::sort(pods);
  return pods;
}

// All pods of a gang or subgroup with `required` (those that run, too) lie in one domain of that level.
void check_topology(Case& c) {
  for (const GangIndex index : c.placed_gangs) {
    for (const GroupIndex group : c.problem.gangs[index].groups) check_group_topology(c, group);
  }
}

// No pod of a gang that has waited its `timeout` is placed. A gang without pending pods does not wait.
void check_timeout(Case& c) {
  for (const GangIndex index : c.placed_gangs) {
    const Gang& gang = c.problem.gangs[index];
    const GangTerms* terms = terms_of(c.snapshot, c.problem, index);
    if (terms == nullptr || !terms->timeout) continue;
    const bool waits =
        std::ranges::any_of(gang.pods, [&c](PodIndex pod) { return c.pod(pod).status == PodStatus::kPending; });
    const Nanoseconds waited = waited_of(c.snapshot, c.problem, index);
    if (!waits || waited < *terms->timeout) continue;
    c.object(Rule::kTimeout, gang.name,
             "it is placed, but has waited " + std::to_string(waited / kNanosecondsPerSecond) + " s; its timeout is " +
                 std::to_string(*terms->timeout / kNanosecondsPerSecond) + " s");
  }
}

// Rules Limit and Quota: the usage of the queues after the plan, against their bounds.

namespace {

// `bound` of every queue is kept, or the usage that counts against it does not grow.
void check_bound(Case& c, Rule rule, const Indexed<QueueIndex, QueueAmounts>& before,
                 const Indexed<QueueIndex, QueueAmounts>& after, QueueAmounts Queue::*bound) {
  for (const QueueIndex index : c.problem.queues.indices()) {
    const Queue& queue = c.problem.queues[index];
    for (std::size_t r = 0; r < kQueueResources; ++r) {
      const Amount most = (queue.*bound)[r], is = after[index][r];
      if (most == kUnlimited || is <= most || is <= before[index][r]) continue;
      c.object(rule, queue.name,
               std::string(queue_resource_name(r)) +
                   (rule == Rule::kLimit ? ": limit " : ": quota for non-preemptible pods ") +
                   queue_amount_text(r, most) + ", but " + queue_amount_text(r, is) + " would be in use, up from " +
                   queue_amount_text(r, before[index][r]));
    }
  }
}

}  // namespace

void check_limit(Case& c) {
  check_bound(c, Rule::kLimit, c.sums.before.all, c.sums.after.all, &Queue::limit);
  for (const OtherLimitIndex index : c.problem.lists.other_limits.indices()) {
    const OtherLimit& limit = c.problem.lists.other_limits[index];
    const Amount before = c.sums.before.limited[index], is = c.sums.after.limited[index];
    if (is <= limit.limit || is <= before) continue;
    c.object(Rule::kLimit, c.problem.queues[limit.queue].name,
             std::string(c.snapshot.resource_names[limit.resource]) + ": limit " + std::to_string(limit.limit) +
                 ", but " + std::to_string(is) + " would be in use, up from " + std::to_string(before));
  }
}

void check_quota(Case& c) {
  if (!c.snapshot.policy.non_preemptible_within_quota) return;
  check_bound(c, Rule::kQuota, c.sums.before.non_preemptible, c.sums.after.non_preemptible, &Queue::quota);
}

}  // namespace muster::referee
