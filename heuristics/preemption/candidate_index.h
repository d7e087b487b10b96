// The candidates of all nodes for a pod, kept up to date from one pod to the next equivalent one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "heuristics/preemption/candidate_builder.h"
#include "heuristics/preemption/claim.h"
#include "heuristics/preemption/context.h"
#include "heuristics/state/cluster_state.h"
#include "model/base/index.h"
#include "model/base/require.h"
#include "model/problem/problem.h"

namespace muster::preemption {

// Nodes in ascending order of what was computed of them, sorted no further than they are asked for: most searches for
// victims end after a few of thousands.
class PromisingNodes {
 public:
  using Ranked = std::tuple<Amount, Amount, std::size_t, NodeIndex>;
  // Cost: O(nodes).
  explicit PromisingNodes(std::vector<Ranked> ranked) : heap_(std::move(ranked)) {
    std::ranges::make_heap(heap_, std::ranges::greater());
  }
  // None: there is no other one. Cost: O(log nodes).
  NodeIndex next() {
    if (heap_.empty()) return NodeIndex::none();
    std::ranges::pop_heap(heap_, std::ranges::greater());
    const NodeIndex node = std::get<NodeIndex>(heap_.back());
    heap_.pop_back();
    return node;
  }

 private:
  std::vector<Ranked> heap_;  // the first one on top
};

// The order in which nodes are worth a search for victims, by sums of devices (or of cpu) alone.
class CandidateOrder {
 public:
  // Both must outlive it.
  CandidateOrder(const PreemptionContext& context, const ClearableCapacity& capacity)
      : context_(context), problem_(context.problem), state_(context.state), capacity_(capacity) {}

  // The nodes (empty: all) that the pod may run on, in ascending order of the likely loss and moves. For a displaced
  // pod only nodes where enough may be evicted. Requires that the claim evicts, with its least losses, and that the
  // capacity has begun a scan. Cost: O(nodes + pods on nodes that have changed).
  PromisingNodes by_promise(const Claim& claim, PodIndex pod, std::span<const NodeIndex> nodes);
  // A lower bound of the work on the node that has to be moved for the pod to fit, in weighted work: that on the
  // devices that lack least. Cost: O(devices), once for all pods of a class until the node changes.
  Work least_moved(PodIndex pod, NodeIndex node);

 private:
  // On a node, the amounts of the pods whose eviction costs least.
  struct LeavingSums {
    std::uint32_t node_version = static_cast<std::uint32_t>(-1);
    DeviceUnits devices = 0;
    Amount cpu = 0;
  };
  struct Lacking {
    std::uint32_t node_version = static_cast<std::uint32_t>(-1);
    Amount amount = 0;
  };

  // Sets the class that lacking_on is asked for.
  void begin_class(PodIndex pod);
  Amount lacking_on(const PodClass& pod_class, NodeIndex node);
  Amount find_lacking(const PodClass& pod_class, NodeIndex node);
  Amount leaving_on(const Claim& claim, const PodClass& pod_class, NodeIndex node);
  void find_leaving_sums(const Claim& claim);

  const PreemptionContext& context_;
  const Problem& problem_;
  const ClusterState& state_;
  const ClearableCapacity& capacity_;
  std::map<std::vector<std::int64_t>, Indexed<NodeIndex, LeavingSums>> leaving_sums_;  // by what decides which leave
  Indexed<NodeIndex, LeavingSums>* leaving_now_ = nullptr;                             // those of the current scan
  PodClassIndex lacking_class_ = PodClassIndex::none();                                // the class that lacking_ is of
  Indexed<NodeIndex, Lacking> lacking_;                                                // none before the first scan
  std::vector<DeviceUnits> on_devices_;                                                // for find_lacking
};

// The cheapest few of many candidates.
//
// Of the added candidates the cheapest, equal ones in the order of their nodes. Cost: O(log most) for each that is
// added, O(1) for one that is too expensive.
class CandidateShortlist {
 public:
  // Requires most > 0.
  explicit CandidateShortlist(std::size_t most) : most_(most) { MUSTER_REQUIRE(most > 0); }

  // The candidate must outlive the list.
  void add(const NodeCandidate& candidate) {
    if (excludes(candidate.cost, candidate.node)) return;
    heap_.push_back(&candidate);
    std::ranges::push_heap(heap_, {}, rank_of);
    if (heap_.size() <= most_) return;
    std::ranges::pop_heap(heap_, {}, rank_of);
    heap_.pop_back();
  }
  // The list keeps the candidate.
  void add_own(NodeCandidate candidate) { add(own_.emplace_back(std::move(candidate))); }

  // Whether the node, at that cost or more, would not be among the cheapest.
  bool excludes(const VictimCost& cost, NodeIndex node) const {
    return heap_.size() == most_ && rank_of(heap_.front()) < std::tie(cost, node);
  }
  bool is_empty() const { return heap_.empty(); }
  std::vector<const NodeCandidate*> in_order() const {
    std::vector<const NodeCandidate*> candidates = heap_;
    std::ranges::sort(candidates, {}, rank_of);
    return candidates;
  }

 private:
  static std::tuple<const VictimCost&, const NodeIndex&> rank_of(const NodeCandidate* candidate) {
    return std::tie(candidate->cost, candidate->node);
  }

  std::size_t most_;
  std::vector<const NodeCandidate*> heap_;  // the most expensive first
  std::deque<NodeCandidate> own_;
};

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

// Each scan adds candidates to the shortlist, until the context's stop flag is raised. Candidates on a list are valid
// until the next scan with the same index.
class CandidateIndex {
 public:
  // The context must outlive it.
  explicit CandidateIndex(PreemptionContext& context)
      : context_(context),
        problem_(context.problem),
        state_(context.state),
        builder_(context),
        ranking_(context, builder_.capacity()),
        cache_(problem_.nodes.size()),
        cheapest_(problem_.nodes.size()) {}

  using Nodes = std::span<const NodeIndex>;  // empty: all nodes of the cluster
  // All of the nodes that can be cleared. Cost: O(nodes), and that of the builder for those that have changed since the
  // last scan for an equivalent pod.
  void scan(const Claim& claim, PodIndex pod, Nodes nodes, CandidateShortlist& shortlist);
  // The cheapest candidate of each kind, where no victim can be moved. Cost: O(kinds + nodes changed) if the last scan
  // was for an equivalent pod and `nodes` is empty; else that of scan.
  void scan_cheapest(const Claim& claim, PodIndex pod, Nodes nodes, CandidateShortlist& shortlist);
  // Of the nodes that can be cleared only the most promising. Requires that the claim evicts, with its least losses.
  void scan_promising(const Claim& claim, PodIndex pod, Nodes nodes, CandidateShortlist& shortlist);
  // The same of candidates that depend on what is being displaced, and are not kept: the cheapest come first.
  std::vector<NodeCandidate> promising_once(const Claim& claim, PodIndex pod, Nodes nodes);
  // The nodes that moves alone can clear, except those where more has to be moved than on the shortlist. Requires that
  // no anti-affinity, affinity or spread concerns the pod.
  void scan_by_moves(const Claim& claim, PodIndex pod, Nodes nodes, CandidateShortlist& shortlist);
  // The same, where pods of the plan may give way, too.
  void scan_by_moves_and_swaps(const Claim& claim, PodIndex pod, Nodes nodes, CandidateShortlist& shortlist);

  // The node has been put back as it was when its candidate was found.
  void refresh(NodeIndex node) { cache_.refresh(state_, node); }

 private:
  CandidateKey key_of(const Claim& claim, PodIndex pod) const;
  VictimKind kind_of(const NodeCandidate& candidate) const;
  const NodeCandidate* known(const Claim& claim, PodIndex pod, NodeIndex node);
  std::vector<NodeIndex> unlisted(bool is_new);
  void list(const Claim& claim, PodIndex pod, NodeIndex node);
  const NodeCandidate* cheapest_of(std::size_t kind, const Claim& claim, PodIndex pod);
  template <class Visit>
  void for_each_by_least_moved(const Claim& claim, PodIndex pod, Nodes nodes, const CandidateShortlist& shortlist,
                               bool swaps, const Visit& visit);

  PreemptionContext& context_;
  const Problem& problem_;
  const ClusterState& state_;
  CandidateBuilder builder_;
  CandidateOrder ranking_;
  CandidateCache<NodeCandidate> cache_;
  CheapestFirst<VictimCost> cheapest_;  // of one key of the cache
  std::vector<NodeIndex> not_listed_;   // nodes outside that list that may nevertheless take the pod
  std::uint64_t cheapest_keys_ = 0;     // of the cache, as they were listed
  std::size_t cheapest_read_ = 0;       // of the state's touched nodes
};

}  // namespace muster::preemption
