#include "heuristics/placing.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "heuristics/groups.h"
#include "heuristics/share_room.h"
#include "model/interning.h"
#include "model/levels.h"
#include "model/levels_parts.h"
#include "model/saturating.h"

namespace muster {

namespace {

enum class Pass : std::uint8_t { kWithinShare, kWithinQuota, kRest };

constexpr int kStopEvery = 16;  // gangs between two looks at the clock

struct Entry {
  GangIndex gang;
  QueueIndex queue;
  std::int32_t priority = 0;
  int failed_at = -1;       // the epoch in which its minimum found no room: only claims can change that
  std::int64_t shape = -1;  // equal for gangs that fit or fail alike; -1: none is alike
  WorkPair minimum{};       // the least work that satisfies it
  // Of one leaf group of equal pods that run or wait: the group, how many pods, and the work of each. Such a gang is
  // looked at without its pods.
  GroupIndex leaf;
  std::int32_t pods = 0, needed = 0;
  WorkPair unit{};
  bool barred = false;  // nothing of it may be placed
};

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
        walks_all_(input.walks_all || !input.census.is_within_shares()),
        stopped_(false) {
    collect();
    if (!walks_all_) present_ = input.census.present();
  }

  // Claims at the end: what fits beside what is there first, so that there is a whole plan before any room is made;
  // then the claims, in the same order. In either case, what fits into the room that they left comes last.
  PlacingOutcome run() {
    claims_ = room_.is_allowed() && input_.order.claims == ClaimTime::kAtOnce;
    run_passes();
    if (room_.is_allowed() && !claims_) {
      claims_ = true;
      run_passes();
    }
    claims_ = false;
    if (epoch_ > 0) run_passes();
    if (order_matters_) return PlacingOutcome::kOrderMatters;
    return stopped_ ? PlacingOutcome::kStopped : PlacingOutcome::kComplete;
  }

 private:
  void run_passes() {
    if (stopped_) return;
    share_.clear();
    quota_.clear();
    rank_ = -1;
    for (const Pass pass : {Pass::kWithinShare, Pass::kWithinQuota, Pass::kRest}) {
      uncounted_rank_ = 0;
      for (std::size_t begin = 0, end = 0; begin < entries_.size() && !stopped_; begin = end) {
        const std::int32_t priority = entries_[begin].priority;
        while (end < entries_.size() && entries_[end].priority == priority) ++end;
        ++rank_;
        const auto first = std::ranges::lower_bound(waiting_, begin), last = std::ranges::lower_bound(waiting_, end);
        run_priority(pass, std::span(entries_).subspan(begin, end - begin), {first, last});
      }
    }
  }

  using Entries = std::span<const Entry>;
  using Waiting = std::span<const std::size_t>;  // of entries_

  bool is_plain(const Entry& entry) const { return !entry.leaf.is_none(); }
  bool has_minimum(const Entry& entry) const {
    return is_plain(entry) ? state_.members(entry.leaf) >= entry.needed : is_satisfied(state_, entry.gang);
  }
  bool may_wait(const Entry& entry) const { return !is_plain(entry) || state_.members(entry.leaf) < entry.pods; }

  bool should_stop() {
    if (input_.stop && ++asked_ % kStopEvery == 0 && input_.stop()) stopped_ = true;
    return stopped_;
  }

  // --- What there is to place

  // What the entries are sorted by: priority, then what the order says, larger first, then who waited longer.
  struct SortKey {
    std::int32_t priority = 0;
    double size = 0;
    std::int64_t waited_seconds = 0;
    std::uint32_t position = 0;
  };

  void collect() {
    std::vector<SortKey> keys;
    const auto add = [&](GangIndex gang) {
      if (!fit::queue_exists(problem_.gangs[gang])) return;
      const std::optional<Entry> entry = entry_of(gang);
      if (!entry) return;  // too few pods, whatever is done
      const auto position = static_cast<std::uint32_t>(entries_.size());
      keys.push_back({entry->priority, size_of(gang, entry->minimum), problem_.gangs[gang].waited_seconds, position});
      entries_.push_back(*entry);
    };
    const std::size_t most = walks_all_ ? problem_.gangs.size() : input_.census.waiting().size();
    keys.reserve(most);
    entries_.reserve(most);
    if (walks_all_) {
      for (const GangIndex gang : problem_.gangs.indices()) add(gang);
    } else {
      for (const GangIndex gang : input_.census.waiting()) add(gang);
    }
    if (input_.order.gangs == GangOrder::kOldestBigFirst) put_oldest_first(keys);
    sort_entries(std::move(keys));
  }

  // Of each priority in turn: those who have waited longest and fit in sum, in tiers. Within a tier the largest come
  // first; each tier is a small part of the one before, so that the cluster is packed with the large ones of the first
  // and filled with small ones of the last. Then those who fit no more in sum.
  void put_oldest_first(std::vector<SortKey>& keys) const {
    constexpr std::array kTiers{0.97, 0.999, 1.0};  // of the free devices, up to there
    constexpr double kFirst = 1e13;                 // beyond any size
    std::ranges::sort(keys, [](const SortKey& a, const SortKey& b) {
      return std::tuple(-std::int64_t{a.priority}, -a.waited_seconds, a.position) <
             std::tuple(-std::int64_t{b.priority}, -b.waited_seconds, b.position);
    });
    const double room = static_cast<double>(state_.free_devices_in_sum()) / 1e3;
    double taken = 0;
    for (SortKey& key : keys) {
      const Entry& entry = entries_[key.position];
      const double with_it = taken + static_cast<double>(entry.minimum[0]);
      const auto tier = std::ranges::find_if(kTiers, [&](double part) { return with_it <= part * room; });
      if (entry.barred) continue;
      if (tier == kTiers.end()) return;  // the small ones among the others are to fill what is left
      taken = with_it;
      key.size += kFirst * static_cast<double>(kTiers.end() - tier);
    }
  }

  std::optional<Entry> entry_of(GangIndex index) {
    const Gang& gang = problem_.gangs[index];
    Entry entry;
    entry.gang = index;
    entry.queue = gang.queue;
    entry.priority = gang.priority;
    bool waits = false;
    std::int32_t present = 0;
    for (const PodIndex pod : gang.pods) {
      waits = waits || (fit::is_pending(problem_.pods[pod]) && !state_.is_present(pod));
      present += state_.is_present(pod) ? 1 : 0;
    }
    if (is_of_equal_pods(gang)) {
      const Group& root = problem_.groups[gang.root];
      const PodClass& pod_class = problem_.class_of(gang.pods.front());
      entry.leaf = gang.root;
      entry.pods = static_cast<std::int32_t>(gang.pods.size());
      entry.needed = root.minimum;
      if (entry.pods < entry.needed) return std::nullopt;
      entry.unit = work_pair(pod_class);
      for (std::size_t side = 0; side < 2; ++side)
        entry.minimum[side] = saturating_multiply(entry.unit[side], std::max(0, entry.needed));
      if (present == 0) entry.shape = shape_of(gang);
    } else {
      std::vector<PodIndex> candidates;
      for (const PodIndex pod : gang.pods) {
        if (fit::is_pending(problem_.pods[pod]) || state_.is_present(pod) ||
            problem_.pods[pod].status == PodStatus::kSucceeded)
          candidates.push_back(pod);
      }
      const auto units = gang_units(problem_, index, candidates);
      if (units.empty()) return std::nullopt;
      entry.minimum = units.front();
    }
    entry.barred = !waits || input_.excluded[index.value()] || !placer_.may_place(index);
    return entry;
  }

  // Where one that ran has gone already it counts no longer.
  bool is_of_equal_pods(const Gang& gang) const {
    if (gang.groups.size() > 1 || gang.pods.empty()) return false;
    const PodClassIndex pod_class = problem_.pods[gang.pods.front()].pod_class;
    return std::ranges::all_of(gang.pods, [&](PodIndex pod) {
      const Pod& p = problem_.pods[pod];
      return p.pod_class == pod_class && (fit::is_pending(p) || state_.is_present(pod));
    });
  }

  double size_of(GangIndex gang, const WorkPair& minimum) {
    double size = static_cast<double>(minimum[0] + minimum[1]);
    if (input_.order.gangs != GangOrder::kQueueByQueue) {
      double cpu = 0, biggest = 0, work = 0;
      for (const PodIndex pod : problem_.gangs[gang].pods) {
        const PodClass& pod_class = problem_.class_of(pod);
        cpu += static_cast<double>(pod_class.request[kCpu.value()]);
        work += static_cast<double>(pod_class.work);
        biggest = std::max(biggest, static_cast<double>(pod_class.work));
      }
      size = input_.order.gangs == GangOrder::kCpuFirst ? cpu / std::max(1.0, work) : biggest * 1e6 + size;
    }
    if (input_.order.noise > 0) {
      std::mt19937_64 random(input_.order.seed * 0x9E3779B97F4A7C15ULL + gang.value());
      size *= 1 + input_.order.noise * (2 * static_cast<double>(random() >> 11) / static_cast<double>(1ULL << 53) - 1);
    }
    return size;
  }

  // Of a gang of one leaf group of equal pods, of which none is present: those of the same queue, class, level and
  // minimum fail alike.
  std::int64_t shape_of(const Gang& gang) {
    if (!gang.min_resources.empty() || gang.min_resources_gpu > 0) return -1;
    const Group& root = problem_.groups[gang.root];
    const std::array<std::uint64_t, 5> key{gang.queue.value(), gang.preemptible,
                                           problem_.pods[gang.pods.front()].pod_class.value(),
                                           root.required_level.value(), static_cast<std::uint64_t>(root.minimum)};
    return shapes_.intern(key).first;
  }

  void sort_entries(std::vector<SortKey> keys) {
    dead_shapes_.assign(shapes_.size(), false);
    const auto is_before = [](const SortKey& a, const SortKey& b) {
      if (a.priority != b.priority) return a.priority > b.priority;
      if (a.size != b.size) return a.size > b.size;
      if (a.waited_seconds != b.waited_seconds) return a.waited_seconds > b.waited_seconds;
      return a.position < b.position;
    };
    if (!std::ranges::is_sorted(keys, is_before)) std::ranges::sort(keys, is_before);
    std::vector<Entry> sorted;
    sorted.reserve(entries_.size());
    for (const SortKey& key : keys) sorted.push_back(entries_[key.position]);
    entries_ = std::move(sorted);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!entries_[i].barred) waiting_.push_back(i);
    }
  }

  // --- One priority of one pass

  void run_priority(Pass pass, Entries entries, Waiting waiting) {
    count_present(pass, entries);
    if (input_.order.gangs == GangOrder::kQueueByQueue && problem_.queues.size() > 1) {
      queue_by_queue(pass, waiting);
    } else {
      for (const std::size_t i : waiting) place_entry(pass, entries_[i]);
    }
    for (const std::size_t i : waiting) grow(pass, entries_[i]);
    for (const std::size_t i : waiting) {
      if (claims_) claim(pass, entries_[i]);
    }
  }

  // What of this priority is present before the pass places anything of it takes its part of the shares first.
  void count_present(Pass pass, Entries entries) {
    if (pass == Pass::kRest) return;
    if (!walks_all_) {
      count_sums(pass, entries.front().priority);
      return;
    }
    for (const Entry& entry : entries) {
      if (is_plain(entry)) {
        count_plain(pass, entry);
        continue;
      }
      std::vector<PodIndex> present;
      for (const PodIndex pod : problem_.gangs[entry.gang].pods) {
        if (state_.is_present(pod)) present.push_back(pod);
      }
      if (present.empty()) continue;
      for (const WorkPair& unit : gang_units(problem_, entry.gang, present)) count(pass, entry.queue, unit);
    }
  }

  // The same in sums, of every priority down to this one.
  void count_sums(Pass pass, std::int32_t priority) {
    update_present();
    const std::size_t rank = priority_rank(problem_, priority);
    const auto first = present_.lower_bound({std::exchange(uncounted_rank_, rank + 1), QueueIndex(0)});
    const auto last = present_.lower_bound({rank + 1, QueueIndex(0)});
    for (const auto& [key, sum] : std::ranges::subrange(first, last)) {
      if (pass == Pass::kWithinQuota) quota_.add(key.second, sum);
      if (pass == Pass::kWithinShare && !share_.add_whole(key.second, sum)) order_matters_ = stopped_ = true;
    }
  }

  // Brings the sums of gangs that came or went up to date.
  void update_present() {
    const auto& all = state_.changed_gangs();
    for (; changed_read_ < all.size(); ++changed_read_) {
      const GangIndex gang = all[changed_read_];
      const auto [at, is_new] = changed_.try_emplace(gang);
      Counted& counted = at->second;
      if (is_new) counted = {present_work(input_.census.before(), gang), input_.census.before().version(gang)};
      if (counted.version == state_.version(gang) || !fit::queue_exists(problem_.gangs[gang])) continue;
      const WorkPair now = present_work(state_, gang);
      WorkPair& sum = present_[{priority_rank(problem_, problem_.gangs[gang].priority), problem_.gangs[gang].queue}];
      for (std::size_t side = 0; side < 2; ++side) sum[side] += now[side] - counted.work[side];
      counted = {now, state_.version(gang)};
    }
  }

  void count_plain(Pass pass, const Entry& entry) {
    const std::int32_t present = state_.members(entry.leaf);
    if (present == 0 || present < entry.needed) return;
    count(pass, entry.queue, entry.minimum);
    for (std::int32_t i = std::max(0, entry.needed); i < present; ++i) count(pass, entry.queue, entry.unit);
  }

  void count(Pass pass, QueueIndex queue, const WorkPair& unit) {
    if (pass == Pass::kWithinShare && share_.fits(queue, unit)) share_.add(queue, unit);
    if (pass == Pass::kWithinQuota) quota_.add(queue, unit);
  }

  bool belongs(Pass pass, QueueIndex queue, const WorkPair& unit) const {
    if (pass == Pass::kWithinShare) return share_.fits(queue, unit);
    return pass == Pass::kRest || quota_.gains(queue, unit);
  }

  void queue_by_queue(Pass pass, Waiting waiting_entries) {
    struct Line {
      QueueIndex queue;
      double fullness = 0;
      std::vector<Entry*> waiting;  // the next one last
    };
    std::map<QueueIndex, std::vector<Entry*>> by_queue;
    for (const std::size_t i : waiting_entries) {
      if (!has_failed(entries_[i])) by_queue[entries_[i].queue].push_back(&entries_[i]);
    }
    std::vector<Line> lines;
    for (auto& [queue, waiting] : by_queue) {
      std::ranges::reverse(waiting);
      lines.push_back({queue, share_.fullness(queue), std::move(waiting)});
    }
    const auto rank = [&](const Line& line) {
      return std::tuple(line.fullness, -problem_.queues[line.queue].priority, line.queue);
    };
    while (!lines.empty() && !stopped_) {
      std::size_t next = 0;
      for (std::size_t i = 1; i < lines.size(); ++i) {
        if (rank(lines[i]) < rank(lines[next])) next = i;
      }
      Line& line = lines[next];
      place_entry(pass, *line.waiting.back());
      line.fullness = share_.fullness(line.queue);  // of nobody else has it changed
      line.waiting.pop_back();
      if (line.waiting.empty()) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(next));
    }
  }

  void place_entry(Pass pass, Entry& entry) {
    if (entry.barred || has_failed(entry) || has_minimum(entry)) return;
    if (!belongs(pass, entry.queue, entry.minimum) || should_stop()) return;
    const bool is_known_to_fail = entry.shape >= 0 && dead_shapes_[static_cast<std::size_t>(entry.shape)];
    const bool may_start = !is_known_to_fail && fit::min_resources(state_, entry.gang);
    if (may_start && keep_rules([&] { return placer_.place_minimum(entry.gang); })) {
      count(pass, entry.queue, entry.minimum);
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
    if (!has_minimum(entry)) {
      if (!belongs(pass, entry.queue, entry.minimum)) return;
      if (!room_.claim_minimum(entry.gang, rank_)) {
        if (entry.shape >= 0) dead_claims_.insert(entry.shape);
        return;
      }
      count(pass, entry.queue, entry.minimum);
      claimed(entry.gang);
      grow(pass, entry);
    }
    if (!may_wait(entry)) return;
    for (const GroupIndex group : problem_.gangs[entry.gang].groups) {
      for (const PodIndex pod : placer_.waiting(group)) {
        const WorkPair unit = work_pair(problem_.class_of(pod));
        if (!belongs(pass, entry.queue, unit) || !room_.claim_pod(pod, rank_)) break;
        count(pass, entry.queue, unit);
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
    if (entry.barred || !has_minimum(entry) || !may_wait(entry) || should_stop()) return;
    for (const GroupIndex group : problem_.gangs[entry.gang].groups) {
      PodClassIndex skipped = PodClassIndex::none();
      for (const PodIndex pod : placer_.waiting(group)) {
        const WorkPair unit = work_pair(problem_.class_of(pod));
        if (problem_.pods[pod].pod_class == skipped) continue;
        if (belongs(pass, entry.queue, unit) && keep_rules([&] { return placer_.place_pod(pod); })) {
          count(pass, entry.queue, unit);
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
  const bool walks_all_;
  bool order_matters_ = false;
  // Where not all is walked: what is present, and from which rank on the pass has not counted it; gangs that came or
  // went.
  struct Counted {
    WorkPair work{};
    std::uint32_t version = 0;
  };
  WorkByRank present_;
  std::size_t uncounted_rank_ = 0;
  std::map<GangIndex, Counted> changed_;
  std::size_t changed_read_ = 0;
  std::vector<Entry> entries_;        // by priority, highest first; within one as the order says
  std::vector<std::size_t> waiting_;  // positions of those of which something may be placed, ascending
  SequenceTable shapes_;
  std::vector<bool> dead_shapes_;       // found no room
  std::set<std::int64_t> dead_claims_;  // no room could be made for them
  bool claims_ = false;
  int epoch_ = 0;           // grows with every claim that is met
  std::int32_t rank_ = -1;  // of pass and priority, in the order of the levels
  int asked_ = 0;
  bool stopped_;
};

}  // namespace

PlacingOutcome place_all(const PlacingInput& input, ClusterState& state, GangPlacer& placer, RoomSearch& room) {
  return Placing(input, state, placer, room).run();
}

}  // namespace muster
