#include "model/change/merge.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/base/require.h"
#include "model/base/words.h"
#include "model/change/change.h"
#include "model/problem/exceeded.h"

namespace muster::change {

namespace {

using Names = std::unordered_set<std::string_view>;

InputError duplicate(const char* kind, std::string_view name) {
  return {ErrorCode::kDuplicateName, "$",
          "the " + std::string(kind) + " \"" + std::string(name) + "\" is already in the cluster"};
}

std::optional<InputError> find_duplicate(const Snapshot& more, const Snapshot& snapshot) {
  Names gangs, pods;
  for (const SnapshotGang& gang : snapshot.gangs) gangs.insert(gang.name);
  for (const SnapshotPod& pod : snapshot.pods) pods.insert(pod.name);
  for (const SnapshotGang& gang : more.gangs) {
    if (!gangs.insert(gang.name).second) return duplicate("gang", gang.name);
  }
  for (const SnapshotPod& pod : more.pods) {
    if (!pods.insert(pod.name).second) return duplicate("pod", pod.name);
  }
  return std::nullopt;
}

template <class Element>
void add_new(const std::vector<Element>& more, std::vector<Element>& list) {
  Names known;
  for (const Element& element : list) known.insert(element.name);
  for (const Element& element : more) {
    if (known.insert(element.name).second) list.push_back(element);
  }
}

void add_budgets(const std::vector<SnapshotDisruptionBudget>& more, std::vector<SnapshotDisruptionBudget>& list) {
  const std::size_t old = list.size();
  for (const SnapshotDisruptionBudget& budget : more) {
    const auto end = list.begin() + static_cast<std::ptrdiff_t>(old);
    const bool is_known = std::any_of(list.begin(), end, [&](const SnapshotDisruptionBudget& other) {
      return other.name == budget.name && other.namespace_name == budget.namespace_name;
    });
    if (!is_known) list.push_back(budget);
  }
}

std::size_t values_of(const Snapshot& snapshot, std::string_view label) {
  Names values;
  for (const SnapshotNode& node : snapshot.nodes) {
    for (const auto& [key, value] : node.labels) {
      if (key == label) values.insert(value);
    }
  }
  return values.size();
}

void add_level(std::string_view label, const Snapshot& snapshot, std::vector<std::string_view>& levels) {
  if (std::ranges::find(levels, label) != levels.end()) return;
  const std::size_t values = values_of(snapshot, label);
  const auto finer = std::ranges::find_if(
      levels, [&](std::string_view level) { return values > 0 && values_of(snapshot, level) > values; });
  levels.insert(finer, label);
}

// Requests keep their topology once there are several.
void name_topology(std::string_view name, Snapshot& snapshot) {
  const auto set = [&](TopologyRequest& request) {
    if (!request.required.empty() || !request.preferred.empty()) request.topology = name;
  };
  snapshot.definitions.topologies.front().name = name;
  for (SnapshotGang& gang : snapshot.gangs) {
    set(gang.topology);
    for (SnapshotSubgroup& subgroup : gang.subgroups) set(subgroup.topology);
  }
}

// The topologies of `more` in the snapshot, which gets those that it does not have, by name there.
class Topologies {
 public:
  Topologies(const Snapshot& more, Snapshot& snapshot) : snapshot_(snapshot) {
    for (const SnapshotTopology& topology : more.definitions.topologies) add(topology);
  }

  // The request of a gang of `more`.
  TopologyRequest settled(TopologyRequest request) const {
    const auto renamed = names_.find(request.topology);
    if (renamed != names_.end() && !(request.required.empty() && request.preferred.empty()))
      request.topology = renamed->second;
    return request;
  }

 private:
  void add(const SnapshotTopology& topology) {
    std::vector<SnapshotTopology>& known = snapshot_.definitions.topologies;
    if (!topology.name.empty() && has_name(topology.name)) return;
    const auto equal = std::ranges::find(known, topology.levels, &SnapshotTopology::levels);
    if (equal != known.end()) {
      names_.emplace(topology.name, equal->name);
    } else if (topology.name.empty() && known.size() == 1 && known.front().name.empty()) {
      for (const std::string_view level : topology.levels) add_level(level, snapshot_, known.front().levels);
    } else {
      append(topology);
    }
  }

  void append(const SnapshotTopology& topology) {
    std::vector<SnapshotTopology>& known = snapshot_.definitions.topologies;
    if (known.size() == 1 && known.front().name.empty()) {
      const std::string_view name = new_name("cluster");
      name_topology(name, snapshot_);
      for (auto& [of_more, here] : names_) here = name;
    }
    known.push_back(topology);
    if (known.size() == 1 || !topology.name.empty()) return;
    const std::string_view name = new_name("submitted");
    known.back().name = name;
    names_.emplace(std::string_view(), name);
  }

  bool has_name(std::string_view name) const {
    return std::ranges::find(snapshot_.definitions.topologies, name, &SnapshotTopology::name) !=
           snapshot_.definitions.topologies.end();
  }

  std::string_view new_name(std::string name) {
    while (has_name(name)) name += '+';
    return snapshot_.text.store(name);
  }

  Snapshot& snapshot_;
  std::map<std::string_view, std::string_view> names_;  // of `more`, if the snapshot has another name for it
};

bool uses_default_queue(const Snapshot& snapshot) {
  const auto is_default = [](const GangTerms& terms) { return terms.queue == "default"; };
  return std::ranges::any_of(snapshot.gangs, is_default, &SnapshotGang::terms) ||
         std::ranges::any_of(snapshot.pods, [&](const SnapshotPod& pod) {
           return pod.gang.empty() &&
                  (pod.own_gang < 0 || is_default(snapshot.own_gang_terms[static_cast<std::size_t>(pod.own_gang)]));
         });
}

// Where the other snapshot's resources are in this one.
using ResourcePlaces = Indexed<ResourceIndex, ResourceIndex>;

ResourcePlaces resource_places(const Snapshot& more, Snapshot& snapshot) {
  ResourcePlaces places;
  for (const ResourceIndex resource : more.resource_names.indices()) {
    ResourceIndex place = ResourceIndex::none();
    for (const ResourceIndex known : snapshot.resource_names.indices()) {
      const std::string_view name = snapshot.resource_names[known];
      if (name == more.resource_names[resource] && !is_device_count(name)) place = known;
    }
    if (place.is_none()) place = snapshot.resource_names.push_back(more.resource_names[resource]);
    places.push_back(place);
  }
  return places;
}

// `amounts` of the other snapshot become those of this one.
template <class OfResource>
void settle(const ResourcePlaces& places, std::vector<OfResource>& amounts) {
  for (OfResource& amount : amounts) amount.resource = places[amount.resource];
  std::ranges::sort(amounts, {}, &OfResource::resource);
}

// A snapshot without queues has the queue `default`, which both may rely on.
void add_queues(const Snapshot& more, const ResourcePlaces& places, Snapshot& snapshot) {
  if (more.queues.empty() && snapshot.queues.empty()) return;
  if (snapshot.queues.empty()) snapshot.queues.emplace_back().name = "default";
  std::vector<SnapshotQueue> queues = more.queues;
  for (SnapshotQueue& queue : queues) settle(places, queue.other_resources);
  add_new(queues, snapshot.queues);
  const bool is_known = std::ranges::find(snapshot.queues, "default", &SnapshotQueue::name) != snapshot.queues.end();
  if (more.queues.empty() && !is_known && uses_default_queue(more)) snapshot.queues.emplace_back().name = "default";
}

void add_definitions(const Snapshot& more, const ResourcePlaces& places, Snapshot& snapshot) {
  add_new(more.definitions.namespaces, snapshot.definitions.namespaces);
  add_new(more.definitions.priority_classes, snapshot.definitions.priority_classes);
  add_queues(more, places, snapshot);
  add_budgets(more.disruption_budgets, snapshot.disruption_budgets);
}

class Merging {
 public:
  Merging(const Snapshot& more, const ResourcePlaces& places, Snapshot& snapshot)
      : more_(more),
        snapshot_(snapshot),
        places_(places),
        topologies_(more, snapshot),
        first_spec_(snapshot.pod_specs.size()),
        first_terms_(snapshot.own_gang_terms.size()) {}

  void add_workload() {
    for (const PodSpec& spec : more_.pod_specs) {
      PodSpec& added = snapshot_.pod_specs[snapshot_.pod_specs.push_back(spec)];
      settle(places_, added.resources);
    }
    for (const GangTerms& terms : more_.own_gang_terms) snapshot_.own_gang_terms.push_back(created(terms));
    for (const SnapshotGang& gang : more_.gangs) {
      SnapshotGang& added = snapshot_.gangs.emplace_back(gang);
      added.terms = created(gang.terms);
      added.topology = topologies_.settled(gang.topology);
      for (SnapshotSubgroup& subgroup : added.subgroups) subgroup.topology = topologies_.settled(subgroup.topology);
      settle(places_, added.min_resources);
    }
    for (const SnapshotPod& pod : more_.pods) add(pod);
  }

 private:
  GangTerms created(GangTerms terms) const {
    if (!terms.created) terms.created = snapshot_.time;
    return terms;
  }

  // A pod that is a gang by itself has terms, which are as old as it is.
  void add(const SnapshotPod& pod) {
    SnapshotPod added = pod;
    added.spec = PodSpecIndex(first_spec_ + pod.spec.value());
    if (!pod.created) added.created = snapshot_.time;
    if (pod.own_gang >= 0) added.own_gang = static_cast<std::int32_t>(first_terms_) + pod.own_gang;
    if (pod.gang.empty() && pod.own_gang < 0) {
      snapshot_.own_gang_terms.emplace_back().created = added.created;
      added.own_gang = static_cast<std::int32_t>(snapshot_.own_gang_terms.size() - 1);
    }
    snapshot_.pods.push_back(std::move(added));
  }

  const Snapshot& more_;
  Snapshot& snapshot_;
  const ResourcePlaces& places_;
  Topologies topologies_;
  std::size_t first_spec_, first_terms_;
};

}  // namespace

std::optional<InputError> merge(const Snapshot& more, Snapshot& snapshot) {
  if (auto failure = find_duplicate(more, snapshot)) return failure;
  snapshot.text.take(StringPool(more.text));
  const ResourcePlaces places = resource_places(more, snapshot);
  add_definitions(more, places, snapshot);
  Merging(more, places, snapshot).add_workload();
  const Anomalies& anomalies = more.anomalies;
  for (const Warning& warning : anomalies.warnings) snapshot.anomalies.tell(warning);
  std::vector<std::string_view>& held = snapshot.anomalies.held_gangs;
  held.insert(held.end(), anomalies.held_gangs.begin(), anomalies.held_gangs.end());
  return std::nullopt;
}

namespace {

std::string number(std::int64_t value) { return std::to_string(value); }

// As words of a shell. A value that begins like an option is joined to its flag.
std::string option(const char* flag, const std::string& value) {
  const char* separator = value.starts_with('-') ? "=" : " ";
  return flag + (separator + shell_word(value));
}

std::string setting(const char* flag, const std::string& name, const std::string& value) {
  return option(flag, name + "=" + value);
}

std::string part_of(const std::string& subgroup) { return subgroup.empty() ? "" : "/" + subgroup; }

// By TaintEffect.
constexpr std::array<const char*, 3> kEffects = {"NoSchedule", "NoExecute", "PreferNoSchedule"};

// One function a kind of change.
struct TextOf {
  std::string operator()(const AddNodes& change) const {
    return option("--add-nodes", number(change.count) + "x" + change.like);
  }
  std::string operator()(const AddShapedNodes& change) const {
    return option("--add-nodes", number(change.count) + "x" + text_of(change.shape));
  }
  std::string operator()(const RemoveNode& change) const { return option("--remove-node", change.node); }
  std::string operator()(const Cordon& change) const { return option("--cordon", change.node); }
  std::string operator()(const Uncordon& change) const { return option("--uncordon", change.node); }
  std::string operator()(const Drain& change) const { return option("--drain", change.node); }
  std::string operator()(const SetQueue& change) const {
    const char* flag = change.kind == QueueAmountKind::kQuota ? "--set-quota" : "--set-limit";
    switch (change.resource) {
      case QueueResourceKind::kGpu:
        return setting(flag, change.queue, "gpu:" + amount_text(change.amount, 1'000'000));
      case QueueResourceKind::kCpu:
        return setting(flag, change.queue, "cpu:" + amount_text(change.amount, 1'000));
      case QueueResourceKind::kMemory:
        return setting(flag, change.queue, "memory:" + amount_text(change.amount, 1));
      case QueueResourceKind::kOther:
        break;
    }
    return setting(flag, change.queue, change.other + ":" + amount_text(change.amount, 1));
  }
  std::string operator()(const SetPriority& change) const {
    return setting("--set-priority", change.gang, number(change.priority));
  }
  std::string operator()(const RemoveGang& change) const { return option("--remove-gang", change.gang); }
  std::string operator()(const Evict& change) const { return option("--evict", change.pod_or_gang); }
  std::string operator()(const Tolerate& change) const {
    const TaintText& taint = change.taint;
    std::string text = taint.key;
    if (!change.any_value && !taint.value.empty()) text += "=" + taint.value;
    if (!change.any_effect && taint.effect != TaintEffect::kNoSchedule)
      text += std::string(":") + kEffects[static_cast<std::size_t>(taint.effect)];
    return setting("--tolerate", change.gang, text);
  }
  std::string operator()(const SetMinimum& change) const {
    return setting("--set-minimum", change.gang + part_of(change.subgroup), number(change.minimum));
  }
  std::string operator()(const SetRequiredLevel& change) const {
    return setting("--set-level", change.gang + part_of(change.subgroup), change.level.empty() ? "none" : change.level);
  }
  std::string operator()(const AddGang& change) const { return option("--gang", text_of(change.shape)); }
};

QueueResource& resource_of(SnapshotQueue& queue, QueueResourceKind kind) {
  if (kind == QueueResourceKind::kCpu) return queue.cpu;
  return kind == QueueResourceKind::kMemory ? queue.memory : queue.gpu;
}

OtherQueueResource& other_resource_of(SnapshotQueue& queue, ResourceIndex resource) {
  std::vector<OtherQueueResource>& others = queue.other_resources;
  const auto at = std::ranges::lower_bound(others, resource, {}, &OtherQueueResource::resource);
  if (at != others.end() && at->resource == resource) return *at;
  return *others.insert(at, {resource, kUnlimited, kUnlimited});
}

}  // namespace

std::string amount_text(Amount amount, Amount unit) {
  MUSTER_REQUIRE(unit > 0);
  if (amount == kUnlimited) return "unlimited";
  std::string text = number(amount / unit);
  if (amount % unit == 0) return text;
  std::string decimals = number(unit + amount % unit).substr(1);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  return text + "." + decimals;
}

ResourceIndex resource_named(Snapshot& snapshot, std::string_view name) {
  for (const ResourceIndex resource : snapshot.resource_names.indices()) {
    if (snapshot.resource_names[resource] == name && !is_device_count(snapshot.resource_names[resource]))
      return resource;
  }
  return snapshot.resource_names.push_back(snapshot.text.store(name));
}

Failure unknown(const char* kind, std::string_view name) {
  return InputError{ErrorCode::kUnknownName, "$",
                    std::string("there is no ") + kind + " \"" + std::string(name) + "\""};
}

Failure apply_one(const SetQueue& change, Snapshot& snapshot) {
  // Without any queues, all gangs are in `default`.
  if (snapshot.queues.empty() && change.queue == "default") snapshot.queues.emplace_back().name = "default";
  const auto found = std::ranges::find(snapshot.queues, change.queue, &SnapshotQueue::name);
  if (found == snapshot.queues.end()) return unknown("queue", change.queue);
  if (change.amount < 0 && change.amount != kUnlimited)
    return InputError{ErrorCode::kInvalidValue, "$", "a quota or a limit is negative"};
  const auto set = [&](auto& resource) {
    (change.kind == QueueAmountKind::kQuota ? resource.quota : resource.limit) = change.amount;
  };
  if (change.resource == QueueResourceKind::kOther) {
    set(other_resource_of(*found, resource_named(snapshot, change.other)));
  } else {
    set(resource_of(*found, change.resource));
  }
  return {};
}

std::optional<InputError> apply(const Change& change, Snapshot& snapshot) {
  return std::visit([&](const auto& one) { return apply_one(one, snapshot); }, change);
}

std::optional<InputError> apply(std::span<const Change> changes, Snapshot& snapshot) {
  for (std::size_t i = 0; i < changes.size();) {
    std::vector<std::string_view> removed;  // one after another
    for (; i < changes.size() && std::holds_alternative<RemoveGang>(changes[i]); ++i)
      removed.push_back(std::get<RemoveGang>(changes[i]).gang);
    Failure failure = removed.empty() ? apply(changes[i++], snapshot) : remove_gangs(removed, snapshot);
    if (failure) return failure;
  }
  return {};
}

std::string text_of(const Change& change) { return std::visit(TextOf(), change); }

}  // namespace muster::change
