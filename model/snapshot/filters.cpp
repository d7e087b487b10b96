#include "model/snapshot/filters.h"

#include <algorithm>
#include <charconv>

namespace muster {
namespace {

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool compares(const SelectorRequirement& requirement, std::string_view value) {
  if (requirement.values.size() != 1) return false;
  const std::optional<std::int64_t> left = integer_of(value), right = integer_of(requirement.values.front());
  if (!left || !right) return false;
  return requirement.op == SelectorOperator::kGt ? *left > *right : *left < *right;
}

}  // namespace

std::optional<std::string_view> label_of(const Labels& labels, std::string_view key) {
  const auto at = std::lower_bound(labels.begin(), labels.end(), key,
                                   [](const auto& label, std::string_view wanted) { return label.first < wanted; });
  if (at == labels.end() || at->first != key) return std::nullopt;
  return at->second;
}

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return std::ranges::any_of(tolerations, [&](const Toleration& toleration) {
    if (toleration.effect && *toleration.effect != taint.effect) return false;
    if (toleration.key.empty()) return toleration.exists;
    return toleration.key == taint.key && (toleration.exists || toleration.value == taint.value);
  });
}

bool tolerates_hard_taints(const PodSpec& spec, const SnapshotNode& node) {
  return std::ranges::all_of(node.taints, [&](const Taint& taint) {
    return taint.effect == TaintEffect::kPreferNoSchedule || tolerates(spec.tolerations, taint);
  });
}

std::int32_t untolerated_soft_taints(const PodSpec& spec, const SnapshotNode& node) {
  return static_cast<std::int32_t>(std::ranges::count_if(node.taints, [&](const Taint& taint) {
    return taint.effect == TaintEffect::kPreferNoSchedule && !tolerates(spec.tolerations, taint);
  }));
}

bool matches(const SelectorRequirement& requirement, std::optional<std::string_view> value) {
  const auto is_listed = [&] {
    return value && std::ranges::find(requirement.values, *value) != requirement.values.end();
  };
  switch (requirement.op) {
    case SelectorOperator::kIn:
      return is_listed();
    case SelectorOperator::kNotIn:
      return !is_listed();
    case SelectorOperator::kExists:
      return value.has_value();
    case SelectorOperator::kDoesNotExist:
      return !value.has_value();
    case SelectorOperator::kGt:
    case SelectorOperator::kLt:
      return value && compares(requirement, *value);
  }
  return false;
}

bool matches(const NodeSelectorTerm& term, const SnapshotNode& node) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
  const bool labels_match = std::ranges::all_of(term.match_expressions, [&](const SelectorRequirement& requirement) {
    return matches(requirement, label_of(node.labels, requirement.key));
  });
  return labels_match && std::ranges::all_of(term.match_fields, [&](const SelectorRequirement& requirement) {
           return matches(requirement, requirement.key == "metadata.name" ? std::optional(node.name) : std::nullopt);
         });
}

bool matches(const LabelSelector& selector, const Labels& labels) {
  return std::ranges::all_of(selector.requirements, [&](const SelectorRequirement& requirement) {
    return matches(requirement, label_of(labels, requirement.key));
  });
}

bool node_selector_holds(const PodSpec& spec, const SnapshotNode& node) {
  return std::ranges::all_of(spec.node_selector,
                             [&](const auto& wanted) { return label_of(node.labels, wanted.first) == wanted.second; });
}

namespace {

bool any_matches(const std::optional<std::vector<NodeSelectorTerm>>& terms, const SnapshotNode& node) {
  return !terms || std::ranges::any_of(*terms, [&](const NodeSelectorTerm& term) { return matches(term, node); });
}

}  // namespace

bool required_affinity_holds(const PodSpec& spec, const SnapshotNode& node) {
  return any_matches(spec.node_affinity.required, node);
}

bool volume_terms_hold(const PodSpec& spec, const SnapshotNode& node) { return any_matches(spec.volume_terms, node); }

bool gpu_models_hold(const PodSpec& spec, const SnapshotNode& node) {
  if (spec.gpu_models.empty()) return true;
  return !node.gpu_model.empty() && std::ranges::find(spec.gpu_models, node.gpu_model) != spec.gpu_models.end();
}

bool passes_filters(const PodSpec& spec, const SnapshotNode& node) {
  return !node.unschedulable && tolerates_hard_taints(spec, node) && node_selector_holds(spec, node) &&
         required_affinity_holds(spec, node) && volume_terms_hold(spec, node) && gpu_models_hold(spec, node);
}

std::int32_t preferred_weight(const PodSpec& spec, const SnapshotNode& node) {
  std::int32_t sum = 0;
  for (const PreferredNodeTerm& preferred : spec.node_affinity.preferred) {
    if (matches(preferred.term, node)) sum += preferred.weight;
  }
  return sum;
}

}  // namespace muster
