#include "heuristics/greedy/gang_order.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "heuristics/greedy/sharer_packing.h"
#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::greedy {

namespace {

constexpr double kBeforeOthers = 1e13;  // beyond any size

double size_by_work(double biggest) { return biggest * 1e6; }  // beyond the work of most gangs

// By the hardest pod to fit, or by its cpu per unit of work.
double size_by_pods(const Problem& problem, const WaitingGang& gang, GangOrder order) {
  double cpu = 0, biggest = 0, work = 0;
  const auto add = [&](const PodClass& pod_class, double pods) {
    cpu += pods * static_cast<double>(pod_class.request[kCpu.value()]);
    work += pods * static_cast<double>(pod_class.work);
    biggest = std::max(biggest, static_cast<double>(pod_class.work));
  };
  if (gang.leaf.is_none()) {
    for (const PodIndex pod : problem.gangs[gang.gang].pods) add(problem.class_of(pod), 1);
  } else {
    add(problem.pod_classes[gang.pod_class], gang.pods);
  }
  if (order == GangOrder::kCpuFirst) return cpu / std::max(1.0, work);
  return size_by_work(biggest) + static_cast<double>(gang.minimum[0] + gang.minimum[1]);
}

double size_of(const Problem& problem, const WaitingGang& gang, GangOrder order) {
  return order == GangOrder::kQueueByQueue ? static_cast<double>(gang.minimum[0] + gang.minimum[1])
                                           : size_by_pods(problem, gang, order);
}

// Chooses gangs by age within the sum of the free devices, and puts them before all others. In both parts the largest
// pods come first: those chosen pack well, and the others fill what is left.
class OldestFirst {
 public:
  // Of gangs that share devices, the most recent ones are left out if no other gang would fill their devices.
  OldestFirst(const ClusterState& state, const WaitingGangs& gangs, const std::vector<bool>& excluded,
              std::vector<GangSortKey>& keys)
      : keys_(keys), capacity_(state.nodes().free_devices_total() / kMillionthsOfWork) {
    gangs_.reserve(keys.size());
    for (const GangSortKey& key : keys) {
      const WaitingGang& gang = gangs.all()[key.position];
      gangs_.push_back(asked_by(state.problem(), gang, may_be_placed(gang, excluded)));
    }
    for (int pass = 0; pass < kTuning.heuristics.passes && leave_out_surplus(); ++pass) {
    }
    admit_no_more_sharers();
    leave_out_surplus();
  }

  bool fills_devices() const {
    return for_each_chosen([](std::size_t) {}) == 0 && pack_sharers(counts_of(chosen_sharers())).idle == 0;
  }

  // Sharers come before the gangs of one device, since they bring more of other resources than a whole device does.
  void put_first() {
    for_each_chosen([&](std::size_t i) {
      keys_[i].size += kBeforeOthers + (gangs_[i].share > 0 ? size_by_work(kWorkOfDevice) : 0);
    });
  }

  // For devices that are to be filled to the last: of equally many whole devices, those come first that take least of
  // other resources. They fit next to sharers; the others need nodes without any.
  void put_lightest_first() {
    for_each_chosen([&](std::size_t i) {
      if (gangs_[i].share == 0 && gangs_[i].pod_work > 0) keys_[i].size = size_by_work(gangs_[i].pod_work);
    });
  }

 private:
  static constexpr double kWorkOfDevice = 1000;
  static constexpr MicroGpu kMillionthsOfWork = 1000;

  // What the scans read of a gang; if it has equal pods, with more of each of them.
  struct Asked {
    Work work = 0;
    std::int64_t share = 0, sharers = 0;  // of pods that share devices, in millionths of one
    double pod_work = 0;                  // less the part of the cluster's cpu or memory that the pod takes
    bool may_come = false;
  };
  static Asked asked_by(const Problem& problem, const WaitingGang& gang, bool may_come) {
    Asked asked{gang.minimum[0], 0, 0, 0, may_come};
    if (gang.leaf.is_none()) return asked;
    const PodClass& pod_class = problem.pod_classes[gang.pod_class];
    const GpuRequest& gpu = pod_class.gpu;
    asked.pod_work = static_cast<double>(pod_class.work) -
                     std::max(part_of(pod_class.request[kCpu.value()], problem.total[kQueueCpu]),
                              part_of(pod_class.request[kMemory.value()], problem.total[kQueueMemory]));
    if (gpu.kind != GpuRequestKind::kFraction) return asked;
    asked.share = gpu.share;
    asked.sharers = std::int64_t{gpu.devices} * std::max(1, gang.needed);
    return asked;
  }
  static double part_of(Amount amount, Amount whole) {
    if (amount <= 0) return 0;
    return whole > amount ? static_cast<double>(amount) / static_cast<double>(whole) : 1;
  }

  // Visits in turn the gangs that the rest of the sum has room for, the oldest first; returns what is left of it.
  template <class Visit>
  Work for_each_chosen(const Visit& visit) const {
    Work rest = capacity_;
    for (std::size_t i = 0; i < gangs_.size(); ++i) {
      if (!gangs_[i].may_come || gangs_[i].work > rest) continue;
      rest -= gangs_[i].work;
      visit(i);
    }
    return rest;
  }

  std::vector<SharerGang> chosen_sharers() const {
    std::vector<SharerGang> sharers;
    for_each_chosen([&](std::size_t i) {
      if (gangs_[i].share > 0) sharers.push_back({i, gangs_[i].share, gangs_[i].sharers});
    });
    return sharers;
  }

  // Returns whether there was any.
  bool leave_out_surplus() {
    const std::vector<std::size_t> surplus = surplus_sharers(chosen_sharers());
    for (const std::size_t i : surplus) gangs_[i].may_come = false;
    return !surplus.empty();
  }

  // Only whole devices take the place of those that are left out from now on.
  void admit_no_more_sharers() {
    std::vector<bool> is_chosen(gangs_.size(), false);
    for_each_chosen([&](std::size_t i) { is_chosen[i] = true; });
    for (std::size_t i = 0; i < gangs_.size(); ++i) {
      if (gangs_[i].share > 0) gangs_[i].may_come = is_chosen[i];
    }
  }

  std::vector<GangSortKey>& keys_;
  const Work capacity_;       // of the free devices in total
  std::vector<Asked> gangs_;  // by position of keys_
};

// By seniority. Those come first that have their turn within a quota, the largest pods first, as they are the hardest
// to fit.
void put_in_turn(const Problem& problem, const WaitingGangs& gangs, std::vector<GangSortKey>& keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const WaitingGang& gang = gangs.all()[keys[i].position];
    keys[i].size = problem.gangs[gang.gang].times.has_turn
                       ? kBeforeOthers + size_by_pods(problem, gang, GangOrder::kBigFirst)
                       : static_cast<double>(keys.size() - i);
  }
}

}  // namespace

std::vector<GangSortKey> gang_sort_keys(const ClusterState& state, const WaitingGangs& gangs, const PlacingOrder& order,
                                        const std::vector<bool>& excluded) {
  std::vector<double> sizes;
  sizes.reserve(gangs.all().size());
  for (const WaitingGang& gang : gangs.all()) sizes.push_back(size_of(state.problem(), gang, order.gangs));
  std::vector<GangSortKey> keys;
  keys.reserve(sizes.size());
  for (const std::uint32_t position : gangs.by_age()) keys.push_back({sizes[position], position});
  if (order.gangs == GangOrder::kOldestFirst || order.gangs == GangOrder::kOldestFilling) {
    OldestFirst oldest(state, gangs, excluded, keys);
    const bool must_fill = order.gangs == GangOrder::kOldestFilling;
    if (must_fill && !oldest.fills_devices()) return keys;
    if (must_fill) oldest.put_lightest_first();
    oldest.put_first();
  }
  if (order.gangs == GangOrder::kInTurn) put_in_turn(state.problem(), gangs, keys);
  return keys;
}

GangSequence::GangSequence(const WaitingGangs& gangs, const std::vector<GangSortKey>& keys,
                           const std::vector<bool>& excluded)
    : gangs_(gangs) {
  MUSTER_REQUIRE(keys.size() == gangs.all().size());
  sort(keys);
  add_entries(excluded);
}

void GangSequence::sort(const std::vector<GangSortKey>& keys) {
  order_.reserve(keys.size());
  for (const GangSortKey& key : keys) order_.push_back({descending_key(key.size), key.position});
  std::vector<Keyed> spare;
  for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
    while (end < order_.size() && rank_at(end) == rank_at(begin)) ++end;
    const std::span<Keyed> section = std::span(order_).subspan(begin, end - begin);
    sections_.push_back({rank_at(begin), section});
    sort_by_key(section, spare);
  }
}

void GangSequence::add_entries(const std::vector<bool>& excluded) {
  entries_.reserve(order_.size());
  for (Section& section : sections_) {
    section.first = entries_.size();
    section.first_elastic = elastic_.size();
    for (const Keyed& key : section.all) {
      const WaitingGang& gang = gangs_.all()[key.position];
      if (!may_be_placed(gang, excluded)) continue;
      if (gang.leaf.is_none() || gang.pods > gang.needed) elastic_.push_back(entries_.size());
      entries_.push_back({gang.gang, gang.leaf, gang.pods, gang.needed, gang.shape, key.position, gang.queue});
    }
    section.end = entries_.size();
    section.end_elastic = elastic_.size();
  }
}

}  // namespace muster::greedy
