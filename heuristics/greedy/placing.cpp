#include "heuristics/greedy/placing.h"

#include <algorithm>
#include <optional>
#include <span>

#include "heuristics/greedy/gang_order.h"
#include "heuristics/greedy/pass_admission.h"
#include "heuristics/greedy/present_work.h"
#include "heuristics/greedy/waiting_gangs.h"
#include "heuristics/state/groups.h"

namespace muster::greedy {

namespace {

constexpr int kStopEvery = 16;                // gangs between two reads of the clock
constexpr std::size_t kSoon = 4, kLater = 8;  // gangs that are prefetched ahead of their turn

// The gangs that a start visits; `own` holds them if the starts cannot share them.
const WaitingGangs& gangs_to_visit(const PlacingInput& input, bool walks_all, const ClusterState& state,
                                   std::optional<WaitingGangs>& own) {
  if (walks_all) {
    std::vector<GangIndex> all;
    for (const GangIndex gang : input.problem.gangs.indices()) all.push_back(gang);
    return own.emplace(state, all);
  }
  if (std::ranges::find(input.excluded, true) != input.excluded.end())
    return own.emplace(state, input.initial.waiting());  // stale gangs have been evicted
  return input.initial.waiting_gangs();
}

GangSequence sequence_of(const PlacingInput& input, const ClusterState& state, const WaitingGangs& gangs) {
  return GangSequence(gangs, gang_sort_keys(state, gangs, input.order, input.excluded), input.excluded);
}

// Carries out the passes: places gangs, or makes room for them, and counts what it places.
class Placing {
 public:
  Placing(const PlacingInput& input, ClusterState& state, placement::GangPlacer& placer,
          preemption::PreemptionPlanner& room)
      : Placing(input, state, placer, room, input.walks_all || !input.initial.is_within_shares()) {}

  // Claims at the end: first everything that fits in what is free, so that there is a complete plan before any room is
  // made; then the claims, in the same order. In either case, gangs that fit into the capacity that the claims left
  // over come last.
  PlacingOutcome run() {
    if (input_.adds_to_plan) note_earlier();
    const bool may_claim = problem_.snapshot->policy.actions.place;
    claims_ = may_claim && input_.order.claims == ClaimTime::kAtOnce;
    run_passes();
    if (may_claim && !claims_) {
      if (input_.before_claims && !has_stopped()) input_.before_claims();
      claims_ = true;
      run_passes();
    }
    claims_ = false;
    if (failures_.any_claim()) run_passes();
    return outcome_;
  }

 private:
  Placing(const PlacingInput& input, ClusterState& state, placement::GangPlacer& placer,
          preemption::PreemptionPlanner& room, bool walks_all)
      : input_(input),
        problem_(input.problem),
        state_(state),
        placer_(placer),
        room_(room),
        sequence_(sequence_of(input, state, gangs_to_visit(input, walks_all, state, own_gangs_))),
        admission_(problem_, input.shares),
        failures_(sequence_.gangs().shapes()) {
    if (!walks_all) present_.emplace(input.initial, state);
  }

  // What is placed from the beginning, by an earlier plan, counts as placed in the first pass.
  void note_earlier() {
    std::int32_t rank = 0;
    for (const GangSequence::Section& section : sequence_.sections()) {
      for (const GangEntry& entry : sequence_.entries(section))
        if (is_anything_present(state_, entry.gang)) room_.context().ranks.note(entry.gang, rank);
      ++rank;
    }
  }

  bool has_stopped() const { return outcome_ != PlacingOutcome::kComplete; }
  bool should_stop() {
    if (input_.stop && ++asked_ % kStopEvery == 0 && input_.stop() && !has_stopped())
      outcome_ = PlacingOutcome::kStopped;
    return has_stopped();
  }

  void run_passes() {
    if (has_stopped()) return;
    admission_.clear();
    rank_ = -1;
    for (const Pass pass : {Pass::kWithinShare, Pass::kWithinQuota, Pass::kRest}) {
      admission_.begin(pass);
      failures_.begin_pass();
      if (present_) present_->begin_pass();
      for (const GangSequence::Section& section : sequence_.sections()) {
        if (has_stopped()) return;
        ++rank_;
        run_section(section);
      }
    }
  }

  // One priority of one pass.
  void run_section(const GangSequence::Section& section) {
    count_present(section);
    const std::span<GangEntry> entries = sequence_.entries(section);
    if (input_.order.gangs == GangOrder::kQueueByQueue && problem_.queues.size() > 1) {
      place_queue_by_queue(entries);
    } else {
      place_in_order(entries);
    }
    sequence_.for_each_elastic(section, [&](const GangEntry& entry) {
      if (has_stopped()) return false;
      grow(entry);
      return true;
    });
    if (!claims_ || !room_.may_claim(rank_)) return;
    for (GangEntry& entry : entries) claim(entry);
  }

  void count_present(const GangSequence::Section& section) {
    if (admission_.pass() == Pass::kRest) return;
    if (!present_) {
      count_present_units(state_, sequence_, section, admission_);
    } else if (!present_->count(section.rank, admission_)) {
      outcome_ = PlacingOutcome::kOrderMatters;
    }
  }

  // --- The gangs in turn. There are more than the caches hold, and they are not visited in memory order: prefetches
  // what is needed soon, first of the gang, then of its pods.

  void place_in_order(std::span<GangEntry> entries) {
    for (std::size_t i = 0; i < entries.size() && !has_stopped(); ++i) {
      if (i + kSoon < entries.size()) fetch_pods(entries[i + kSoon]);
      if (i + kLater < entries.size()) fetch(entries[i + kLater]);
      place(entries[i]);
    }
  }

  void place_queue_by_queue(std::span<GangEntry> entries) {
    QueueByQueue turns(problem_, admission_, failures_, entries);
    while (!turns.is_empty() && !has_stopped()) {
      GangEntry& entry = turns.next();
      if (const GangEntry* soon = turns.ahead(kSoon)) fetch_pods(*soon);
      if (const GangEntry* later = turns.ahead(kLater)) fetch(*later);
      place(entry);
      turns.pop();
    }
  }

  void fetch(const GangEntry& entry) const {
    if (failures_.found_no_room(entry)) return;
    __builtin_prefetch(&problem_.gangs[entry.gang]);
    __builtin_prefetch(&sequence_.gang_of(entry));
    if (entry.is_plain()) __builtin_prefetch(&problem_.groups[entry.leaf]);
  }
  void fetch_pods(const GangEntry& entry) const {
    if (failures_.found_no_room(entry) || !entry.is_plain()) return;
    const std::span<const PodIndex> pods = problem_.groups[entry.leaf].pods;
    if (!pods.empty()) __builtin_prefetch(&problem_.pods[pods.front()]);
  }

  // --- One gang

  bool has_minimum(const GangEntry& entry) const {
    return entry.is_plain() ? state_.members(entry.leaf) >= entry.needed : is_satisfied(state_, entry.gang);
  }
  bool may_have_waiting(const GangEntry& entry) const {
    return !entry.is_plain() || state_.members(entry.leaf) < entry.pods;
  }

  // Places its minimum, if the pass admits it and it fits.
  void place(GangEntry& entry) {
    if (failures_.found_no_room(entry) || failures_.is_beyond(entry) || has_minimum(entry)) return;
    if (!is_minimum_admitted(entry) || should_stop()) return;
    if (!may_fit(entry) || !keep_rules([&] { return placer_.place_minimum(entry.gang); })) {
      failures_.note_no_room(entry);
      return;
    }
    const WaitingGang& gang = sequence_.gang_of(entry);
    admission_.count(entry.queue, gang.minimum);
    if (present_ && entry.shape >= 0) present_->note_minimum(gang);
    room_.context().ranks.note(entry.gang, rank_);
  }

  // False if its minimum cannot fit whatever is tried. Gangs with a shape set no minResources.
  bool may_fit(const GangEntry& entry) const {
    if (entry.shape < 0) return room_.context().min_resources_hold(entry.gang);
    const std::int32_t missing = entry.needed - state_.members(entry.leaf);
    return devices_fit_total(state_, problem_.pod_classes[sequence_.gang_of(entry).pod_class], missing);
  }

  bool is_minimum_admitted(const GangEntry& entry) {
    if (failures_.is_beyond(entry)) return false;
    if (admission_.admits(entry.queue, sequence_.gang_of(entry).minimum)) return true;
    failures_.note_beyond(entry);
    return false;
  }

  // Places pods, but not in a way that invalidates evictions already decided.
  template <class Place>
  bool keep_rules(const Place& place) {
    const auto before = state_.checkpoint();
    if (place() && room_.context().rules_hold()) return true;
    state_.rollback(before);
    return false;
  }

  // Pods beyond the minimum, one at a time.
  void grow(const GangEntry& entry) {
    if (!has_minimum(entry) || !may_have_waiting(entry) || should_stop()) return;
    for (const GroupIndex group : problem_.gangs[entry.gang].groups) {
      PodClassIndex skipped = PodClassIndex::none();
      for (const PodIndex pod : placer_.waiting(group)) {
        const WorkPair unit = work_pair(problem_.class_of(pod));
        if (problem_.pods[pod].pod_class == skipped) continue;
        if (should_stop()) return;
        if (admission_.admits(entry.queue, unit) && keep_rules([&] { return placer_.place_pod(pod); })) {
          admission_.count(entry.queue, unit);
          room_.context().ranks.note(pod, rank_);
        } else {
          skipped = problem_.pods[pod].pod_class;
        }
      }
    }
  }

  // Makes room for the gang's minimum if it does not have it, and for the pods beyond it.
  void claim(GangEntry& entry) {
    if (failures_.has_claim_failed(entry) || should_stop()) return;
    if (!has_minimum(entry)) {
      if (!is_minimum_admitted(entry)) return;
      if (!room_.claim_minimum(entry.gang, rank_)) {
        failures_.note_failed_claim(entry);
        return;
      }
      note_claim(entry, sequence_.gang_of(entry).minimum);
      grow(entry);
    }
    if (!may_have_waiting(entry)) return;
    for (const GroupIndex group : problem_.gangs[entry.gang].groups) {
      for (const PodIndex pod : placer_.waiting(group)) {
        const WorkPair unit = work_pair(problem_.class_of(pod));
        if (!admission_.admits(entry.queue, unit) || !room_.claim_pod(pod, rank_)) break;
        note_claim(entry, unit);
      }
    }
  }

  void note_claim(const GangEntry& entry, const WorkPair& unit) {
    admission_.count(entry.queue, unit);
    room_.context().ranks.note(entry.gang, rank_);
    failures_.note_claim();
  }

  const PlacingInput& input_;
  const Problem& problem_;
  ClusterState& state_;
  placement::GangPlacer& placer_;
  preemption::PreemptionPlanner& room_;
  std::optional<WaitingGangs> own_gangs_;
  GangSequence sequence_;
  PassAdmission admission_;
  std::optional<PresentSums> present_;  // none: what is present is counted unit by unit
  KnownFailures failures_;
  bool claims_ = false;     // gangs that do not fit claim room
  std::int32_t rank_ = -1;  // of pass and priority, in the order of the levels
  int asked_ = 0;           // how often should_stop was called
  PlacingOutcome outcome_ = PlacingOutcome::kComplete;
};

}  // namespace

PlacingOutcome place_all(const PlacingInput& input, ClusterState& state, placement::GangPlacer& placer,
                         preemption::PreemptionPlanner& room) {
  return Placing(input, state, placer, room).run();
}

}  // namespace muster::greedy
