// Which pods leave, with all of their gang or without, and by which right; and that pods come for them
// (docs/semantics.md, "Evictions").
//
// Rows      preempt channel (q, p): pods evicted <= M x pods placed of gangs of q above p that may preempt
//           split gangs: all pods of each cell go; with a minimum run time, enough of them by channels that do not
//             protect them
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/snapshot/plan.h"
#include "solver/rows/gang_columns.h"
#include "solver/rows/split_exits.h"

namespace muster::formulation {

// The reason for which a pod may be evicted, and its claimants: claimants of one kind. With preempt: of the victim's
// queue and a higher priority. With reclaim: of one leaf queue, with equal requests and equal preemptibility. No
// claimant with stale.
struct EvictionChannel {
  EvictionReason reason = EvictionReason::kStale;
  std::vector<GangClassIndex> claimants;
  lp::LinearExpression granted = {};  // pods that are placed of the claimants
  GangIndex claimant = {};            // a gang of them
};

class EvictionRows {
 public:
  // All outlive the object.
  EvictionRows(const FormulationInput& input, GangColumns& columns, lp::ModelBuilder& model);

  // The channels, and the columns of all that may leave. Requires that it has not been called; and the columns of gangs
  // and cells are there. Cost: O(classes of victims x channels).
  void add_columns();
  // What may leave of a class: stays, is evicted or is moved; whole, or beyond its minimum. Between the two come the
  // rows of its groups; of single running pods the first is all.
  void add_goes(GangClassIndex index);
  void add_leaving(GangClassIndex index);
  // Every evicted pod has a placed claimant.
  void add_claims();

  const std::vector<EvictionChannel>& channels() const { return channels_; }
  const EvictionChannel& channel_of(const ExitColumns& exit) const { return channels_[exit.channel]; }
  // By which gangs of the queue preempt what has this priority; null: none does.
  const EvictionChannel* preempting(QueueIndex queue, std::int32_t priority) const;
  QueueIndex claiming_queue(const ExitColumns& exit) const {
    return in_.problem.gangs[channel_of(exit).claimant].queue;
  }

 private:
  struct ReclaimKind {
    QueueIndex queue;
    std::array<bool, kQueueResources> asked{};
    bool preemptible = true;
    friend auto operator<=>(const ReclaimKind&, const ReclaimKind&) = default;
  };

  void find_reclaimers();
  std::optional<std::size_t> preempt_channel(QueueIndex queue, std::int32_t priority);
  void add_exits_of(GangClassIndex index);
  bool budgets_allow(GangClassIndex index) const;
  std::vector<ExitOption> exit_options(GangClassIndex index);
  void add_exit(GangClassIndex index, const ExitOption& option, bool surplus);
  void add_split_rows(GangClassIndex index);
  bool leaves_whole(GangClassIndex index) const;
  bool may_have_surplus(GangClassIndex index) const;

  const FormulationInput& in_;
  GangColumns& columns_;
  lp::ModelBuilder& model_;
  std::vector<EvictionChannel> channels_;
  std::map<std::pair<QueueIndex, std::int32_t>, std::optional<std::size_t>> preempt_channels_;
  std::map<ReclaimKind, std::size_t> reclaim_channels_;
  std::optional<std::size_t> stale_channel_;
  Indexed<QueueIndex, std::vector<GangClassIndex>> waiting_;  // gang classes by leaf queue
};

}  // namespace muster::formulation
