#include "model/state/kept_snapshot.h"

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_set>
#include <utility>

#include "model/base/require.h"
#include "model/snapshot/pod_spec_hash.h"

namespace muster {
namespace {

template <class Element>
std::string key_of(const Element& element) {
  return std::string(element.name);
}
std::string key_of(const SnapshotDisruptionBudget& budget) {
  return std::string(budget.namespace_name).append("/").append(budget.name);
}

std::string path_of(std::string_view prefix, std::string_view list, std::size_t position, std::string_view key) {
  std::string path(prefix);
  path.append(".").append(list).append("[").append(std::to_string(position)).append("]");
  if (!key.empty()) path.append(".").append(key);
  return path;
}

template <class List>
std::optional<InputError> find_repeated(const List& list, std::string_view name, std::string_view prefix) {
  std::unordered_set<std::string> seen;
  std::size_t at = 0;
  for (const auto& element : list) {
    if (!seen.insert(key_of(element)).second) {
      return InputError{ErrorCode::kDuplicateName, path_of(prefix, name, at, "name"),
                        "duplicate name \"" + key_of(element) + "\""};
    }
    ++at;
  }
  return std::nullopt;
}

// `is_known`: of a name.
template <class IsKnown>
std::optional<InputError> find_unknown(const std::vector<std::string_view>& names, std::string_view list,
                                       const IsKnown& is_known) {
  std::unordered_set<std::string_view> seen;
  for (std::size_t at = 0; at < names.size(); ++at) {
    if (is_known(names[at]) && seen.insert(names[at]).second) continue;
    return InputError{ErrorCode::kUnknownName, path_of("$.remove", list, at, ""),
                      "\"" + std::string(names[at]) + "\" is not there, so it cannot be removed"};
  }
  return std::nullopt;
}

template <class Element>
void drop_last(std::vector<Element>& list) {
  list.pop_back();
}
template <class Element>
void drop_last(BlockVector<Element>& list) {
  list.truncate(list.size() - 1);
}

// The last element takes its place, which is returned.
template <class List>
std::size_t remove_from(List& list, NamePositions& positions, std::string_view name) {
  const std::uint32_t at = positions.find(name);
  MUSTER_REQUIRE(at != NamePositions::kAbsent);
  positions.erase(name);
  if (at + 1 < list.size()) {
    list[at] = std::move(list.back());
    positions.set(key_of(list[at]), at);
  }
  drop_last(list);
  return at;
}

// Returns its place.
template <class List, class Element>
std::size_t set_in(List& list, NamePositions& positions, Element&& element) {
  const std::uint32_t at = positions.find(element.name);
  if (at != NamePositions::kAbsent) {
    list[at] = std::forward<Element>(element);
    return at;
  }
  positions.set(element.name, list.size());
  list.push_back(std::forward<Element>(element));
  return list.size() - 1;
}

}  // namespace

KeptSnapshot::KeptSnapshot() {
  for (const std::string_view name : {"cpu", "memory", "pods"}) snapshot_.resource_names.push_back(name);
}

const PodSpec* KeptSnapshot::find_template(std::string_view name) const {
  const auto found = templates_.find(name);
  return found == templates_.end() ? nullptr : &snapshot_.pod_specs[found->second];
}

std::optional<InputError> KeptSnapshot::find_fault(const SnapshotDelta& delta, std::string_view prefix) const {
  const Snapshot& set = delta.set;
  if (auto fault = find_repeated(set.nodes, "nodes", prefix)) return fault;
  if (auto fault = find_repeated(set.definitions.namespaces, "namespaces", prefix)) return fault;
  if (auto fault = find_repeated(set.queues, "queues", prefix)) return fault;
  if (auto fault = find_repeated(set.definitions.priority_classes, "priorityClasses", prefix)) return fault;
  if (auto fault = find_repeated(set.gangs, "gangs", prefix)) return fault;
  if (auto fault = find_repeated(set.pods, "pods", prefix)) return fault;
  if (auto fault = find_repeated(set.disruption_budgets, "disruptionBudgets", prefix)) return fault;
  using Names = std::vector<std::string_view>;
  const DeltaRemovals& remove = delta.remove;
  struct Row {
    const Names& names;
    std::string_view list;
    const NamePositions& known;
  };
  for (const Row& row :
       {Row{remove.nodes, "nodes", nodes_}, Row{remove.namespaces, "namespaces", namespaces_},
        Row{remove.queues, "queues", queues_}, Row{remove.priority_classes, "priorityClasses", priority_classes_},
        Row{remove.gangs, "gangs", gangs_}, Row{remove.pods, "pods", pods_},
        Row{remove.disruption_budgets, "disruptionBudgets", budgets_}}) {
    const auto is_known = [&](std::string_view name) { return row.known.find(name) != NamePositions::kAbsent; };
    if (auto fault = find_unknown(row.names, row.list, is_known)) return fault;
  }
  return find_unknown(remove.pod_templates, "podTemplates",
                      [&](std::string_view name) { return templates_.contains(name); });
}

std::optional<InputError> KeptSnapshot::apply(SnapshotDelta&& delta, std::string_view prefix) {
  if (auto fault = find_fault(delta, prefix)) return fault;
  snapshot_.text.take(std::move(delta.set.text));
  const auto& names = delta.set.resource_names.raw();
  MUSTER_REQUIRE(names.size() >= snapshot_.resource_names.size());
  for (std::size_t at = snapshot_.resource_names.size(); at < names.size(); ++at)
    snapshot_.resource_names.push_back(names[at]);
  Translation places{std::vector(delta.set.pod_specs.size(), PodSpecIndex::none()),
                     std::vector(delta.set.own_gang_terms.size(), std::int32_t{-1})};
  remove(delta.remove);
  set_values(delta, places);
  set_objects(delta, places);
  return std::nullopt;
}

void KeptSnapshot::remove(const DeltaRemovals& removals) {
  SnapshotDefinitions& definitions = snapshot_.definitions;
  for (const std::string_view name : removals.nodes) links_.remove_node(remove_from(snapshot_.nodes, nodes_, name));
  for (const std::string_view name : removals.namespaces) remove_from(definitions.namespaces, namespaces_, name);
  for (const std::string_view name : removals.queues) remove_from(snapshot_.queues, queues_, name);
  for (const std::string_view name : removals.priority_classes)
    remove_from(definitions.priority_classes, priority_classes_, name);
  for (const std::string_view name : removals.gangs) remove_gang(name);
  for (const std::string_view name : removals.pods) remove_pod(name);
  for (const std::string_view name : removals.disruption_budgets)
    remove_from(snapshot_.disruption_budgets, budgets_, name);
  for (const std::string_view name : removals.pod_templates) {
    const auto found = templates_.find(name);
    release_spec(found->second);
    templates_.erase(found);
  }
}

void KeptSnapshot::remove_gang(std::string_view name) {
  ambiguous_names_ -= is_ambiguous(name) ? 1 : 0;
  links_.remove_gang(remove_from(snapshot_.gangs, gangs_, name));
}

void KeptSnapshot::remove_pod(std::string_view name) {
  ambiguous_names_ -= is_ambiguous(name) ? 1 : 0;
  release(snapshot_.pods[pods_.find(name)]);
  links_.remove_pod(remove_from(snapshot_.pods, pods_, name));
}

void KeptSnapshot::set_values(SnapshotDelta& delta, Translation& places) {
  if (delta.sets_id) snapshot_.id = delta.set.id;
  if (delta.sets_time) snapshot_.time = delta.set.time;
  if (delta.sets_topology) snapshot_.definitions.topologies = std::move(delta.set.definitions.topologies);
  if (delta.sets_policy) set_policy(std::move(delta.set.policy), delta, places);
  if (delta.sets_remarks) snapshot_.anomalies = std::move(delta.set.anomalies);
}

void KeptSnapshot::set_policy(Policy&& policy, SnapshotDelta& delta, Translation& places) {
  if (policy.expected_workload) {
    for (ExpectedPod& expected : *policy.expected_workload) expected.spec = use_spec(delta, expected.spec, places);
  }
  std::swap(snapshot_.policy, policy);
  if (!policy.expected_workload) return;
  for (const ExpectedPod& expected : *policy.expected_workload) release_spec(expected.spec);
}

void KeptSnapshot::set_objects(SnapshotDelta& delta, Translation& places) {
  Snapshot& set = delta.set;
  SnapshotDefinitions& definitions = snapshot_.definitions;
  for (const DeltaTemplate& set_template : delta.templates) {
    const PodSpecIndex spec = use_spec(delta, set_template.spec, places);
    const auto [place, is_new] = templates_.try_emplace(set_template.name, spec);
    if (!is_new) release_spec(std::exchange(place->second, spec));
  }
  for (SnapshotNode& node : set.nodes) links_.set_node(set_in(snapshot_.nodes, nodes_, std::move(node)));
  for (SnapshotNamespace& one : set.definitions.namespaces) set_in(definitions.namespaces, namespaces_, std::move(one));
  for (const SnapshotQueue& queue : set.queues) set_in(snapshot_.queues, queues_, queue);
  for (const SnapshotPriorityClass& one : set.definitions.priority_classes)
    set_in(definitions.priority_classes, priority_classes_, one);
  for (SnapshotGang& gang : set.gangs) set_gang(std::move(gang));
  pods_.reserve(snapshot_.pods.size() + set.pods.size());
  for (SnapshotPod& pod : set.pods) set_pod(delta, std::move(pod), places);
  for (SnapshotDisruptionBudget& budget : set.disruption_budgets) {
    const std::string key = key_of(budget);
    const std::uint32_t at = budgets_.find(key);
    if (at != NamePositions::kAbsent) {
      snapshot_.disruption_budgets[at] = std::move(budget);
      continue;
    }
    budgets_.set(snapshot_.text.store(key), snapshot_.disruption_budgets.size());
    snapshot_.disruption_budgets.push_back(std::move(budget));
  }
}

void KeptSnapshot::set_gang(SnapshotGang&& gang) {
  const std::string_view name = gang.name;
  ambiguous_names_ -= is_ambiguous(name) ? 1 : 0;
  links_.set_gang(set_in(snapshot_.gangs, gangs_, std::move(gang)));
  ambiguous_names_ += is_ambiguous(name) ? 1 : 0;
}

void KeptSnapshot::set_pod(SnapshotDelta& delta, SnapshotPod&& pod, Translation& places) {
  const std::string_view name = pod.name;
  ambiguous_names_ -= is_ambiguous(name) ? 1 : 0;
  pod.spec = use_spec(delta, pod.spec, places);
  if (pod.own_gang >= 0) pod.own_gang = use_terms(delta, pod.own_gang, places);
  const std::uint32_t known = pods_.find(name);
  if (known != NamePositions::kAbsent) release(snapshot_.pods[known]);
  const std::size_t at = set_in(snapshot_.pods, pods_, std::move(pod));
  links_.set_pod(at, links_of(snapshot_.pods[at]));
  ambiguous_names_ += is_ambiguous(name) ? 1 : 0;
}

PodLinks KeptSnapshot::links_of(const SnapshotPod& pod) const {
  const auto node = [&](std::string_view name) {
    const std::uint32_t at = name.empty() ? NamePositions::kAbsent : nodes_.find(name);
    return at == NamePositions::kAbsent ? PodLinks::kNothing : links_.node_number(at);
  };
  const std::uint32_t gang = pod.gang.empty() ? NamePositions::kAbsent : gangs_.find(pod.gang);
  return {node(pod.node), node(pod.nominated_node),
          gang == NamePositions::kAbsent ? PodLinks::kNothing : links_.gang_number(gang)};
}

bool KeptSnapshot::is_ambiguous(std::string_view name) const {
  if (gangs_.find(name) == NamePositions::kAbsent) return false;
  const std::uint32_t pod = pods_.find(name);
  return pod != NamePositions::kAbsent && snapshot_.pods[pod].gang.empty();
}

Snapshot KeptSnapshot::for_cycle() const {
  Snapshot copy(snapshot_);
  copy.links = links_.links(ambiguous_names_ == 0);
  return copy;
}

PodSpecIndex KeptSnapshot::use_spec(SnapshotDelta& delta, PodSpecIndex spec, Translation& places) {
  PodSpecIndex& known = places.specs[spec.value()];
  if (known.is_none()) known = place_of(std::move(delta.set.pod_specs[spec]));
  ++specs_.users[known.value()];
  return known;
}

// Of an equal spec, if there is one.
PodSpecIndex KeptSnapshot::place_of(PodSpec&& spec) {
  const std::size_t hash = content_hash(spec);
  const auto [begin, end] = spec_by_content_.equal_range(hash);
  for (auto candidate = begin; candidate != end; ++candidate) {
    if (snapshot_.pod_specs[candidate->second] == spec) return candidate->second;
  }
  PodSpecIndex place;
  if (specs_.free.empty()) {
    place = snapshot_.pod_specs.push_back(std::move(spec));
    specs_.users.push_back(0);
  } else {
    place = PodSpecIndex(specs_.free.back());
    specs_.free.pop_back();
    snapshot_.pod_specs[place] = std::move(spec);
  }
  spec_by_content_.emplace(hash, place);
  return place;
}

void KeptSnapshot::release_spec(PodSpecIndex spec) {
  if (--specs_.users[spec.value()] > 0) return;
  const auto [begin, end] = spec_by_content_.equal_range(content_hash(snapshot_.pod_specs[spec]));
  const auto entry = std::find_if(begin, end, [&](const auto& known) { return known.second == spec; });
  MUSTER_REQUIRE(entry != end);
  spec_by_content_.erase(entry);
  snapshot_.pod_specs[spec] = {};
  specs_.free.push_back(spec.value());
}

std::int32_t KeptSnapshot::use_terms(const SnapshotDelta& delta, std::int32_t terms, Translation& places) {
  std::int32_t& place = places.terms[static_cast<std::size_t>(terms)];
  std::vector<GangTerms>& all = snapshot_.own_gang_terms;
  if (place < 0 && terms_.free.empty()) {
    place = static_cast<std::int32_t>(all.size());
    all.emplace_back();
    terms_.users.push_back(0);
  } else if (place < 0) {
    place = static_cast<std::int32_t>(terms_.free.back());
    terms_.free.pop_back();
  }
  all[static_cast<std::size_t>(place)] = delta.set.own_gang_terms[static_cast<std::size_t>(terms)];
  ++terms_.users[static_cast<std::size_t>(place)];
  return place;
}

void KeptSnapshot::release(const SnapshotPod& pod) {
  release_spec(pod.spec);
  if (pod.own_gang < 0) return;
  const auto place = static_cast<std::uint32_t>(pod.own_gang);
  if (--terms_.users[place] > 0) return;
  snapshot_.own_gang_terms[place] = {};
  terms_.free.push_back(place);
}

}  // namespace muster
