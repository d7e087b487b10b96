#include "heuristics/placing.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "heuristics/groups.h"
#include "heuristics/share_room.h"
#include "model/levels.h"

namespace muster {

namespace {

enum class Pass : std::uint8_t { kWithinShare, kWithinQuota, kRest };

constexpr int kStopEvery = 16;  // gangs between two looks at the clock

struct Entry {
  GangIndex gang;
  WorkPair minimum{};       // the least work that satisfies it
  double size = 0;          // what the order sorts by, larger first
  std::int64_t shape = -1;  // equal for gangs that fit or fail alike; -1: none is alike
  bool barred = false;      // nothing of it may be placed
  int failed_at = -1;       // the epoch in which its minimum found no room: only claims can change that
};

// Gangs of one leaf group of equal pods, of which nothing is present, fail alike.
using ShapeKey = std::tuple<QueueIndex, bool, PodClassIndex, TopologyLevelIndex, std::int32_t>;

class Placing {
 public:
  Placing(const PlacingInput& input, ClusterState& state, GangPlacer& placer, RoomSearch& room)
      : input_(input),
        problem_(input.problem),
        state_(state),
        placer_(placer),
        room_(room),
        share_(problem_, input.shares.share_work),
        quota_(problem_, input.shares.quota_work),
        stopped_(false) {
    collect();
  }

  // Claims at the end: what fits beside what is there first, so that there is a whole plan before any room is made;
  // then the claims, in the same order. In either case, what fits into the room that they left comes last.
  bool run() {
    claims_ = room_.is_allowed() && input_.order.claims == ClaimTime::kAtOnce;
    run_passes();
    if (room_.is_allowed() && !claims_) {
      claims_ = true;
      run_passes();
    }
    claims_ = false;
    if (epoch_ > 0) run_passes();
    return !stopped_;
  }

 private:
  void run_passes() {
    if (stopped_) return;
    share_.clear();
    quota_.clear();
    rank_ = -1;
    for (const Pass pass : {Pass::kWithinShare, Pass::kWithinQuota, Pass::kRest}) {
      for (std::size_t begin = 0, end = 0; begin < entries_.size() && !stopped_; begin = end) {
        const std::int32_t priority = priority_of(entries_[begin]);
        while (end < entries_.size() && priority_of(entries_[end]) == priority) ++end;
        ++rank_;
        run_priority(pass, {entries_.begin() + static_cast<std::ptrdiff_t>(begin),
                            entries_.begin() + static_cast<std::ptrdiff_t>(end)});
      }
    }
  }

  using Entries = std::span<Entry>;

  std::int32_t priority_of(const Entry& entry) const { return problem_.gangs[entry.gang].priority; }
  QueueIndex queue_of(const Entry& entry) const { return problem_.gangs[entry.gang].queue; }

  bool should_stop() {
    if (input_.stop && ++asked_ % kStopEvery == 0 && input_.stop()) stopped_ = true;
    return stopped_;
  }

  // --- What there is to place

  void collect() {
    for (const GangIndex gang : problem_.gangs.indices()) {
      if (!fit::queue_exists(problem_.gangs[gang])) continue;
      std::vector<PodIndex> candidates;
      bool waits = false;
      for (const PodIndex pod : problem_.gangs[gang].pods) {
        const bool is_waiting = fit::is_pending(problem_.pods[pod]) && !state_.is_present(pod);
        waits = waits || is_waiting;
        if (is_waiting || state_.is_present(pod) || problem_.pods[pod].status == PodStatus::kSucceeded)
          candidates.push_back(pod);
      }
      Entry entry;
      entry.gang = gang;
      const auto units = gang_units(problem_, gang, candidates);
      if (units.empty()) continue;  // too few pods, whatever is done
      entry.minimum = units.front();
      entry.barred = !waits || input_.excluded[gang.value()] || !placer_.may_place(gang);
      entry.size = size_of(gang, entry.minimum);
      entry.shape = shape_of(gang);
      entries_.push_back(entry);
    }
    sort_entries();
  }

  double size_of(GangIndex gang, const WorkPair& minimum) {
    double cpu = 0, biggest = 0, work = 0;
    for (const PodIndex pod : problem_.gangs[gang].pods) {
      const PodClass& pod_class = problem_.class_of(pod);
      cpu += static_cast<double>(pod_class.request[kCpu.value()]);
      work += static_cast<double>(pod_class.work);
      biggest = std::max(biggest, static_cast<double>(pod_class.work));
    }
    double size = static_cast<double>(minimum[0] + minimum[1]);
    if (input_.order.gangs == GangOrder::kBigFirst) size = biggest * 1e6 + size;
    if (input_.order.gangs == GangOrder::kCpuFirst) size = cpu / std::max(1.0, work);
    if (input_.order.gangs == GangOrder::kOldFirst) size = static_cast<double>(problem_.gangs[gang].waited_seconds);
    if (input_.order.noise > 0) {
      std::mt19937_64 random(input_.order.seed * 0x9E3779B97F4A7C15ULL + gang.value());
      size *= 1 + input_.order.noise * (2 * static_cast<double>(random() >> 11) / static_cast<double>(1ULL << 53) - 1);
    }
    return size;
  }

  std::int64_t shape_of(GangIndex gang_index) {
    const Gang& gang = problem_.gangs[gang_index];
    if (gang.groups.size() > 1 || !gang.min_resources.empty() || gang.min_resources_gpu > 0 || gang.pods.empty())
      return -1;
    const PodClassIndex pod_class = problem_.pods[gang.pods.front()].pod_class;
    for (const PodIndex pod : gang.pods) {
      if (problem_.pods[pod].pod_class != pod_class || !fit::is_pending(problem_.pods[pod]) || state_.is_present(pod))
        return -1;
    }
    const Group& root = problem_.groups[gang.root];
    const ShapeKey key{gang.queue, gang.preemptible, pod_class, root.required_level, root.minimum};
    return shapes_.emplace(key, static_cast<std::int64_t>(shapes_.size())).first->second;
  }

  void sort_entries() {
    dead_shapes_.assign(shapes_.size(), false);
    std::ranges::stable_sort(entries_, [&](const Entry& a, const Entry& b) {
      const Gang &gang_a = problem_.gangs[a.gang], &gang_b = problem_.gangs[b.gang];
      if (gang_a.priority != gang_b.priority) return gang_a.priority > gang_b.priority;
      if (a.size != b.size) return a.size > b.size;
      return gang_a.waited_seconds > gang_b.waited_seconds;
    });
  }

  // --- One priority of one pass

  void run_priority(Pass pass, Entries entries) {
    count_present(pass, entries);
    if (input_.order.gangs == GangOrder::kQueueByQueue && problem_.queues.size() > 1) {
      queue_by_queue(pass, entries);
    } else {
      for (Entry& entry : entries) place_entry(pass, entry);
    }
    for (Entry& entry : entries) grow(pass, entry);
    for (Entry& entry : entries) {
      if (claims_ && !entry.barred) claim(pass, entry);
    }
  }

  // What of this priority is present before the pass places anything of it takes its part of the shares first.
  void count_present(Pass pass, Entries entries) {
    if (pass == Pass::kRest) return;
    for (const Entry& entry : entries) {
      std::vector<PodIndex> present;
      for (const PodIndex pod : problem_.gangs[entry.gang].pods) {
        if (state_.is_present(pod)) present.push_back(pod);
      }
      if (present.empty()) continue;
      for (const WorkPair& unit : gang_units(problem_, entry.gang, present)) count(pass, entry.gang, unit);
    }
  }

  void count(Pass pass, GangIndex gang, const WorkPair& unit) {
    const QueueIndex queue = problem_.gangs[gang].queue;
    if (pass == Pass::kWithinShare && share_.fits(queue, unit)) share_.add(queue, unit);
    if (pass == Pass::kWithinQuota) quota_.add(queue, unit);
  }

  bool belongs(Pass pass, GangIndex gang, const WorkPair& unit) const {
    const QueueIndex queue = problem_.gangs[gang].queue;
    if (pass == Pass::kWithinShare) return share_.fits(queue, unit);
    return pass == Pass::kRest || quota_.gains(queue, unit);
  }

  void queue_by_queue(Pass pass, Entries entries) {
    std::map<QueueIndex, std::vector<Entry*>> by_queue;
    for (Entry& entry : entries) {
      if (!has_failed(entry) && !entry.barred) by_queue[queue_of(entry)].push_back(&entry);
    }
    for (auto& [queue, list] : by_queue) std::ranges::reverse(list);
    while (!by_queue.empty() && !stopped_) {
      auto next = by_queue.begin();
      const auto rank = [&](QueueIndex q) { return std::tuple(share_.fullness(q), -problem_.queues[q].priority, q); };
      for (auto at = std::next(next); at != by_queue.end(); ++at) {
        if (rank(at->first) < rank(next->first)) next = at;
      }
      place_entry(pass, *next->second.back());
      next->second.pop_back();
      if (next->second.empty()) by_queue.erase(next);
    }
  }

  void place_entry(Pass pass, Entry& entry) {
    if (entry.barred || has_failed(entry) || is_satisfied(state_, entry.gang)) return;
    if (!belongs(pass, entry.gang, entry.minimum) || should_stop()) return;
    const bool is_known_to_fail = entry.shape >= 0 && dead_shapes_[static_cast<std::size_t>(entry.shape)];
    const bool may_start = !is_known_to_fail && fit::min_resources(state_, entry.gang);
    if (may_start && keep_rules([&] { return placer_.place_minimum(entry.gang); })) {
      count(pass, entry.gang, entry.minimum);
      room_.note_placed(entry.gang, rank_);
    } else {
      entry.failed_at = epoch_;
      if (entry.shape >= 0) dead_shapes_[static_cast<std::size_t>(entry.shape)] = true;
    }
  }

  // Places, but not so that evictions that have been decided would no longer be allowed.
  template <class Place>
  bool keep_rules(const Place& place) {
    const auto before = state_.checkpoint();
    if (place() && room_.rules_hold()) return true;
    state_.rollback(before);
    return false;
  }

  bool has_failed(const Entry& entry) const { return entry.failed_at == epoch_; }

  // Makes room for the gang's minimum where it has none, and for the pods beyond it.
  void claim(Pass pass, Entry& entry) {
    const bool is_known_to_fail = entry.shape >= 0 && dead_claims_.contains(entry.shape);
    if (is_known_to_fail || should_stop()) return;
    if (!is_satisfied(state_, entry.gang)) {
      if (!belongs(pass, entry.gang, entry.minimum)) return;
      if (!room_.claim_minimum(entry.gang, rank_)) {
        if (entry.shape >= 0) dead_claims_.insert(entry.shape);
        return;
      }
      count(pass, entry.gang, entry.minimum);
      claimed(entry.gang);
      grow(pass, entry);
    }
    for (const GroupIndex group : problem_.gangs[entry.gang].groups) {
      for (const PodIndex pod : placer_.waiting(group)) {
        const WorkPair unit = work_pair(problem_.class_of(pod));
        if (!belongs(pass, entry.gang, unit) || !room_.claim_pod(pod, rank_)) break;
        count(pass, entry.gang, unit);
        claimed(entry.gang);
      }
    }
  }

  // What found no room before may find it now.
  void claimed(GangIndex gang) {
    room_.note_placed(gang, rank_);
    ++epoch_;
    dead_shapes_.assign(shapes_.size(), false);
    dead_claims_.clear();
  }

  // Pods beyond the minimum, one at a time.
  void grow(Pass pass, const Entry& entry) {
    if (entry.barred || !is_satisfied(state_, entry.gang) || should_stop()) return;
    for (const GroupIndex group : problem_.gangs[entry.gang].groups) {
      PodClassIndex skipped = PodClassIndex::none();
      for (const PodIndex pod : placer_.waiting(group)) {
        const WorkPair unit = work_pair(problem_.class_of(pod));
        if (problem_.pods[pod].pod_class == skipped) continue;
        if (belongs(pass, entry.gang, unit) && keep_rules([&] { return placer_.place_pod(pod); })) {
          count(pass, entry.gang, unit);
          room_.note_placed(entry.gang, rank_);
        } else {
          skipped = problem_.pods[pod].pod_class;
        }
      }
    }
  }

  const PlacingInput& input_;
  const Problem& problem_;
  ClusterState& state_;
  GangPlacer& placer_;
  RoomSearch& room_;
  ShareRoom share_, quota_;
  std::vector<Entry> entries_;  // by priority, highest first; within one as the order says
  std::map<ShapeKey, std::int64_t> shapes_;
  std::vector<bool> dead_shapes_;       // found no room
  std::set<std::int64_t> dead_claims_;  // no room could be made for them
  bool claims_ = false;
  int epoch_ = 0;           // grows with every claim that is met
  std::int32_t rank_ = -1;  // of pass and priority, in the order of the levels
  int asked_ = 0;
  bool stopped_;
};

}  // namespace

bool place_all(const PlacingInput& input, ClusterState& state, GangPlacer& placer, RoomSearch& room) {
  return Placing(input, state, placer, room).run();
}

}  // namespace muster
