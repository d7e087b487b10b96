// Rule DisruptionBudget: of the pods that a budget selects, no more are evicted or moved, for any reason, than it
// allows. A pod counts in every budget that selects it; releasing pods do not count, since `allowed` excludes them
// already.
#include <algorithm>
#include <iterator>
#include <map>
#include <span>

#include "model/base/words.h"
#include "model/referee/case.h"

namespace muster::referee {
namespace {

// A budget, or a protection of the policy, and the pods in question that it selects.
struct Count {
  std::string title;
  std::int64_t allowed = 0;
  std::vector<PodIndex> pods;
};

// The pods in question by namespace and label, so that a budget that names a label's value checks few of them.
class ByLabel {
 public:
  ByLabel(const Case& c, std::span<const PodIndex> pods) : c_(c), all_(pods.begin(), pods.end()) {
    for (const PodIndex pod : pods) {
      const std::string_view space = c.pod(pod).namespace_name;
      by_namespace_[space].push_back(pod);
      for (const auto& [key, value] : c.pod(pod).labels) by_label_[{space, key, value}].push_back(pod);
    }
  }

  std::vector<PodIndex> selected_by(const SnapshotDisruptionBudget& budget) const {
    if (!budget.selector) return {};
    const std::vector<SelectorRequirement>& all = budget.selector->requirements;
    const auto asked = std::ranges::find(all, SelectorOperator::kIn, &SelectorRequirement::op);
    if (asked == all.end()) {
      const auto there = by_namespace_.find(budget.namespace_name);
      return there == by_namespace_.end() ? std::vector<PodIndex>{} : selected(*budget.selector, there->second);
    }
    std::vector<PodIndex> named;
    for (const std::string_view value : asked->values) {
      const auto there = by_label_.find({budget.namespace_name, asked->key, value});
      if (there != by_label_.end()) named.insert(named.end(), there->second.begin(), there->second.end());
    }
    std::ranges::sort(named);
    named.erase(std::ranges::unique(named).begin(), named.end());
    return selected(*budget.selector, named);
  }

  std::vector<PodIndex> selected(const LabelSelector& selector) const { return selected(selector, all_); }

 private:
  std::vector<PodIndex> selected(const LabelSelector& selector, const std::vector<PodIndex>& among) const {
    std::vector<PodIndex> found;
    std::ranges::copy_if(among, std::back_inserter(found),
                         [&](PodIndex pod) { return selects(selector, c_.pod(pod).labels); });
    return found;
  }

  const Case& c_;
  std::vector<PodIndex> all_;
  std::map<std::string_view, std::vector<PodIndex>> by_namespace_;
  std::map<std::array<std::string_view, 3>, std::vector<PodIndex>> by_label_;
};

bool has_budgets(const Case& c) {
  const Policy& policy = c.snapshot.policy;
  return !c.snapshot.disruption_budgets.empty() || !policy.protect.empty() || !policy.schedulers.empty();
}

// Those that another scheduler runs than the policy names.
std::vector<PodIndex> foreign_pods(const Case& c, std::span<const PodIndex> pods) {
  const std::vector<std::string_view>& ours = c.snapshot.policy.schedulers;
  std::vector<PodIndex> foreign;
  if (ours.empty()) return foreign;
  std::ranges::copy_if(pods, std::back_inserter(foreign), [&](PodIndex pod) {
    const std::string_view name = c.pod(pod).scheduler.name;
    return std::ranges::find(ours, name.empty() ? kDefaultScheduler : name) == ours.end();
  });
  return foreign;
}

// By how many budgets a pod is selected, and whether one of them is exclusive.
struct Selection {
  int budgets = 0;
  bool exclusively = false;
};

// Budgets that select any of the pods. Cost: O(pods x labels + budgets), and the pods that each is asked of.
std::vector<Count> counts_of(const Case& c, std::span<const PodIndex> pods) {
  std::vector<Count> counts;
  if (pods.empty() || !has_budgets(c)) return counts;
  const ByLabel by_label(c, pods);
  std::map<PodIndex, Selection> selections;
  for (const SnapshotDisruptionBudget& budget : c.snapshot.disruption_budgets) {
    std::vector<PodIndex> selected = by_label.selected_by(budget);
    if (selected.empty()) continue;
    for (const PodIndex pod : selected) {
      Selection& of_pod = selections[pod];
      ++of_pod.budgets;
      of_pod.exclusively = of_pod.exclusively || budget.exclusive;
    }
    std::string title = "disruption budget \"";
    title.append(budget.namespace_name).append("/").append(budget.name).append("\"");
    counts.push_back({std::move(title), budget.allowed, std::move(selected)});
  }
  std::vector<PodIndex> shared;
  for (const auto& [pod, selection] : selections) {
    if (selection.budgets > 1 && selection.exclusively) shared.push_back(pod);
  }
  if (!shared.empty()) counts.push_back({"more than one disruption budget", 0, std::move(shared)});
  for (const LabelSelector& protect : c.snapshot.policy.protect) {
    std::vector<PodIndex> selected = by_label.selected(protect);
    if (!selected.empty()) counts.push_back({"policy.protect", 0, std::move(selected)});
  }
  std::vector<PodIndex> foreign = foreign_pods(c, pods);
  if (!foreign.empty()) counts.push_back({"policy.schedulers", 0, std::move(foreign)});
  return counts;
}

std::vector<PodIndex> running_pods(const Case& c, GangIndex gang) {
  std::vector<PodIndex> running;
  std::ranges::copy_if(c.problem.gangs[gang].pods, std::back_inserter(running),
                       [&](PodIndex pod) { return c.runs(pod); });
  return running;
}

}  // namespace

// In the order in which they fell below their minimum, then by name: each is evicted if the rest of its budgets
// suffices for all its running pods.
std::vector<GangIndex> stale_gangs_kept_by_budgets(const Case& c) {
  std::vector<GangIndex> kept, stale;
  if (!has_budgets(c)) return kept;
  for (std::size_t g = 0; g < c.snapshot.gangs.size(); ++g) {
    if (is_stale(c, GangIndex(g))) stale.push_back(GangIndex(g));
  }
  std::ranges::sort(stale, {}, [&](GangIndex gang) {
    const SnapshotGang& source = c.snapshot.gangs[gang.value()];
    return std::pair(source.stale_since.value_or(c.snapshot.time), source.name);
  });
  std::map<std::string, std::int64_t> gone;  // by budget
  for (const GangIndex gang : stale) {
    const std::vector<Count> counts = counts_of(c, running_pods(c, gang));
    const bool may_go = std::ranges::all_of(
        counts, [&](const Count& count) { return gone[count.title] + std::ssize(count.pods) <= count.allowed; });
    if (!may_go) {
      kept.push_back(gang);
      continue;
    }
    for (const Count& count : counts) gone[count.title] += std::ssize(count.pods);
  }
  std::ranges::sort(kept);
  return kept;
}

void check_disruption_budgets(Case& c) {
  std::vector<PodIndex> gone;
  for (const Eviction& eviction : c.plan.evictions) {
    if (c.runs(eviction.pod)) gone.push_back(eviction.pod);
  }
  for (const Count& count : counts_of(c, gone)) {
    if (std::ssize(count.pods) <= count.allowed) continue;
    c.object(Rule::kDisruptionBudget, count.title,
             counted(std::ssize(count.pods), "pod") + " that it selects " + (count.pods.size() == 1 ? "is" : "are") +
                 " evicted or moved (first: \"" + std::string(c.pod(count.pods.front()).name) + "\"); it allows " +
                 std::to_string(count.allowed));
  }
}

}  // namespace muster::referee
