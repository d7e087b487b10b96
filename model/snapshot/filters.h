// The filters of rule "Node" that depend on a node's name, labels, taints and GPU model alone: one function each.
//
// All of them take the snapshot's own words. Semantics as in kube-scheduler: a required node affinity is met by any of
// its terms, `NotIn` and `DoesNotExist` match an absent key, `Gt` and `Lt` compare integers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/interning.h"
#include "model/snapshot/snapshot.h"

namespace muster {

// The value of a label; none if the key is absent. Cost: O(log labels).
std::optional<std::string_view> label_of(const Labels& labels, std::string_view key);

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);
// Every NoSchedule and NoExecute taint is tolerated.
bool tolerates_hard_taints(const PodSpec& spec, const SnapshotNode& node);
std::int32_t untolerated_soft_taints(const PodSpec& spec, const SnapshotNode& node);

bool matches(const SelectorRequirement& requirement, std::optional<std::string_view> value);
bool matches(const NodeSelectorTerm& term, const SnapshotNode& node);
bool matches(const LabelSelector& selector, const Labels& labels);

bool node_selector_holds(const PodSpec& spec, const SnapshotNode& node);
bool required_affinity_holds(const PodSpec& spec, const SnapshotNode& node);
// The volumes of the pod can be attached.
bool volume_terms_hold(const PodSpec& spec, const SnapshotNode& node);
// A pod that names models may not use a node whose model is unknown.
bool gpu_models_hold(const PodSpec& spec, const SnapshotNode& node);

// All of the above, and the node is not cordoned.
bool passes_filters(const PodSpec& spec, const SnapshotNode& node);

// Sum of the weights of the preferred affinity terms that the node meets.
std::int32_t preferred_weight(const PodSpec& spec, const SnapshotNode& node);

// Which pods the selectors of pod affinity, anti-affinity and topology spread match.
//
// Pods with equal namespaces and equal values of the labels that some selector uses are matched once; a selector that
// names values is matched only against pods that have one of them.
//
// The namespaces that a term applies to.
struct NamespaceSet {
  bool all = false;
  std::vector<std::string_view> names;  // ascending, each once
  bool contains(std::string_view name) const;
};
// `own`: of the pod that has the term. Namespaces that its namespaceSelector selects are found in the snapshot's list.
NamespaceSet namespaces_of(const Snapshot& snapshot, const PodTerm& term, std::string_view own);

// What is asked of one pod: all parts.
struct PodSelector {
  struct Part {
    LabelSelector selector;
    NamespaceSet namespaces;
  };
  std::vector<Part> parts;
  bool matches(const SnapshotPod& pod) const;
};

class PodSelection {
 public:
  // Requires a selector with a part; `number` may be any, each used once.
  void add(std::uint32_t number, PodSelector selector);
  bool empty() const { return selectors_.empty(); }
  // Numbers of the selectors that match the pod, in no order. Valid until the next call. All selectors are added by
  // then. Cost: O(labels of the pod); for the first of its kind also O(selectors that ask for one of its values).
  const std::vector<std::uint32_t>& matching(const SnapshotPod& pod);

 private:
  struct Entry {
    std::uint32_t number = 0;
    PodSelector selector;
  };
  void find_matching(const SnapshotPod& pod, std::vector<std::uint32_t>& numbers) const;

  std::vector<Entry> selectors_;
  std::vector<std::size_t> without_value_;  // positions of selectors_
  std::map<std::pair<std::string_view, std::string_view>, std::vector<std::size_t>> by_label_;
  NameTable strings_, asked_keys_;
  SequenceTable groups_;
  std::vector<std::vector<std::uint32_t>> matching_of_;  // by group
  std::vector<std::uint64_t> signature_;
};

// Writes the content of a selector as numbers, so that equal selectors are equal sequences.
class SelectorWriter {
 public:
  void add(std::string_view text, std::vector<std::uint64_t>& out) { out.push_back(strings_.number(text)); }
  void add(const NamespaceSet& namespaces, std::vector<std::uint64_t>& out);
  void add(const LabelSelector& selector, std::vector<std::uint64_t>& out);

 private:
  NameTable strings_;
};

}  // namespace muster
