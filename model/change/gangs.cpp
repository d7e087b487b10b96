// What may change of a gang: its priority, its minimum, the level that it requires, what it tolerates, whether it is
// there.
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/change/gang_parts.h"
#include "model/change/parts.h"
#include "model/problem/next_snapshot.h"

namespace muster::change {
namespace {

Failure invalid(std::string message) { return InputError{ErrorCode::kInvalidValue, "$", std::move(message)}; }

std::string quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

}  // namespace

Failure apply_one(const SetPriority& change, Snapshot& snapshot) {
  const auto parts = find_gang(snapshot, change.gang);
  if (!parts) return unknown("gang", change.gang);
  terms_of(*parts, snapshot).priority = change.priority;
  return {};
}

Failure apply_one(const RemoveGang& change, Snapshot& snapshot) { return remove_gangs({{change.gang}}, snapshot); }

// A gang has an entry, or is a pod without a gang.
Failure remove_gangs(const std::vector<std::string_view>& names, Snapshot& snapshot) {
  enum class Known : std::uint8_t { kNo, kEntry, kPod };
  std::unordered_map<std::string_view, Known> gone;
  for (const std::string_view name : names) {
    if (!gone.emplace(name, Known::kNo).second) return unknown("gang", name);  // it is gone already
  }
  const auto find = [&](std::string_view name) {
    const auto found = gone.find(name);
    return found == gone.end() ? nullptr : &found->second;
  };
  for (const SnapshotGang& gang : snapshot.gangs) {
    if (Known* known = find(gang.name)) *known = Known::kEntry;
  }
  for (const SnapshotPod& pod : snapshot.pods) {
    Known* known = pod.gang.empty() ? find(pod.name) : nullptr;
    if (known != nullptr && *known == Known::kNo) *known = Known::kPod;
  }
  for (const std::string_view name : names) {
    if (gone.at(name) == Known::kNo) return unknown("gang", name);
  }
  snapshot.pods.erase_if([&](const SnapshotPod& pod) {
    const Known* known = find(pod.gang.empty() ? pod.name : pod.gang);
    return known != nullptr && *known == (pod.gang.empty() ? Known::kPod : Known::kEntry);
  });
  std::erase_if(snapshot.gangs, [&](const SnapshotGang& gang) { return find(gang.name) != nullptr; });
  return {};
}

Failure apply_one(const Evict& change, Snapshot& snapshot) {
  std::size_t known = 0, running = 0;
  for (SnapshotPod& pod : snapshot.pods) {
    if (pod.name != change.pod_or_gang && pod.gang != change.pod_or_gang) continue;
    ++known;
    if (pod.status != PodStatus::kRunning) continue;
    ++running;
    make_pending_again(pod, snapshot.time);
  }
  if (known == 0) return unknown("pod or gang", change.pod_or_gang);
  if (running == 0) return invalid("no pod of " + quoted(change.pod_or_gang) + " runs");
  return {};
}

Failure apply_one(const Tolerate& change, Snapshot& snapshot) {
  const auto parts = find_gang(snapshot, change.gang);
  if (!parts) return unknown("gang", change.gang);
  Toleration toleration{snapshot.text.store(change.taint.key), snapshot.text.store(change.taint.value),
                        change.any_value, change.taint.effect};
  if (change.any_value) toleration.value = {};
  if (change.any_effect) toleration.effect = std::nullopt;
  std::map<PodSpecIndex, PodSpecIndex> tolerant;
  for (const std::size_t position : parts->pods) {
    SnapshotPod& pod = snapshot.pods[position];
    const auto [known, is_new] = tolerant.try_emplace(pod.spec);
    if (is_new) {
      PodSpec spec = snapshot.pod_specs[pod.spec];
      spec.tolerations.push_back(toleration);
      known->second = snapshot.pod_specs.push_back(std::move(spec));
    }
    pod.spec = known->second;
  }
  return {};
}

namespace {

Failure set_minimum(const SetMinimum& change, SnapshotGang& gang) {
  const auto subgroup = std::ranges::find(gang.subgroups, change.subgroup, &SnapshotSubgroup::name);
  if (subgroup == gang.subgroups.end()) return unknown("subgroup", change.subgroup);
  if (change.minimum < 0) return invalid("the minimum of a subgroup is at least 0");
  const auto below = std::ranges::find(gang.subgroups, change.subgroup, &SnapshotSubgroup::parent);
  (below == gang.subgroups.end() ? subgroup->min_member : subgroup->min_subgroups) = change.minimum;
  return {};
}

}  // namespace

Failure apply_one(const SetMinimum& change, Snapshot& snapshot) {
  const auto parts = find_gang(snapshot, change.gang);
  if (!parts) return unknown("gang", change.gang);
  if (!parts->gang) return invalid("the pod " + quoted(change.gang) + " is a gang by itself, whose minimum is 1");
  SnapshotGang& gang = snapshot.gangs[*parts->gang];
  if (!change.subgroup.empty()) return set_minimum(change, gang);
  if (!gang.subgroups.empty())
    return invalid("the gang " + quoted(change.gang) + " has subgroups; name one: " + change.gang + "/" +
                   std::string(gang.subgroups.front().name));
  if (change.minimum < 1) return invalid("the minimum of a gang is at least 1");
  gang.min_member = change.minimum;
  return {};
}

Failure apply_one(const SetRequiredLevel& change, Snapshot& snapshot) {
  const auto parts = find_gang(snapshot, change.gang);
  if (!parts || !parts->gang) return unknown("gang", change.gang);
  SnapshotGang& gang = snapshot.gangs[*parts->gang];
  TopologyRequest* request = &gang.topology;
  if (!change.subgroup.empty()) {
    const auto subgroup = std::ranges::find(gang.subgroups, change.subgroup, &SnapshotSubgroup::name);
    if (subgroup == gang.subgroups.end()) return unknown("subgroup", change.subgroup);
    request = &subgroup->topology;
  }
  return require_level(change.level, snapshot, *request);
}

Failure require_level(const std::string& text, Snapshot& snapshot, TopologyRequest& request) {
  const std::size_t colon = text.find(':');
  const bool is_named = colon != std::string::npos;
  const std::string_view level = is_named ? std::string_view(text).substr(colon + 1) : text;
  std::string_view topology = is_named ? std::string_view(text).substr(0, colon) : request.topology;
  const auto is_known = [&](std::string_view one) {
    return one.empty() || !places_of_level(snapshot.definitions, one, topology).empty();
  };
  if (!is_named && !is_known(level)) topology = {};
  if (!is_known(level)) return unknown("topology level", text);
  request.topology = snapshot.text.store(topology);
  request.required = snapshot.text.store(level);
  if (!is_known(request.preferred)) request.preferred = {};
  return {};
}

}  // namespace muster::change
