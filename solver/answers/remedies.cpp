#include "solver/answers/remedies.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "model/base/require.h"
#include "model/problem/next_snapshot.h"
#include "model/snapshot/filters.h"
#include "solver/answers/remedy_search.h"

namespace muster::answers {

WaitingGang::WaitingGang(const Run& run, GangIndex gang)
    : run_(run),
      gang_(gang),
      end_(explain::after_plan(run.problem, run.solution.plan)),
      need_(explain::reason_subject(run.problem, end_, gang, true).need) {
  for (const explain::NeedItem& item : need_.items) {
    const PodSpecIndex spec = run.problem.pod_classes[item.pod_class].spec;
    if (std::ranges::find(specs_, spec) == specs_.end()) specs_.push_back(spec);
  }
}

const SnapshotGang* WaitingGang::entry() const {
  const bool has_entry = gang_.value() < snapshot().gangs.size();
  return has_entry ? &snapshot().gangs[gang_.value()] : nullptr;
}

std::int64_t WaitingGang::pods_without_room() const {
  const Problem& problem = run_.problem;
  const std::int64_t all = std::max<std::int64_t>(1, need_.pods);
  if (need_.items.size() != 1 || explain::requires_level(problem, gang())) return all;
  const PodClass& pod_class = problem.pod_classes[need_.items.front().pod_class];
  const explain::RemainingRoom room = explain::RemainingRoom::after(problem, end_);
  std::int64_t missing = all;
  for (const NodeIndex node : room.nodes()) {
    if (missing <= 1) break;
    if (pod_class.allowed[problem.nodes[node].node_class.value()]) missing -= room.count(pod_class, node, missing - 1);
  }
  return missing;
}

std::int32_t WaitingGang::priority_as_set() const {
  static const GangTerms defaults;
  const GangTerms* terms = &defaults;
  if (const SnapshotGang* own = entry()) {
    terms = &own->terms;
  } else if (const std::int32_t at = snapshot().pods[gang().pods.front().value()].own_gang; at >= 0) {
    terms = &snapshot().own_gang_terms[static_cast<std::size_t>(at)];
  }
  if (terms->priority) return *terms->priority;
  const auto& classes = snapshot().definitions.priority_classes;
  const auto found = std::ranges::find(classes, terms->priority_class.value_or(""), &SnapshotPriorityClass::name);
  return found == classes.end() ? 0 : found->value;
}

bool WaitingGang::some_pod_may_use(const SnapshotNode& node) const {
  return std::ranges::any_of(
      specs_, [&](PodSpecIndex spec) { return passes_filters(snapshot().pod_specs[spec], node); });
}

std::optional<Remedy> least_count(RemedyKind kind, CountRange range, Admission& admission,
                                  const std::function<Changes(std::int64_t)>& changes) {
  const auto sketched = smallest_count(
      range, [&](std::int64_t count) { return admission.sketch(changes(count)); }, Depth::kRough);
  if (sketched) range.guess = sketched->count;
  const auto found = smallest_count(
      range, [&](std::int64_t count) { return admission.test(changes(count)); }, Depth::kThorough);
  if (!found) return std::nullopt;
  return Remedy{kind, changes(found->count), found->count, found->is_smallest && admission.refusal_proven(), found->with};
}

std::optional<Remedy> least_set(RemedyKind kind, const std::vector<std::int64_t>& weights, std::size_t guess,
                                Admission& admission, const ChangesOfSet& changes) {
  if (weights.empty()) return std::nullopt;
  const auto sketched = smallest_set(
      weights, guess, [&](const auto& chosen) { return admission.sketch(changes(chosen)); }, Depth::kRough);
  // What the sketch chose comes first.
  std::vector<std::size_t> order = sketched ? sketched->items : std::vector<std::size_t>();
  if (sketched) guess = order.size();
  for (std::size_t item = 0; item < weights.size(); ++item) {
    if (!sketched || !std::ranges::binary_search(sketched->items, item)) order.push_back(item);
  }
  std::vector<std::int64_t> ordered_weights;
  for (const std::size_t item : order) ordered_weights.push_back(weights[item]);
  const ChangesOfSet ordered = [&](const std::vector<std::size_t>& chosen) {
    std::vector<std::size_t> items;
    for (const std::size_t position : chosen) items.push_back(order[position]);
    std::ranges::sort(items);
    return changes(items);
  };
  const auto found = smallest_set(
      ordered_weights, guess, [&](const auto& chosen) { return admission.test(ordered(chosen)); }, Depth::kThorough);
  if (!found) return std::nullopt;
  return Remedy{kind, ordered(found->items), found->weight, found->is_smallest && admission.refusal_proven(), found->with};
}

namespace {

Remedies search(RemedyKind kind, const WaitingGang& gang, Admission& admission, Experiment& experiment) {
  switch (kind) {
    case RemedyKind::kUncordon:
      return uncordon(gang, admission);
    case RemedyKind::kTolerate:
      return tolerate(gang, admission);
    case RemedyKind::kRelaxLevel:
      return relax_levels(gang, admission);
    case RemedyKind::kLowerMinimum:
      return lower_minimum(gang, admission);
    case RemedyKind::kRaiseLimit:
      return raise_limits(gang, admission);
    case RemedyKind::kRaiseQuota:
      return raise_quotas(gang, admission);
    case RemedyKind::kRaisePriority:
      return raise_priority(gang, admission);
    case RemedyKind::kStopGangs:
      return stop_gangs(gang, admission, experiment);
    case RemedyKind::kAddNodes:
      break;
  }
  return add_nodes(gang, admission);
}

// Nothing about the cluster would start it: its pods are missing or gated, it has timed out, or its queue is unknown.
bool waits_for_itself(const Run& run, GangIndex gang) {
  const explain::GangReport* report = run.report_on(gang);
  if (!report) return false;
  switch (report->reason.code) {
    case explain::ReasonCode::kSchedulingTimeout:
    case explain::ReasonCode::kHeld:
    case explain::ReasonCode::kGated:
    case explain::ReasonCode::kNotEnoughPods:
    case explain::ReasonCode::kUnknownQueue:
      return true;
    default:
      return false;
  }
}

// The cluster once the plan is carried out, in which this gang waits, and those that come before it or are level.
Snapshot rivals_of(const WaitingGang& gang) {
  Snapshot snapshot = next_snapshot(Snapshot(gang.snapshot()), gang.problem(), gang.run().solution.plan, 0);
  std::unordered_set<std::string_view> behind;
  for (const Gang& other : gang.problem().gangs) {
    const auto rank = [](const Gang& one) { return std::pair(one.priority, one.times.seniority); };
    if (rank(other) < rank(gang.gang())) behind.insert(other.name);
  }
  snapshot.pods.erase_if([&](const SnapshotPod& pod) {
    return pod.status == PodStatus::kPending && behind.contains(pod.gang.empty() ? pod.name : pod.gang);
  });
  return snapshot;
}

}  // namespace

RemedyAnswer find_remedies(Experiment& experiment, const Run& base, GangIndex index, std::int64_t most_tests) {
  MUSTER_REQUIRE(!base.admits(index));
  RemedyAnswer answer;
  if (waits_for_itself(base, index)) {
    answer.without.assign(kRemedyKinds.begin(), kRemedyKinds.end());
    return answer;
  }
  const WaitingGang gang(base, index);
  Admission admission(experiment, {gang.name(), rivals_of(gang), base.is_choice_proven()}, most_tests);
  const std::int64_t runs_before = experiment.runs();
  std::size_t left = kRemedyKinds.size();
  for (const RemedyKind kind : kRemedyKinds) {
    admission.begin_search(1.0 / static_cast<double>(left--));
    Remedies found = search(kind, gang, admission, experiment);
    if (found.empty()) (admission.is_over() ? answer.unfinished : answer.without).push_back(kind);
    std::ranges::move(found, std::back_inserter(answer.remedies));
  }
  std::ranges::stable_sort(answer.remedies, {},
                           [](const Remedy& remedy) { return std::tuple(remedy.size, remedy.kind); });
  answer.tests = experiment.runs() - runs_before;
  return answer;
}

}  // namespace muster::answers
