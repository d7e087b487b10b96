#include "model/change/gangs.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/change/change.h"
#include "model/change/merge.h"
#include "model/problem/next_snapshot.h"

namespace muster::change {

std::optional<GangParts> find_gang(const Snapshot& snapshot, std::string_view name) {
  auto gangs = all_gangs(snapshot);
  const auto found = gangs.find(name);
  return found == gangs.end() ? std::nullopt : std::optional(std::move(found->second));
}

std::unordered_map<std::string_view, GangParts> all_gangs(const Snapshot& snapshot) {
  std::unordered_map<std::string_view, GangParts> gangs;
  for (std::size_t gang = 0; gang < snapshot.gangs.size(); ++gang)
    gangs.try_emplace(snapshot.gangs[gang].name, GangParts{gang, {}});
  for (std::size_t pod = 0; pod < snapshot.pods.size(); ++pod) {
    const SnapshotPod& member = snapshot.pods[pod];
    const bool is_gang = member.gang.empty();  // by itself, unless a gang has its name
    const auto known = is_gang ? gangs.try_emplace(member.name).first : gangs.find(member.gang);
    if (known != gangs.end() && known->second.gang.has_value() != is_gang) known->second.pods.push_back(pod);
  }
  return gangs;
}

GangTerms& terms_of(const GangParts& parts, Snapshot& snapshot) {
  if (parts.gang) return snapshot.gangs[*parts.gang].terms;
  MUSTER_REQUIRE(!parts.pods.empty());
  SnapshotPod& pod = snapshot.pods[parts.pods.front()];
  std::vector<GangTerms>& all = snapshot.own_gang_terms;
  all.push_back(pod.own_gang < 0 ? GangTerms{} : GangTerms{all[static_cast<std::size_t>(pod.own_gang)]});
  pod.own_gang = static_cast<std::int32_t>(all.size() - 1);
  return all.back();
}

// What may change of a gang: its priority, its minimum, the level that it requires, what it tolerates, whether it is
// there.

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

namespace {

constexpr std::string_view kGpuTaint = "nvidia.com/gpu";

void add_toleration(std::string_view key, Snapshot& snapshot, PodSpec& spec) {
  spec.tolerations.push_back({snapshot.text.store(key), {}, true, std::nullopt});
}

// With the largest binary suffix that leaves a whole number.
std::string bytes_text(Amount bytes) {
  constexpr std::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti"};
  constexpr Amount kStep = 1024;
  std::size_t suffix = 0;
  for (; bytes != 0 && bytes % kStep == 0 && suffix + 1 < std::size(kSuffixes); ++suffix) bytes /= kStep;
  return std::to_string(bytes) + std::string(kSuffixes[suffix]);
}

std::string gpu_text(const GpuRequest& gpu) {
  switch (gpu.kind) {
    case GpuRequestKind::kNone:
      return "";
    case GpuRequestKind::kWhole:
      return std::to_string(gpu.devices);
    case GpuRequestKind::kFraction:
      return amount_text(gpu.share, 1'000'000);
    case GpuRequestKind::kMemory:
      break;
  }
  const std::string memory = "gpu-memory=" + std::to_string(gpu.share) + "Mi";
  return gpu.devices == 1 ? memory : std::to_string(gpu.devices) + "," + memory;
}

std::string resource_text(const std::string& name, Amount amount) {
  if (name == "cpu") return name + "=" + amount_text(amount, 1'000);
  return name + "=" + (name == "memory" ? bytes_text(amount) : std::to_string(amount));
}

Failure no_room_for_names(std::string_view gang) {
  return InputError{ErrorCode::kDuplicateName, "$", "the name \"" + std::string(gang) + "\" is taken"};
}

// Whether a gang has one of the names of the new gangs, or a pod one of those of their pods.
bool is_taken(const Snapshot& snapshot, const AddGang& change) {
  const std::string prefix = change.gang + "+";
  const auto is_new = [&](std::string_view name) { return name == change.gang || name.starts_with(prefix); };
  for (const SnapshotGang& gang : snapshot.gangs) {
    if (is_new(gang.name)) return true;
  }
  for (const SnapshotPod& pod : snapshot.pods) {
    if (is_new(pod.name) || is_new(pod.gang)) return true;
  }
  return false;
}

}  // namespace

PodSpec spec_of(const PodShape& shape, Snapshot& snapshot) {
  PodSpec spec;
  for (const auto& [name, amount] : shape.resources) {
    if (amount > 0) spec.resources.push_back({resource_named(snapshot, name), amount});
  }
  const auto is_pods = [](const ResourceAmount& amount) { return amount.resource == kPods; };
  if (std::ranges::none_of(spec.resources, is_pods)) spec.resources.push_back({kPods, 1});
  std::ranges::sort(spec.resources, {}, &ResourceAmount::resource);
  spec.gpu = shape.gpu;
  for (const std::string& model : shape.gpu_models) spec.gpu_models.push_back(snapshot.text.store(model));
  std::ranges::sort(spec.gpu_models);
  for (const std::string& key : shape.tolerated) add_toleration(key, snapshot, spec);
  if (shape.gpu.kind != GpuRequestKind::kNone && std::ranges::find(shape.tolerated, kGpuTaint) == shape.tolerated.end())
    add_toleration(kGpuTaint, snapshot, spec);
  return spec;
}

GangShape reduced(GangShape shape, std::int32_t devices) {
  const std::int32_t whole = shape.pod.gpu.devices;
  MUSTER_REQUIRE(shape.pod.gpu.kind == GpuRequestKind::kWhole && devices <= whole);
  for (auto& [name, amount] : shape.pod.resources) {
    amount = static_cast<Amount>((Wide{amount} * devices + whole - 1) / whole);
  }
  shape.pod.gpu.devices = devices;
  return shape;
}

std::string text_of(const GangShape& shape) {
  const PodShape& pod = shape.pod;
  std::string text = gpu_text(pod.gpu);
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ",") + part; };
  for (const std::string& model : pod.gpu_models) add("model=" + model);
  for (const auto& [name, amount] : pod.resources) add(resource_text(name, amount));
  if (!shape.required_level.empty()) add("level=" + shape.required_level);
  for (const std::string& key : pod.tolerated) add("tolerate=" + key);
  return shape.pods == 1 ? text : std::to_string(shape.pods) + "x" + text;
}

std::string text_of(const NodeShape& shape) {
  std::string text = "gpu=" + std::to_string(shape.gpus) + (shape.gpu_model.empty() ? "" : ":" + shape.gpu_model);
  if (shape.gpu_memory_mib > 0) text += ",gpu-memory=" + std::to_string(shape.gpu_memory_mib) + "Mi";
  for (const auto& [name, amount] : shape.resources) text += "," + resource_text(name, amount);
  for (const auto& [key, value] : shape.labels) text += ",label=" + key + ":" + value;
  return text;
}

Failure apply_one(const AddGang& change, Snapshot& snapshot) {
  if (change.count < 1 || change.shape.pods < 1)
    return InputError{ErrorCode::kInvalidValue, "$", "the number of gangs or pods to add is below 1"};
  if (is_taken(snapshot, change)) return no_room_for_names(change.gang);
  TopologyRequest topology;
  if (Failure failure = require_level(change.shape.required_level, snapshot, topology)) return failure;
  const auto has_name = [&](const SnapshotQueue& queue) { return queue.name == change.queue; };
  const bool has_queue =
      snapshot.queues.empty() ? change.queue == "default" : std::ranges::any_of(snapshot.queues, has_name);
  if (!has_queue) return unknown("queue", change.queue);

  SnapshotGang gang;
  gang.terms.queue = snapshot.text.store(change.queue);
  gang.terms.priority = change.priority;
  gang.terms.preemptible = change.preemptible;
  gang.terms.created = snapshot.time;
  gang.min_member = change.shape.pods;
  gang.topology = topology;
  SnapshotPod pod;
  pod.namespace_name = "default";
  pod.spec = snapshot.pod_specs.push_back(spec_of(change.shape.pod, snapshot));
  for (std::int64_t copy = 1; copy <= change.count; ++copy) {
    gang.name = snapshot.text.store(change.count == 1 ? change.gang : change.gang + "+" + std::to_string(copy));
    snapshot.gangs.push_back(gang);
    pod.gang = gang.name;
    for (std::int32_t number = 1; number <= change.shape.pods; ++number) {
      pod.name = snapshot.text.store(std::string(gang.name) + "+" + std::to_string(number));
      snapshot.pods.push_back(pod);
    }
  }
  return {};
}

}  // namespace muster::change
