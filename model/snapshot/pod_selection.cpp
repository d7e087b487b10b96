#include "model/snapshot/pod_selection.h"

#include <algorithm>

#include "model/base/require.h"
#include "model/snapshot/filters.h"

namespace muster {

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
