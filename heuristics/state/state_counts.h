// What a cluster state counts beside its nodes, each kind in a part that can undo.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/problem/problem.h"

namespace muster {

// How many more pods each disruption budget lets leave their places in the snapshot.
//
// Cheap to copy.
class BudgetsLeft {
 public:
  // No pod has left.
  explicit BudgetsLeft(const DisruptionBudgets& budgets) {
    left_.reserve(budgets.all().size());
    for (const DisruptionBudget& budget : budgets.all()) left_.push_back(budget.allowed);
  }

  // Whether no budget binds: then nothing below needs to be called.
  bool empty() const { return left_.empty(); }
  // Below 0 if too many have left.
  const Indexed<DisruptionBudgetIndex, std::int64_t>& left() const { return left_; }
  // Rule DisruptionBudget: none has fallen below 0.
  bool are_kept() const { return broken_ == 0; }

  // A pod of these budgets comes back to its place in the snapshot (`by` 1) or leaves it (-1).
  void count(std::span<const DisruptionBudgetIndex> budgets, std::int32_t by) {
    for (const DisruptionBudgetIndex budget : budgets) {
      std::int64_t& left = left_[budget];
      const bool was_broken = left < 0;
      left += by;
      broken_ += (left < 0 ? 1 : 0) - (was_broken ? 1 : 0);
    }
  }

 private:
  Indexed<DisruptionBudgetIndex, std::int64_t> left_;
  std::int32_t broken_ = 0;
};

// How many pods of each gang are present.
//
// Cheap to copy.
class GangCounts {
 public:
  // Only pods that have succeeded count. Cost: O(pods).
  explicit GangCounts(const Problem& problem) : members_(problem.groups.size(), 0), versions_(problem.gangs.size(), 0) {
    for (const Pod& pod : problem.pods) {
      if (pod.status == PodStatus::kSucceeded) ++members_[pod.group];
    }
  }

  // Pods of a leaf group that count towards its minimum: present, or succeeded.
  std::int32_t members(GroupIndex leaf) const { return members_[leaf]; }
  // Increases with every change of the gang's pods, undone ones too.
  std::uint32_t version(GangIndex gang) const { return versions_[gang]; }

  // The pod comes (`by` 1) or leaves (-1).
  void count(const Pod& pod, std::int32_t by) {
    members_[pod.group] += by;
    ++versions_[pod.gang];
  }

 private:
  Indexed<GroupIndex, std::int32_t> members_;
  Indexed<GangIndex, std::uint32_t> versions_;
};

// What has changed in a cluster state since it began: for indices and caches that follow the state.
//
// Undone changes and their undoing are changes, too: the lists only grow, and the versions only increase.
class StateChanges {
 public:
  // Nodes whose free capacity changed, in order, one entry for each change. The entries that a follower has not read
  // yet are the nodes that it has to examine again.
  const std::vector<NodeIndex>& touched() const { return touched_; }
  // The same for gangs whose pods came or left.
  const std::vector<GangIndex>& changed_gangs() const { return changed_gangs_; }
  // Increases whenever a pod that runs in the snapshot comes or leaves.
  std::uint64_t standing_version() const { return standing_version_; }

  // The pod came to the node or left it.
  void note(const Pod& pod, NodeIndex node) {
    if (pod.status == PodStatus::kRunning) ++standing_version_;
    touched_.push_back(node);
    changed_gangs_.push_back(pod.gang);
  }

 private:
  std::vector<NodeIndex> touched_;
  std::vector<GangIndex> changed_gangs_;
  std::uint64_t standing_version_ = 0;
};

// How many pods in each domain own a term of required pod anti-affinity, or match it.
//
// Keeps a cell for each pair of a term and a domain in which a pod has been counted, so that thousands of terms cost
// what their pods cost and not terms x domains. Copied as one block.
class AntiAffinityCounts {
 public:
  std::int32_t owners(AntiAffinityIndex term, DomainIndex domain) const { return cell(term, domain).owners; }
  std::int32_t matched(AntiAffinityIndex term, DomainIndex domain) const { return cell(term, domain).matched; }

  // A pod of the class comes to the node (`by` 1) or leaves it (-1). Cost: O(terms that it owns or matches).
  void count(const Problem& problem, const PodClass& pod_class, NodeIndex node, std::int32_t by);

 private:
  struct Cell {
    std::uint64_t key = kNone;  // term and domain
    std::int32_t owners = 0, matched = 0;
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  // An open hash table with linear probing (Knuth, The Art of Computer Programming 3, 6.4, algorithm L).
  std::size_t slot(std::uint64_t key) const;  // where the key is or would be; requires an empty slot
  Cell cell(AntiAffinityIndex term, DomainIndex domain) const;
  Cell& made_cell(std::uint64_t key);
  void grow();

  std::vector<Cell> cells_;  // 0 or a power of two
  std::size_t used_ = 0;     // at most half of them
};

// What the pods that run (and stay) or are placed use of their queues.
//
// Of every queue, inner ones included. Cheap to copy; the problem must outlive it.
class QueueUsage {
 public:
  // Nothing is used.
  explicit QueueUsage(const Problem& problem);

  const Indexed<QueueIndex, QueueAmounts>& usage() const { return usage_; }
  const Indexed<QueueIndex, QueueAmounts>& non_preemptible_usage() const { return non_preemptible_usage_; }
  // What counts against each of the limits on other resources.
  const Indexed<OtherLimitIndex, Amount>& limited_usage() const { return limited_usage_; }
  // The part of a queue's usage by pods of effective priority `priority` or more. Exact for up to
  // HeuristicsTuning::priorities; beyond that, adjacent ones are counted together. Cost:
  // O(HeuristicsTuning::priorities).
  QueueAmounts usage_from(QueueIndex queue, std::int32_t priority) const;

  // A pod of the gang comes to the node (`by` 1) or leaves it (-1). Cost: O(depth of the queue).
  void count(const Gang& gang, const PodClass& pod_class, NodeIndex node, std::int32_t by);

 private:
  std::size_t bucket_of(std::int32_t priority) const;

  const Problem* problem_;
  Indexed<QueueIndex, QueueAmounts> usage_, non_preemptible_usage_;
  Indexed<OtherLimitIndex, Amount> limited_usage_;
  std::vector<QueueAmounts> usage_by_priority_;  // queue x bucket, highest priorities first
  std::size_t buckets_;
};

}  // namespace muster
