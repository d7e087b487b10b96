#include "heuristics/greedy/waiting_gangs.h"

#include <algorithm>
#include <utility>

#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "model/base/radix_order.h"
#include "model/base/saturating.h"
#include "model/objective/gang_units.h"

namespace muster::greedy {

WorkPair work_pair(const PodClass& pod_class) {
  return pod_class.counts_as_gpu ? WorkPair{pod_class.work, 0} : WorkPair{0, pod_class.work};
}

ShareSlack::ShareSlack(const Problem& problem, const Indexed<QueueIndex, WorkPair>& caps)
    : problem_(problem), caps_(caps), used_(problem.queues.size(), WorkPair{}) {}

bool ShareSlack::fits(QueueIndex leaf, const WorkPair& unit) const {
  for (std::size_t side = 0; side < 2; ++side) {
    if (unit[side] > 0 && used_[leaf][side] + unit[side] > caps_[leaf][side]) return false;
  }
  return gains(leaf, unit);
}

bool ShareSlack::gains(QueueIndex leaf, const WorkPair& unit) const {
  const auto& path = problem_.queues[leaf].ancestors;
  for (std::size_t side = 0; side < 2; ++side) {
    if (unit[side] > 0 && std::ranges::all_of(path, [&](QueueIndex q) { return used_[q][side] < caps_[q][side]; }))
      return true;
  }
  return false;
}

void ShareSlack::add(QueueIndex leaf, const WorkPair& unit) {
  for (const QueueIndex queue : problem_.queues[leaf].ancestors) {
    for (std::size_t side = 0; side < 2; ++side) used_[queue][side] += unit[side];
  }
}

bool ShareSlack::add_whole(QueueIndex leaf, const WorkPair& sum) {
  for (const QueueIndex queue : problem_.queues[leaf].ancestors) {
    for (std::size_t side = 0; side < 2; ++side) {
      if (sum[side] > 0 && sum[side] > caps_[queue][side] - used_[queue][side]) return false;
    }
  }
  add(leaf, sum);
  return true;
}

double ShareSlack::fullness(QueueIndex leaf) const {
  double fullest = 0;
  for (std::size_t side = 0; side < 2; ++side) {
    const double cap = static_cast<double>(std::max<Work>(1, caps_[leaf][side]));
    fullest = std::max(fullest, static_cast<double>(used_[leaf][side]) / cap);
  }
  return fullest;
}

namespace {

// Shapes of gangs of one leaf group of equal pods, of which none is present: those of the same queue, class, level and
// minimum fail together. Numbered in order of first appearance.
class Shapes {
 public:
  std::int32_t number(const Problem& problem, const Gang& gang, const WaitingGang& found) {
    const Group& root = problem.groups[found.leaf];
    return number({found.queue, found.pod_class, root.required_level, root.minimum, gang.preemptible});
  }
  std::size_t size() const { return shapes_.size(); }

 private:
  struct Shape {
    QueueIndex queue;
    PodClassIndex pod_class;
    TopologyLevelIndex level;
    std::int32_t minimum = 0;
    bool preemptible = true;
    friend bool operator==(const Shape&, const Shape&) = default;
  };
  static constexpr std::int32_t kFree = -1;

  // Multiplicative hashing by the odd number next to 2^64 / the golden ratio (Knuth 1973); the high bits are used.
  static std::size_t hash_of(const Shape& shape) {
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15ULL;
    std::uint64_t hash = (std::uint64_t{shape.queue.value()} << 32 | shape.pod_class.value()) * kSpread;
    hash ^= hash >> 32;
    hash += std::uint64_t{shape.level.value()} << 33 | std::uint64_t{static_cast<std::uint32_t>(shape.minimum)} << 1 |
            (shape.preemptible ? 1 : 0);
    hash *= kSpread;
    return hash >> 32;
  }

  std::int32_t number(const Shape& shape) {
    if (2 * (shapes_.size() + 1) > slots_.size()) grow();
    std::int32_t& slot = slots_[slot_of(shape)];
    if (slot == kFree) {
      slot = static_cast<std::int32_t>(shapes_.size());
      shapes_.push_back(shape);
    }
    return slot;
  }
  std::size_t slot_of(const Shape& shape) const {
    std::size_t at = hash_of(shape) & (slots_.size() - 1);
    while (slots_[at] != kFree && !(shapes_[static_cast<std::size_t>(slots_[at])] == shape))
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    slots_.assign(std::max<std::size_t>(64, 4 * slots_.size()), kFree);
    for (std::size_t i = 0; i < shapes_.size(); ++i) slots_[slot_of(shapes_[i])] = static_cast<std::int32_t>(i);
  }

  std::vector<Shape> shapes_;
  std::vector<std::int32_t> slots_;  // a power of two, at most half full; linear probing
};

// The result of a scan of all pods of a gang.
struct PodScan {
  bool any_pending = false;
  bool any_waits = false;  // pending, and not present
  bool any_present = false;
  bool are_equal = true;  // and run or wait; no longer counts if a pod that ran has left
};

PodScan scan_pods(const ClusterState& state, GangIndex index) {
  const Problem& problem = state.problem();
  const Gang& gang = problem.gangs[index];
  const bool was_any_present = state.version(index) != 0;
  PodScan scan;
  scan.are_equal = gang.groups.size() <= 1 && !gang.pods.empty();
  PodClassIndex pod_class;
  for (const PodIndex pod : gang.pods) {
    const Pod& p = problem.pods[pod];
    const bool is_pending = fit::is_pending(p), is_present = was_any_present && state.is_present(pod);
    if (pod == gang.pods.front()) pod_class = p.pod_class;
    scan.any_pending |= is_pending;
    scan.any_waits |= is_pending && !is_present;
    scan.any_present |= is_present;
    scan.are_equal &= p.pod_class == pod_class && (is_pending || is_present);
  }
  return scan;
}

bool is_any_pending(const Problem& problem, GangIndex gang) {
  return std::ranges::any_of(problem.gangs[gang].pods,
                             [&](PodIndex pod) { return fit::is_pending(problem.pods[pod]); });
}

WorkPair minimum_of(const ClusterState& state, GangIndex index, bool& is_enough) {
  const Problem& problem = state.problem();
  std::vector<PodIndex> candidates;
  for (const PodIndex pod : problem.gangs[index].pods) {
    if (fit::is_pending(problem.pods[pod]) || state.is_present(pod) ||
        problem.pods[pod].status == PodStatus::kSucceeded)
      candidates.push_back(pod);
  }
  const auto units = gang_units(problem, index, candidates);
  is_enough = !units.empty();
  return is_enough ? units.front() : WorkPair{};
}

// Adds it, unless it has too few pods, whatever is done.
void add(const ClusterState& state, GangIndex index, const PodScan& scan, Shapes& shapes,
         std::vector<WaitingGang>& all) {
  const Problem& problem = state.problem();
  const Gang& gang = problem.gangs[index];
  WaitingGang found;
  found.gang = index;
  found.queue = gang.queue;
  found.rank = gang.rank;
  found.seniority = gang.times.seniority;
  found.waits = scan.any_waits && problem.snapshot->policy.actions.place && fit::may_start(gang);
  if (scan.are_equal) {
    found.leaf = gang.root;
    found.pods = static_cast<std::int32_t>(gang.pods.size());
    found.needed = problem.groups[gang.root].minimum;
    found.pod_class = problem.pods[gang.pods.front()].pod_class;
    if (found.pods < found.needed) return;
    const WorkPair unit = work_pair(problem.pod_classes[found.pod_class]);
    for (std::size_t side = 0; side < 2; ++side)
      found.minimum[side] = saturating_multiply(unit[side], std::max(0, found.needed));
    const bool asks_for_resources = gang.asks_for_min_resources();
    if (!scan.any_present && !asks_for_resources) found.shape = shapes.number(problem, gang, found);
  } else {
    bool is_enough = false;
    found.minimum = minimum_of(state, index, is_enough);
    if (!is_enough) return;
  }
  all.push_back(found);
}

}  // namespace

WaitingGangs::WaitingGangs(const ClusterState& state, std::span<const GangIndex> gangs) {
  Shapes shapes;
  all_.reserve(gangs.size());
  for (const GangIndex gang : gangs) {
    if (fit::queue_exists(state.problem().gangs[gang])) add(state, gang, scan_pods(state, gang), shapes, all_);
  }
  shapes_ = shapes.size();
  sort();
}

WaitingGangs WaitingGangs::of_pending(const ClusterState& state, std::vector<GangIndex>& listed) {
  const Problem& problem = state.problem();
  WaitingGangs waiting;
  Shapes shapes;
  waiting.all_.reserve(problem.gangs.size());
  for (const GangIndex gang : problem.gangs.indices()) {
    if (state.version(gang) != 0 && !is_any_pending(problem, gang)) continue;
    const PodScan scan = scan_pods(state, gang);
    if (!scan.any_pending) continue;
    listed.push_back(gang);
    if (fit::queue_exists(problem.gangs[gang])) add(state, gang, scan, shapes, waiting.all_);
  }
  waiting.shapes_ = shapes.size();
  waiting.sort();
  return waiting;
}

void WaitingGangs::sort() {
  std::vector<Keyed> keys, spare;
  keys.reserve(all_.size());
  for (const WaitingGang& gang : all_)
    keys.push_back({descending_key(gang.seniority), static_cast<std::uint32_t>(keys.size())});
  sort_by_key(keys, spare);
  for (Keyed& key : keys) key.key = all_[key.position].rank;
  sort_by_key(keys, spare);
  by_age_.reserve(keys.size());
  for (const Keyed& key : keys) by_age_.push_back(key.position);
}

namespace {

void add(WorkPair& sum, const WorkPair& work) {
  for (std::size_t side = 0; side < 2; ++side) sum[side] = saturating_add(sum[side], work[side]);
}

bool are_within(const Problem& problem, const FairShares& shares, const Indexed<QueueIndex, WorkPair>& of_leaves) {
  ShareSlack room(problem, shares.share_work);
  for (const QueueIndex queue : problem.queues.indices()) {
    if (!room.add_whole(queue, of_leaves[queue])) return false;
  }
  return true;
}

}  // namespace

WorkPair present_work(const ClusterState& state, GangIndex gang) {
  WorkPair sum{};
  if (state.version(gang) == 0 || !is_satisfied(state, gang)) return sum;  // none of its pods has ever been present
  for (const PodIndex pod : state.problem().gangs[gang].pods) {
    if (state.is_present(pod)) add(sum, work_pair(state.problem().class_of(pod)));
  }
  return sum;
}

InitialWork::InitialWork(const Problem& problem, const FairShares& shares, const ClusterState& before)
    : problem_(problem), before_(before), waiting_gangs_(WaitingGangs::of_pending(before, waiting_)) {
  Indexed<QueueIndex, WorkPair> of_leaves(problem.queues.size(), WorkPair{});
  for (const GangIndex index : problem.gangs.indices()) {
    if (before.version(index) == 0) continue;  // no pod of it is present
    const Gang& gang = problem.gangs[index];
    if (!fit::queue_exists(gang)) continue;
    const WorkPair work = present_work(before, index);
    if (work == WorkPair{}) continue;
    add(present_[{gang.rank, gang.queue}], work);
    add(of_leaves[gang.queue], work);
  }
  is_within_shares_ = are_within(problem, shares, of_leaves);
  if (waiting_.size() > 1 || !is_within_shares_) return;
  if (waiting_.size() == 1) {
    const Gang& gang = problem.gangs[waiting_.front()];
    if (!is_one_unit(waiting_.front())) return;
    if (fit::queue_exists(gang)) {
      for (const PodIndex pod : gang.pods) add(of_leaves[gang.queue], work_pair(problem.class_of(pod)));
    }
  }
  is_one_order_enough_ = are_within(problem, shares, of_leaves);
}

bool InitialWork::is_one_unit(GangIndex index) const {
  const Gang& gang = problem_.gangs[index];
  return gang.groups.size() == 1 && problem_.groups[gang.root].minimum == std::ssize(gang.pods) &&
         std::ranges::all_of(gang.pods, [&](PodIndex pod) {
           return fit::is_pending(problem_.pods[pod]) &&
                  problem_.pods[pod].pod_class == problem_.pods[gang.pods.front()].pod_class;
         });
}

}  // namespace muster::greedy
