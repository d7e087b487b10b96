// Names in a plan line to indices of its problem.
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "io/muster_v1/plan_input.h"

namespace muster::muster_v1 {

using json::JsonValue;

namespace {

class Resolver {
 public:
  Resolver(PlanInput& input, const Problem& problem);
  bool resolve();

 private:
  template <class Index>
  using Names = std::unordered_map<std::string_view, Index>;
  template <class Index>
  bool find(const Names<Index>& names, JsonValue name, std::string_view kind, Index& out);
  bool resolve(const PlacementDraft& draft, Placement& placement);
  bool resolve(const EvictionDraft& draft, Eviction& eviction);
  bool read_devices(const PlacementDraft& draft, Placement& placement);
  template <class Draft>
  bool refuse_twice(const std::vector<Draft>& drafts);

  PlanInput& in_;
  const Problem& problem_;
  Names<PodIndex> pods_;
  Names<NodeIndex> nodes_;
  Names<GangIndex> gangs_;
};

Resolver::Resolver(PlanInput& input, const Problem& problem) : in_(input), problem_(problem) {
  const Snapshot& snapshot = *problem.snapshot;
  for (std::size_t i = 0; i < snapshot.pods.size(); ++i) pods_.emplace(snapshot.pods[i].name, PodIndex(i));
  for (std::size_t i = 0; i < snapshot.nodes.size(); ++i) nodes_.emplace(snapshot.nodes[i].name, NodeIndex(i));
  for (const GangIndex gang : problem.gangs.indices()) gangs_.emplace(problem.gangs[gang].name, gang);
}

template <class Index>
bool Resolver::find(const Names<Index>& names, JsonValue name, std::string_view kind, Index& out) {
  const auto found = names.find(name.string());
  if (found == names.end()) {
    return in_.fail(name, ErrorCode::kUnknownName,
                    "the snapshot has no " + std::string(kind) + " \"" + std::string(name.string()) + "\"");
  }
  out = found->second;
  return true;
}

template <class Draft>
bool Resolver::refuse_twice(const std::vector<Draft>& drafts) {
  std::unordered_map<std::string_view, bool> seen;
  for (const Draft& draft : drafts) {
    if (seen.emplace(draft.pod.string(), true).second) continue;
    return in_.fail(draft.pod, ErrorCode::kDuplicateName, "duplicate pod in this list");
  }
  return true;
}

bool Resolver::read_devices(const PlacementDraft& draft, Placement& placement) {
  const std::int64_t share =
      device_share(problem_.class_of(placement.pod).gpu, problem_.class_of(placement.node).device_memory_mib);
  for (const DeviceDraft& device : draft.devices) {
    Quantity claimed;
    if (!in_.read_number(device.share, claimed)) return false;
    const Result<std::int64_t> millionths = count_units(claimed, QuantityUnit::kMillionth, Rounding::kRefuse);
    if (!millionths || *millionths != share) {
      return in_.fail_value(device.share,
                            "wrong share; the pod uses " + std::to_string(share) + " millionths of the device");
    }
    placement.devices.push_back(static_cast<std::int32_t>(device.index));
  }
  return true;
}

bool Resolver::resolve(const PlacementDraft& draft, Placement& placement) {
  if (!find(pods_, draft.pod, "pod", placement.pod) || !find(nodes_, draft.node, "node", placement.node)) return false;
  if (!read_devices(draft, placement)) return false;
  for (const JsonValue name : draft.after) {
    if (!find(pods_, name, "pod", placement.after.emplace_back())) return false;
  }
  placement.step = static_cast<std::int32_t>(draft.step);
  return true;
}

bool Resolver::resolve(const EvictionDraft& draft, Eviction& eviction) {
  NodeIndex node;
  if (!find(pods_, draft.pod, "pod", eviction.pod) || !find(nodes_, draft.node, "node", node)) return false;
  if (problem_.pods[eviction.pod].node != node) return in_.fail_value(draft.node, "the pod does not run on this node");
  eviction.reason = draft.reason;
  eviction.for_gang = GangIndex::none();
  return !draft.for_gang || find(gangs_, draft.for_gang, "gang", eviction.for_gang);
}

bool Resolver::resolve() {
  if (!refuse_twice(in_.placements) || !refuse_twice(in_.evictions)) return false;
  Plan& plan = in_.out.plan;
  for (const PlacementDraft& draft : in_.placements) {
    if (!resolve(draft, plan.placements.emplace_back())) return false;
  }
  for (const EvictionDraft& draft : in_.evictions) {
    if (!resolve(draft, plan.evictions.emplace_back())) return false;
  }
  std::size_t at = 0;
  for (const JsonValue element : in_.gang_list.elements()) {
    if (gangs_.contains(in_.out.gangs[at].name)) {
      ++at;
      continue;
    }
    return in_.fail(element, ErrorCode::kUnknownName, "the snapshot has no gang \"" + in_.out.gangs[at].name + "\"");
  }
  normalise(plan);
  return true;
}

}  // namespace

bool resolve_names(PlanInput& input, const Problem& problem) { return Resolver(input, problem).resolve(); }

void keep_names(PlanInput& in) {
  NamedPlan& named = in.out.named;
  for (const PlacementDraft& draft : in.placements) {
    auto& placement = named.placements.emplace_back();
    placement.pod = draft.pod.string();
    placement.node = draft.node.string();
    for (const DeviceDraft& device : draft.devices) {
      placement.devices.push_back({device.index, std::string(in.number_text(device.share))});
    }
    for (const JsonValue name : draft.after) placement.after.emplace_back(name.string());
    placement.step = draft.step;
  }
  for (const EvictionDraft& draft : in.evictions) {
    auto& eviction = named.evictions.emplace_back();
    eviction.pod = draft.pod.string();
    eviction.node = draft.node.string();
    if (draft.for_gang) eviction.for_gang = draft.for_gang.string();
    eviction.reason = draft.reason;
  }
}

}  // namespace muster::muster_v1
