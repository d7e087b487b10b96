#include "model/referee_case.h"

#include <algorithm>

#include "model/saturating.h"

namespace muster::referee {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

// Rounded to the nearest millionth of a device, halves up.
MicroGpu micro_gpu_on(const GpuRequest& gpu, const SnapshotNode& node) {
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
  const std::int64_t mib = node.gpu_memory_mib;
  const auto part = mib == 0 ? kMillion : saturate((Wide{2} * gpu.share * kMillion + mib) / (Wide{2} * mib));
  return saturating_multiply(gpu.devices, part);
}

void add_to(QueueAmounts& sum, const QueueAmounts& amounts) {
  for (std::size_t r = 0; r < kQueueResources; ++r) sum[r] = saturating_add(sum[r], amounts[r]);
}

std::vector<GangIndex> gangs_of(const Problem& problem, const auto& entries) {
  std::vector<GangIndex> gangs;
  gangs.reserve(entries.size());
  for (const auto& entry : entries) gangs.push_back(problem.pods[entry.pod].gang);
  std::ranges::sort(gangs);
  gangs.erase(std::ranges::unique(gangs).begin(), gangs.end());
  return gangs;
}

std::vector<TouchedNode> nodes_touched(const Case& c) {
  Indexed<NodeIndex, std::int32_t> slot(c.snapshot.nodes.size(), -1);
  std::vector<TouchedNode> touched;
  for (const Placement& placement : c.plan.placements) {
    if (slot[placement.node] < 0) {
      slot[placement.node] = static_cast<std::int32_t>(touched.size());
      touched.push_back({placement.node, {}, {}});
    }
    touched[static_cast<std::size_t>(slot[placement.node])].arrivals.push_back(&placement);
  }
  for (const PodIndex pod : c.problem.pods.indices()) {
    const NodeIndex node = c.node_before(pod);
    if (!node.is_none() && slot[node] >= 0) touched[static_cast<std::size_t>(slot[node])].residents.push_back(pod);
  }
  return touched;
}

// Which pods stand where in the end, into the rooms and usages of the case.
void count_pods(Case& c) {
  const auto count_usage = [&c](QueueUsage& usage, PodIndex pod, NodeIndex node) {
    const Gang& gang = c.gang_of(pod);
    if (gang.queue.is_none()) return;
    const QueueAmounts amounts = usage_on(c, pod, node);
    add_to(usage.all[gang.queue], amounts);
    if (!gang.preemptible) add_to(usage.non_preemptible[gang.queue], amounts);
  };
  for (const PodIndex pod : c.problem.pods.indices()) {
    if (c.runs(pod)) count_usage(c.before, pod, c.node_before(pod));
    if (!c.is_there_after(pod)) continue;
    const NodeIndex node = c.node_after(pod);
    const std::span<const std::int32_t> devices =
        c.placement[pod] ? std::span<const std::int32_t>(c.placement[pod]->devices) : c.problem.devices_of(pod);
    c.end.put(c.spec(pod), node, devices);
    if (c.runs(pod)) c.settled.put(c.spec(pod), node, devices);
    count_usage(c.after, pod, node);
  }
}

// Leaves hold sums already; every inner queue gets those of all queues below it.
void add_up(const Problem& problem, QueueUsage& usage) {
  QueueUsage total = usage;
  for (const QueueIndex queue : problem.queues.indices()) {
    for (QueueIndex above = problem.queues[queue].parent; !above.is_none(); above = problem.queues[above].parent) {
      add_to(total.all[above], usage.all[queue]);
      add_to(total.non_preemptible[above], usage.non_preemptible[queue]);
    }
  }
  usage = std::move(total);
}

}  // namespace

Room::Room(const Snapshot& snapshot)
    : snapshot_(&snapshot),
      resources_(snapshot.resource_names.size()),
      capacity_(snapshot.nodes.size() * resources_),
      taken_(snapshot.nodes.size() * resources_),
      device_begin_(snapshot.nodes.size() + 1) {
  for (std::size_t n = 0; n < snapshot.nodes.size(); ++n) {
    const SnapshotNode& node = snapshot.nodes[n];
    for (const ResourceAmount& there : node.resources) capacity_[at(NodeIndex(n), there.resource)] = there.amount;
    device_begin_[n + 1] = device_begin_[n] + static_cast<std::size_t>(node.gpu_count);
  }
  device_taken_.resize(device_begin_.back());
}

DeviceUnits Room::device_capacity(NodeIndex node) const {
  const std::int64_t mib = snapshot_->nodes[node.value()].gpu_memory_mib;
  return (mib == 0 ? 1 : mib) * kMillion;
}

DeviceUnits Room::device_taken(NodeIndex node, std::int32_t device) const {
  return device_taken_[device_begin_[node.value()] + static_cast<std::size_t>(device)];
}

void Room::add(const PodSpec& spec, NodeIndex node, std::span<const std::int32_t> devices, int sign) {
  const auto change = [sign](Amount& sum, Amount amount) {
    sum = sign > 0 ? saturating_add(sum, amount) : saturating_subtract(sum, amount);
  };
  for (const ResourceAmount& asked : spec.resources) change(taken_[at(node, asked.resource)], asked.amount);
  if (devices.empty()) return;
  const DeviceUnits units = device_units(spec, snapshot_->nodes[node.value()]);
  for (const std::int32_t device : devices) {
    change(device_taken_[device_begin_[node.value()] + static_cast<std::size_t>(device)], units);
  }
}

DeviceUnits device_units(const PodSpec& spec, const SnapshotNode& node) {
  const std::int64_t mib = node.gpu_memory_mib == 0 ? 1 : node.gpu_memory_mib;
  if (spec.gpu.kind == GpuRequestKind::kFraction) return spec.gpu.share * mib;
  if (spec.gpu.kind == GpuRequestKind::kMemory && node.gpu_memory_mib != 0) return spec.gpu.share * kMillion;
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
  usage[kQueueGpu] = micro_gpu_on(spec.gpu, c.node(node));
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

Case::Case(const Snapshot& the_snapshot, const Problem& the_problem, const FairShares& the_shares, const Plan& the_plan)
    : snapshot(the_snapshot),
      problem(the_problem),
      shares(the_shares),
      plan(the_plan),
      placement(the_snapshot.pods.size(), nullptr),
      eviction(the_snapshot.pods.size(), nullptr),
      placed_gangs(gangs_of(the_problem, the_plan.placements)),
      evicted_gangs(gangs_of(the_problem, the_plan.evictions)),
      end(the_snapshot),
      settled(the_snapshot),
      kept_out(the_snapshot.pods.size(), 0) {
  for (const Placement& placed : plan.placements) placement[placed.pod] = &placed;
  for (const Eviction& evicted : plan.evictions) eviction[evicted.pod] = &evicted;
  touched_nodes = nodes_touched(*this);
  for (QueueUsage* usage : {&before, &after}) {
    usage->all.assign(problem.queues.size(), QueueAmounts{});
    usage->non_preemptible.assign(problem.queues.size(), QueueAmounts{});
  }
  count_pods(*this);
  add_up(problem, before);
  add_up(problem, after);
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
