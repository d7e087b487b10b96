// Rule Node, except anti-affinity: whether a node's own properties let a pod in. Semantics as in kube-scheduler.
#include <algorithm>
#include <charconv>
#include <optional>

#include "model/referee/case.h"

namespace muster::referee {
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

}  // namespace muster::referee
