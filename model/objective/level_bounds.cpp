// Bounds of the levels that hold whatever a plan does, by sums over what the cluster holds.
#include "model/objective/level_bounds.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "model/objective/level_values.h"
#include "model/objective/possibilities.h"
#include "model/objective/subset_sums.h"
#include "model/objective/wholeness_bounds.h"
#include "model/problem/eviction_loss.h"
#include "model/problem/gang_tree.h"

namespace muster {
namespace {

constexpr std::int64_t kPreferenceScale = 100;

// Whether every unit of the gang is known in advance, whichever of its pods are present.
enum class UnitShape { kAllOrNothing, kAlike, kVaries };

UnitShape shape_of(const Problem& problem, const Gang& gang, const std::vector<PodIndex>& possible) {
  const bool all_needed = std::ranges::all_of(gang.groups, [&](GroupIndex index) {
    const Group& group = problem.groups[index];
    if (!group.is_leaf()) return group.minimum >= std::ssize(group.children);
    const auto there = std::ranges::count_if(group.pods, [&](PodIndex pod) {
      return problem.pods[pod].status == PodStatus::kSucceeded || std::ranges::binary_search(possible, pod);
    });
    return group.minimum >= there;
  });
  if (all_needed) return UnitShape::kAllOrNothing;
  const auto is_alike = [&](PodIndex pod) {
    const PodClass &a = problem.class_of(pod), &b = problem.class_of(possible.front());
    return a.work == b.work && a.counts_as_gpu == b.counts_as_gpu;
  };
  const bool is_leaf = problem.groups[gang.root].is_leaf();
  return is_leaf && std::ranges::all_of(possible, is_alike) ? UnitShape::kAlike : UnitShape::kVaries;
}

// Items such that every plan's choice of units is a choice of items: whole units if they are known in advance, else
// single pods, of which each unit is a union.
void add_possible_units(const Problem& problem, const Gang& gang, const std::vector<PodIndex>& possible,
                        UnitCounts& units) {
  const std::size_t rank = gang.rank;
  const UnitShape shape = shape_of(problem, gang, possible);
  const auto add = [&](std::size_t kind, Work item, std::int64_t count) {
    if (item > 0 && count > 0) units.add(gang.queue, kind, rank, {item, count});
  };
  if (shape == UnitShape::kAlike) {
    const PodClass& pod_class = problem.class_of(possible.front());
    const auto succeeded = std::ranges::count_if(
        gang.pods, [&](PodIndex pod) { return problem.pods[pod].status == PodStatus::kSucceeded; });
    const std::int64_t core = std::max<std::int64_t>(problem.groups[gang.root].minimum - succeeded, 0);
    add(kind_of(pod_class), saturating_multiply(pod_class.work, core), 1);
    add(kind_of(pod_class), pod_class.work, std::ssize(possible) - core);
    return;
  }
  WorkByKind sum{};
  for (const PodIndex pod : possible) {
    const PodClass& pod_class = problem.class_of(pod);
    if (shape == UnitShape::kVaries) add(kind_of(pod_class), pod_class.work, 1);
    sum[kind_of(pod_class)] = saturating_add(sum[kind_of(pod_class)], pod_class.work);
  }
  for (std::size_t kind = 0; kind < 2 && shape == UnitShape::kAllOrNothing; ++kind) add(kind, sum[kind], 1);
}

// Equal pods that may be present. A memory request counts as on the smallest device wherever it is placed, so its
// capacity use may be less than its count.
struct PossiblePods {
  std::size_t rank = 0;  // of the priority
  std::size_t kind = 0;
  bool is_pending = false;
  std::int64_t seniority = 0;
  KnapsackItem item;  // weight: the work that one takes of the cluster; profit: its weighted work

  bool is_alike(const PossiblePods& other) const {
    return rank == other.rank && kind == other.kind && is_pending == other.is_pending && seniority == other.seniority &&
           item.weight == other.item.weight && item.profit == other.item.profit;
  }
};

// Counts equal pods together, except some that occur rarely.
class PossiblePodCounts {
 public:
  void add(const PossiblePods& pods) {
    const std::uint64_t rest = RecentSlots::mixed(static_cast<std::uint64_t>(pods.seniority), pods.rank);
    std::uint32_t& position = slots_.of(RecentSlots::mixed(static_cast<std::uint64_t>(pods.item.profit), rest));
    if (position < all_.size() && all_[position].is_alike(pods)) {
      all_[position].item.count += pods.item.count;
      return;
    }
    position = static_cast<std::uint32_t>(all_.size());
    all_.push_back(pods);
  }
  const std::vector<PossiblePods>& all() const { return all_; }

 private:
  std::vector<PossiblePods> all_;
  RecentSlots slots_;  // positions
};

struct PossibleWork {
  UnitCounts units;
  QueueWork unweighted;
  PossiblePodCounts pods;
  std::array<Work, 2> capacity{}, held{};  // by kind: the cluster's; held by pods that cannot leave
};

// By rounding, or as work is at least 1; by one then.
bool may_count_more_than_it_takes(const PodClass& pod_class) {
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) return false;
  return pod_class.gpu.kind != GpuRequestKind::kFraction ||
         Wide{1'000} * pod_class.work > Wide{pod_class.gpu.devices} * pod_class.gpu.share;
}

void add_pod(const Problem& problem, const Possibilities& possibilities, const Gang& gang, PodIndex index,
             PossibleWork& sums) {
  const Pod& pod = problem.pods[index];
  const PodClass& pod_class = problem.pod_classes[pod.pod_class];
  const std::size_t kind = kind_of(pod_class);
  const bool takes_what_it_counts = pod_class.gpu.kind != GpuRequestKind::kMemory;
  const KnapsackItem item{takes_what_it_counts ? pod_class.work : 0, pod.weighted_work, 1};
  const Work rounded_up = takes_what_it_counts && may_count_more_than_it_takes(pod_class) ? 1 : 0;
  sums.capacity[kind] = saturating_add(sums.capacity[kind], rounded_up);
  const bool is_pending = pod.status == PodStatus::kPending;
  if (!is_pending && !possibilities.may_leave(gang)) sums.held[kind] = saturating_add(sums.held[kind], item.weight);
  sums.pods.add({gang.rank, kind, is_pending, gang.times.seniority, item});
}

// `possible`: a list that may be used again.
void add_gang(const Problem& problem, const Possibilities& possibilities, const Gang& gang,
              std::vector<PodIndex>& possible, PossibleWork& sums) {
  possible.clear();
  std::ranges::copy_if(gang.pods, std::back_inserter(possible),
                       [&](PodIndex pod) { return possibilities.may_be_present(pod); });
  if (possible.empty()) return;
  const std::size_t rank = gang.rank;
  if (meets_minimum(problem, gang, [&](PodIndex pod) { return possibilities.may_count(pod); })) {
    add_possible_units(problem, gang, possible, sums.units);
  }
  for (const PodIndex index : possible) {
    const Pod& pod = problem.pods[index];
    const PodClass& pod_class = problem.pod_classes[pod.pod_class];
    Work& work = sums.unweighted.of_rank[rank][gang.queue][kind_of(pod_class)];
    work = saturating_add(work, pod_class.work);
    add_pod(problem, possibilities, gang, index, sums);
  }
}

// For each rank: the most work, weighted, of that or a higher priority that the cluster holds.
std::vector<Work> most_work(const PossibleWork& sums, std::size_t ranks) {
  std::vector<const PossiblePods*> by_rank;
  for (const PossiblePods& pods : sums.pods.all()) by_rank.push_back(&pods);
  std::ranges::stable_sort(by_rank, {}, &PossiblePods::rank);
  std::array knapsacks{FractionalKnapsack(sums.capacity[0]), FractionalKnapsack(sums.capacity[1])};
  std::vector<Work> most;
  for (auto next = by_rank.begin(); most.size() < ranks;) {
    for (; next != by_rank.end() && (*next)->rank == most.size(); ++next) knapsacks[(*next)->kind].add((*next)->item);
    most.push_back(saturating_add(knapsacks[0].profit(), knapsacks[1].profit()));
  }
  return most;
}

// The maximum of work x seniority that fits next to the pods that cannot leave.
std::int64_t most_seniority(const PossibleWork& sums) {
  const auto room = [&](std::size_t kind) {
    return FractionalKnapsack(std::max<Work>(saturating_subtract(sums.capacity[kind], sums.held[kind]), 0));
  };
  std::array knapsacks{room(0), room(1)};
  for (const PossiblePods& pods : sums.pods.all()) {
    if (!pods.is_pending) continue;
    KnapsackItem item = pods.item;
    item.profit = saturating_multiply(item.profit, pods.seniority);
    knapsacks[pods.kind].add(item);
  }
  return saturating_add(knapsacks[0].profit(), knapsacks[1].profit());
}

// By preferred term, the pods that match it and may be there in the end.
Indexed<PreferredTermIndex, std::int64_t> pods_that_match(const Problem& problem, const Possibilities& possibilities) {
  Indexed<PreferredTermIndex, std::int64_t> matching(problem.inter_pod.preferred_terms.size(), 0);
  if (problem.inter_pod.preferred_terms.empty()) return matching;
  for (const PodIndex pod : problem.pods.indices()) {
    if (!possibilities.may_be_present(pod)) continue;
    for (const PreferredTermIndex preferred_term : problem.class_of(pod).preferences.preferred_matched)
      ++matching[preferred_term];
  }
  return matching;
}

// All preferred terms are met, except those for other pods that no pod could give.
std::int64_t most_points_of_preferred_terms(const Problem& problem, const PodClass& pod_class,
                                            const Indexed<PreferredTermIndex, std::int64_t>& matching) {
  std::int64_t most = 0;
  for (const OwnedPreferredTerm& owned : pod_class.preferences.preferred_owned) {
    const PreferredTerm& preferred_term = problem.inter_pod.preferred_terms[owned.preferred_term];
    const bool has_inter_pod =
        preferred_term.domains.domain_count > 0 && matching[owned.preferred_term] > (owned.counts_itself ? 1 : 0);
    if (preferred_term.kind == PreferredTerm::Kind::kApart ||
        (preferred_term.kind == PreferredTerm::Kind::kNear && has_inter_pod))
      most += preferred_term.weight;
  }
  return most;
}

// The most points, in hundredths, that a pod of each class can get from preferred node terms, preferred pod terms and
// soft taints; at least 0.
std::vector<std::int64_t> most_points(const Problem& problem, const Possibilities& possibilities) {
  const Indexed<PreferredTermIndex, std::int64_t> matching = pods_that_match(problem, possibilities);
  std::vector<std::int64_t> most;
  for (const PodClass& pod_class : problem.pod_classes) {
    std::int64_t best = 0;
    for (std::size_t i = 0; i < pod_class.allowed.size(); ++i) {
      if (!pod_class.allowed[i]) continue;
      best = std::max(best, pod_class.preferences.preferred_weight[i] -
                                kPreferenceScale * pod_class.preferences.untolerated_soft_taints[i]);
    }
    most.push_back(best + most_points_of_preferred_terms(problem, pod_class, matching));
  }
  return most;
}

std::int64_t preference_bound(const Problem& problem, const Possibilities& possibilities) {
  const std::vector<std::int64_t> points_of_class = most_points(problem, possibilities);
  const bool any_level =
      std::ranges::any_of(problem.groups, [](const Group& group) { return !group.preferred_level.is_none(); });
  std::int64_t sum = 0;
  for (const PodIndex index : problem.pods.indices()) {
    if (!possibilities.may_be_placed(index) && !possibilities.may_be_moved(index)) continue;
    const Pod& pod = problem.pods[index];
    std::int64_t points = points_of_class[pod.pod_class.value()];
    if (!pod.nominated_node.is_none()) points += kPreferenceScale;
    for (GroupIndex at = pod.group; any_level && !at.is_none(); at = problem.groups[at].parent) {
      if (!problem.groups[at].preferred_level.is_none()) points += kPreferenceScale;
    }
    sum = saturating_add(sum, saturating_multiply(pod.weighted_work, points));
  }
  return sum;
}

// Running pods that may leave: a gang that leaves as a whole or not at all, or one pod.
struct MayLeave {
  Work work = 0;
  std::int64_t loss = 0;  // of the level `evicted`
  QueueIndex queue;
  bool is_whole = false;
};
// Whether none of the gang's running pods can leave without the others: its minimum needs them all, and no waiting pod
// can replace one.
bool leaves_whole(const Problem& problem, const Possibilities& possibilities, const Gang& gang) {
  std::vector<PodIndex> running;
  for (const PodIndex pod : gang.pods) {
    if (possibilities.may_be_placed(pod) || problem.pods[pod].status == PodStatus::kSucceeded) return false;
    if (problem.pods[pod].status == PodStatus::kRunning) running.push_back(pod);
  }
  return running.size() > 1 && shape_of(problem, gang, running) == UnitShape::kAllOrNothing;
}

bool counts_as_evicted(const Problem& problem, const Gang& gang) {
  if (!gang.queue_is_leaf || (gang.stale && problem.snapshot->policy.actions.stale)) return false;  // leaves uncounted
  return gang.rank < problem.objective.priorities.size();  // else it has neither run nor been pending
}

// By rank: the running work that counts as evicted if it leaves.
std::vector<Work> running_work(const Problem& problem) {
  std::vector<Work> of_rank(problem.objective.priorities.size(), 0);
  for (const Gang& gang : problem.gangs) {
    if (!counts_as_evicted(problem, gang)) continue;
    Work& work = of_rank[gang.rank];
    for (const PodIndex pod : gang.pods) {
      if (problem.pods[pod].status == PodStatus::kRunning) work = saturating_add(work, problem.pods[pod].weighted_work);
    }
  }
  return of_rank;
}

// By rank: running pods that may leave, the least cost for its work first.
std::vector<std::vector<MayLeave>> may_leave_by_rank(const Problem& problem, const Possibilities& possibilities) {
  std::vector<std::vector<MayLeave>> of_rank(problem.objective.priorities.size());
  for (const Gang& gang : problem.gangs) {
    if (!counts_as_evicted(problem, gang) || !possibilities.may_leave(gang)) continue;
    std::vector<MayLeave>& may_leave = of_rank[gang.rank];
    const bool is_whole = leaves_whole(problem, possibilities, gang);
    MayLeave whole{0, 0, gang.queue, true};
    for (const PodIndex index : gang.pods) {
      const Pod& pod = problem.pods[index];
      if (pod.status != PodStatus::kRunning) continue;
      const std::int64_t loss = evicted_value(pod);
      whole.work = saturating_add(whole.work, pod.weighted_work);
      whole.loss = saturating_add(whole.loss, loss);
      if (!is_whole) may_leave.push_back({pod.weighted_work, loss, gang.queue, false});
    }
    if (is_whole && whole.work > 0) may_leave.push_back(whole);
  }
  for (std::vector<MayLeave>& may_leave : of_rank) {
    std::ranges::stable_sort(
        may_leave, [](const MayLeave& a, const MayLeave& b) { return Wide{a.loss} * b.work < Wide{b.loss} * a.work; });
  }
  return of_rank;
}

using QueueCaps = Indexed<QueueIndex, Work>;

// For each rank, over pods of that rank or a higher priority: how much of each queue's running and waiting work may be
// missing in the end if the share level has that value. Whatever all other queues contribute, this queue must
// contribute the rest.
std::vector<QueueCaps> most_missing(const Problem& problem, const FairShares& shares,
                                    const Possibilities& possibilities, std::span<const std::int64_t> share) {
  const auto queues = std::ssize(problem.queues);
  if (queues * queues > kTuning.bounds.steps)
    return std::vector(share.size(), QueueCaps(problem.queues.size(), kLargest));
  Indexed<QueueIndex, std::uint8_t> is_weighted(problem.queues.size(), 0);
  std::vector<Indexed<QueueIndex, WorkByKind>> of_rank(
      share.size(), Indexed<QueueIndex, WorkByKind>(problem.queues.size(), WorkByKind{}));
  for (const PodIndex index : problem.pods.indices()) {
    const Gang& gang = problem.gangs[problem.pods[index].gang];
    if (!gang.queue_is_leaf || !possibilities.may_be_present(index)) continue;
    const PodClass& pod_class = problem.class_of(index);
    if (problem.pods[index].weighted_work != pod_class.work) is_weighted[gang.queue] = 1;
    const std::size_t rank = gang.rank;
    if (rank == share.size()) continue;
    Work& work = of_rank[rank][gang.queue][kind_of(pod_class)];
    work = saturating_add(work, pod_class.work);
  }
  std::vector<QueueCaps> caps;
  Indexed<QueueIndex, WorkByKind> most(problem.queues.size(), WorkByKind{});  // of that rank or a higher priority
  for (std::size_t rank = 0; rank < share.size(); ++rank) {
    caps.emplace_back(problem.queues.size(), kLargest);
    for (const QueueIndex queue : problem.queues.indices()) {
      for (std::size_t kind = 0; kind < 2; ++kind)
        most[queue][kind] = saturating_add(most[queue][kind], of_rank[rank][queue][kind]);
    }
    for (const QueueIndex queue : problem.queues.indices()) {
      if (!problem.queues[queue].is_leaf() || is_weighted[queue] != 0) continue;
      const WorkByKind own = std::exchange(most[queue], WorkByKind{});
      const Work least = saturating_subtract(share[rank], forest_value(problem, most, shares.share_work));
      most[queue] = own;
      const Work whole = saturating_add(own[0], own[1]);
      if (whole < kLargest) caps[rank][queue] = whole - std::clamp<Work>(least, 0, whole);
    }
  }
  return caps;
}

// The smallest loss if this much work must leave and each queue may lose at most its part. Losing a part of a gang that
// leaves as a whole is a relaxation. Therefore the largest gang of which a part would leave is branched on: it leaves
// or stays as a whole, as deep as the limit of steps allows.
class LeastLoss {
 public:
  LeastLoss(const std::vector<MayLeave>& may_leave, std::size_t queues)
      : may_leave_(may_leave), fate_(may_leave.size(), Fate::kOpen), depth_(0) {
    const std::size_t once = may_leave.size() + queues;
    for (std::size_t looks = kTuning.bounds.steps; looks > 2 * once; looks /= 2) ++depth_;
  }

  std::int64_t of(Work must_leave, const QueueCaps& caps) { return of(must_leave, caps, depth_); }

 private:
  enum class Fate : std::uint8_t { kOpen, kStays, kGone };

  std::int64_t of(const Work must_leave, const QueueCaps& caps, int depth) {
    const std::vector<MayLeave>& all = may_leave_;
    std::int64_t loss = 0;
    std::size_t torn = all.size();
    Work rest = must_leave;
    QueueCaps room = caps;
    for (std::size_t i = 0; i < all.size() && rest > 0; ++i) {
      const MayLeave& one = all[i];
      // A gang that leaves as a whole stays if it exceeds what its queue may lose.
      if (fate_[i] != Fate::kOpen || (one.is_whole && one.work > caps[one.queue])) continue;
      const Work leaves = std::min({one.work, rest, room[one.queue]});
      if (leaves <= 0) continue;
      rest -= leaves;
      room[one.queue] -= leaves;
      loss = saturating_add(loss, static_cast<std::int64_t>(Wide{one.loss} * leaves / one.work));
      if (one.is_whole && leaves < one.work && (torn == all.size() || one.work > all[torn].work)) torn = i;
    }
    if (depth == 0 || torn == all.size()) return loss;
    fate_[torn] = Fate::kStays;
    const std::int64_t without = of(must_leave, caps, depth - 1);
    fate_[torn] = Fate::kGone;
    room = caps;
    room[all[torn].queue] -= all[torn].work;
    const std::int64_t with =
        saturating_add(all[torn].loss, of(saturating_subtract(must_leave, all[torn].work), room, depth - 1));
    fate_[torn] = Fate::kOpen;
    return std::max(loss, std::min(without, with));
  }

  const std::vector<MayLeave>& may_leave_;
  std::vector<Fate> fate_;
  int depth_;
};

}  // namespace

std::vector<std::int64_t> trivial_bounds(const Problem& problem, const FairShares& shares) {
  const std::size_t ranks = problem.objective.priorities.size();
  const Possibilities possibilities(problem);
  PossibleWork sums{UnitCounts(problem.queues.size()),
                    {std::vector(ranks, Indexed<QueueIndex, WorkByKind>(problem.queues.size(), WorkByKind{}))},
                    {},
                    // A pod without GPUs counts the larger of two shares, so such pods may add up to twice the cluster.
                    {problem.objective.total_gpu_work, saturating_multiply(problem.objective.total_gpu_work, 2)},
                    {}};
  std::vector<PodIndex> possible;
  for (const Gang& gang : problem.gangs) {
    if (gang.queue_is_leaf) add_gang(problem, possibilities, gang, possible, sums);
  }
  constexpr std::int64_t kNothingIdle = 0;
  std::vector<std::int64_t> bounds =
      in_order(problem, {.share = share_values(problem, shares, sums.units.take()),
                         .quota = quota_values(problem, shares, sums.unweighted),
                         .work = most_work(sums, ranks),
                         .preempted = std::vector<std::int64_t>(problem.objective.preemptible.size(), 0),
                         .evicted_beyond = std::vector<std::int64_t>(problem.objective.evictable.size(), 0),
                         .seniority = most_seniority(sums)})
          .values;
  if (problem.snapshot->policy.has_whole_nodes()) {
    const WholenessValues wholeness = trivial_wholeness(problem);
    bounds.insert(bounds.end(), wholeness.begin(), wholeness.end());
  }
  bounds.insert(bounds.end(), {preference_bound(problem, possibilities), kNothingIdle});
  return bounds;
}

std::int64_t least_evicted(const Problem& problem, const FairShares& shares, const Levels& levels) {
  MUSTER_REQUIRE(std::ssize(levels.values) >= levels_of_presence(problem));
  const std::vector<Work> running = running_work(problem);
  const std::vector<std::int64_t> share = values_of_kind(problem, levels, LevelKind::kShare),
                                  work = values_of_kind(problem, levels, LevelKind::kWork);
  std::vector<Work> must_leave;  // by rank
  for (std::size_t rank = 0; rank < running.size() && work[rank] < kLargest; ++rank)
    must_leave.push_back(saturating_subtract(running[rank], work[rank] - (rank > 0 ? work[rank - 1] : 0)));
  if (std::ranges::all_of(must_leave, [](Work of_rank) { return of_rank <= 0; })) return 0;
  const Possibilities possibilities(problem);
  const std::vector<std::vector<MayLeave>> may_leave = may_leave_by_rank(problem, possibilities);
  const std::vector<QueueCaps> caps = most_missing(problem, shares, possibilities, share);
  std::int64_t least = 0;
  for (std::size_t rank = 0; rank < must_leave.size(); ++rank)
    least = saturating_add(least, LeastLoss(may_leave[rank], problem.queues.size()).of(must_leave[rank], caps[rank]));
  return least;
}

}  // namespace muster
