// The cost of clearing each node, kept from one pod to the next equivalent pod.
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

namespace muster {

// Equal keys: a clearing found for one is valid for the other. `attempt`: 0 unless it is valid for one attempt alone.
struct ClearingKey {
  int means = -1;
  PodClassIndex pod_class;
  QueueIndex queue;
  std::int32_t priority = 0, rank = 0;
  bool preemptible = false;
  std::uint64_t attempt = 0;
  friend bool operator==(const ClearingKey&, const ClearingKey&) = default;
};

// Of each victim in turn: queue, priority, amounts.
using ClearingKind = std::vector<std::int64_t>;

template <class Clearing>
class ClearingCache {
 public:
  explicit ClearingCache(std::size_t nodes) : nodes_(nodes) {}

  // Begins a scan of the nodes for pods of that key.
  void begin(const ClearingKey& key) {
    if (entries_.empty() || !(key == key_)) {
      key_ = key;
      entries_.assign(nodes_, {});
      kinds_.clear();
      depends_on_gangs_ = false;
      ++keys_;
    }
    ++look_;
  }
  // Grows whenever all is forgotten, for another key.
  std::uint64_t keys() const { return keys_; }
  // Whether the cached result of some node depends on more than that node.
  bool depends_on_gangs() const { return depends_on_gangs_; }
  std::size_t kind_of(NodeIndex node) const { return entries_[node].kind; }  // of a node with a clearing
  // The clearing of a node that has not changed since; else null. Whether its dynamic costs are known: is_current.
  Clearing* find(const ClusterState& state, NodeIndex node) {
    Entry& entry = entries_[node];
    return entry.knows == Knows::kClearing && is_unchanged(state, entry, node) ? &entry.clearing : nullptr;
  }
  // Whether the node has not changed since the search for a clearing failed.
  bool cannot_be_cleared(const ClusterState& state, NodeIndex node) const {
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
  // Another clearing of the node's kind that was computed in this scan; null: none.
  const Clearing* like(NodeIndex node) const {
    const Known& known = kinds_by_id_[entries_[node].kind];
    return known.look == look_ ? &known.clearing : nullptr;
  }
  Clearing& keep(const ClusterState& state, Clearing clearing, const ClearingKind& kind) {
    Entry& entry = entries_[clearing.node];
    const NodeIndex node = clearing.node;
    const auto [at, is_new] = kinds_.try_emplace(kind, kinds_by_id_.size());
    if (is_new) kinds_by_id_.emplace_back();
    kinds_by_id_[at->second] = {look_, clearing};
    entry = {Knows::kClearing, 0, {}, at->second, std::move(clearing)};
    refresh(state, node);
    return entry.clearing;
  }
  // The node has been put back as it was when its clearing was kept.
  void refresh(const ClusterState& state, NodeIndex node) {
    Entry& entry = entries_[node];
    entry.node_version = state.version(node);
    entry.gangs.clear();
    for (const auto& unit : entry.clearing.victims) {
      for (const PodIndex pod : unit.pods) note_gang(state, pod, entry);
    }
  }

 private:
  enum class Knows : std::uint8_t { kNothing, kNone, kClearing };
  struct Entry {
    Knows knows = Knows::kNothing;
    std::uint32_t node_version = 0;
    std::vector<std::pair<GangIndex, std::uint32_t>> gangs;  // those of more than one pod: of victims; of all there
    std::size_t kind = 0;
    Clearing clearing;
  };
  struct Known {
    std::uint64_t look = 0;
    Clearing clearing;
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

  ClearingKey key_;
  std::uint64_t look_ = 0, keys_ = 0;
  bool depends_on_gangs_ = false;
  std::size_t nodes_;
  Indexed<NodeIndex, Entry> entries_;  // none before the first scan
  std::map<ClearingKind, std::size_t> kinds_;
  std::vector<Known> kinds_by_id_;
};

// The nodes of each kind in the order of that part of their clearing's cost that does not change.
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

}  // namespace muster
