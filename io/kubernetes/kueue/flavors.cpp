#include "io/kubernetes/kueue/flavors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

namespace muster::kubernetes {

namespace {

using NodeLabels = std::map<std::string_view, std::string_view>;

struct FlavorToleration {
  std::string_view key, op, value, effect;
};

bool read_toleration(KubernetesReading& in, json::JsonValue element, FlavorToleration& out) {
  static constexpr std::array<std::string_view, 4> kKeys = {"effect", "key", "operator", "value"};
  std::array<json::JsonValue, 4> found;
  return in.expect(element, json::JsonKind::kObject) && in.take(element, kKeys, found) &&
         in.text(found[0], out.effect) && in.text(found[1], out.key) && in.text(found[2], out.op) &&
         in.text(found[3], out.value);
}

bool read_tolerations(KubernetesReading& in, json::JsonValue list, std::vector<FlavorToleration>& out) {
  bool has_any = false;
  if (!in.has_elements(list, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue element : list.elements()) {
    if (!read_toleration(in, element, out.emplace_back())) return false;
  }
  return true;
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool holds(const NodeRequirement& requirement, const NodeLabels& labels) {
  const auto found = labels.find(requirement.key);
  const bool has_label = found != labels.end();
  const bool has_value = has_label && std::ranges::find(requirement.values, found->second) != requirement.values.end();
  if (requirement.op == "In") return has_value;
  if (requirement.op == "NotIn") return !has_value;
  if (requirement.op == "Exists") return has_label;
  if (requirement.op == "DoesNotExist") return !has_label;
  if (!has_label || requirement.values.empty()) return false;
  const auto ours = number_of(found->second), theirs = number_of(requirement.values.front());
  if (!ours || !theirs) return false;
  return requirement.op == "Gt" ? *ours > *theirs : *ours < *theirs;
}

bool has_requirement(const NodeTerm& term, const auto& is_of_group) {
  return std::ranges::any_of(term, [&](const auto& one) { return !one.is_field && is_of_group(one.key); });
}

// As Kueue's flavorSelector: only keys of the group's flavors count, and a term without any of them lets all in.
bool lets_in(const NodeTerms& terms, const NodeLabels& labels, const auto& is_of_group) {
  if (!std::ranges::all_of(terms, [&](const NodeTerm& term) { return has_requirement(term, is_of_group); }))
    return true;
  return std::ranges::any_of(terms, [&](const NodeTerm& term) {
    return std::ranges::all_of(
        term, [&](const auto& one) { return one.is_field || !is_of_group(one.key) || holds(one, labels); });
  });
}

// The required terms of the pod's own node affinity; none: it has none.
bool read_own_terms(KubernetesReading& in, const KubernetesPod& pod, std::optional<NodeTerms>& out) {
  json::JsonValue required, terms;
  if (!in.take(pod.constraints.node_affinity, "requiredDuringSchedulingIgnoredDuringExecution", required) ||
      !in.take(required, "nodeSelectorTerms", terms)) {
    return false;
  }
  return !terms || read_node_terms(in, terms, out.emplace());
}

}  // namespace

bool asks_for(const KubernetesPod& pod, const KueueResourceGroup& group) {
  if (group.covers("pods")) return true;
  if (pod.gpus.request.kind != GpuRequestKind::kNone && group.covers("nvidia.com/gpu")) return true;
  return std::ranges::any_of(pod.requests, [&](const auto& one) { return group.covers(one.resource); });
}

bool KueueFlavors::read_taints(KubernetesReading& in, json::JsonValue list, std::vector<Taint>& out) {
  static constexpr std::array<std::string_view, 3> kKeys = {"effect", "key", "value"};
  bool has_any = false;
  if (!in.has_elements(list, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue element : list.elements()) {
    std::array<json::JsonValue, 3> found;
    Taint taint;
    if (!in.expect(element, json::JsonKind::kObject) || !in.take(element, kKeys, found) ||
        !in.text(found[0], taint.effect) || !in.text(found[1], taint.key) || !in.text(found[2], taint.value)) {
      return false;
    }
    if (taint.effect == "NoSchedule" || taint.effect == "NoExecute") out.push_back(taint);
  }
  return true;
}

bool KueueFlavors::add(KubernetesReading& in, const KubernetesObject& object) {
  static constexpr std::array<std::string_view, 4> kKeys = {"nodeLabels", "nodeTaints", "tolerations", "topologyName"};
  std::array<json::JsonValue, 4> found;
  std::vector<FlavorToleration> tolerations;
  Flavor flavor;
  if (!in.take(object.spec, kKeys, found) || !read_taints(in, found[1], flavor.taints) ||
      !read_tolerations(in, found[2], tolerations) || !in.text(found[3], flavor.topology)) {
    return false;
  }
  if (!tolerations.empty()) flavor.tolerations = found[2];
  if (found[0]) {
    if (!in.expect(found[0], json::JsonKind::kObject)) return false;
    for (const json::JsonMember label : found[0].members()) {
      if (!in.text(label.value, flavor.labels[label.key])) return false;
    }
  }
  flavors_[object.name] = std::move(flavor);
  return true;
}

bool KueueFlavors::has_key(const KueueResourceGroup& group, std::string_view key) const {
  return std::ranges::any_of(group.flavors, [&](std::string_view name) {
    const auto found = flavors_.find(name);
    return found != flavors_.end() && found->second.labels.contains(key);
  });
}

bool KueueFlavors::admits(KubernetesReading& in, const Flavor& flavor, const KueueResourceGroup& group,
                          const KubernetesPod& pod, bool& out) const {
  const GroupLabels& labels = pod.membership.labels;
  const bool asks_topology = !labels.kueue_required.empty() || !labels.kueue_preferred.empty();
  std::vector<FlavorToleration> tolerations;
  if (!read_tolerations(in, pod.constraints.tolerations, tolerations) ||
      !read_tolerations(in, flavor.tolerations, tolerations)) {
    return false;
  }
  const auto is_tolerated = [&](const Taint& taint) {
    return std::ranges::any_of(tolerations, [&](const FlavorToleration& one) {
      if (!one.effect.empty() && one.effect != taint.effect) return false;
      if (!one.key.empty() && one.key != taint.key) return false;
      return one.op == "Exists" || (one.op == "Equal" || one.op.empty() ? one.value == taint.value : false);
    });
  };
  out = (!asks_topology || !flavor.topology.empty()) && std::ranges::all_of(flavor.taints, is_tolerated);
  if (!out) return true;
  const auto is_of_group = [&](std::string_view key) { return has_key(group, key); };
  if (pod.constraints.node_selector) {
    for (const json::JsonMember wanted : pod.constraints.node_selector.members()) {
      if (!is_of_group(wanted.key)) continue;
      const auto label = flavor.labels.find(wanted.key);
      std::string_view value;
      if (!in.text(wanted.value, value)) return false;
      out = out && label != flavor.labels.end() && label->second == value;
    }
  }
  std::optional<NodeTerms> own;
  if (!read_own_terms(in, pod, own)) return false;
  out = out && (!own || own->empty() || lets_in(*own, flavor.labels, is_of_group));
  return true;
}

bool KueueFlavors::find(KubernetesReading& in, const KueueResourceGroup& group, const KubernetesPod& pod,
                        std::vector<std::string_view>& out) const {
  for (const std::string_view name : group.flavors) {
    const auto known = flavors_.find(name);
    bool is_admitted = true;
    if (known != flavors_.end() && !admits(in, known->second, group, pod, is_admitted)) return false;
    if (is_admitted) out.push_back(name);
  }
  return true;
}

bool KueueFlavors::restrict(KubernetesReading& in, const KueueQuotas& quotas, KubernetesPod& pod) const {
  if (flavors_.empty()) return true;
  std::optional<NodeTerms> terms;
  std::vector<json::JsonValue> tolerations;
  for (const KueueResourceGroup& group : quotas.groups) {
    std::vector<std::string_view> names;
    if (!asks_for(pod, group)) continue;
    if (!find(in, group, pod, names)) return false;
    NodeTerms of_group;
    bool is_open = false;  // a flavor stands for all nodes
    for (const std::string_view name : names) {
      const auto known = flavors_.find(name);
      is_open = is_open || known == flavors_.end() || known->second.labels.empty();
      if (known == flavors_.end()) continue;
      if (known->second.tolerations) tolerations.push_back(known->second.tolerations);
      NodeTerm& term = of_group.emplace_back();
      for (const auto& [key, value] : known->second.labels) term.push_back({key, "In", {value}, false});
    }
    if (!is_open) terms = both(terms ? *terms : NodeTerms(1), of_group);
  }
  if (!tolerations.empty()) {
    pod.constraints.more_tolerations = std::move(tolerations);
    pod.source.signature = nullptr;
  }
  if (!terms) return true;
  std::optional<NodeTerms> own;
  if (!read_own_terms(in, pod, own)) return false;
  pod.constraints.node_terms = own ? both(*own, *terms) : std::move(terms);
  return true;
}

}  // namespace muster::kubernetes
