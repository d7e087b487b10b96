#include "io/kubernetes/grouping/topology.h"

#include <algorithm>
#include <utility>

namespace muster::kubernetes {

bool KubernetesTopologies::import(KubernetesReading& in, const KubernetesObject& object) {
  json::JsonValue levels;
  bool has_any = false;
  if (!in.take(object.spec, "levels", levels) || !in.has_elements(levels, has_any)) return false;
  Topology topology;
  topology.name = object.name;
  topology.system = object.group == "kueue.x-k8s.io" ? System::kKueue : System::kKai;
  if (has_any && !read_levels(in, levels, topology)) return false;
  add(std::move(topology));
  return true;
}

bool KubernetesTopologies::read_levels(KubernetesReading& in, json::JsonValue list, Topology& topology) const {
  static constexpr std::array<std::string_view, 2> kKeys = {"alias", "nodeLabel"};
  for (const json::JsonValue element : list.elements()) {
    std::array<json::JsonValue, 2> found;
    Level level;
    if (!in.expect(element, json::JsonKind::kObject) || !in.take(element, kKeys, found)) return false;
    if (!in.text(found[0], level.alias) || !in.text(found[1], level.label)) return false;
    if (level.label.empty()) return in.fail_missing(element, "nodeLabel");
    if (std::ranges::find(topology.levels, level.label, &Level::label) != topology.levels.end())
      return in.fail_value(element, "duplicate level");
    topology.levels.push_back(level);
  }
  return true;
}

KubernetesTopologies::Topology& KubernetesTopologies::add(Topology topology) {
  const auto has_its_levels = [&](const Topology& other) {
    return std::ranges::equal(other.levels, topology.levels, {}, &Level::label, &Level::label);
  };
  const auto has_its_name = [&](const Topology& other) { return other.written_name == topology.written_name; };
  topology.written_name = topology.name;
  if (const auto equal = std::ranges::find_if(topologies_, has_its_levels); equal != topologies_.end()) {
    topology.written_name = equal->written_name;
    topology.is_written = false;
  } else {
    constexpr std::array<std::string_view, 3> kSuffixes = {"@kai.scheduler", "@kueue.x-k8s.io", "@label"};
    while (std::ranges::any_of(topologies_, has_its_name))
      topology.written_name += kSuffixes[static_cast<std::size_t>(topology.system)];
  }
  return topologies_.emplace_back(std::move(topology));
}

std::string_view KubernetesTopologies::add_key(std::string_view label) {
  const auto is_its_own = [&](const Topology& one) { return one.system == System::kKey && one.name == label; };
  const auto known = std::ranges::find_if(topologies_, is_its_own);
  return known != topologies_.end() ? known->written_name
                                    : add({label, System::kKey, {{label, {}}}, {}, true}).written_name;
}

void KubernetesTopologies::add_kueue_level(std::string_view label) {
  const auto has_it = [&](const Topology& one) { return !label_of(one, label).empty(); };
  if (std::ranges::none_of(topologies_, has_it)) add_key(label);
}

std::string_view KubernetesTopologies::label_of(const Topology& topology, std::string_view level) {
  const auto is_it = [&](const Level& one) {
    return one.label == level || (one.alias == level && topology.system == System::kKai);
  };
  const auto at = std::ranges::find_if(topology.levels, is_it);
  return level.empty() || at == topology.levels.end() ? std::string_view() : at->label;
}

bool KubernetesTopologies::has_kai(std::string_view name) const {
  return std::ranges::any_of(topologies_, [&](const Topology& one) {
    return one.system == System::kKai && (name.empty() || one.name == name || one.name == kAnyName);
  });
}

TopologyRequest KubernetesTopologies::of_kai(std::string_view name, std::string_view required,
                                             std::string_view preferred) const {
  for (const Topology& one : topologies_) {
    if (one.system != System::kKai || !(name.empty() || one.name == name || one.name == kAnyName)) continue;
    const TopologyRequest request{label_of(one, required), label_of(one, preferred), one.written_name};
    if (!name.empty() || !(required.empty() ? request.preferred : request.required).empty()) return request;
  }
  return {};
}

std::string_view KubernetesTopologies::of_kueue(std::string_view label,
                                                std::span<const std::string_view> of_flavors) const {
  std::vector<const Topology*> all, of_queue;
  for (const Topology& one : topologies_) {
    if (one.system != System::kKueue || label_of(one, label).empty()) continue;
    all.push_back(&one);
    if (std::ranges::find(of_flavors, one.name) != of_flavors.end()) of_queue.push_back(&one);
  }
  const std::vector<const Topology*>& found = of_queue.empty() ? all : of_queue;
  const auto is_other = [&](const Topology* one) { return one->written_name != found.front()->written_name; };
  return found.empty() || std::ranges::any_of(found, is_other) ? std::string_view() : found.front()->written_name;
}

std::vector<SnapshotTopology> KubernetesTopologies::written() const {
  std::vector<SnapshotTopology> all;
  for (const Topology& one : topologies_) {
    if (!one.is_written || one.levels.empty()) continue;
    SnapshotTopology& topology = all.emplace_back();
    topology.name = one.written_name;
    for (const Level& level : one.levels) topology.levels.push_back(level.label);
  }
  return all;
}

}  // namespace muster::kubernetes
