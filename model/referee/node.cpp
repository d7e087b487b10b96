#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "model/referee/case.h"

namespace muster::referee {

// Rule Node, except anti-affinity: whether a node's own properties let a pod in. Semantics as in kube-scheduler.

namespace {

const std::string_view* find_label(const Labels& labels, std::string_view key) {
  for (const auto& [name, value] : labels) {
    if (name == key) return &value;
  }
  return nullptr;
}

// A toleration without a key applies to every taint, but only with the operator Exists.
bool speaks_of(const Toleration& toleration, const Taint& taint) {
  if (toleration.effect && *toleration.effect != taint.effect) return false;
  if (toleration.key.empty()) return toleration.exists;
  if (toleration.key != taint.key) return false;
  return toleration.exists || toleration.value == taint.value;
}

const Taint* first_untolerated(const PodSpec& spec, const SnapshotNode& node) {
  for (const Taint& taint : node.taints) {
    if (taint.effect == TaintEffect::kPreferNoSchedule) continue;  // a preference: the levels handle it
    bool tolerated = false;
    for (const Toleration& toleration : spec.tolerations) tolerated = tolerated || speaks_of(toleration, taint);
    if (!tolerated) return &taint;
  }
  return nullptr;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

// `value` null: the node has no such key.
bool meets(const SelectorRequirement& requirement, const std::string_view* value) {
  bool listed = false;
  for (const std::string_view candidate : requirement.values) listed = listed || (value && candidate == *value);
  if (requirement.op == SelectorOperator::kIn) return listed;
  if (requirement.op == SelectorOperator::kNotIn) return !listed;
  if (requirement.op == SelectorOperator::kExists) return value != nullptr;
  if (requirement.op == SelectorOperator::kDoesNotExist) return value == nullptr;
  if (value == nullptr || requirement.values.size() != 1) return false;
  const std::optional<std::int64_t> is = whole_number(*value), limit = whole_number(requirement.values.front());
  if (!is || !limit) return false;
  return requirement.op == SelectorOperator::kGt ? *is > *limit : *is < *limit;
}

bool meets_term(const NodeSelectorTerm& term, const SnapshotNode& node) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
  for (const SelectorRequirement& requirement : term.match_expressions) {
    if (!meets(requirement, find_label(node.labels, requirement.key))) return false;
  }
  for (const SelectorRequirement& requirement : term.match_fields) {
    if (!meets(requirement, requirement.key == "metadata.name" ? &node.name : nullptr)) return false;
  }
  return true;
}

bool meets_any(const std::optional<std::vector<NodeSelectorTerm>>& terms, const SnapshotNode& node) {
  if (!terms) return true;
  for (const NodeSelectorTerm& term : *terms) {
    if (meets_term(term, node)) return true;
  }
  return false;
}

bool accepts_model(const PodSpec& spec, const SnapshotNode& node) {
  if (spec.gpu_models.empty()) return true;
  for (const std::string_view model : spec.gpu_models) {
    if (!node.gpu_model.empty() && model == node.gpu_model) return true;
  }
  return false;
}

}  // namespace

std::string filter_objection(const PodSpec& spec, const SnapshotNode& node) {
  if (node.unschedulable) return "the node is cordoned";
  if (const Taint* taint = first_untolerated(spec, node)) {
    return "the taint " + std::string(taint->key) + "=" + std::string(taint->value) + " is not tolerated";
  }
  for (const auto& [key, wanted] : spec.node_selector) {
    const std::string_view* value = find_label(node.labels, key);
    if (value && *value == wanted) continue;
    const std::string is = value ? std::string(*value) : "absent";
    return "nodeSelector requires " + std::string(key) + "=" + std::string(wanted) + ", but the label is " + is;
  }
  if (!meets_any(spec.node_affinity.required, node)) return "no term of the required nodeAffinity is met";
  if (!meets_any(spec.volume_terms, node)) return "no term of the volumeNodeAffinity is met";
  if (!accepts_model(spec, node)) return "GPU model \"" + std::string(node.gpu_model) + "\" is not among its gpuModels";
  return {};
}

void check_node(Case& c) {
  for (const Placement& placement : c.plan.placements) {
    const SnapshotNode& node = c.node(placement.node);
    const std::string objection = filter_objection(c.spec(placement.pod), node);
    if (!objection.empty())
      c.object(Rule::kNode, c.pod(placement.pod).name, "on node \"" + std::string(node.name) + "\": " + objection);
  }
}

// Rule HostPorts: no two pods on a node that use one port of it. A pair is reported only if one of the two is placed; a
// pod that leaves blocks every placement that does not name it in `after`.

namespace {

// One pod at one place: where it is in the end or, if it leaves, where it was before. A moved pod has two of these.
struct Occupant {
  PodIndex pod;
  bool leaving = false;
};

struct PortNode {
  std::vector<const Placement*> arrivals;  // with host ports
  std::vector<Occupant> residents;         // with host ports, what runs or is releasing
};

bool conflict(const HostPort& a, const HostPort& b) {
  return a.port == b.port && a.protocol == b.protocol &&
         (a.address.empty() || b.address.empty() || a.address == b.address);
}

const HostPort* conflicting_port(const PodSpec& a, const PodSpec& b) {
  for (const HostPort& mine : a.host_ports) {
    const auto theirs = std::ranges::find_if(b.host_ports, [&](const HostPort& port) { return conflict(mine, port); });
    if (theirs != b.host_ports.end()) return &mine;
  }
  return nullptr;
}

std::map<NodeIndex, PortNode> nodes_with_arrivals(const Case& c) {
  std::map<NodeIndex, PortNode> nodes;
  for (const Placement& placement : c.plan.placements) {
    if (!c.spec(placement.pod).host_ports.empty()) nodes[placement.node].arrivals.push_back(&placement);
  }
  if (nodes.empty()) return nodes;
  for (const PodIndex pod : c.problem.pods.indices()) {
    const NodeIndex before = c.node_before(pod);
    if (before.is_none() || c.spec(pod).host_ports.empty()) continue;
    const auto at = nodes.find(before);
    if (at != nodes.end()) at->second.residents.push_back({pod, c.leaves(pod)});
  }
  return nodes;
}

std::string words_of(const Case& c, const HostPort& port, PodIndex other) {
  return "host port " + std::to_string(port.port) + ", which " + c.quoted(other) + " uses";
}

void check_beside_resident(Case& c, const Placement& comes, const Occupant& there) {
  if (comes.pod == there.pod) return;
  const HostPort* port = conflicting_port(c.spec(comes.pod), c.spec(there.pod));
  if (port == nullptr) return;
  if (!there.leaving) {
    return c.object(Rule::kHostPorts, c.pod(comes.pod).name, "it requests " + words_of(c, *port, there.pod));
  }
  if (c.eviction[there.pod]) c.kept_out[there.pod.value()] = 1;
  if (std::ranges::binary_search(comes.after, there.pod)) return;
  c.object(Rule::kHostPorts, c.pod(comes.pod).name,
           "it requests " + words_of(c, *port, there.pod) + ", and that pod leaves but is not in its `after`");
}

}  // namespace

void check_host_ports(Case& c) {
  for (const auto& [node, there] : nodes_with_arrivals(c)) {
    for (std::size_t i = 0; i < there.arrivals.size(); ++i) {
      for (const Occupant& resident : there.residents) check_beside_resident(c, *there.arrivals[i], resident);
      for (std::size_t j = 0; j < i; ++j) {
        const PodIndex one = there.arrivals[i]->pod, other = there.arrivals[j]->pod;
        const HostPort* port = conflicting_port(c.spec(one), c.spec(other));
        if (port != nullptr) c.object(Rule::kHostPorts, c.pod(one).name, "it requests " + words_of(c, *port, other));
      }
    }
  }
}

}  // namespace muster::referee
