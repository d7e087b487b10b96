#include "solver/answers/holders.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "model/base/saturating.h"
#include "model/explain/alike_victims.h"
#include "model/explain/remaining_capacity.h"
#include "model/problem/exceeded.h"

namespace muster::answers {

namespace {

class HolderList {
 public:
  HolderList(const WaitingGang& gang, const FairShares& shares)
      : gang_(gang),
        problem_(gang.problem()),
        grounds_(problem_, shares, gang.end()),
        claim_{gang.index(), explain::least_usage(problem_, gang.need())},
        hold_of_(problem_.pods.size(), Hold::kNotPreemptible) {
    for (const explain::AlikeVictims& victims : explain::alike_victims(problem_, gang.end())) {
      const Hold hold = hold_of(victims.kind);
      for (const PodIndex pod : victims.pods) hold_of_[pod] = hold;
    }
    for (const Placement& placement : gang.run().solution.plan.placements) hold_of_[placement.pod] = Hold::kPlacedNow;
  }

  std::vector<Holder> list() {
    std::map<std::pair<GangIndex, Hold>, Holder> by_gang;
    std::map<std::pair<GangIndex, Hold>, std::set<NodeIndex>> nodes;
    for (const PodIndex pod : problem_.pods.indices()) {
      const NodeIndex node = gang_.end().node[pod];
      const GangIndex owner = problem_.pods[pod].gang;
      if (node.is_none() || owner == gang_.index() || !suits(node)) continue;
      const QueueAmounts usage = queue_usage(problem_.class_of(pod), problem_.class_of(node));
      if (usage[wanted()] == 0) continue;
      const std::pair key(owner, hold_of_[pod]);
      Holder& holder = by_gang.try_emplace(key, Holder{owner, key.second, 0, 0, {}}).first->second;
      ++holder.pods;
      for (std::size_t i = 0; i < kQueueResources; ++i) holder.usage[i] = saturating_add(holder.usage[i], usage[i]);
      nodes[key].insert(node);
    }
    std::vector<Holder> all;
    for (auto& [key, holder] : by_gang) {
      holder.nodes = std::ssize(nodes[key]);
      all.push_back(holder);
    }
    std::ranges::stable_sort(all, std::greater<>(), [&](const Holder& holder) { return holder.usage[wanted()]; });
    return all;
  }

 private:
  std::size_t wanted() const { return claim_.demand[kQueueGpu] > 0 ? kQueueGpu : kQueueMemory; }

  bool suits(NodeIndex node) const {
    const std::size_t node_class = problem_.nodes[node].node_class.value();
    return std::ranges::any_of(gang_.need().items, [&](const explain::NeedItem& item) {
      return problem_.pod_classes[item.pod_class].allowed[node_class];
    });
  }

  Hold hold_of(const explain::VictimKind& kind) const {
    using Rules = explain::EvictionRuleSet;
    constexpr std::array<std::pair<Hold, Rules>, 5> kRules = {{{Hold::kFairShare, {.share = true}},
                                                               {Hold::kPriority, {.priority = true}},
                                                               {Hold::kProtected, {.protection = true}},
                                                               {Hold::kDisruptionBudget, {.budgets = true}},
                                                               {Hold::kNotAllowed, {.actions = true}}}};
    for (const auto& [hold, rules] : kRules) {
      if (!grounds_.may_go(kind, claim_, rules))
        return hold == Hold::kFairShare && lacks_shares() ? Hold::kNoShares : hold;
    }
    return Hold::kMayBeEvicted;
  }

  bool lacks_shares() const {
    const explain::GangReport* report = gang_.run().report_on(gang_.index());
    return report != nullptr && report->make_room == explain::MakeRoomCode::kNoShares;
  }

  const WaitingGang& gang_;
  const Problem& problem_;
  explain::EvictionGrounds grounds_;
  explain::Claim claim_;
  Indexed<PodIndex, Hold> hold_of_;
};

}  // namespace

std::string_view hold_name(Hold hold) {
  constexpr std::array<std::string_view, kHolds> kNames = {"placedNow",        "notPreemptible", "fairShare",
                                                           "noShares",         "priority",       "protected",
                                                           "disruptionBudget", "notAllowed",     "mayBeEvicted"};
  return kNames[static_cast<std::size_t>(hold)];
}

std::vector<Holder> holders(const WaitingGang& gang, const FairShares& shares) {
  return HolderList(gang, shares).list();
}

namespace {

using explain::FilterCode;

// Classes of pods that wait for GPUs.
std::vector<PodClassIndex> waiting_classes(const Problem& problem, const explain::AfterPlan& end) {
  std::set<PodClassIndex> classes;
  for (const PodIndex pod : problem.pods.indices()) {
    if (problem.pods[pod].status != PodStatus::kPending || end.is_present(pod)) continue;
    const PodClassIndex index = problem.pods[pod].pod_class;
    if (problem.pod_classes[index].gpu.kind != GpuRequestKind::kNone) classes.insert(index);
  }
  return {classes.begin(), classes.end()};
}

MicroGpu free_on(const Problem& problem, const explain::RemainingCapacity& room, NodeIndex node, std::int64_t* whole) {
  const DeviceUnits capacity = problem.device_capacity(node);
  MicroGpu sum = 0;
  for (const std::int64_t free : room.devices(node)) {
    sum += static_cast<MicroGpu>(static_cast<__int128>(free) * 1'000'000 / capacity);
    if (whole && free == capacity) ++*whole;
  }
  return sum;
}

std::pair<FilterCode, std::string> furthest(const Problem& problem, const explain::RemainingCapacity& room,
                                            const std::vector<PodClassIndex>& classes, NodeIndex node) {
  std::pair<FilterCode, std::string> best{FilterCode::kUnschedulable, ""};
  for (const PodClassIndex index : classes) {
    const PodClass& pod_class = problem.pod_classes[index];
    const NodeClassIndex node_class = problem.nodes[node].node_class;
    std::pair<FilterCode, std::string> met;
    if (pod_class.allowed[node_class.value()]) {
      ResourceIndex other;
      met.first = explain::filter_on(problem, room, pod_class, node, &other);
      if (met.first == FilterCode::kInsufficient) met.second = problem.resource_name(other);
    } else if (is_closed_by_hold(problem, pod_class, node_class)) {
      met.first = FilterCode::kReserved;
    } else {
      met = explain::static_blocker(problem, pod_class, problem.node_classes[node_class]);
    }
    if (met.first >= best.first) best = std::move(met);
    if (best.first == FilterCode::kAvailable) break;
  }
  return best;
}

}  // namespace

std::vector<StrandedCapacity> stranded_capacity(const Run& run) {
  const explain::AfterPlan end = explain::after_plan(run.problem, run.solution.plan);
  const explain::RemainingCapacity room = explain::RemainingCapacity::after(run.problem, end);
  const std::vector<PodClassIndex> classes = waiting_classes(run.problem, end);
  std::map<std::pair<FilterCode, std::string>, StrandedCapacity> by_cause;
  for (const NodeIndex node : room.nodes()) {
    std::int64_t whole = 0;
    const MicroGpu gpus = free_on(run.problem, room, node, &whole);
    if (gpus == 0 || classes.empty()) continue;
    auto cause = furthest(run.problem, room, classes, node);
    StrandedCapacity& stranded = by_cause[cause];
    stranded.filter = cause.first;
    stranded.detail = std::move(cause.second);
    ++stranded.nodes;
    stranded.gpus += gpus;
    stranded.whole += whole;
  }
  std::vector<StrandedCapacity> list;
  for (auto& [cause, stranded] : by_cause) list.push_back(std::move(stranded));
  std::ranges::stable_sort(list, std::greater<>(), &StrandedCapacity::gpus);
  return list;
}

MicroGpu free_gpus(const Run& run) {
  const explain::RemainingCapacity room =
      explain::RemainingCapacity::after(run.problem, explain::after_plan(run.problem, run.solution.plan));
  MicroGpu sum = 0;
  for (const NodeIndex node : room.nodes()) sum += free_on(run.problem, room, node, nullptr);
  return sum;
}

}  // namespace muster::answers
