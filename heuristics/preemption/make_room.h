// Room for a gang that does not fit: by taking back placements of gangs that come later in the order of the levels
// (swap), by moving running pods (consolidate), or by evicting them (preempt, reclaim).
//
// A claim is a gang's minimum, or one more pod of a gang that has it. Each of its pods that fits on no node clears the
// node on which the victims cost least. Then victims that turn out not to be in the way come back, and others are moved
// to nodes where they fit. The result is kept only if every rule of evictions holds and the levels are better than
// before. Removing victims first and then reprieving those that still fit is the method of kube-scheduler; that victims
// are whole gangs or surplus pods, and that a claim is a gang, is that of KAI.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "heuristics/preemption/clearing_cache.h"
#include "heuristics/preemption/eviction_log.h"
#include "heuristics/preemption/eviction_rules.h"
#include "heuristics/preemption/victim_choice.h"
#include "heuristics/state/cluster_state.h"
#include "heuristics/state/fit.h"
#include "heuristics/state/gang_placement.h"
#include "heuristics/state/leading_levels.h"
#include "heuristics/state/node_choice.h"
#include "heuristics/state/planned_eviction.h"
#include "heuristics/state/recently_touched.h"
#include "heuristics/state/stop_request.h"
#include "model/objective/fair_share.h"

namespace muster {

class RoomSearch {
 public:
  struct Parts {
    const Problem& problem;
    const FairShares& shares;
    const QueueBounds& bounds;
    const EvictionRules& rules;
    ClusterState& state;
    NodeChooser& chooser;
    GangPlacer& placer;
    const StopRequest& stop;
    const LeadingLevels* levels = nullptr;  // as counted of what `state` is a copy of; may be none
  };
  // `stale`: evictions that are settled already. The parts must outlive the search.
  RoomSearch(const Parts& parts, std::vector<PlannedEviction> stale);

  // Whether any action of the policy could make room at all.
  bool is_allowed() const;
  // Whether that many pods of the class find as many devices as they ask for in the total of what is free on all nodes.
  bool devices_fit_in_sum(const PodClass& pod_class, std::int64_t pods) const;
  // Whether a claim of that rank, or of a later one that follows it, could be met at all: some pod may be evicted.
  bool may_claim(std::int32_t rank) const;
  // Makes room for the gang's minimum, or for one more pod, and places it. False: nothing has changed. `rank` is the
  // claim's place in the order of the levels: pods placed at a later rank (see note_placed) may have to give way.
  bool claim_minimum(GangIndex gang, std::int32_t rank);
  bool claim_pod(PodIndex pod, std::int32_t rank);
  // Records the rank at which the newly placed pods of the gang were placed.
  void note_placed(GangIndex gang, std::int32_t rank);
  void note_placed(PodIndex pod, std::int32_t rank);  // of one of its pods alone

  // Takes over the decisions of another search: the state is as these evictions leave it, with all placements.
  void adopt(const std::vector<PlannedEviction>& evictions);

  // The evictions of the state as it is, and whether they obey the rules.
  std::vector<PlannedEviction> evictions() const;
  bool rules_hold() const;
  bool min_resources_hold(GangIndex gang) const;  // see fit::min_resources
  bool has_evicted() const { return has_evicted_; }
  bool has_stopped() const { return stopped_; }  // since the beginning, or reprieve(): it was asked to
  // Once nothing more is placed: chooses the victims that have run for the shortest time (on the first call only), then
  // returns each victim that fits where it was after all. Cost: O(pods), and that of a claim for each victim that
  // changes.
  void reprieve();
  // Then: lets evicted gangs run on elsewhere in place of others of their queue and priority that have run for a
  // shorter time, if no leading level loses by it. Cost: that of a claim for each evicted gang, several times over.
  void exchange_victims();

 private:
  // The cost of an eviction, in the order of the levels; compared first to last. A loss is (priority of the level that
  // loses, part of the cluster in millionths); kNone: no loss.
  struct Loss {
    std::int64_t priority = std::numeric_limits<std::int64_t>::min();
    Amount amount = 0;
    friend auto operator<=>(const Loss&, const Loss&) = default;
    void add(const Loss& other);
  };
  struct Cost {
    Loss share, quota, work;
    Work evicted = 0;  // work x seconds run
    Work moved = 0;
    std::int64_t excess = 0;  // ties: preferably from queues that are far above their share (negative: better),
    std::int64_t age = 0;     // and rather of young gangs
    friend auto operator<=>(const Cost&, const Cost&) = default;
    void add(const Cost& other);
  };
  // Pods that leave together: a gang (its present running pods), or one surplus pod, or one pod that is moved.
  struct Unit {
    std::vector<PodIndex> pods;
    Cost cost;
    bool must_move = false;  // may not be evicted
  };
  struct Clearing {
    Cost cost;
    NodeIndex node;
    std::vector<Unit> victims;
  };

  struct Choice {
    Cost cost;
    const Clearing* clearing;
  };
  // The cheapest of the added clearings, equal ones in the order of their nodes.
  class CheapestFew {
   public:
    explicit CheapestFew(std::size_t most) : most_(most) {}
    void add(const Choice& choice);
    // Whether the node, at that cost or more, would be excluded.
    bool are_cheaper_than(const Cost& cost, NodeIndex node) const {
      return heap_.size() == most_ && rank_of(heap_.front()) < std::tie(cost, node);
    }
    std::vector<Choice> in_order() const;

   private:
    static std::tuple<const Cost&, const NodeIndex&> rank_of(const Choice& choice) {
      return std::tie(choice.cost, choice.clearing->node);
    }
    std::size_t most_;
    std::vector<Choice> heap_;  // the dearest first
  };

  // Whether a pod would fit on a node after all eligible victims had left.
  enum class Cleared : std::uint8_t { kTooSmall, kNobodyGoes, kFits };
  // What would be free on each node then, as of a scan or an attempt.
  struct ClearedRooms {
    struct Of {
      std::uint64_t key = 0;
      std::uint32_t node_version = 0;
      bool any_goes = false;
      DeviceUnits devices_left = 0;  // total; see clear_all
    };
    Indexed<NodeIndex, Of> of_node;
    std::vector<Amount> free;          // node x resource
    std::vector<DeviceUnits> devices;  // by device_begin_
    std::vector<Amount> left;          // as `free`; see clear_all
    bool is_kept = false;              // whichever victims are eligible: as long as the node does not change
  };

  enum class Means : std::uint8_t { kSwap, kConsolidate, kPreempt, kReclaim };

  // Whether blocking pods may be relocated, evicting lower-priority pods elsewhere to make room for them; see
  // make_room_displacing.cpp. kPlacingDisplaced: the claim is that of a relocated pod.
  enum class Stage : std::uint8_t { kPlain, kDisplacing, kPlacingDisplaced };
  // How room is made: by which action, and whether blocking pods may be relocated in place of other victims.
  struct Way {
    Means means = Means::kSwap;
    bool displaces = false;
  };
  // What an attempt can be undone to.
  struct Before {
    ClusterState::Checkpoint state;
    EvictionLog::Checkpoint reasons;
    bool has_evicted = false;
  };

  // Candidates to replace an evicted gang as victims.
  struct Exchange {
    QueueIndex queue;
    std::int32_t priority = 0;
    std::int64_t most_seconds = 0;
  };
  // Pods of one gang, and why the first of them was evicted.
  struct Evicted {
    std::vector<PodIndex> pods;
    PlannedEviction first{};
    std::int64_t least_seconds = std::numeric_limits<std::int64_t>::max();
  };

  using ShortestRuns = std::map<std::pair<QueueIndex, std::int32_t>, std::int64_t>;
  // What is known of exchanges on one state.
  struct ExchangeMemory {
    using Kind = std::tuple<QueueIndex, std::int32_t, PodClassIndex, GangIndex, EvictionReason>;
    ClusterState::Checkpoint state = static_cast<ClusterState::Checkpoint>(-1);
    std::map<Kind, std::size_t> failed;  // for this many equivalent pods of one gang
    ShortestRuns shortest_runs;
  };

  using Examples = std::map<QueueIndex, PlannedEviction>;

  template <class Place>
  bool claim(GangIndex gang, const Place& place);
  template <class Place>
  bool claim_by_evicting(const Place& place);
  template <class Place>
  bool attempt(Way way, const Place& place);
  template <class Place>
  std::optional<std::vector<Work>> try_once(Way way, const Place& place, Before& before);
  void keep(std::vector<Work> levels);
  void undo(const Before& before);
  bool is_hopeless() const;
  bool is_claimant_new() const;
  bool claimant_fits() const;
  bool fits_in_sum(const PodClass& pod_class) const;
  bool could_relocate() const;

  // Puts the pod on a node that is cleared for it; the placer calls it if the pod fits on no node.
  bool clear_for(PodIndex pod, std::span<const NodeIndex> nodes);
  bool free_queue();
  bool free_min_resources();
  bool commit_clearing(PodIndex pod, const Clearing& clearing);
  template <class Visit>
  bool look_at_clearings(PodIndex pod, std::span<const NodeIndex> nodes, std::deque<Clearing>& found,
                         const Visit& visit);
  template <class Visit>
  void look_at_promising(PodIndex pod, std::span<const NodeIndex> nodes, const Visit& visit);
  template <class Visit>
  bool look_at_cheapest(PodIndex pod, const Visit& visit);
  void list_clearing(PodIndex pod, NodeIndex node);
  bool clear_cheapest(PodIndex pod, std::span<const NodeIndex> nodes);
  bool clear_any(PodIndex pod, std::span<const NodeIndex> nodes);
  std::vector<Choice> cheapest_by_moves(PodIndex pod, std::span<const NodeIndex> nodes, std::deque<Clearing>& found);
  Work least_moved(PodIndex pod, NodeIndex node);
  bool may_keep_clearings() const;
  ClearingKey clearing_key(PodIndex pod) const;
  Clearing* known_clearing(PodIndex pod, NodeIndex node);
  bool budgets_allow(const Clearing& clearing) const;
  bool has_budgets(NodeIndex node) const;
  ClearingKind kind_of(const Clearing& clearing) const;
  // The order of victims. The largest first if the cheapest use up a disruption budget before there is room.
  enum class VictimOrder : std::uint8_t { kCheapestFirst, kLargestFirst };
  std::optional<Clearing> clearing_of(PodIndex pod, NodeIndex node);
  std::optional<Clearing> clearing_of(PodIndex pod, NodeIndex node, VictimOrder order);
  Clearing without_spare(std::pair<PodIndex, NodeIndex> target, std::vector<Unit> taken,
                         const std::vector<std::vector<Place>>& places);
  std::optional<Clearing> clearing_by_moves(PodIndex pod, NodeIndex node) const;
  std::optional<Clearing> clearing_by_moves(PodIndex pod, NodeIndex node, VictimOrder order) const;
  Cost cost_with_moves(PodIndex pod, const Clearing& clearing);
  Cost cost_of(GangIndex gang, std::span<const PodIndex> pods) const;
  Cost loss_of(QueueIndex queue, std::int32_t priority, const QueueAmounts& goes) const;
  std::int64_t excess_of(GangIndex victim) const;
  Cleared could_clear(PodIndex pod, NodeIndex node);
  void begin_look();
  std::vector<std::int64_t> who_may_go();
  const ClearedRooms::Of& cleared_room(NodeIndex node);
  Room cleared_of(const ClearedRooms& rooms, NodeIndex node) const;
  void clear_all(NodeIndex node, ClearedRooms& rooms);
  bool could_relocate(PodClassIndex pod_class);
  bool is_legal_at_first(PodIndex pod);
  std::vector<Unit> units_on(NodeIndex node) const;
  std::vector<Unit> moves_on(NodeIndex node) const;
  std::optional<Unit> unit_of(PodIndex pod) const;
  std::optional<Unit> leaving_unit_of(PodIndex pod) const;
  std::optional<Unit> move_of(PodIndex pod) const;
  std::optional<Unit> fresh_unit_of(PodIndex pod) const;
  bool may_give_way(PodIndex pod) const;
  bool is_fresh(PodIndex pod) const { return problem_.pods[pod].status == PodStatus::kPending; }
  bool is_pinned(PodIndex pod) const { return problem_.disruption_budgets.is_pinned(pod); }
  std::optional<Unit> cheapest_unit_below(QueueIndex queue) const;
  bool is_legal(PodIndex pod) const;
  void take(const std::vector<PodIndex>& pods);
  bool put_back(PodIndex pod);  // on its previous node
  bool put_back(PodIndex pod, const Place& place);
  bool is_kept_out(PodIndex pod, NodeIndex node) const;
  bool keeps_topology(PodIndex pod, const Place& place) const;
  bool relocate(const Unit& unit);

  bool clear_displacing(PodIndex pod, std::span<const NodeIndex> nodes);
  bool clear_for_displaced(PodIndex pod, std::span<const NodeIndex> nodes);
  bool clear_promising(PodIndex pod, std::span<const NodeIndex> nodes);
  std::vector<NodeIndex> by_promise(PodIndex pod, std::span<const NodeIndex> nodes);
  Amount lacking_on(const PodClass& pod_class, NodeIndex node);
  Amount leaving_on(const PodClass& pod_class, NodeIndex node);
  void find_leaving_sums();
  void find_least_losses();
  bool may_be_displaced(PodIndex pod) const;
  std::optional<Unit> displaced_unit_of(PodIndex pod) const;

  std::vector<Evicted> evicted_longest_run_first() const;
  bool exchange_unless_in_vain(const Evicted& evicted, ExchangeMemory& memory);
  ShortestRuns shortest_runs() const;
  static std::int64_t most_seconds(const Evicted& evicted);
  bool exchange(const Evicted& evicted, Stage stage);
  Before begin_exchange(const Exchange& exchange);
  void go_like(const PlannedEviction& eviction);
  bool end_exchange(const Before& before, std::int64_t loss_before);
  bool may_go_in_exchange(PodIndex pod) const;
  std::int64_t evicted_loss() const;

  void choose_victims_anew(int most_rounds);
  bool choose_anew(std::int32_t priority);
  bool choose_anew(std::int32_t priority, bool each_its_own);
  Examples examples_of(std::int32_t priority) const;
  std::vector<Party> parties_of(std::int32_t priority, const Examples& examples) const;
  Party described(Party party, const Gang& gang) const;
  QueueRoom room_of_queues(std::int32_t priority, const std::vector<Party>& parties, bool each_its_own) const;
  void spare_for_budgets(std::vector<Party>& parties) const;
  void bring_back_parties(const std::vector<Party>& parties);
  bool bring(const std::vector<PodIndex>& pods);
  bool is_out_of_time() const { return stopped_ || (stop_ && stop_()); }

  void settle();
  bool bring_back(GangIndex gang);
  bool bring_back_completed(GangIndex gang);
  bool any_waits(GangIndex gang) const;
  bool move_elsewhere(GangIndex gang);
  void place_again();
  bool bring_moved_back(const std::vector<PodIndex>& pods);
  std::vector<GangIndex> evicted_gangs(const std::vector<PodIndex>& pods) const;
  bool has_room_grown();
  const EvictionSurvey& survey() const { return rules_.survey(); }
  // Whether an evicted pod can come back only if its own node has room.
  bool is_local() const { return is_local_ && survey().is_local; }
  std::int64_t moves() const;
  bool may_move_more(std::size_t pods) const;

  const Problem& problem_;
  const FairShares& shares_;
  const QueueBounds& bounds_;
  const EvictionRules& rules_;
  ClusterState& state_;
  NodeChooser& chooser_;
  GangPlacer& placer_;
  const StopRequest& stop_;
  LeadingLevels leading_levels_;
  std::vector<Work> levels_;  // of the state at levels_at_, before any current claim
  ClusterState::Checkpoint levels_at_ = static_cast<ClusterState::Checkpoint>(-1);
  std::vector<PlannedEviction> stale_;
  mutable MinResources min_resources_;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  mutable std::vector<std::uint64_t> held_at_;   // by Survey::with_min_resources: the standing version when it held
  Indexed<PodIndex, std::int32_t> placed_rank_;  // of pods that have been newly placed
  std::int32_t latest_rank_ = -1;                // of all that was ever placed
  std::int32_t rank_ = 0;                        // of the claim under way
  std::vector<bool> has_victims_;    // by gang: evictions are for it, so it stays; kept while others may give way
  std::vector<GangIndex> gave_way_;  // in the attempt under way
  EvictionLog reasons_;
  EvictedKinds taken_;                       // of all attempts, those that failed, too
  EvictionLog::Checkpoint attempt_reasons_;  // as the attempt under way began
  std::size_t touched_read_ = 0;  // of the state's touched nodes, at the last update of room_seen_
  std::vector<Amount> room_seen_;
  Indexed<NodeIndex, std::uint32_t> versions_seen_;
  std::vector<DeviceUnits> devices_seen_;
  std::vector<std::size_t> device_begin_;  // of devices_seen_, by node
  bool is_local_;                          // see is_local
  bool has_evicted_ = false;
  bool has_chosen_anew_ = false;
  bool stopped_ = false;
  GangIndex claimant_;  // of the current attempt, or the last one; none: nothing was claimed yet
  Means means_ = Means::kSwap;
  Stage stage_ = Stage::kPlain;
  std::optional<Exchange> exchange_;  // under way
  Cost lost_;                         // in the current attempt, by the intended victims
  // Queues that have eligible victims for the claimant, each with the lowest priority of what is there.
  std::vector<std::pair<QueueIndex, std::int32_t>> least_losses_;
  // On each node, the amounts of the pods whose eviction costs least, by all that decides eligibility.
  struct LeavingSums {
    std::uint32_t node_version = static_cast<std::uint32_t>(-1);
    DeviceUnits devices = 0;
    Amount cpu = 0;
  };
  std::map<std::vector<std::int64_t>, Indexed<NodeIndex, LeavingSums>> leaving_sums_;
  Indexed<NodeIndex, LeavingSums>* leaving_now_ = nullptr;  // those of the current scan
  std::vector<GangIndex> displaced_;  // of the current clearing: their pods are relocated, so they stay
  std::vector<DeviceUnits> lacking_;  // for lacking_on
  struct LeastMoved {
    bool is_known = false;
    std::uint32_t node_version = 0;
    Work work = 0;
  };
  PodClassIndex least_moved_of_ = PodClassIndex::none();  // the class for which least_moved is known
  Indexed<NodeIndex, LeastMoved> least_moved_;            // none before the first scan
  ClearingCache<Clearing> cache_;
  CheapestFirst<Cost> cheapest_;                    // of one key of the cache
  std::vector<NodeIndex> not_cleared_;              // nodes outside that list that may nevertheless take the pod
  std::uint64_t cheapest_keys_ = 0;                 // of the cache, as they were listed
  std::size_t cheapest_read_ = 0;                   // of the state's touched nodes
  Indexed<QueueIndex, std::int8_t> may_take_from_;  // at the start of a scan: 1 yes, 0 no, -1 not known yet
  std::uint64_t attempts_ = 0, looks_ = 0;
  std::array<ClearedRooms, 2> cleared_;                           // by kSwap, by the other means
  std::map<std::vector<std::int64_t>, ClearedRooms> kept_rooms_;  // see who_may_go
  ClearedRooms* rooms_of_look_ = &cleared_[1];
  struct Relocation {
    std::uint64_t look = 0;  // as of which it is known
    bool is_possible = false;
    NodeIndex witness;
    std::size_t none_until = 0;  // one plus the number of touched nodes when there was none; 0: there may be one
    std::int32_t none_of_rank = -1;  // of the claim then, if other gangs might give way; else -1
  };
  Indexed<PodClassIndex, Relocation> relocation_;
  RecentlyTouched recently_touched_;
  QueueAmounts added_{};  // of the pod that room is being made for, at least
};

}  // namespace muster
