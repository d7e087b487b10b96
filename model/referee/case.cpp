#include "model/referee/case.h"

#include <algorithm>

#include "model/base/parallel.h"
#include "model/base/saturating.h"

namespace muster::referee {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

// Rounded to the nearest millionth of a device, halves up.
MicroGpu micro_gpu_on(const GpuRequest& gpu, std::int64_t device_memory_mib) {
  switch (gpu.kind) {
    case GpuRequestKind::kNone:
      return 0;
    case GpuRequestKind::kWhole:
      return gpu.devices * kMillion;
    case GpuRequestKind::kFraction:
      return gpu.devices * gpu.share;
    case GpuRequestKind::kMemory:
      break;
  }
  const std::int64_t mib = device_memory_mib;
  const auto part = mib == 0 ? kMillion : saturate((Wide{2} * gpu.share * kMillion + mib) / (Wide{2} * mib));
  return saturating_multiply(gpu.devices, part);
}

void add_to(QueueAmounts& sum, const QueueAmounts& amounts) {
  for (std::size_t r = 0; r < kQueueResources; ++r) sum[r] = saturating_add(sum[r], amounts[r]);
}

std::vector<GangIndex> gangs_of(const Problem& problem, const auto& entries) {
  std::vector<bool> is_one(problem.gangs.size(), false);
  for (const auto& entry : entries) is_one[problem.pods[entry.pod].gang.value()] = true;
  std::vector<GangIndex> gangs;
  for (const GangIndex gang : problem.gangs.indices()) {
    if (is_one[gang.value()]) gangs.push_back(gang);
  }
  return gangs;
}

QueueUsage no_usage(const Problem& problem) {
  const Indexed<QueueIndex, QueueAmounts> none(problem.queues.size(), QueueAmounts{});
  return {none, none, Indexed<OtherLimitIndex, Amount>(problem.lists.other_limits.size(), 0)};
}

void add_to(QueueUsage& usage, const QueueUsage& more) {
  for (const QueueIndex queue : usage.all.indices()) {
    add_to(usage.all[queue], more.all[queue]);
    add_to(usage.non_preemptible[queue], more.non_preemptible[queue]);
  }
  for (const OtherLimitIndex limit : usage.limited.indices())
    usage.limited[limit] = saturating_add(usage.limited[limit], more.limited[limit]);
}

// Sums over no pods.
PodSums no_sums(const Case& c) {
  const bool has_end = !c.plan.evictions.empty();
  return {Occupancy(c.capacities), has_end ? Occupancy(c.capacities) : Occupancy(),
          c.has_min_resources ? Occupancy(c.capacities) : Occupancy(), no_usage(c.problem), no_usage(c.problem)};
}

void count_usage(const Case& c, const Gang& gang, PodIndex pod, PodSums& sums) {
  const auto count = [&](QueueUsage& usage, const QueueAmounts& amounts) {
    add_to(usage.all[gang.queue], amounts);
    if (!gang.preemptible) add_to(usage.non_preemptible[gang.queue], amounts);
    for (const OtherLimitIndex limit : c.problem.queues[gang.queue].other_limits) {
      const Amount asked = asked_of(c.spec(pod), c.problem.lists.other_limits[limit].resource);
      usage.limited[limit] = saturating_add(usage.limited[limit], asked);
    }
  };
  const Placement* placement = c.placement[pod];
  if (c.runs(pod)) {
    const QueueAmounts amounts = usage_on(c, pod, c.node_before(pod));
    count(sums.before, amounts);
    if (c.stays(pod) && !placement) count(sums.after, amounts);
  }
  if (placement) count(sums.after, usage_on(c, pod, placement->node));
}

void count(const Case& c, PodIndex pod, PodSums& sums) {
  const NodeIndex from = c.node_before(pod);
  const Placement* placement = c.placement[pod];
  if (from.is_none() && !placement) return;
  const PodSpec& spec = c.spec(pod);
  if (!from.is_none()) sums.at_once.put(spec, from, c.problem.devices_of(pod));
  if (placement) sums.at_once.put(spec, placement->node, placement->devices);
  const Gang& gang = c.gang_of(pod);
  if (!gang.queue.is_none()) count_usage(c, gang, pod, sums);
  if (!c.is_there_after(pod)) return;
  const std::span<const std::int32_t> devices =
      placement ? std::span<const std::int32_t>(placement->devices) : c.problem.devices_of(pod);
  if (!c.plan.evictions.empty()) sums.end.put(spec, c.node_after(pod), devices);
  if (c.has_min_resources && c.runs(pod)) sums.settled.put(spec, c.node_after(pod), devices);
}

// Prefetches what `count` reads of the pod.
void fetch(const Case& c, PodIndex pod, const PodSums& sums) {
  if (const NodeIndex from = c.node_before(pod); !from.is_none()) sums.at_once.fetch(from);
  if (const Placement* placement = c.placement[pod]) sums.at_once.fetch(placement->node);
}

void add_to(const Case& c, PodSums& sum, const PodSums& more) {
  sum.at_once.put(more.at_once);
  if (!c.plan.evictions.empty()) sum.end.put(more.end);
  if (c.has_min_resources) sum.settled.put(more.settled);
  add_to(sum.before, more.before);
  add_to(sum.after, more.after);
}

// The sums of some of the pods are computed separately from the others. No amount is less than zero, so the sums,
// saturated or not, are the same however the pods are divided.
PodSums count_pods(const Case& c, int threads) {
  const std::size_t pods = c.problem.pods.size(), ranges = ranges_for(pods, threads);
  std::vector<PodSums> parts(ranges, no_sums(c));
  parallel_for(ranges, threads, [&](std::size_t range) {
    constexpr std::size_t kAhead = 12;
    for (const PodIndex pod : range_of<PodIndex>(pods, range, ranges)) {
      if (pod.value() + kAhead < pods) fetch(c, PodIndex(pod.value() + kAhead), parts[range]);
      count(c, pod, parts[range]);
    }
  });
  for (std::size_t range = 1; range < ranges; ++range) add_to(c, parts.front(), parts[range]);
  return std::move(parts.front());
}

bool is_crowded(const Case& c, NodeIndex node) {
  const std::size_t first = c.capacities.first_at(node), end = c.capacities.first_at(NodeIndex(node.value() + 1));
  for (std::size_t cell = first; cell < end; ++cell)
    if (c.sums.at_once.taken()[cell] > c.capacities.all()[cell]) return true;
  const auto& beyond = c.sums.at_once.taken_beyond();
  for (auto at = beyond.lower_bound({node, ResourceIndex(0)}); at != beyond.end() && at->first.first == node; ++at)
    if (at->second > 0) return true;
  for (std::int32_t device = 0; device < c.capacities.devices(node); ++device) {
    if (c.sums.at_once.device_taken(node, device) > c.capacities.of_device(node, device)) return true;
  }
  return false;
}

std::vector<CrowdedNode> nodes_crowded(const Case& c) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  Indexed<NodeIndex, std::uint32_t> slot(c.capacities.nodes(), kNone);
  std::vector<CrowdedNode> crowded;
  for (const NodeIndex node : slot.indices()) {
    if (!is_crowded(c, node)) continue;
    slot[node] = static_cast<std::uint32_t>(crowded.size());
    crowded.push_back({node, {}, {}});
  }
  if (crowded.empty()) return crowded;
  for (const PodIndex pod : c.problem.pods.indices()) {
    const NodeIndex node = c.node_before(pod);
    if (!node.is_none() && slot[node] != kNone) crowded[slot[node]].residents.push_back(pod);
  }
  for (const Placement& placement : c.plan.placements) {
    if (slot[placement.node] != kNone) crowded[slot[placement.node]].arrivals.push_back(&placement);
  }
  return crowded;
}

// Leaves have their sums already; every inner queue gets those of all queues below it. What is limited has been counted
// in all of them.
void add_up(const Problem& problem, QueueUsage& usage) {
  QueueUsage total = usage;
  for (const QueueIndex queue : problem.queues.indices()) {
    for (QueueIndex above = problem.queues[queue].parent; !above.is_none(); above = problem.queues[above].parent) {
      add_to(total.all[above], usage.all[queue]);
      add_to(total.non_preemptible[above], usage.non_preemptible[queue]);
    }
  }
  for (const QueueIndex queue : problem.queues.indices())
    add_to(total.non_preemptible[queue], problem.queues[queue].core_usage);
  usage = std::move(total);
}

}  // namespace

// A pod that runs on a device which its node does not report holds a device that no other pod may use.
Capacities::Capacities(const Snapshot& snapshot, const Problem& problem)
    : resources_(snapshot.resource_names.size()),
      kinds_(snapshot.nodes.size()),
      cell_begin_(snapshot.nodes.size() + 1),
      device_begin_(snapshot.nodes.size() + 1),
      device_memory_mib_(snapshot.nodes.size()),
      reported_devices_(snapshot.nodes.size()) {
  std::map<std::vector<ResourceIndex>, std::size_t> kinds;
  auto kind = kinds.end();
  std::vector<ResourceIndex> reported;
  for (std::size_t n = 0; n < snapshot.nodes.size(); ++n) {
    const SnapshotNode& node = snapshot.nodes[n];
    reported.clear();
    for (const ResourceAmount& there : node.resources) {
      reported.push_back(there.resource);
      amounts_.push_back(there.amount);
    }
    if (kind == kinds.end() || kind->first != reported) {  // neighbours are mostly alike
      kind = kinds.try_emplace(reported, kinds.size()).first;
      offsets_.resize(kinds.size() * resources_, kAbsent);
      for (std::size_t i = 0; i < reported.size(); ++i)
        offsets_[kind->second * resources_ + reported[i].value()] = static_cast<std::uint32_t>(i);
    }
    kinds_[n] = kind->second;
    cell_begin_[n + 1] = amounts_.size();
    const std::int32_t devices = std::max(node.gpu_count, problem.class_of(NodeIndex(n)).device_count);
    device_begin_[n + 1] = device_begin_[n] + static_cast<std::size_t>(devices);
    device_memory_mib_[n] = node.gpu_memory_mib;
    reported_devices_[n] = node.gpu_count;
  }
}

DeviceUnits Capacities::of_device(NodeIndex node) const {
  const std::int64_t mib = device_memory_mib(node);
  return (mib == 0 ? 1 : mib) * kMillion;
}

Occupancy::Occupancy(const Capacities& capacities)
    : capacities_(&capacities), taken_(capacities.all().size()), device_taken_(capacities.all_devices()) {}

Amount Occupancy::taken(NodeIndex node, ResourceIndex resource) const {
  const std::size_t cell = capacities_->at(node, resource);
  if (cell != Capacities::kNone) return taken_[cell];
  const auto at = beyond_.find({node, resource});
  return at == beyond_.end() ? 0 : at->second;
}

void Occupancy::put(const PodSpec& spec, NodeIndex node, std::span<const std::int32_t> devices) {
  change(spec, node, devices, [](Amount sum, Amount amount) { return saturating_add(sum, amount); });
}

void Occupancy::take(const PodSpec& spec, NodeIndex node, std::span<const std::int32_t> devices) {
  change(spec, node, devices, [](Amount sum, Amount amount) { return saturating_subtract(sum, amount); });
}

void Occupancy::change(const PodSpec& spec, NodeIndex node, std::span<const std::int32_t> devices,
                       const auto& changed) {
  for (const ResourceAmount& asked : spec.resources) {
    const std::size_t cell = capacities_->at(node, asked.resource);
    Amount& taken = cell == Capacities::kNone ? beyond_[{node, asked.resource}] : taken_[cell];
    taken = changed(taken, asked.amount);
  }
  if (devices.empty()) return;
  const DeviceUnits units = device_units(spec, capacities_->device_memory_mib(node));
  DeviceUnits* const device_taken = device_taken_.data() + capacities_->at_device(node, 0);
  for (const std::int32_t device : devices) device_taken[device] = changed(device_taken[device], units);
}

void Occupancy::put(const Occupancy& other) {
  std::ranges::transform(taken_, other.taken_, taken_.begin(), saturating_add);
  for (const auto& [place, amount] : other.beyond_) beyond_[place] = saturating_add(beyond_[place], amount);
  std::ranges::transform(device_taken_, other.device_taken_, device_taken_.begin(), saturating_add);
}

DeviceUnits device_units(const PodSpec& spec, std::int64_t device_memory_mib) {
  const std::int64_t mib = device_memory_mib == 0 ? 1 : device_memory_mib;
  if (spec.gpu.kind == GpuRequestKind::kFraction) return spec.gpu.share * mib;
  if (spec.gpu.kind == GpuRequestKind::kMemory && device_memory_mib != 0) return spec.gpu.share * kMillion;
  return mib * kMillion;
}

std::int64_t slice_thousandths(std::string_view name) {
  constexpr std::string_view kPrefix = "nvidia.com/mig-";
  if (!name.starts_with(kPrefix)) return 0;
  name.remove_prefix(kPrefix.size());
  std::int64_t sevenths = 0;
  while (!name.empty() && name.front() >= '0' && name.front() <= '9' && sevenths < 1000) {
    sevenths = 10 * sevenths + (name.front() - '0');
    name.remove_prefix(1);
  }
  return name.starts_with("g.") ? (1000 * sevenths + 6) / 7 : 0;
}

QueueAmounts usage_on(const Case& c, PodIndex pod, NodeIndex node) {
  const PodSpec& spec = c.spec(pod);
  QueueAmounts usage{};
  usage[kQueueGpu] = micro_gpu_on(spec.gpu, c.capacities.device_memory_mib(node));
  for (const ResourceAmount& asked : spec.resources) {
    if (asked.resource == kCpu) usage[kQueueCpu] = asked.amount;
    if (asked.resource == kMemory) usage[kQueueMemory] = asked.amount;
    if (asked.resource > kPods) {
      const std::int64_t part = 1000 * slice_thousandths(c.snapshot.resource_names[asked.resource]);
      usage[kQueueGpu] = saturating_add(usage[kQueueGpu], saturating_multiply(asked.amount, part));
    }
  }
  return usage;
}

Amount asked_of(const PodSpec& spec, ResourceIndex resource) {
  const auto asked = std::ranges::find(spec.resources, resource, &ResourceAmount::resource);
  return asked == spec.resources.end() ? 0 : asked->amount;
}

std::array<bool, kQueueResources> asked_for(const Case& c, GangIndex gang) {
  std::array<bool, kQueueResources> asked{};
  for (const PodIndex pod : c.problem.gangs[gang].pods) {
    const PodSpec& spec = c.spec(pod);
    if (spec.gpu.devices > 0) asked[kQueueGpu] = true;
    for (const ResourceAmount& wanted : spec.resources) {
      if (wanted.amount == 0) continue;
      if (wanted.resource == kCpu) asked[kQueueCpu] = true;
      if (wanted.resource == kMemory) asked[kQueueMemory] = true;
      if (slice_thousandths(c.snapshot.resource_names[wanted.resource]) > 0) asked[kQueueGpu] = true;
    }
  }
  return asked;
}

Case::Case(const Snapshot& the_snapshot, const Problem& the_problem, const FairShares& the_shares, const Plan& the_plan,
           int threads)
    : snapshot(the_snapshot),
      problem(the_problem),
      shares(the_shares),
      plan(the_plan),
      placement(the_snapshot.pods.size(), nullptr),
      eviction(the_snapshot.pods.size(), nullptr),
      placed_gangs(gangs_of(the_problem, the_plan.placements)),
      evicted_gangs(gangs_of(the_problem, the_plan.evictions)),
      capacities(the_snapshot, the_problem),
      kept_out(the_snapshot.pods.size(), 0) {
  for (const Placement& placed : plan.placements) placement[placed.pod] = &placed;
  for (const Eviction& evicted : plan.evictions) eviction[evicted.pod] = &evicted;
  has_min_resources = std::ranges::any_of(placed_gangs, [this](GangIndex gang) {
    const SnapshotGang* source = snapshot_gang(gang);
    return source && source->has_min_resources;
  });
  sums = count_pods(*this, threads);
  add_up(problem, sums.before);
  add_up(problem, sums.after);
  crowded_nodes = nodes_crowded(*this);
}

const SnapshotGang* Case::snapshot_gang(GangIndex gang) const {
  const std::size_t position = gang.value();  // the snapshot's gangs come first, in their order
  return position < snapshot.gangs.size() ? &snapshot.gangs[position] : nullptr;
}

void Case::object(Rule rule, std::string_view subject, std::string message) {
  violations.push_back({rule, std::string(subject), std::move(message)});
}

std::string Case::quoted(PodIndex index) const { return '"' + std::string(pod(index).name) + '"'; }
std::string Case::quoted(GangIndex index) const { return '"' + std::string(problem.gangs[index].name) + '"'; }

std::string amount_text(ResourceIndex resource, Amount amount) {
  if (resource == kCpu) return std::to_string(amount) + "m";
  if (resource == kMemory) return std::to_string(amount) + " bytes";
  return std::to_string(amount);
}

std::string queue_amount_text(std::size_t resource, Amount amount) {
  if (resource == kQueueCpu) return amount_text(kCpu, amount);
  if (resource == kQueueMemory) return amount_text(kMemory, amount);
  std::string digits = std::to_string(amount % kMillion + kMillion).substr(1);  // six places, amount >= 0
  digits.erase(digits.find_last_not_of('0') + 1);
  return std::to_string(amount / kMillion) + (digits.empty() ? "" : "." + digits);
}

std::string_view queue_resource_name(std::size_t resource) {
  constexpr std::array<std::string_view, kQueueResources> kNames = {"gpu", "cpu", "memory"};
  return kNames[resource];
}

}  // namespace muster::referee
