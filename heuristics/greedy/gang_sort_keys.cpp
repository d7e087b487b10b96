#include "heuristics/greedy/gang_sort_keys.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "heuristics/greedy/sharer_packing.h"
#include "model/base/tuning.h"

namespace muster::greedy {

namespace {

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
  return biggest * 1e6 + static_cast<double>(gang.minimum[0] + gang.minimum[1]);
}

double size_of(const Problem& problem, const WaitingGang& gang, GangOrder order) {
  return order == GangOrder::kQueueByQueue ? static_cast<double>(gang.minimum[0] + gang.minimum[1])
                                           : size_by_pods(problem, gang, order);
}

// Puts the gangs that have waited longest and fit into the total capacity before all others, in two tiers. Within a
// tier the largest come first; the second tier is a small part of the first, so the large gangs of the first tier pack
// the cluster and the small ones of the second fill it.
class OldestFirst {
 public:
  OldestFirst(const ClusterState& state, const WaitingGangs& gangs, const std::vector<bool>& excluded,
              std::vector<GangSortKey>& keys)
      : problem_(state.problem()),
        gangs_(gangs),
        excluded_(excluded),
        keys_(keys),
        capacity_(static_cast<double>(state.nodes().free_devices_total()) / 1e3),
        is_left_out_(keys.size(), false) {}

  void put_in_tiers() {
    for_each_that_fits([&](std::size_t i, double part) { raise(i, part); });
  }

  // Without sharers that would leave a part of their devices idle; all other sharers are in the first tier, since they
  // fill devices together.
  void put_in_filling_tiers() {
    for (int pass = 0; pass < kTuning.heuristics.passes && leave_out_surplus(); ++pass) {
    }
    for_each_that_fits([&](std::size_t i, double part) { raise(i, share_of(gang_of(i)) > 0 ? 0.0 : part); });
  }

 private:
  static constexpr double kTier = 1e13;  // beyond any size

  const WaitingGang& gang_of(std::size_t i) const { return gangs_.all()[keys_[i].position]; }

  void raise(std::size_t i, double part) { keys_[i].size += kTier * (part <= kTuning.heuristics.first_tier ? 2 : 1); }

  // Visits in turn the gangs that fit in total with all before them: `visit` receives the part of the free devices that
  // they then take.
  template <class Visit>
  void for_each_that_fits(const Visit& visit) const {
    double taken = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (!may_be_placed(gang_of(i), excluded_) || is_left_out_[i]) continue;
      taken += static_cast<double>(gang_of(i).minimum[0]);
      if (taken > capacity_) return;
      visit(i, taken / capacity_);
    }
  }

  // Of gangs of equal pods that share devices: millionths of each.
  std::int64_t share_of(const WaitingGang& gang) const {
    if (gang.leaf.is_none()) return 0;
    const GpuRequest& gpu = problem_.pod_classes[gang.pod_class].gpu;
    return gpu.kind == GpuRequestKind::kFraction ? gpu.share : 0;
  }

  // Of the gangs that fit in total, leaves out the most recent ones that share devices which no other gang could fill.
  // Returns whether there were any.
  bool leave_out_surplus() {
    std::vector<SharerGang> sharers;
    for_each_that_fits([&](std::size_t i, double) {
      const WaitingGang& gang = gang_of(i);
      if (share_of(gang) == 0) return;
      const std::int32_t devices = problem_.pod_classes[gang.pod_class].gpu.devices;
      sharers.push_back({i, share_of(gang), std::int64_t{devices} * std::max(1, gang.needed)});
    });
    const std::vector<std::size_t> surplus = surplus_sharers(sharers);
    for (const std::size_t i : surplus) is_left_out_[i] = true;
    return !surplus.empty();
  }

  const Problem& problem_;
  const WaitingGangs& gangs_;
  const std::vector<bool>& excluded_;
  std::vector<GangSortKey>& keys_;
  const double capacity_;          // free devices in total, in thousandths of one
  std::vector<bool> is_left_out_;  // by position of keys_
};

}  // namespace

std::vector<GangSortKey> gang_sort_keys(const ClusterState& state, const WaitingGangs& gangs, const PlacingOrder& order,
                                        const std::vector<bool>& excluded) {
  std::vector<double> sizes;
  sizes.reserve(gangs.all().size());
  for (const WaitingGang& gang : gangs.all()) sizes.push_back(size_of(state.problem(), gang, order.gangs));
  std::vector<GangSortKey> keys;
  keys.reserve(sizes.size());
  for (const std::uint32_t position : gangs.by_age()) keys.push_back({sizes[position], position});
  if (order.gangs == GangOrder::kOldestBigFirst) OldestFirst(state, gangs, excluded, keys).put_in_tiers();
  if (order.gangs == GangOrder::kOldestFilling) OldestFirst(state, gangs, excluded, keys).put_in_filling_tiers();
  return keys;
}

}  // namespace muster::greedy
