// The candidate of each node, kept from one pod to the next equivalent pod.
//
// Most nodes do not change between two pods of a claim, or two equivalent claims; what changes everywhere is the loss
// of the queues' shares by the victims' departure. That part is equal for all nodes whose victims have equal queues,
// priorities and amounts (their *kind*), so it is computed once for each kind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Equal keys: a candidate found for one is valid for the other. `attempt`: 0 unless it is valid for one attempt alone.
struct CandidateKey {
  int mode = -1;
  PodClassIndex pod_class;
  QueueIndex queue;
  std::int32_t priority = 0, rank = 0;
  bool preemptible = false;
  std::uint64_t attempt = 0;
  friend bool operator==(const CandidateKey&, const CandidateKey&) = default;
};

// Of each victim in turn: queue, priority, amounts.
using VictimKind = std::vector<std::int64_t>;

// All calls cost O(pods of the node's victims), except begin with a new key: O(nodes).
template <class Candidate>
class CandidateCache {
 public:
  explicit CandidateCache(std::size_t nodes) : nodes_(nodes) {}

  // Begins a scan of the nodes for pods of that key.
  void begin(const CandidateKey& key) {
    if (entries_.empty() || !(key == key_)) {
      key_ = key;
      entries_.assign(nodes_, {});
      kinds_.clear();
      depends_on_gangs_ = false;
      ++keys_;
    }
    ++scan_;
  }
  // Grows whenever all is forgotten, for another key.
  std::uint64_t keys() const { return keys_; }
  // Whether the cached result of some node depends on more than that node.
  bool depends_on_gangs() const { return depends_on_gangs_; }
  std::size_t kind_of(NodeIndex node) const { return entries_[node].kind; }  // of a node with a candidate
  // The candidate of a node that has not changed since; else null. What changes with every claim may be out of date:
  // see like.
  Candidate* find(const ClusterState& state, NodeIndex node) {
    Entry& entry = entries_[node];
    return entry.knows == Knows::kCandidate && is_unchanged(state, entry, node) ? &entry.candidate : nullptr;
  }
  // Whether the node has not changed since the search for a candidate failed.
  bool has_no_victims(const ClusterState& state, NodeIndex node) const {
    const Entry& entry = entries_[node];
    return entry.knows == Knows::kNone && is_unchanged(state, entry, node);
  }
  void keep_none(const ClusterState& state, NodeIndex node) {
    Entry& entry = entries_[node];
    entry.knows = Knows::kNone;
    entry.node_version = state.version(node);
    entry.gangs.clear();
    for (const PodIndex pod : state.pods_on(node)) note_gang(state, pod, entry);
  }
  // Another candidate of the node's kind that was computed in this scan; null: none.
  const Candidate* like(NodeIndex node) const {
    const Known& known = kinds_by_id_[entries_[node].kind];
    return known.scan == scan_ ? &known.candidate : nullptr;
  }
  Candidate& keep(const ClusterState& state, Candidate candidate, const VictimKind& kind) {
    Entry& entry = entries_[candidate.node];
    const NodeIndex node = candidate.node;
    const auto [at, is_new] = kinds_.try_emplace(kind, kinds_by_id_.size());
    if (is_new) kinds_by_id_.emplace_back();
    kinds_by_id_[at->second] = {scan_, candidate};
    entry = {Knows::kCandidate, 0, {}, at->second, std::move(candidate)};
    refresh(state, node);
    return entry.candidate;
  }
  // The node has been put back as it was when its candidate was kept.
  void refresh(const ClusterState& state, NodeIndex node) {
    Entry& entry = entries_[node];
    entry.node_version = state.version(node);
    entry.gangs.clear();
    for (const auto& unit : entry.candidate.victims) {
      for (const PodIndex pod : unit.pods) note_gang(state, pod, entry);
    }
  }

 private:
  enum class Knows : std::uint8_t { kNothing, kNone, kCandidate };
  struct Entry {
    Knows knows = Knows::kNothing;
    std::uint32_t node_version = 0;
    std::vector<std::pair<GangIndex, std::uint32_t>> gangs;  // those of more than one pod: of victims; of all there
    std::size_t kind = 0;
    Candidate candidate;
  };
  struct Known {
    std::uint64_t scan = 0;
    Candidate candidate;
  };
  static bool is_unchanged(const ClusterState& state, const Entry& entry, NodeIndex node) {
    return entry.node_version == state.version(node) &&
           std::ranges::all_of(entry.gangs, [&](const auto& of) { return state.version(of.first) == of.second; });
  }
  void note_gang(const ClusterState& state, PodIndex pod, Entry& entry) {
    const GangIndex gang = state.problem().pods[pod].gang;
    if (state.problem().gangs[gang].pods.size() == 1) return;
    entry.gangs.emplace_back(gang, state.version(gang));
    depends_on_gangs_ = true;
  }

  CandidateKey key_;
  std::uint64_t scan_ = 0, keys_ = 0;
  bool depends_on_gangs_ = false;
  std::size_t nodes_;
  Indexed<NodeIndex, Entry> entries_;  // none before the first scan
  std::map<VictimKind, std::size_t> kinds_;
  std::vector<Known> kinds_by_id_;
};

// The nodes of each kind in the order of that part of their candidate's cost that does not change. Cost: O(log nodes).
template <class Cost>
class CheapestFirst {
 public:
  using Ranked = std::set<std::pair<Cost, NodeIndex>>;

  explicit CheapestFirst(std::size_t nodes) : nodes_(nodes) {}

  void clear() {
    kinds_.clear();
    listed_.assign(nodes_, {});
  }
  void list(NodeIndex node, std::size_t kind, const Cost& cost) {
    remove(node);
    kinds_[kind].emplace(cost, node);
    listed_[node] = {true, kind, cost};
  }
  void remove(NodeIndex node) {
    Listed& listed = listed_[node];
    if (!std::exchange(listed.is_listed, false)) return;
    const auto at = kinds_.find(listed.kind);
    at->second.erase({listed.cost, node});
    if (at->second.empty()) kinds_.erase(at);
  }
  const std::map<std::size_t, Ranked>& kinds() const { return kinds_; }  // none is empty

 private:
  struct Listed {
    bool is_listed = false;
    std::size_t kind = 0;
    Cost cost;
  };
  std::map<std::size_t, Ranked> kinds_;
  std::size_t nodes_;
  Indexed<NodeIndex, Listed> listed_;  // none before the first clear()
};

}  // namespace muster::preemption
