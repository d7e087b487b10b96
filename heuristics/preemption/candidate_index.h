// The candidates of all nodes for a pod, kept up to date from one pod to the next equivalent one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "heuristics/preemption/candidate_builder.h"
#include "heuristics/preemption/candidate_capacity.h"
#include "heuristics/preemption/candidate_ranking.h"
#include "heuristics/preemption/eligibility.h"
#include "heuristics/preemption/inputs.h"
#include "heuristics/state/cluster_state.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// The candidate of each node, kept from one pod to the next equivalent pod.
//
// Most nodes do not change between two pods of a claim, or two equivalent claims; what changes everywhere is the loss
// of the queues' shares by the victims' departure. That part is equal for all nodes whose victims have equal queues,
// priorities and amounts (their *kind*), so it is computed once for each kind.
//
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

// Each scan adds candidates to the shortlist, until the stop flag is raised. Candidates on a list are valid until the
// next scan with the same index.
class CandidateIndex {
 public:
  // All must outlive it.
  CandidateIndex(const PreemptionInputs& inputs, const Claim& claim, const PlacementRanks& ranks,
                 const VictimEligibility& eligibility, CandidateBuilder& builder, ClearableCapacity& capacity,
                 CandidateOrder& ranking, StopFlag& stop);

  // All of the nodes (empty: of the cluster) that can be cleared. Cost: O(nodes), and that of the builder for those
  // that have changed since the last scan for an equivalent pod.
  void scan(PodIndex pod, std::span<const NodeIndex> nodes, CandidateShortlist& shortlist);
  // The cheapest candidate of each kind, where no victim can be moved. Cost: O(kinds + nodes changed) if the last scan
  // was for an equivalent pod and `nodes` is empty; else that of scan.
  void scan_cheapest(PodIndex pod, std::span<const NodeIndex> nodes, CandidateShortlist& shortlist);
  // Of the nodes that can be cleared only the most promising, by the least losses as last found. Requires that the
  // claim evicts.
  void scan_promising(PodIndex pod, std::span<const NodeIndex> nodes, CandidateShortlist& shortlist);
  // The nodes that moves alone can clear, except those where more has to be moved than on the shortlist. Requires that
  // no anti-affinity, affinity or spread concerns the pod.
  void scan_by_moves(PodIndex pod, std::span<const NodeIndex> nodes, CandidateShortlist& shortlist);
  // The same, where pods of the plan may give way, too.
  void scan_by_moves_and_swaps(PodIndex pod, std::span<const NodeIndex> nodes, CandidateShortlist& shortlist);

  // The node has been put back as it was when its candidate was found.
  void refresh(NodeIndex node) { cache_.refresh(state_, node); }

 private:
  bool may_keep(PodIndex pod) const;
  CandidateKey key_of(PodIndex pod) const;
  VictimKind kind_of(const NodeCandidate& candidate) const;
  const NodeCandidate* known(PodIndex pod, NodeIndex node);
  void scan_listed(PodIndex pod, CandidateShortlist& shortlist);
  std::vector<NodeIndex> unlisted(bool is_new);
  void list(PodIndex pod, NodeIndex node);
  const NodeCandidate* cheapest_of(std::size_t kind, PodIndex pod);
  template <class Visit>
  void for_each_by_least_moved(PodIndex pod, std::span<const NodeIndex> nodes, const CandidateShortlist& shortlist,
                               bool swaps, const Visit& visit);

  const Problem& problem_;
  const ClusterState& state_;
  const Claim& claim_;
  const PlacementRanks& ranks_;
  const VictimEligibility& eligibility_;
  CandidateBuilder& builder_;
  ClearableCapacity& capacity_;
  CandidateOrder& ranking_;
  StopFlag& stop_;
  CandidateCache<NodeCandidate> cache_;
  CheapestFirst<VictimCost> cheapest_;  // of one key of the cache
  std::vector<NodeIndex> not_listed_;   // nodes outside that list that may nevertheless take the pod
  std::uint64_t cheapest_keys_ = 0;     // of the cache, as they were listed
  std::size_t cheapest_read_ = 0;       // of the state's touched nodes
};

}  // namespace muster::preemption
