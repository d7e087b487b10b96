// The formulation: admitted gangs and configurations of nodes, level by level. Knows clusters, not CBC.
//
// Sets      gang classes g, cells c of g (pods of one leaf and one demand class d(c)), residual classes s (N_s equal
//           nodes), configurations j of s (a_dj pods of class d), zones t (parts of the cluster that topology
//           distinguishes).
// Columns   z_g    gangs of the class whose minimum is placed, integer in 0..K_g (1 if the minimum runs already)
//           x_c    pods of the cell placed, integer; x_ct by zone for the cells of gangs that ask for a topology level
//           b_h    subgroup h has its minimum, binary;  y_hv  group h lies in domain v, binary
//           f_dt   pods of class d of cells without topology in zone t (only if others of d have x_ct)
//           p_dp   pods of class d in part p (only of classes that affinity or spread involves)
//           l_sj   nodes of s in configuration j, integer
//           o_gk   gangs evicted whole (binary, except for gangs of one pod), e_vk evicted surplus pods of the running
//                  cell v, both by channel k: their claimants, see EvictionChannel;  x_c of a running cell: moved pods
//           o_g    gangs evicted whole by several channels, binary: e_vk are all of their pods (SplitExits)
//           (x_c = n_c z_g, without a column of its own, if a gang is placed whole or not at all, and anywhere)
// Rows      supply (d, t): sum x_ct + f_dt (or sum x_c) <= sum_{s in t} a_dj l_sj        (= in exact mode)
//                          of classes with parts (d, p): p_dp <= sum_{s in p} a_dj l_sj, and sum_{p in t} p_dp =
//                          sum x_ct + f_dt
//           residual classes s:       sum_j l_sj <= N_s                                            (= in exact mode)
//           minimum:       m_g z_g <= x_c <= n_c z_g; through b_h for trees
//           domains:       sum_{t in v} x_ct <= n_h y_hv, sum_v y_hv <= 1
//           queues q:      sum usage x <= limit - used, on every queue; the same for quota and what is not preemptible
//           running cells v: n_v - n_v sum_k o_gk - sum_k e_vk - x_v <= sum a_vj l_sj: a pod that is not evicted
//           stays or is moved
//           gangs that run: b_g + o_g + sum_k o_gk = 1 (<= 1 if the minimum does not run),
//           n_v o_g <= sum_k e_vk,  sum_k e_vk + x_v <= n_v (b_g + o_g)
//           channels, claims and what bounds them: see solver/rows/eviction_rows.h, reclaim_rows.h, vain_rows.h,
//           eviction_limits.h
//           anti-affinity terms whose domains span nodes: owners or matches, or one pod that is both; where running
//           pods exclude each other, these, or nothing comes
//           affinity and spread: see solver/rows/ordered_rows.h
// Levels    share, quota, work, seniority, preference, fragmentation as docs/semantics.md defines them, each a linear
//           expression; their auxiliary columns are added when a level is asked for.
// What is relaxed (the bound stays valid): rule Not in vain, wherever its rows (solver/rows/vain_rows.h) do
// not say all of it: which of two gangs with equal pods is on a node, other devices, limits, topology, anti-affinity
// between nodes; a gang of unlike pods that can be placed in very many ways counts pod by pod; what affinity and spread
// require of the order of binding, beyond their rows; what minResources find free on a node whose pods exceed what it
// reports: those that stay count as taking nothing there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "model/objective/levels.h"
#include "model/snapshot/plan.h"
#include "solver/formulation/eviction_levels.h"
#include "solver/formulation/plan_columns.h"
#include "solver/formulation/share_levels.h"
#include "solver/rows/anti_affinity_rows.h"
#include "solver/rows/asked_pods.h"
#include "solver/rows/gang_rows.h"
#include "solver/rows/reclaim_rows.h"
#include "solver/rows/supply_rows.h"
#include "solver/rows/topology_rows.h"
#include "solver/rows/vain_rows.h"

namespace muster::formulation {

// The number of pods of each cell, in each zone, that a solution places, and the configuration of each node.
struct FormulationSolution {
  std::vector<std::int64_t> gangs;                        // by GangClassIndex
  Indexed<CellIndex, std::vector<std::int64_t>> by_zone;  // empty: the cell may go anywhere, and `pods` is its count
  Indexed<CellIndex, std::int64_t> pods;
  Indexed<DemandIndex, std::vector<std::int64_t>> by_part;  // empty: there are no parts, or none matters
  std::vector<std::vector<std::pair<std::size_t, std::int64_t>>>
      configurations;  // by residual class: (position, nodes)
  // Of each running cell: (channel, pods that are evicted by it).
  Indexed<RunningCellIndex, std::vector<std::pair<std::size_t, std::int64_t>>> evicted;
};

class Formulation {
 public:
  explicit Formulation(const FormulationInput& input);
  Formulation(const Formulation&) = delete;
  Formulation& operator=(const Formulation&) = delete;

  // Adds a column for the configuration (position: how many the residual class had before) and returns it.
  std::int32_t add_configuration(ResidualClassIndex residual, const Configuration& configuration);
  // The rows in which a configuration of the residual class has its entries: for pricing, and for columns that are
  // added to an open LP.
  std::vector<lp::Entry> entries_of(ResidualClassIndex residual, const Configuration& configuration) const;
  // Requires that the demand fits there.
  std::int32_t supply_row(DemandIndex demand, ResidualClassIndex residual) const {
    return supply_.supply_row(demand, residual);
  }
  std::vector<std::int32_t> configuration_columns(ResidualClassIndex residual) const;
  std::int32_t capacity_row(ResidualClassIndex residual) const { return supply_.capacity_row(residual); }

  // The level as an expression of its true value and scale, constants included; none if this formulation cannot express
  // it. Adds auxiliary columns and rows: ask for levels in their order, before columns of an LP are priced.
  std::optional<lp::LinearExpression> level(const LevelId& id);
  // From here on, constrains a level to at least (maximised) or at most (minimised) `value`.
  void hold(const LevelId& id, const lp::LinearExpression& expression, std::int64_t value);

  const std::vector<EvictionChannel>& channels() const { return evictions_.channels(); }
  // What supply has to hold; pooled only.
  const std::vector<AskedPods>& asked() const { return asked_; }

  // Of every column so far: those of gangs, and those that others have been set for.
  std::vector<ColumnOwner> owners() const { return columns_.owners(model_.columns()); }
  // For the columns from `first` on, which others than this class have added.
  void set_owner(std::int32_t first, const ColumnOwner& owner) { columns_.set_owner(first, model_.columns(), owner); }

  lp::ModelBuilder& model() { return model_; }
  const lp::ModelBuilder& model() const { return model_; }
  FormulationSolution read(const std::vector<double>& x) const;
  PlanColumns decisions_of(const Plan& plan) const { return plan_columns(in_, columns_, evictions_, plan); }
  // Makes a fractional solution of the LP relaxation integral: of each residual class the whole nodes of every
  // configuration, then the largest remainders. Gangs and pods are rounded up, and decoding determines which of them
  // find a place.
  FormulationSolution round(const std::vector<double>& x) const;

 private:
  void add_exits();
  void add_eviction_rows();
  FormulationSolution read_demand(const std::function<std::int64_t(std::int32_t)>& count_of) const;

  FormulationInput in_;
  lp::ModelBuilder model_;
  GangColumns columns_{in_};
  GangRows gangs_{in_, columns_, model_};
  TopologyRows topology_{in_, columns_, model_};
  EvictionRows evictions_{in_, columns_, model_};
  SupplyRows supply_{in_, columns_, model_};
  std::vector<AskedPods> asked_;
  QueueRows queues_{in_, columns_, model_};
  ReclaimRows reclaims_{in_, columns_, evictions_, queues_, model_};
  VainRows vain_{in_, columns_, evictions_, reclaims_, model_};
  AntiAffinityRows anti_affinity_{in_, model_};
  ShareLevels share_levels_{in_, columns_, model_};
  EvictionLevels eviction_levels_{in_, columns_, evictions_, model_};
};

}  // namespace muster::formulation
