#include "io/muster_v1/named_plan.h"

#include <algorithm>
#include <ranges>
#include <unordered_set>
#include <utility>

#include "io/json/json_writer.h"
#include "model/snapshot/quantity.h"

namespace muster::muster_v1 {

namespace {

// Positions in the order of the names.
template <class Items, class Name>
std::vector<std::size_t> by_name(const Items& items, const Name& name) {
  std::vector<std::size_t> order(items.size());
  std::ranges::copy(std::views::iota(std::size_t{0}, items.size()), order.begin());
  std::ranges::sort(order, {}, [&](std::size_t i) { return name(items[i]); });
  return order;
}

// Looks up one entry of a plan line; the first error stays.
class EntryResolver {
 public:
  EntryResolver(std::string_view list, std::size_t position, InputError& error)
      : list_(list), position_(position), error_(error) {}

  // Returns false.
  bool fail(ErrorCode code, const std::string& key, std::string message) const {
    if (error_.code == ErrorCode::kNone)
      error_ = {code, "$." + std::string(list_) + "[" + std::to_string(position_) + "]." + key, std::move(message)};
    return false;
  }

  template <class Index>
  bool find(const NameTable& names, const std::string& name, const char* kind, const std::string& key,
            Index& out) const {
    const std::uint32_t found = names.find(name);
    if (found == NameTable::kAbsent)
      return fail(ErrorCode::kUnknownName, key, "the snapshot has no " + std::string(kind) + " \"" + name + "\"");
    out = Index(found);
    return true;
  }

 private:
  std::string_view list_;
  std::size_t position_;
  InputError& error_;
};

template <class Entry>
bool refuse_twice(const std::vector<Entry>& entries, std::string_view list, InputError& error) {
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!seen.insert(entries[i].pod).second)
      return EntryResolver(list, i, error).fail(ErrorCode::kDuplicateName, "pod", "duplicate pod in this list");
  }
  return true;
}

bool is_share(const std::string& text, std::int64_t millionths) {
  const Result<Quantity> claimed = parse_number(text);
  const auto units = claimed ? count_units(*claimed, QuantityUnit::kMillionth, Rounding::kRefuse) : claimed.error();
  return units && *units == millionths;
}

// Requires the pod and the node of the placement to be known.
bool resolve_devices(const EntryResolver& in, const Problem& problem, const NamedPlan::Placement& named,
                     Placement& out) {
  const std::int64_t share = device_share(problem.class_of(out.pod).gpu, problem.class_of(out.node).device_memory_mib);
  for (std::size_t i = 0; i < named.devices.size(); ++i) {
    if (!is_share(named.devices[i].share, share)) {
      return in.fail(ErrorCode::kInvalidValue, "gpus[" + std::to_string(i) + "].share",
                     "wrong share; the pod uses " + std::to_string(share) + " millionths of the device");
    }
    out.devices.push_back(static_cast<std::int32_t>(named.devices[i].index));
  }
  return true;
}

}  // namespace

std::int64_t device_share(const GpuRequest& request, std::int64_t device_memory_mib) {
  switch (request.kind) {
    case GpuRequestKind::kFraction:
      return request.share;
    case GpuRequestKind::kMemory: {
      if (device_memory_mib == 0) return 0;
      const auto wide = static_cast<__int128>(request.share) * 2 * kWholeDevice + device_memory_mib;
      return static_cast<std::int64_t>(wide / (2 * static_cast<__int128>(device_memory_mib)));
    }
    case GpuRequestKind::kWhole:
    case GpuRequestKind::kNone:
      break;
  }
  return kWholeDevice;
}

NamedPlan named_plan(const Problem& problem, const Plan& plan) {
  const auto name_of_pod = [&](PodIndex pod) { return problem.snapshot->pods[pod.value()].name; };
  const auto name_of_node = [&](NodeIndex node) { return problem.snapshot->nodes[node.value()].name; };
  NamedPlan named;
  for (const std::size_t at :
       by_name(plan.placements, [&](const Placement& entry) { return name_of_pod(entry.pod); })) {
    const Placement& from = plan.placements[at];
    NamedPlan::Placement& to = named.placements.emplace_back();
    to.pod = name_of_pod(from.pod);
    to.node = name_of_node(from.node);
    std::string share;
    json::JsonWriter(share).decimal(
        device_share(problem.class_of(from.pod).gpu, problem.class_of(from.node).device_memory_mib), kWholeDevice);
    for (const std::int32_t device : from.devices) to.devices.push_back({device, share});
    for (const std::size_t pod : by_name(from.after, name_of_pod)) to.after.emplace_back(name_of_pod(from.after[pod]));
    to.step = from.step;
  }
  for (const std::size_t at : by_name(plan.evictions, [&](const Eviction& entry) { return name_of_pod(entry.pod); })) {
    const Eviction& from = plan.evictions[at];
    NamedPlan::Eviction& to = named.evictions.emplace_back();
    to.pod = name_of_pod(from.pod);
    const NodeIndex node = problem.pods[from.pod].node;
    if (!node.is_none()) to.node = name_of_node(node);
    if (!from.for_gang.is_none()) to.for_gang = problem.gangs[from.for_gang].name;
    to.reason = from.reason;
  }
  return named;
}

PlanResolver::PlanResolver(const Problem& problem) : problem_(problem) {
  const Snapshot& snapshot = *problem.snapshot;
  pods_.reserve(problem.pods.size());
  nodes_.reserve(problem.nodes.size());
  gangs_.reserve(problem.gangs.size());
  for (const PodIndex pod : problem.pods.indices()) pods_.insert(snapshot.pods[pod.value()].name, pod.value());
  for (const NodeIndex node : problem.nodes.indices()) nodes_.insert(snapshot.nodes[node.value()].name, node.value());
  for (const GangIndex gang : problem.gangs.indices()) gangs_.insert(problem.gangs[gang].name, gang.value());
}

Result<Plan> PlanResolver::resolve(const NamedPlan& named) const {
  InputError error;
  Plan plan;
  if (!refuse_twice(named.placements, "placements", error) || !refuse_twice(named.evictions, "evictions", error))
    return error;
  for (std::size_t i = 0; i < named.placements.size(); ++i) {
    const NamedPlan::Placement& from = named.placements[i];
    const EntryResolver in("placements", i, error);
    Placement& to = plan.placements.emplace_back();
    if (!in.find(pods_, from.pod, "pod", "pod", to.pod) || !in.find(nodes_, from.node, "node", "node", to.node) ||
        !resolve_devices(in, problem_, from, to))
      return error;
    for (std::size_t k = 0; k < from.after.size(); ++k) {
      if (!in.find(pods_, from.after[k], "pod", "after[" + std::to_string(k) + "]", to.after.emplace_back()))
        return error;
    }
    to.step = static_cast<std::int32_t>(from.step);
  }
  for (std::size_t i = 0; i < named.evictions.size(); ++i) {
    const NamedPlan::Eviction& from = named.evictions[i];
    const EntryResolver in("evictions", i, error);
    Eviction& to = plan.evictions.emplace_back();
    NodeIndex node;
    if (!in.find(pods_, from.pod, "pod", "pod", to.pod) || !in.find(nodes_, from.node, "node", "node", node))
      return error;
    if (problem_.pods[to.pod].node != node) {
      static_cast<void>(in.fail(ErrorCode::kInvalidValue, "node", "the pod does not run on this node"));
      return error;
    }
    to.reason = from.reason;
    to.for_gang = GangIndex::none();
    if (!from.for_gang.empty() && !in.find(gangs_, from.for_gang, "gang", "for", to.for_gang)) return error;
  }
  normalise(plan);
  return plan;
}

}  // namespace muster::muster_v1
