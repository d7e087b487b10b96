// Which pods the selectors of pod affinity, anti-affinity and topology spread match.
//
// Pods with equal namespaces and equal values of the labels that some selector uses are matched once; a selector that
// names values is matched only against pods that have one of them.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/interning.h"
#include "model/snapshot/snapshot.h"

namespace muster {

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
