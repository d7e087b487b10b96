#include "heuristics/greedy/placing.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <tuple>
#include <utility>

#include "heuristics/greedy/waiting_gangs.h"
#include "heuristics/state/groups.h"
#include "heuristics/state/share_room.h"
#include "heuristics/state/sharer_packing.h"
#include "model/base/radix_order.h"
#include "model/objective/gang_units.h"
#include "model/objective/level_values.h"

namespace muster {

namespace {

enum class Pass : std::uint8_t { kWithinShare, kWithinQuota, kRest };

constexpr int kStopEvery = 16;  // gangs between two reads of the clock

// What the passes read of a waiting gang, in contiguous memory, since they visit every gang many times.
struct Entry {
  GangIndex gang;
  GroupIndex leaf;                    // none, or as WaitingGang has it
  std::int32_t pods = 0, needed = 0;  // if there is a leaf
  std::int32_t shape = -1;
  std::uint32_t position = 0;  // of all of WaitingGangs
  QueueIndex queue;
  int failed_at = -1;  // the epoch in which its minimum did not fit: only claims can change that
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

  // Claims at the end: first everything that fits in what is free, so that there is a complete plan before any room is
  // made; then the claims, in the same order. In either case, gangs that fit into the capacity that the claims left
  // over come last.
  PlacingOutcome run() {
    claims_ = room_.is_allowed() && input_.order.claims == ClaimTime::kAtOnce;
    run_passes();
    if (room_.is_allowed() && !claims_) {
      if (input_.before_claims && !stopped_) input_.before_claims();
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
      beyond_shapes_.assign(gangs_->shapes(), 0);
      for (std::size_t i = 0; i < sections_.size() && !stopped_; ++i) {
        ++rank_;
        run_section(pass, sections_[i]);
      }
    }
  }

  // Gangs of one priority: positions of gangs_ in their order, and those of them that may place a pod.
  struct Section {
    std::int32_t priority = 0;
    std::span<const Keyed> all;
    std::size_t first = 0, end = 0;                  // of entries_
    std::size_t first_elastic = 0, end_elastic = 0;  // of elastic_
  };

  const WaitingGang& told_of(const Entry& entry) const { return gangs_->all()[entry.position]; }
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

  // The sort key of gangs within a priority: larger first; equal ones in the order of gangs_, by age.
  struct SortKey {
    double size = 0;
    std::uint32_t position = 0;  // of gangs_
  };

  void collect() {
    if (walks_all_) {
      std::vector<GangIndex> all;
      for (const GangIndex gang : problem_.gangs.indices()) all.push_back(gang);
      gangs_ = &own_gangs_.emplace(state_, all);
    } else if (std::ranges::find(input_.excluded, true) != input_.excluded.end()) {
      gangs_ = &own_gangs_.emplace(state_, input_.census.waiting());  // stale gangs have been evicted
    } else {
      gangs_ = &input_.census.waiting_gangs();
    }
    std::vector<SortKey> keys;
    keys.reserve(gangs_->all().size());
    std::vector<double> sizes;
    sizes.reserve(keys.capacity());
    for (const WaitingGang& gang : gangs_->all()) sizes.push_back(size_of(gang));
    for (const std::uint32_t position : gangs_->by_age()) keys.push_back({sizes[position], position});
    if (input_.order.gangs == GangOrder::kOldestBigFirst || input_.order.gangs == GangOrder::kOldestFilling)
      put_oldest_first(keys);
    sort_gangs(keys);
    add_entries();
    dead_shapes_.assign(gangs_->shapes(), 0);
    dead_claims_.assign(gangs_->shapes(), 0);
  }

  // Whether any pod of it may be placed.
  bool is_open(const WaitingGang& gang) const { return gang.waits && !input_.excluded[gang.gang.value()]; }

  // Of each priority in turn: the gangs that have waited longest and fit into the total capacity, in tiers. Within a
  // tier the largest come first; each tier is a small part of the one before, so the large gangs of the first tier pack
  // the cluster and the small ones of the last fill it. Then the gangs beyond the total capacity.
  void put_oldest_first(std::vector<SortKey>& keys) const {
    std::vector<bool> is_left_out(keys.size(), false);
    const int rounds = input_.order.gangs == GangOrder::kOldestFilling ? kSharerRounds : 0;
    for (int round = 0; round < rounds; ++round) {
      if (!leave_out_surplus(keys, is_left_out)) break;
    }
    put_in_tiers(keys, is_left_out);
  }
  static constexpr int kSharerRounds = 4;

  // Visits in turn the gangs that fit in total with all before them: `visit` receives the part of the free devices that
  // they then take.
  template <class Visit>
  void for_each_that_fits(std::vector<SortKey>& keys, const std::vector<bool>& is_left_out, const Visit& visit) const {
    const double room = static_cast<double>(state_.free_devices_in_sum()) / 1e3;
    double taken = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const WaitingGang& gang = gangs_->all()[keys[i].position];
      if (!is_open(gang) || is_left_out[i]) continue;
      taken += static_cast<double>(gang.minimum[0]);
      if (taken > room) return;
      visit(i, taken / room);
    }
  }

  // Sharers that are to fill devices together are all in the first tier.
  void put_in_tiers(std::vector<SortKey>& keys, const std::vector<bool>& is_left_out) const {
    constexpr std::array kTiers{0.97, 0.999, 1.0};  // of the free devices, up to there
    constexpr double kFirst = 1e13;                 // beyond any size
    const bool keeps_sharers_together = input_.order.gangs == GangOrder::kOldestFilling;
    for_each_that_fits(keys, is_left_out, [&](std::size_t i, double part) {
      const bool is_of_first = keeps_sharers_together && share_of(gangs_->all()[keys[i].position]) > 0;
      const auto tier = is_of_first ? kTiers.begin() : std::ranges::lower_bound(kTiers, part);
      keys[i].size += kFirst * static_cast<double>(kTiers.end() - tier);
    });
  }

  // Of gangs of equal pods that share devices: millionths of each.
  std::int64_t share_of(const WaitingGang& gang) const {
    if (gang.leaf.is_none()) return 0;
    const GpuRequest& gpu = problem_.pod_classes[gang.pod_class].gpu;
    return gpu.kind == GpuRequestKind::kFraction ? gpu.share : 0;
  }

  // Of the gangs that fit in total, leaves out the most recent ones that share devices which no other gang could fill.
  // Returns whether there were any.
  bool leave_out_surplus(std::vector<SortKey>& keys, std::vector<bool>& is_left_out) const {
    std::vector<SharerGang> sharers;
    for_each_that_fits(keys, is_left_out, [&](std::size_t i, double) {
      const WaitingGang& gang = gangs_->all()[keys[i].position];
      if (share_of(gang) == 0) return;
      const std::int32_t devices = problem_.pod_classes[gang.pod_class].gpu.devices;
      sharers.push_back({i, share_of(gang), std::int64_t{devices} * std::max(1, gang.needed)});
    });
    const std::vector<std::size_t> surplus = surplus_sharers(sharers);
    for (const std::size_t i : surplus) is_left_out[i] = true;
    return !surplus.empty();
  }

  double size_of(const WaitingGang& gang) const {
    double size = static_cast<double>(gang.minimum[0] + gang.minimum[1]);
    if (input_.order.gangs != GangOrder::kQueueByQueue) {
      double cpu = 0, biggest = 0, work = 0;
      const auto add = [&](const PodClass& pod_class, double pods) {
        cpu += pods * static_cast<double>(pod_class.request[kCpu.value()]);
        work += pods * static_cast<double>(pod_class.work);
        biggest = std::max(biggest, static_cast<double>(pod_class.work));
      };
      if (gang.leaf.is_none()) {
        for (const PodIndex pod : problem_.gangs[gang.gang].pods) add(problem_.class_of(pod), 1);
      } else {
        add(problem_.pod_classes[gang.pod_class], gang.pods);
      }
      size = input_.order.gangs == GangOrder::kCpuFirst ? cpu / std::max(1.0, work) : biggest * 1e6 + size;
    }
    if (input_.order.noise > 0) {
      std::mt19937_64 random(input_.order.seed * 0x9E3779B97F4A7C15ULL + gang.gang.value());
      size *= 1 + input_.order.noise * (2 * static_cast<double>(random() >> 11) / static_cast<double>(1ULL << 53) - 1);
    }
    return size;
  }

  void sort_gangs(const std::vector<SortKey>& keys) {
    order_.reserve(keys.size());
    for (const SortKey& key : keys) order_.push_back({descending_key(key.size), key.position});
    std::vector<Keyed> spare;
    for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
      while (end < order_.size() && priority_at(end) == priority_at(begin)) ++end;
      sections_.push_back({priority_at(begin), std::span(order_).subspan(begin, end - begin)});
      sort_by_key(std::span(order_).subspan(begin, end - begin), spare);
    }
  }
  std::int32_t priority_at(std::size_t i) const { return gangs_->all()[order_[i].position].priority; }

  void add_entries() {
    entries_.reserve(order_.size());
    for (Section& section : sections_) {
      section.first = entries_.size();
      section.first_elastic = elastic_.size();
      for (const Keyed& key : section.all) {
        const WaitingGang& gang = gangs_->all()[key.position];
        if (!is_open(gang)) continue;
        if (gang.leaf.is_none() || gang.pods > gang.needed) elastic_.push_back(entries_.size());
        entries_.push_back({gang.gang, gang.leaf, gang.pods, gang.needed, gang.shape, key.position, gang.queue});
      }
      section.end = entries_.size();
      section.end_elastic = elastic_.size();
    }
  }

  // --- One priority of one pass

  void run_section(Pass pass, const Section& section) {
    count_present(pass, section);
    const std::span waiting = std::span(entries_).subspan(section.first, section.end - section.first);
    if (input_.order.gangs == GangOrder::kQueueByQueue && problem_.queues.size() > 1) {
      queue_by_queue(pass, waiting);
    } else {
      for (std::size_t i = 0; i < waiting.size() && !stopped_; ++i) {
        if (i + kSoon < waiting.size()) fetch_pods(waiting[i + kSoon]);
        if (i + kLater < waiting.size()) fetch(waiting[i + kLater]);
        place_entry(pass, waiting[i]);
      }
    }
    for (std::size_t i = section.first_elastic; i < section.end_elastic && !stopped_; ++i)
      grow(pass, entries_[elastic_[i]]);
    if (!claims_ || !room_.may_claim(rank_)) return;
    for (Entry& entry : waiting) claim(pass, entry);
  }

  // Present pods of this priority take their part of the shares before the pass places others.
  void count_present(Pass pass, const Section& section) {
    if (pass == Pass::kRest) return;
    if (!walks_all_) {
      count_sums(pass, section.priority);
      return;
    }
    for (const Keyed& key : section.all) {
      const WaitingGang& gang = gangs_->all()[key.position];
      if (!gang.leaf.is_none()) {
        count_plain(pass, gang);
        continue;
      }
      std::vector<PodIndex> present;
      for (const PodIndex pod : problem_.gangs[gang.gang].pods) {
        if (state_.is_present(pod)) present.push_back(pod);
      }
      if (present.empty()) continue;
      for (const WorkPair& unit : gang_units(problem_, gang.gang, present)) count(pass, gang.queue, unit);
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
    if (counted_.empty() && !all.empty()) counted_.resize(problem_.gangs.size());
    for (; changed_read_ < all.size(); ++changed_read_) {
      const GangIndex gang = all[changed_read_];
      Counted& counted = counted_[gang];
      if (!counted.is_known)
        counted = {present_work(input_.census.before(), gang), input_.census.before().version(gang), true};
      if (counted.version == state_.version(gang) || !fit::queue_exists(problem_.gangs[gang])) continue;
      recount(gang, problem_.gangs[gang].priority, problem_.gangs[gang].queue, present_work(state_, gang));
    }
  }

  // The same for a gang of which no pod was present and now the minimum is, without a scan of its pods.
  void note_minimum(const Entry& entry) {
    if (walks_all_ || entry.shape < 0) return;
    if (counted_.empty()) counted_.resize(problem_.gangs.size());
    recount(entry.gang, told_of(entry).priority, entry.queue, told_of(entry).minimum);
  }

  void recount(GangIndex gang, std::int32_t priority, QueueIndex queue, const WorkPair& now) {
    Counted& counted = counted_[gang];
    WorkPair& sum = present_[{priority_rank(problem_, priority), queue}];
    for (std::size_t side = 0; side < 2; ++side) sum[side] += now[side] - counted.work[side];
    counted = {now, state_.version(gang), true};
  }

  void count_plain(Pass pass, const WaitingGang& gang) {
    const std::int32_t present = state_.members(gang.leaf);
    if (present == 0 || present < gang.needed) return;
    count(pass, gang.queue, gang.minimum);
    const WorkPair unit = work_pair(problem_.pod_classes[gang.pod_class]);
    for (std::int32_t i = std::max(0, gang.needed); i < present; ++i) count(pass, gang.queue, unit);
  }

  void count(Pass pass, QueueIndex queue, const WorkPair& unit) {
    if (pass == Pass::kWithinShare && share_.fits(queue, unit)) share_.add(queue, unit);
    if (pass == Pass::kWithinQuota) quota_.add(queue, unit);
  }

  bool belongs(Pass pass, QueueIndex queue, const WorkPair& unit) const {
    if (pass == Pass::kWithinShare) return share_.fits(queue, unit);
    return pass == Pass::kRest || quota_.gains(queue, unit);
  }

  void queue_by_queue(Pass pass, std::span<Entry> entries) {
    struct Line {
      QueueIndex queue;
      double fullness = 0;
      std::vector<Entry*> waiting;  // the next one last
    };
    std::map<QueueIndex, std::vector<Entry*>> by_queue;
    for (Entry& entry : entries) {
      if (!has_failed(entry)) by_queue[entry.queue].push_back(&entry);
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
      const std::size_t left = line.waiting.size() - 1;
      if (left >= kSoon) fetch_pods(*line.waiting[left - kSoon]);
      if (left >= kLater) fetch(*line.waiting[left - kLater]);
      place_entry(pass, *line.waiting.back());
      line.fullness = share_.fullness(line.queue);  // no other queue's has changed
      line.waiting.pop_back();
      if (line.waiting.empty()) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(next));
    }
  }

  // There are more gangs than the caches hold, and they are not visited in memory order: prefetches what is needed
  // soon, first of the gang, then of its pods.
  static constexpr std::size_t kSoon = 4, kLater = 8;
  void fetch(const Entry& entry) const {
    if (has_failed(entry)) return;
    __builtin_prefetch(&problem_.gangs[entry.gang]);
    __builtin_prefetch(&told_of(entry));
    if (is_plain(entry)) __builtin_prefetch(&problem_.groups[entry.leaf]);
  }
  void fetch_pods(const Entry& entry) const {
    if (has_failed(entry) || !is_plain(entry)) return;
    const std::span<const PodIndex> pods = problem_.groups[entry.leaf].pods;
    if (!pods.empty()) __builtin_prefetch(&problem_.pods[pods.front()]);
  }

  void place_entry(Pass pass, Entry& entry) {
    if (has_failed(entry) || is_beyond(entry) || has_minimum(entry)) return;
    if (!minimum_belongs(pass, entry) || should_stop()) return;
    if (may_start(entry) && keep_rules([&] { return placer_.place_minimum(entry.gang); })) {
      count(pass, entry.queue, told_of(entry).minimum);
      note_minimum(entry);
      room_.note_placed(entry.gang, rank_);
    } else if (entry.shape >= 0) {
      dead_shapes_[static_cast<std::size_t>(entry.shape)] = 1;
    } else {
      entry.failed_at = epoch_;
    }
  }

  // False if its minimum cannot fit whatever is tried. Gangs with a shape set no minResources.
  bool may_start(const Entry& entry) const {
    if (entry.shape < 0) return room_.min_resources_hold(entry.gang);
    const std::int32_t missing = entry.needed - state_.members(entry.leaf);
    return room_.devices_fit_in_sum(problem_.pod_classes[told_of(entry).pod_class], missing);
  }

  // Within a pass the shares and quotas only fill up: a gang beyond them stays beyond them.
  bool is_beyond(const Entry& entry) const {
    return entry.shape >= 0 && beyond_shapes_[static_cast<std::size_t>(entry.shape)] != 0;
  }
  bool minimum_belongs(Pass pass, const Entry& entry) {
    if (is_beyond(entry)) return false;
    if (belongs(pass, entry.queue, told_of(entry).minimum)) return true;
    if (entry.shape >= 0) beyond_shapes_[static_cast<std::size_t>(entry.shape)] = 1;
    return false;
  }

  // Places pods, but not in a way that invalidates evictions already decided.
  template <class Place>
  bool keep_rules(const Place& place) {
    const auto before = state_.checkpoint();
    if (place() && room_.rules_hold()) return true;
    state_.rollback(before);
    return false;
  }

  bool has_failed(const Entry& entry) const {
    return entry.shape >= 0 ? dead_shapes_[static_cast<std::size_t>(entry.shape)] != 0 : entry.failed_at == epoch_;
  }

  // Makes room for the gang's minimum if it does not have it, and for the pods beyond it.
  void claim(Pass pass, Entry& entry) {
    const auto shape = static_cast<std::size_t>(entry.shape);
    if (entry.shape >= 0 && dead_claims_[shape] != 0) return;
    if (should_stop()) return;
    if (!has_minimum(entry)) {
      if (!minimum_belongs(pass, entry)) return;
      if (!room_.claim_minimum(entry.gang, rank_)) {
        if (entry.shape >= 0) dead_claims_[shape] = 1;
        return;
      }
      count(pass, entry.queue, told_of(entry).minimum);
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
    dead_shapes_.assign(dead_shapes_.size(), 0);
    dead_claims_.assign(dead_claims_.size(), 0);
  }

  // Pods beyond the minimum, one at a time.
  void grow(Pass pass, const Entry& entry) {
    if (!has_minimum(entry) || !may_wait(entry) || should_stop()) return;
    for (const GroupIndex group : problem_.gangs[entry.gang].groups) {
      PodClassIndex skipped = PodClassIndex::none();
      for (const PodIndex pod : placer_.waiting(group)) {
        const WorkPair unit = work_pair(problem_.class_of(pod));
        if (problem_.pods[pod].pod_class == skipped) continue;
        if (should_stop()) return;
        if (belongs(pass, entry.queue, unit) && keep_rules([&] { return placer_.place_pod(pod); })) {
          count(pass, entry.queue, unit);
          room_.note_placed(pod, rank_);
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
  // If not all gangs are walked: what is present, and from which rank on the pass has not counted it; gangs that came
  // or left.
  struct Counted {
    WorkPair work{};
    std::uint32_t version = 0;
    bool is_known = false;  // else it is as it was before
  };
  WorkByRank present_;
  std::size_t uncounted_rank_ = 0;
  Indexed<GangIndex, Counted> counted_;  // none before the first change
  std::size_t changed_read_ = 0;
  std::optional<WaitingGangs> own_gangs_;
  const WaitingGangs* gangs_ = nullptr;
  std::vector<Keyed> order_;          // positions of gangs_: by priority, highest first; within one by the order
  std::vector<Section> sections_;     // of order_, by priority
  std::vector<Entry> entries_;        // those of which something may be placed, in that order
  std::vector<std::size_t> elastic_;  // positions of those that may have pods beyond their minimum
  std::vector<char> dead_shapes_;     // found no room
  std::vector<char> dead_claims_;     // no room could be made for them
  std::vector<char> beyond_shapes_;   // their minimum does not belong into the pass
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
