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
//           channels: see solver/formulation/evictions.cpp
//           anti-affinity terms whose domains span nodes: owners or matches, or one pod that is both; where running
//           pods exclude each other, these, or nothing comes
//           affinity and spread: see solver/formulation/ordered_rows.h
// Levels    share, quota, work, seniority, preference, fragmentation as docs/semantics.md defines them, each a linear
//           expression; their auxiliary columns are added when a level is asked for.
// What is relaxed (the bound stays valid): rule Not in vain, wherever its rows (solver/formulation/evictions.cpp) do
// not say all of it: which of two gangs with equal pods is on a node, other devices, limits, topology, anti-affinity
// between nodes; a gang of unlike pods that can be placed in very many ways counts pod by pod; what affinity and spread
// require of the order of binding, beyond their rows; what minResources find free on a node whose pods exceed what it
// reports: those that stay count as taking nothing there.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "model/objective/fair_share.h"
#include "model/objective/levels.h"
#include "model/snapshot/plan.h"
#include "solver/formulation/anti_affinity.h"
#include "solver/formulation/configuration.h"
#include "solver/formulation/demand.h"
#include "solver/formulation/residual_class.h"
#include "solver/formulation/split_exits.h"
#include "solver/lp/model_builder.h"

namespace muster::formulation {

struct FormulationInput {
  const Problem& problem;
  const FairShares& shares;
  const Demand& demand;
  const PlacementZones& zones;
  const Supply& supply;
  const AntiAffinityRules& anti_affinity;
  const preemption::EvictionRules& rules;
  const ClusterState& before;  // the snapshot as it is
  const ClusterState& base;    // the same without those that may leave
  bool exact =
      false;  // has all configurations: supply and residual classes hold with equality, all levels can be expressed
  std::optional<Deadline> deadline = {};  // for building it, see ModelBuilder::begin_timed
  // No pod has a place: the supply has no residents (collect_pooled_supply), and what is asked of it (asked()) is left
  // to rows of the caller. Anti-affinity, affinity and spread are not in the model.
  bool pooled = false;
};

// The reason for which a pod may be evicted, and its claimants: claimants of one kind. With preempt: of the victim's
// queue and a higher priority. With reclaim: of one leaf queue, with equal requests and equal preemptibility. No
// claimant with stale.
struct EvictionChannel {
  EvictionReason reason = EvictionReason::kStale;
  std::vector<GangClassIndex> claimants;
};

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

// Pods that a pooled formulation asks for, of one demand class in one zone (none: anywhere).
struct AskedPods {
  DemandIndex demand;
  ZoneIndex zone;
  lp::LinearExpression pods;
};

// What a column of a model is about; none of them: it follows from others.
struct ColumnOwner {
  GangClassIndex gang;
  NodeIndex node;
  ZoneIndex zone;
  std::optional<std::size_t> channel = {};  // by which gangs, or pods of them, leave
};

// A plan in the columns of a formulation, and where its pods then are: those that are placed, moved or stay, as far as
// the formulation is about them.
struct PlanColumns {
  struct Place {
    DemandIndex demand;
    ZoneIndex zone;  // as in AskedPods
    NodeIndex node;
  };
  std::vector<std::pair<std::int32_t, std::int64_t>> decisions;
  std::vector<Place> places;
};

class Formulation {
 public:
  explicit Formulation(const FormulationInput& input);

  // Adds a column for the configuration (position: how many the residual class had before) and returns it.
  std::int32_t add_configuration(ResidualClassIndex residual, const Configuration& configuration);
  // The rows in which a configuration of the residual class has its entries: for pricing, and for columns that are
  // added to an open LP.
  std::vector<lp::Entry> entries_of(ResidualClassIndex residual, const Configuration& configuration) const;
  std::int32_t supply_row(DemandIndex demand, ResidualClassIndex residual) const;  // requires that it fits there
  std::vector<std::int32_t> configuration_columns(ResidualClassIndex residual) const;
  std::int32_t capacity_row(ResidualClassIndex residual) const { return capacity_rows_[residual]; }
  // Of gangs that are placed, or kept, whole or not at all.
  std::vector<std::int32_t> admission_columns() const;

  // The level as an expression of its true value and scale, constants included; none if this formulation cannot express
  // it. Adds auxiliary columns and rows: ask for levels in their order, before columns of an LP are priced.
  std::optional<lp::LinearExpression> level(const LevelId& id);
  // From here on, constrains a level to at least (maximised) or at most (minimised) `value`.
  void hold(const LevelId& id, const lp::LinearExpression& expression, std::int64_t value);

  const std::vector<EvictionChannel>& channels() const { return channels_; }
  // What supply has to hold; pooled only.
  const std::vector<AskedPods>& asked() const { return asked_; }

  // Of every column so far: those of gangs, and those that others have been set for.
  std::vector<ColumnOwner> owners() const;
  // For the columns from `first` on, which others than this class have added.
  void set_owner(std::int32_t first, const ColumnOwner& owner) { owned_.push_back({first, model_.columns(), owner}); }

  lp::ModelBuilder& model() { return model_; }
  const lp::ModelBuilder& model() const { return model_; }
  FormulationSolution read(const std::vector<double>& x) const;
  // What a plan decides: the columns of gangs, of pods that are placed or moved, and of evictions, with their values.
  // The others follow.
  PlanColumns decisions_of(const Plan& plan) const;
  // Makes a fractional solution of the LP relaxation integral: of each residual class the whole nodes of every
  // configuration, then the largest remainders. Gangs and pods are rounded up, and decoding determines which of them
  // find a place.
  FormulationSolution round(const std::vector<double>& x) const;

 private:
  struct GangColumns {
    std::int32_t admitted = -1;  // z; -1: constant 1
    std::int32_t split = -1;     // leaves whole by several channels; -1: of no use
    std::map<GroupIndex, std::int32_t> satisfied;
  };
  // A non-negative integer quantity as columns, and its maximum.
  struct Bounded {
    lp::LinearExpression expression;
    std::int64_t most = 0;
  };

  // How the gangs of a class, or surplus pods of them, leave by one channel.
  struct Exit {
    std::size_t channel = 0;
    std::int32_t gone = -1;             // gangs that leave whole; -1: they may not
    std::vector<std::int32_t> surplus;  // pods of a split gang, too; by position in GangClass::running; empty: none may
  };
  // Evicting for claimants of one kind from one side, see rule Reclaim.
  struct Reclaim {
    std::size_t channel = 0;
    preemption::EvictionRules::Sides sides;
    lp::LinearExpression evicted;  // pods
    std::int32_t active = -1;      // 1 if any pod is evicted for it
  };
  struct ReclaimKind {
    QueueIndex queue;
    std::array<bool, kQueueResources> asked{};
    bool preemptible = true;
    friend auto operator<=>(const ReclaimKind&, const ReclaimKind&) = default;
  };
  struct Granted {
    lp::LinearExpression pods;  // placed for the claimants of a channel
    GangIndex claimant;         // one of them
  };

  void add_exits();
  void find_reclaimers();
  std::optional<std::size_t> preempt_channel(QueueIndex queue, std::int32_t priority);
  void add_exits_of(GangClassIndex index);
  bool budgets_allow(GangClassIndex index) const;
  std::vector<ExitOption> exit_options(GangClassIndex index);
  void add_exit(GangClassIndex index, const ExitOption& option, bool surplus);
  void add_split_rows(GangClassIndex index);
  void add_split_unit(GangClassIndex index, QueueIndex side, std::size_t resource,
                      std::map<Amount, lp::LinearExpression>& units);
  bool leaves_whole(GangClassIndex index) const;
  bool may_have_surplus(GangClassIndex index) const;
  void tie_exits(GangClassIndex index);
  void add_claims();
  void add_price_rows();
  void add_min_resources();
  void add_budget_rows();
  void add_vain_rows();
  std::int32_t add_vain_row(RunningCellIndex cell, const char* label);
  void add_vain_gang_row(GangClassIndex index);
  bool may_be_kept_out(GangClassIndex index) const;
  bool keeps_to_share(const Reclaim& reclaim, QueueIndex queue) const;
  lp::LinearExpression free_for(GangIndex gang, std::optional<std::size_t> resource) const;
  void add_reclaim(Reclaim& reclaim);
  void add_reclaim_grounds(const Reclaim& reclaim, std::int32_t active);
  lp::LinearExpression waiting_pods(const GangClass& gang_class) const;
  lp::LinearExpression evicted_of(GangClassIndex index, const Exit& exit, std::size_t cell) const;
  lp::LinearExpression evicted_by(GangClassIndex index, const Exit& exit) const;
  const lp::LinearExpression& largest_unit(QueueIndex side, std::size_t resource);
  void collect_units(GangClassIndex index, const Exit& exit, std::size_t resource,
                     std::map<Amount, lp::LinearExpression>& units) const;
  std::vector<PodIndex> core_of(GangIndex gang) const;
  const std::optional<QueueAmounts>& least_usage(DemandIndex demand, std::size_t zone) const;
  lp::LinearExpression usage_of(QueueIndex queue, std::size_t resource, bool non_preemptible) const;
  void add_implied(std::int32_t column, const lp::LinearExpression& expression, double lower, double upper);
  // Pods of a running cell that stay; and those that stay or are moved.
  lp::LinearExpression staying(RunningCellIndex cell) const;
  lp::LinearExpression kept(RunningCellIndex cell) const;
  lp::LinearExpression gone(GangClassIndex index) const;  // gangs, split ones included
  DomainIndex domain_of(RunningCellIndex cell, TopologyLevelIndex level) const;
  std::vector<RunningCellIndex> running_below(GangClassIndex index, GroupIndex group) const;
  bool is_torn(GangClassIndex index, GroupIndex group) const;

  void add_gang(GangClassIndex index);
  std::int64_t most_gangs(GangClassIndex index);
  std::int64_t most_pods(DemandIndex demand);
  void add_tree(GangClassIndex index);
  std::int32_t add_satisfied(GangClassIndex index, GroupIndex group);
  void add_topology(GangClassIndex index);
  void add_domains(GangClassIndex index, GroupIndex group);
  void decide_exits(GangClassIndex index, GangIndex gang, const Indexed<PodIndex, const Eviction*>& evicted,
                    std::map<std::int32_t, std::int64_t>& values) const;
  std::optional<std::size_t> channel_of(GangClassIndex victims, const Eviction& eviction) const;
  FormulationSolution read_demand(const std::function<std::int64_t(std::int32_t)>& count_of) const;
  std::vector<DomainIndex> running_domains(GroupIndex group, TopologyLevelIndex level) const;
  std::vector<DomainIndex> domains_of(TopologyLevelIndex level) const;
  void add_cell_columns(CellIndex cell, bool located);
  void add_supply_rows();
  void ask_pool();
  ZoneIndex zone_of(RunningCellIndex cell) const;
  void add_part_rows(DemandIndex demand, const std::vector<CellIndex>& located, const std::vector<CellIndex>& free);
  void add_parts();
  std::int32_t add_supply_row(const lp::LinearExpression& asked, std::string label);
  void add_capacity_rows();
  void add_queue_rows();
  lp::LinearExpression limited_usage(OtherLimitIndex limit) const;
  void add_queue_row(const QueueBounds& bounds, QueueIndex queue, std::size_t resource, bool non_preemptible);
  void add_anti_affinity_rows();
  // `pods`: more than all that are asked for. `at_odds`: some that run there exclude each other.
  struct Apart {
    std::int64_t pods = 0;
    bool at_odds = false;
  };
  void add_anti_affinity_row(AntiAffinityIndex term, DomainIndex domain, const Apart& apart);
  std::map<std::int32_t, double> anti_affinity_entries(ResidualClassIndex residual,
                                                       const Configuration& configuration) const;
  lp::LinearExpression placed(CellIndex cell) const;  // pods of the cell, all zones
  lp::LinearExpression placed_in(CellIndex cell, DomainIndex domain, TopologyLevelIndex level) const;
  std::vector<CellIndex> cells_below(GangClassIndex index, GroupIndex group) const;
  bool is_below(GroupIndex group, GroupIndex ancestor) const;

  lp::LinearExpression work_level(std::int32_t priority) const;
  Bounded capped(Bounded inner, std::int64_t cap, const char* name);
  lp::LinearExpression forest_level(const LevelId& id);
  Bounded queue_level(QueueIndex queue, const LevelId& id, std::size_t kind);
  Bounded leaf_work(QueueIndex queue, std::int32_t priority, std::size_t kind) const;
  Bounded leaf_share(QueueIndex queue, std::int32_t priority, std::size_t kind);
  bool counts_evicted(const LevelId& id, const GangClass& gang_class, const Exit& exit) const;
  lp::LinearExpression evicted_level(const LevelId& id);  // `evicted`, or the part that its kind counts
  void add_reclaimed(const LevelId& id, lp::LinearExpression& preempted);
  lp::LinearExpression reclaimed_in_reach(QueueIndex queue, std::int32_t priority,
                                          const lp::LinearExpression& reclaimed);
  lp::LinearExpression moved_level() const;
  lp::LinearExpression seniority_level();
  std::optional<lp::LinearExpression> whole_nodes_level() const;
  std::optional<lp::LinearExpression> cpu_on_gpu_nodes_level() const;
  std::optional<lp::LinearExpression> preference_level();
  void add_preferred_domain(GangClassIndex index, GroupIndex group, lp::LinearExpression& preference);
  std::optional<lp::LinearExpression> last_level();

  // One group of equal units that may count within a share: how many there are, and the work of each.
  struct Units {
    lp::LinearExpression available;
    std::int64_t most = 0;
    Work work = 0;
  };
  std::vector<Units> units_of(QueueIndex queue, std::int32_t priority, std::size_t kind, bool with_varying) const;
  // One way to place a gang: how many of each cell, and the units that it then has.
  struct GangPattern {
    std::int32_t column = -1;
    std::vector<std::array<Work, 2>> units;
  };
  GangClassIndex varying_class(GangIndex gang) const;
  std::vector<GangIndex> varying_gangs(QueueIndex queue, std::int32_t priority) const;
  const std::vector<GangPattern>& patterns_of(GangIndex gang);
  void add_varying_units(GangIndex gang, std::size_t kind, lp::LinearExpression& counted);
  void add_running_units(GangIndex gang, std::size_t kind, std::vector<Units>& units) const;
  void add_pending_units(GangClassIndex index, std::size_t kind, std::vector<Units>& units) const;
  void add_leaving_units(GangClassIndex index, std::size_t kind, std::vector<Units>& units) const;
  bool is_alike(const GangClass& gang_class) const;

  struct ConfigurationColumn {
    std::int32_t column;
    std::int64_t last_level;
    std::vector<std::pair<DemandIndex, std::int32_t>> counts;
  };

  struct OwnedColumns {
    std::int32_t first, end;
    ColumnOwner owner;
  };

  FormulationInput in_;
  lp::ModelBuilder model_;
  std::vector<OwnedColumns> owned_;
  std::map<GangIndex, std::vector<GangPattern>> patterns_;
  std::vector<AskedPods> asked_;
  std::vector<EvictionChannel> channels_;
  std::vector<Granted> granted_;  // by channel
  std::map<std::pair<QueueIndex, std::int32_t>, std::optional<std::size_t>> preempt_channels_;
  std::map<ReclaimKind, std::size_t> reclaim_channels_;
  std::map<std::pair<QueueIndex, std::int32_t>, lp::LinearExpression> reclaimed_;  // see reclaimed_in_reach
  std::optional<std::size_t> stale_channel_;
  Indexed<GangClassIndex, std::vector<Exit>> exits_;
  std::map<std::tuple<std::size_t, QueueIndex, QueueIndex>, Reclaim> reclaims_;  // by channel and sides
  std::map<std::pair<QueueIndex, std::size_t>, lp::LinearExpression> largest_units_;
  Indexed<GangClassIndex, GangColumns> gang_columns_;
  // A column that stands for pods of a cell: each unit of it is a fixed number of pods. All-or-nothing gangs have only
  // the column of the gangs.
  struct CellColumn {
    std::int32_t column;
    std::int64_t pods;
  };
  Indexed<CellIndex, std::vector<CellColumn>> cell_columns_;      // one, or one by zone
  Indexed<DemandIndex, std::vector<std::int32_t>> supply_rows_;   // one, or one by zone, or by part
  Indexed<DemandIndex, std::vector<std::int32_t>> part_columns_;  // by part, -1: fits nowhere there; or empty
  mutable Indexed<DemandIndex, std::vector<std::optional<QueueAmounts>>> least_usage_;  // once asked for
  Indexed<DemandIndex, std::int64_t> most_pods_;                                        // likewise
  Indexed<ResidualClassIndex, std::int32_t> capacity_rows_;
  Indexed<RunningCellIndex, std::int32_t> vain_rows_, right_rows_;  // -1: none
  Indexed<GangClassIndex, std::int32_t> vain_gang_rows_;            // likewise
  Indexed<ResidualClassIndex, std::vector<ConfigurationColumn>> configurations_;
  std::map<std::tuple<AntiAffinityIndex, DomainIndex, int>, std::int32_t> anti_affinity_rows_;
  Indexed<QueueIndex, std::vector<GangClassIndex>> waiting_;  // gang classes by leaf queue
  // Classes that may have units of their own kind: neither those of single running pods nor those of equal gangs.
  std::map<GangIndex, GangClassIndex> first_of_class_;
  Indexed<QueueIndex, std::vector<GangIndex>> running_;  // gangs with pods that run and stay, by leaf queue
};

}  // namespace muster::formulation
