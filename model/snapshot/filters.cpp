#include "model/snapshot/filters.h"

#include <algorithm>
#include <charconv>

#include "model/base/require.h"

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

bool NamespaceSet::contains(std::string_view name) const { return all || std::ranges::binary_search(names, name); }

NamespaceSet namespaces_of(const Snapshot& snapshot, const PodTerm& term, std::string_view own) {
  NamespaceSet result{term.all_namespaces, {}};
  if (result.all) return result;
  result.names = term.namespaces;
  if (term.namespace_selector) {
    for (const SnapshotNamespace& candidate : snapshot.definitions.namespaces) {
      if (matches(*term.namespace_selector, candidate.labels)) result.names.push_back(candidate.name);
    }
  } else if (result.names.empty()) {
    result.names.push_back(own);
  }
  std::ranges::sort(result.names);
  const auto rest = std::ranges::unique(result.names);
  result.names.erase(rest.begin(), rest.end());
  return result;
}

bool PodSelector::matches(const SnapshotPod& pod) const {
  return std::ranges::all_of(parts, [&](const Part& part) {
    return part.namespaces.contains(pod.namespace_name) && muster::matches(part.selector, pod.labels);
  });
}

void PodSelection::add(std::uint32_t number, PodSelector selector) {
  MUSTER_REQUIRE(!selector.parts.empty());
  MUSTER_REQUIRE_SLOW(std::ranges::find(selectors_, number, &Entry::number) == selectors_.end());
  const std::size_t position = selectors_.size();
  for (const PodSelector::Part& part : selector.parts) {
    for (const SelectorRequirement& requirement : part.selector.requirements) asked_keys_.number(requirement.key);
  }
  const std::vector<SelectorRequirement>& asked = selector.parts.front().selector.requirements;
  const auto named = std::ranges::find(asked, SelectorOperator::kIn, &SelectorRequirement::op);
  if (named == asked.end()) {
    without_value_.push_back(position);
  } else {
    for (const std::string_view value : named->values) {
      std::vector<std::size_t>& those = by_label_[{named->key, value}];
      if (those.empty() || those.back() != position) those.push_back(position);
    }
  }
  selectors_.push_back({number, std::move(selector)});
}

const std::vector<std::uint32_t>& PodSelection::matching(const SnapshotPod& pod) {
  signature_.assign({strings_.number(pod.namespace_name)});
  for (const auto& [key, value] : pod.labels) {
    if (asked_keys_.find(key) == NameTable::kAbsent) continue;
    signature_.push_back(strings_.number(key));
    signature_.push_back(strings_.number(value));
  }
  const auto [group, is_new] = groups_.intern(signature_);
  if (is_new) find_matching(pod, matching_of_.emplace_back());
  return matching_of_[group];
}

void PodSelection::find_matching(const SnapshotPod& pod, std::vector<std::uint32_t>& numbers) const {
  const auto add_matching = [&](const std::vector<std::size_t>& positions) {
    for (const std::size_t position : positions) {
      if (selectors_[position].selector.matches(pod)) numbers.push_back(selectors_[position].number);
    }
  };
  add_matching(without_value_);
  for (const auto& name_and_value : pod.labels) {
    const auto those = by_label_.find(name_and_value);
    if (those != by_label_.end()) add_matching(those->second);
  }
}

void SelectorWriter::add(const NamespaceSet& namespaces, std::vector<std::uint64_t>& out) {
  out.push_back(namespaces.all ? 1 : 0);
  out.push_back(namespaces.names.size());
  for (const std::string_view name : namespaces.names) add(name, out);
}

void SelectorWriter::add(const LabelSelector& selector, std::vector<std::uint64_t>& out) {
  out.push_back(selector.requirements.size());
  for (const SelectorRequirement& requirement : selector.requirements) {
    add(requirement.key, out);
    out.push_back(static_cast<std::uint64_t>(requirement.op));
    out.push_back(requirement.values.size());
    for (const std::string_view value : requirement.values) add(value, out);
  }
}

}  // namespace muster
