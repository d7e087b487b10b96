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

}  // namespace muster::answers
