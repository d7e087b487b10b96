// Disruption budgets: the running pods that each one selects, and the consequences for stale gangs. Pods that the
// policy protects, and running pods of schedulers that the policy does not name, form budgets that allow no eviction.
// So do the running pods of a gang, or of each of its subgroups, if only what is beyond its minimum may leave.
//
// A budget whose selector names a label's value is found through an index of values; each other budget is matched
// against every running pod of its namespace. Cost: O(budgets + running pods x labels), plus the pods of each budget
// and the pods matched against budgets without a value.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "model/base/require.h"
#include "model/base/saturating.h"
#include "model/build/stages.h"
#include "model/snapshot/filters.h"

namespace muster {
namespace {

constexpr std::string_view kSharedBudgets = "more than one disruption budget";

// A budget, and what it selects.
struct Candidate {
  DisruptionBudget budget;
  const LabelSelector* selector = nullptr;
  std::int64_t selected = 0;  // running pods
  bool exclusive = false;
};

// `apply(gang, leaf)` for the leaves whose minimum stays.
template <class Apply>
void for_each_kept_leaf(const ProblemDraft& draft, const Apply& apply) {
  for (std::size_t i = 0; i < draft.snapshot.gangs.size(); ++i) {
    const Gang& gang = draft.problem.gangs[GangIndex(i)];
    if (draft.snapshot.gangs[i].disruption != Disruption::kSurplus || !gang.preemptible) continue;
    for (const GroupIndex group : gang.groups) {
      if (draft.problem.groups[group].is_leaf()) apply(gang, draft.problem.groups[group]);
    }
  }
}

// Which pods are the minimum is open: those that use most of the queue count.
void count_core(Problem& problem, const Gang& gang, const Group& leaf) {
  if (gang.queue.is_none()) return;
  std::vector<QueueAmounts> used;
  std::int32_t needed = leaf.minimum;
  for (const PodIndex index : leaf.pods) {
    const Pod& pod = problem.pods[index];
    if (pod.status == PodStatus::kSucceeded) --needed;
    if (pod.status == PodStatus::kRunning)
      used.push_back(queue_usage(problem.pod_classes[pod.pod_class], problem.class_of(pod.node)));
  }
  std::ranges::sort(used, std::ranges::greater{});
  used.resize(std::min(used.size(), static_cast<std::size_t>(std::max(0, needed))));
  for (const QueueIndex queue : problem.queues[gang.queue].ancestors) {
    for (const QueueAmounts& amounts : used) {
      for (std::size_t r = 0; r < kQueueResources; ++r) {
        Amount& sum = problem.queues[queue].core_usage[r];
        sum = saturating_add(sum, amounts[r]);
      }
    }
  }
}

class BudgetFinder {
 public:
  explicit BudgetFinder(ProblemDraft& draft) : draft_(draft), selected_by_(draft.problem.pods.size()) {}

  Failure find() {
    const std::vector<SnapshotDisruptionBudget>& sources = draft_.snapshot.disruption_budgets;
    std::set<std::pair<std::string_view, std::string_view>> names;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const SnapshotDisruptionBudget& source = sources[i];
      if (!names.emplace(source.namespace_name, source.name).second && draft_.snapshot.anomalies.strict) {
        return name_error(ErrorCode::kDuplicateName, path_to("disruptionBudgets", i, "name"),
                          "the namespace has another disruption budget", source.name);
      }
      if (!source.selector) continue;
      add({source.name, source.namespace_name, source.allowed, false}, *source.selector);
      candidates_.back().exclusive = source.exclusive;
      any_exclusive_ = any_exclusive_ || source.exclusive;
    }
    of_snapshot_ = candidates_.size();
    for (const LabelSelector& protect : draft_.snapshot.policy.protect) add({"policy.protect", {}, 0, false}, protect);
    if (!draft_.snapshot.policy.schedulers.empty()) {
      foreign_ = candidates_.size();
      candidates_.push_back({{"policy.schedulers", {}, 0, false}, nullptr, 0, false});
    }
    select_pods();
    pin_shared_pods();
    keep_minimums();
    keep_those_that_bind();
    return {};
  }

 private:
  using Label = std::pair<std::string_view, std::string_view>;
  struct OfNamespace {
    std::map<Label, std::vector<std::size_t>> by_label;
    std::vector<std::size_t> others;
  };

  void add(const DisruptionBudget& budget, const LabelSelector& selector) {
    const std::size_t position = candidates_.size();
    candidates_.push_back({budget, &selector, 0, false});
    OfNamespace& own = of_namespace_[budget.namespace_name];
    const auto named = std::ranges::find(selector.requirements, SelectorOperator::kIn, &SelectorRequirement::op);
    if (named == selector.requirements.end()) {
      own.others.push_back(position);
      return;
    }
    std::set<std::string_view> values(named->values.begin(), named->values.end());
    for (const std::string_view value : values) own.by_label[{named->key, value}].push_back(position);
  }

  void select_pods() {
    for (const PodIndex pod : draft_.problem.pods.indices()) {
      if (draft_.problem.pods[pod].status != PodStatus::kRunning) continue;
      const std::string_view name_space = draft_.snapshot.pods[pod.value()].namespace_name;
      select(pod, name_space);
      if (!name_space.empty()) select(pod, {});
      if (!plans(draft_.snapshot.policy, draft_.snapshot.pods[pod.value()])) note(pod, *foreign_);
    }
  }

  void select(PodIndex pod, std::string_view name_space) {
    const auto found = of_namespace_.find(name_space);
    if (found == of_namespace_.end()) return;
    const Labels& labels = draft_.snapshot.pods[pod.value()].labels;
    const auto ask = [&](const std::vector<std::size_t>& positions) {
      for (const std::size_t position : positions) {
        if (matches(*candidates_[position].selector, labels)) note(pod, position);
      }
    };
    ask(found->second.others);
    for (const Label& label : labels) {
      const auto those = found->second.by_label.find(label);
      if (those != found->second.by_label.end()) ask(those->second);
    }
  }

  // Pods of an exclusive budget that another one selects, too.
  void pin_shared_pods() {
    if (!any_exclusive_) return;
    const std::size_t shared = candidates_.size();
    candidates_.push_back({{kSharedBudgets, {}, 0, false}, nullptr, 0, false});
    for (const PodIndex pod : selected_by_.indices()) {
      const std::vector<std::size_t>& all = selected_by_[pod];
      const auto of_snapshot =
          std::ranges::count_if(all, [&](std::size_t position) { return position < of_snapshot_; });
      const bool is_exclusive =
          std::ranges::any_of(all, [&](std::size_t position) { return candidates_[position].exclusive; });
      if (of_snapshot > 1 && is_exclusive) note(pod, shared);
    }
  }

  // Of gangs that give their surplus only. Those that have no surplus, or whose minimum does not run, are not
  // preemptible (resolve_gangs).
  void keep_minimums() {
    for_each_kept_leaf(draft_, [this](const Gang& gang, const Group& leaf) { keep_minimum(gang, leaf); });
  }

  void keep_minimum(const Gang& gang, const Group& leaf) {
    const auto has = [&](PodIndex pod, PodStatus status) { return draft_.problem.pods[pod].status == status; };
    const auto present = std::ranges::count_if(
        leaf.pods, [&](PodIndex pod) { return has(pod, PodStatus::kRunning) || has(pod, PodStatus::kSucceeded); });
    const std::size_t position = candidates_.size();
    candidates_.push_back({{gang.name, {}, present - leaf.minimum, true}, nullptr, 0, false});
    for (const PodIndex pod : leaf.pods) {
      if (has(pod, PodStatus::kRunning)) note(pod, position);
    }
  }

  void note(PodIndex pod, std::size_t position) {
    selected_by_[pod].push_back(position);
    ++candidates_[position].selected;
  }

  void keep_those_that_bind() {
    std::vector<DisruptionBudgetIndex> kept(candidates_.size(), DisruptionBudgetIndex::none());
    DisruptionBudgets& budgets = draft_.problem.disruption_budgets;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].selected > candidates_[i].budget.allowed) kept[i] = budgets.add(candidates_[i].budget);
    }
    if (budgets.empty()) return;
    Indexed<PodIndex, BudgetSetIndex> set_of(selected_by_.size(), BudgetSetIndex::none());
    std::map<std::vector<DisruptionBudgetIndex>, BudgetSetIndex> known;
    Indexed<BudgetSetIndex, std::vector<DisruptionBudgetIndex>> sets;
    for (const PodIndex pod : selected_by_.indices()) {
      const std::vector<DisruptionBudgetIndex> set = binding_set(selected_by_[pod], kept);
      if (set.empty()) continue;
      const auto [at, is_new] = known.try_emplace(set, BudgetSetIndex(sets.size()));
      if (is_new) sets.push_back(set);
      set_of[pod] = at->second;
    }
    budgets.set_pods(std::move(sets), std::move(set_of));
  }

  // For each pod that must stay, the first budget that requires it.
  std::vector<DisruptionBudgetIndex> binding_set(const std::vector<std::size_t>& positions,
                                                 const std::vector<DisruptionBudgetIndex>& kept) const {
    std::vector<DisruptionBudgetIndex> set;
    for (const std::size_t position : positions) {
      if (!kept[position].is_none()) set.push_back(kept[position]);
    }
    std::ranges::sort(set);
    const auto pins = [&](DisruptionBudgetIndex budget) {
      return draft_.problem.disruption_budgets.all()[budget].allowed == 0;
    };
    const auto pinning = std::ranges::find_if(set, pins);
    return pinning == set.end() ? set : std::vector{*pinning};
  }

  ProblemDraft& draft_;
  std::vector<Candidate> candidates_;
  std::size_t of_snapshot_ = 0;  // number of leading candidates that are the snapshot's budgets
  bool any_exclusive_ = false;
  std::optional<std::size_t> foreign_;                    // the candidate of pods that other schedulers run
  std::map<std::string_view, OfNamespace> of_namespace_;  // "": all namespaces
  Indexed<PodIndex, std::vector<std::size_t>> selected_by_;
};

// The gangs that have been below their minimum longest are evicted first, as far as the budgets allow; others stay.
void keep_stale_gangs(Problem& problem, const Snapshot& snapshot) {
  std::vector<GangIndex> stale;
  for (const GangIndex gang : problem.gangs.indices()) {
    if (problem.gangs[gang].stale) stale.push_back(gang);
  }
  const auto since = [&](GangIndex gang) { return snapshot.gangs[gang.value()].stale_since.value_or(snapshot.time); };
  std::ranges::sort(stale, {}, [&](GangIndex gang) { return std::pair(since(gang), problem.gangs[gang].name); });
  const DisruptionBudgets& budgets = problem.disruption_budgets;
  Indexed<DisruptionBudgetIndex, std::int64_t> left;
  for (const DisruptionBudget& budget : budgets.all()) left.push_back(budget.allowed);
  for (const GangIndex gang : stale) {
    std::vector<PodIndex> running;
    for (const PodIndex pod : problem.gangs[gang].pods) {
      if (problem.pods[pod].status == PodStatus::kRunning) running.push_back(pod);
    }
    problem.gangs[gang].stale = budgets.allow(running, left);
    if (!problem.gangs[gang].stale) continue;
    for (const PodIndex pod : running) {
      for (const DisruptionBudgetIndex budget : budgets.of(pod)) --left[budget];
    }
  }
}

}  // namespace

void count_kept_minimums(ProblemDraft& draft) {
  for_each_kept_leaf(draft, [&](const Gang& gang, const Group& leaf) { count_core(draft.problem, gang, leaf); });
}

Failure build_disruption_budgets(ProblemDraft& draft) {
  MUSTER_REQUIRE_SLOW(std::ranges::none_of(draft.problem.groups,
                                           [](const Group& group) { return group.minimum == kUnresolvedMinimum; }));
  const Snapshot& snapshot = draft.snapshot;
  const Policy& policy = snapshot.policy;
  const bool keeps_minimums =
      std::ranges::find(snapshot.gangs, Disruption::kSurplus, &SnapshotGang::disruption) != snapshot.gangs.end();
  if (snapshot.disruption_budgets.empty() && policy.protect.empty() && policy.schedulers.empty() && !keeps_minimums)
    return {};
  if (Failure failure = BudgetFinder(draft).find()) return failure;
  if (!draft.problem.disruption_budgets.empty()) keep_stale_gangs(draft.problem, snapshot);
  return {};
}

}  // namespace muster
