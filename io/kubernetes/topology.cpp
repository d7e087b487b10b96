#include "io/kubernetes/topology.h"

#include <algorithm>
#include <set>

namespace muster::kubernetes {

bool KubernetesTopologies::import(KubernetesReading& in, const KubernetesObject& object) {
  static constexpr std::array<std::string_view, 2> kKeys = {"alias", "nodeLabel"};
  json::JsonValue levels;
  bool has_any = false;
  if (!in.take(object.spec, "levels", levels) || !in.has_elements(levels, has_any)) return false;
  Topology& topology = topologies_.emplace_back(Topology{object.name, {}});
  if (!has_any) return true;
  for (const json::JsonValue element : levels.elements()) {
    std::array<json::JsonValue, 2> found;
    Level level;
    if (!in.expect(element, json::JsonKind::kObject) || !in.take(element, kKeys, found)) return false;
    if (!in.text(found[0], level.alias) || !in.text(found[1], level.label)) return false;
    if (level.label.empty()) return in.fail_missing(element, "nodeLabel");
    topology.levels.push_back(level);
  }
  return true;
}

void KubernetesTopologies::add_key(std::string_view label) {
  if (label_of("", label).empty()) topologies_.push_back({"", {{label, {}}}});
}

std::string_view KubernetesTopologies::label_of(std::string_view name, std::string_view level) const {
  const bool is_known = !name.empty() && std::ranges::find(topologies_, name, &Topology::name) != topologies_.end();
  for (const Topology& topology : topologies_) {
    if (is_known && topology.name != name) continue;
    for (const Level& one : topology.levels) {
      if (one.label == level || (!one.alias.empty() && one.alias == level)) return one.label;
    }
  }
  return {};
}

std::vector<std::string_view> KubernetesTopologies::levels(std::span<const KubernetesNode> nodes) const {
  struct Counted {
    std::string_view label;
    std::size_t domains;
  };
  std::vector<Counted> counted;
  const auto value_of = [](const KubernetesNode& node, std::string_view label) {
    if (!node.labels) return std::string_view();
    for (const json::JsonMember member : node.labels.members()) {
      if (member.key == label && member.value.is(json::JsonKind::kString)) return member.value.string();
    }
    return std::string_view();
  };
  for (const Topology& topology : topologies_) {
    // A domain is a value together with those of the coarser levels.
    std::vector<std::vector<std::string_view>> places(nodes.size());
    for (const Level& level : topology.levels) {
      for (std::size_t i = 0; i < nodes.size(); ++i) places[i].push_back(value_of(nodes[i], level.label));
      if (std::ranges::find(counted, level.label, &Counted::label) != counted.end()) continue;
      counted.push_back({level.label, std::set<std::vector<std::string_view>>(places.begin(), places.end()).size()});
    }
  }
  if (topologies_.size() > 1) std::ranges::stable_sort(counted, {}, &Counted::domains);
  std::vector<std::string_view> labels;
  for (const Counted& one : counted) labels.push_back(one.label);
  return labels;
}

}  // namespace muster::kubernetes
