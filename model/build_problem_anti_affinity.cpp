// Anti-affinity: equal terms become one, and each pod learns which terms it owns and which it matches.
//
// Symmetric, as Kubernetes has it: an owner keeps matching pods out of its domain, and they keep it out of theirs.
// Cost: O(pods x their terms + distinct label groups x terms that ask for one of their labels, or for no value): pods
// that are alike in the labels that some term asks for are matched once.
#include <algorithm>
#include <map>

#include "model/build_problem_stages.h"
#include "model/filters.h"

namespace muster {
namespace {

bool exists(PodStatus status) { return status != PodStatus::kSucceeded && status != PodStatus::kFailed; }

// A term that is not of one gang: whom it matches.
struct OpenTerm {
  AntiAffinityIndex index;
  const PodAntiAffinityTerm* term = nullptr;
  std::string_view own_namespace;
};

class TermFinder {
 public:
  explicit TermFinder(ProblemDraft& draft) : draft_(draft), gang_terms_(draft.problem.gangs.size()) {}

  PodTerms find() {
    PodTerms result;
    const Indexed<PodIndex, Pod>& pods = draft_.problem.pods;
    result.owned_begin.push_back(0);
    for (const PodIndex pod : pods.indices()) {
      if (exists(pods[pod].status)) append_owned(pod, result.owned);
      result.owned_begin.push_back(static_cast<std::uint32_t>(result.owned.size()));
    }
    find_asked_keys();
    result.matched_begin.push_back(0);
    for (const PodIndex pod : pods.indices()) {
      if (exists(pods[pod].status)) append_matched(pod, result.matched);
      result.matched_begin.push_back(static_cast<std::uint32_t>(result.matched.size()));
    }
    return result;
  }

 private:
  void append_owned(PodIndex pod, std::vector<AntiAffinityIndex>& owned) {
    const SnapshotPod& source = draft_.snapshot.pods[pod.value()];
    const auto first = static_cast<std::ptrdiff_t>(owned.size());
    for (const PodAntiAffinityTerm& term : draft_.snapshot.pod_specs[source.spec].anti_affinity) {
      const AntiAffinityIndex index =
          term.match_gang ? gang_term(term, draft_.problem.pods[pod].gang) : open_term(term, source);
      if (!index.is_none()) owned.push_back(index);
    }
    std::sort(owned.begin() + first, owned.end());
    owned.erase(std::unique(owned.begin() + first, owned.end()), owned.end());
  }

  // None where the gang has but one pod: nobody is kept apart.
  AntiAffinityIndex gang_term(const PodAntiAffinityTerm& term, GangIndex gang) {
    if (draft_.problem.gangs[gang].pods.size() < 2) return {};
    signature_.assign({1, strings_.number(term.topology_key), gang.value()});
    const auto [index, is_new] = intern(term);
    if (is_new) gang_terms_[gang].push_back(index);
    return index;
  }

  // None where the selector is absent: it selects nobody.
  AntiAffinityIndex open_term(const PodAntiAffinityTerm& term, const SnapshotPod& owner) {
    if (!term.selector) return {};
    signature_.assign({0, strings_.number(term.topology_key), term.all_namespaces ? std::uint64_t{1} : 0});
    if (!term.all_namespaces) append_namespaces(term, owner.namespace_name);
    for (const SelectorRequirement& requirement : term.selector->requirements) {
      signature_.push_back(strings_.number(requirement.key));
      signature_.push_back(static_cast<std::uint64_t>(requirement.op));
      signature_.push_back(requirement.values.size());
      for (const std::string_view value : requirement.values) signature_.push_back(strings_.number(value));
    }
    const auto [index, is_new] = intern(term);
    if (is_new) open_terms_.push_back({index, &term, owner.namespace_name});
    return index;
  }

  void append_namespaces(const PodAntiAffinityTerm& term, std::string_view own) {
    std::vector<std::uint32_t> names;
    for (const std::string_view name : term.namespaces) names.push_back(strings_.number(name));
    if (names.empty()) names.push_back(strings_.number(own));
    std::ranges::sort(names);
    signature_.push_back(names.size());
    signature_.insert(signature_.end(), names.begin(), names.end());
  }

  std::pair<AntiAffinityIndex, bool> intern(const PodAntiAffinityTerm& term) {
    const auto [number, is_new] = terms_.intern(signature_);
    if (is_new) draft_.problem.anti_affinities.push_back(anti_affinity_of(term.topology_key));
    return {AntiAffinityIndex(number), is_new};
  }

  AntiAffinity anti_affinity_of(std::string_view key) {
    const auto known = by_key_.find(key);
    if (known != by_key_.end()) return known->second;
    Indexed<NodeIndex, DomainIndex> domains(draft_.problem.nodes.size());
    NameTable values;
    for (const NodeIndex node : domains.indices()) {
      const std::optional<std::string_view> value = label_of(draft_.snapshot.nodes[node.value()].labels, key);
      if (value) domains[node] = DomainIndex(values.number(*value));
    }
    return by_key_[key] = {DomainMap(std::move(domains)), values.size()};
  }

  // Terms that name values are found by these; all others are asked of every pod.
  void find_asked_keys() {
    for (std::size_t position = 0; position < open_terms_.size(); ++position) {
      const std::vector<SelectorRequirement>& asked = open_terms_[position].term->selector->requirements;
      for (const SelectorRequirement& requirement : asked) asked_keys_.number(requirement.key);
      const auto named = std::ranges::find(asked, SelectorOperator::kIn, &SelectorRequirement::op);
      if (named == asked.end()) {
        terms_without_value_.push_back(position);
        continue;
      }
      for (const std::string_view value : named->values) {
        std::vector<std::size_t>& those = terms_by_label_[{named->key, value}];
        if (those.empty() || those.back() != position) those.push_back(position);
      }
    }
  }

  void append_matched(PodIndex pod, std::vector<AntiAffinityIndex>& matched) {
    const auto first = static_cast<std::ptrdiff_t>(matched.size());
    const std::vector<AntiAffinityIndex>& of_gang = gang_terms_[draft_.problem.pods[pod].gang];
    matched.insert(matched.end(), of_gang.begin(), of_gang.end());
    if (!open_terms_.empty()) {
      const std::vector<AntiAffinityIndex>& of_labels = matched_by_labels(draft_.snapshot.pods[pod.value()]);
      matched.insert(matched.end(), of_labels.begin(), of_labels.end());
    }
    std::sort(matched.begin() + first, matched.end());
  }

  const std::vector<AntiAffinityIndex>& matched_by_labels(const SnapshotPod& pod) {
    signature_.assign({strings_.number(pod.namespace_name)});
    for (const auto& [key, value] : pod.labels) {
      if (asked_keys_.find(key) == NameTable::kAbsent) continue;
      signature_.push_back(strings_.number(key));
      signature_.push_back(strings_.number(value));
    }
    const auto [group, is_new] = label_groups_.intern(signature_);
    if (is_new) {
      matched_by_group_.emplace_back();
      const auto add_selected = [&](const std::vector<std::size_t>& positions) {
        for (const std::size_t position : positions) {
          const OpenTerm& open = open_terms_[position];
          if (is_selected(open, pod)) matched_by_group_.back().push_back(open.index);
        }
      };
      add_selected(terms_without_value_);
      for (const auto& name_and_value : pod.labels) {
        const auto those = terms_by_label_.find(name_and_value);
        if (those != terms_by_label_.end()) add_selected(those->second);
      }
    }
    return matched_by_group_[group];
  }

  static bool is_selected(const OpenTerm& open, const SnapshotPod& pod) {
    const std::vector<std::string_view>& namespaces = open.term->namespaces;
    const bool namespace_matches =
        open.term->all_namespaces ||
        (namespaces.empty() ? pod.namespace_name == open.own_namespace
                            : std::ranges::find(namespaces, pod.namespace_name) != namespaces.end());
    return namespace_matches && matches(*open.term->selector, pod.labels);
  }

  ProblemDraft& draft_;
  NameTable strings_, asked_keys_;
  SequenceTable terms_, label_groups_;
  std::vector<OpenTerm> open_terms_;
  std::vector<std::size_t> terms_without_value_;  // positions of open_terms_
  std::map<std::pair<std::string_view, std::string_view>, std::vector<std::size_t>> terms_by_label_;
  Indexed<GangIndex, std::vector<AntiAffinityIndex>> gang_terms_;
  std::vector<std::vector<AntiAffinityIndex>> matched_by_group_;
  std::map<std::string_view, AntiAffinity> by_key_;
  std::vector<std::uint64_t> signature_;
};

}  // namespace

PodTerms build_anti_affinities(ProblemDraft& draft) {
  const bool has_terms =
      std::ranges::any_of(draft.snapshot.pod_specs, [](const PodSpec& spec) { return !spec.anti_affinity.empty(); });
  return has_terms ? TermFinder(draft).find() : PodTerms{};
}

}  // namespace muster
