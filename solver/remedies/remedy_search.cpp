#include "solver/remedies/remedy_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/base/require.h"
#include "model/problem/work.h"
#include "solver/remedies/smallest_remedy.h"

namespace muster::answers {

std::optional<Remedy> least_count(RemedyKind kind, CountRange range, Admission& admission,
                                  const std::function<Changes(std::int64_t)>& changes) {
  const auto guessed = admission.test(changes(range.guess));
  if (guessed && !guessed->admits && range.guess < range.most) {
    const auto sketched = smallest_count(
        range, [&](std::int64_t count) { return admission.sketch(changes(count)); }, Depth::kRough);
    if (sketched) range.guess = sketched->count;
  }
  const auto found = smallest_count(
      range, [&](std::int64_t count) { return admission.test(changes(count)); }, Depth::kThorough);
  if (!found) return std::nullopt;
  return Remedy{kind, changes(found->count), found->count, found->is_smallest && admission.refusal_proven(),
                found->with};
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
  return Remedy{kind, ordered(found->items), found->weight, found->is_smallest && admission.refusal_proven(),
                found->with};
}

namespace {

Remedies search(RemedyKind kind, const WaitingGang& gang, const Rivals& rivals, Admission& admission,
                Experiment& experiment) {
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
      return stop_gangs(gang, rivals, admission, experiment);
    case RemedyKind::kAddNodes:
      break;
  }
  return add_nodes(gang, admission);
}

// Nothing about the cluster starts a gang that waits for itself: it is gated, has timed out, or its queue is unknown.
// If its pods are missing, only a lower minimum does.
bool may_help(RemedyKind kind, const explain::GangReport* report) {
  if (report == nullptr) return true;
  switch (report->reason.code) {
    case explain::ReasonCode::kSchedulingTimeout:
    case explain::ReasonCode::kHeld:
    case explain::ReasonCode::kGated:
    case explain::ReasonCode::kUnknownQueue:
      return false;
    case explain::ReasonCode::kNotEnoughPods:
      return kind == RemedyKind::kLowerMinimum;
    default:
      return true;
  }
}

// Takes out what does not start the gang in a plan that is proven. Whether another search may find better ones. `open`
// gets those that start it in a plan that is not.
bool settle(Remedies& remedies, Admission& admission, Remedies& open) {
  bool may_go_on = false;
  std::erase_if(remedies, [&](Remedy& remedy) {
    const std::optional<Admitted> settled = admission.settle(remedy.changes);
    if (settled) remedy.with = *settled;
    if (remedy.with.admits && remedy.with.proven) return false;
    if (remedy.with.admits) open.push_back(remedy);
    may_go_on = may_go_on || settled;
    return true;
  });
  return may_go_on;
}

// Of these, an eviction decides, or what a queue has in use: all running pods count.
bool needs_all_nodes(RemedyKind kind) {
  return kind == RemedyKind::kRaiseLimit || kind == RemedyKind::kRaiseQuota || kind == RemedyKind::kRaisePriority;
}

}  // namespace

RemedyAnswer find_remedies(Experiment& experiment, const Run& base, GangIndex index, std::int64_t most_tests) {
  MUSTER_REQUIRE(!base.admits(index));
  RemedyAnswer answer;
  const explain::GangReport* report = base.report_on(index);
  const auto helps = [&](RemedyKind kind) { return may_help(kind, report); };
  if (std::ranges::none_of(kRemedyKinds, helps)) {
    answer.without.assign(kRemedyKinds.begin(), kRemedyKinds.end());
    return answer;
  }
  const WaitingGang gang(base, index);
  const Rivals rivals(gang);
  const Snapshot on_open_nodes = rivals.on_open_nodes();
  Work least_work = kLargest;
  for (const PodIndex pod : gang.gang().pods)
    least_work = std::min(least_work, weighted(gang.problem().class_of(pod).work, gang.gang().weight));
  Admission admission(experiment, {gang.name(), base.is_choice_proven(), std::max<Work>(1, least_work)}, most_tests);
  const std::int64_t runs_before = experiment.runs();
  std::vector<RemedyKind> kinds;
  for (const RemedyKind kind : kRemedyKinds) {
    admission.begin_trial();
    if (helps(kind)) search(kind, gang, rivals, admission, experiment);
    (admission.was_asked() ? kinds : answer.without).push_back(kind);
  }
  std::size_t left = kinds.size();
  for (const RemedyKind kind : kinds) {
    admission.begin_search(1.0 / static_cast<double>(left--));
    admission.sketch_on(needs_all_nodes(kind) ? rivals.on_all_nodes() : on_open_nodes);
    Remedies found = search(kind, gang, rivals, admission, experiment);
    Remedies open, more;
    // What is not settled admits nothing from then on, so that the search ends elsewhere.
    bool goes_on = settle(found, admission, open);
    for (std::int64_t rounds = most_tests; goes_on && rounds > 0; --rounds) {
      found = search(kind, gang, rivals, admission, experiment);
      goes_on = settle(found, admission, more);
    }
    if (found.empty() && open.empty()) (admission.is_over() ? answer.unfinished : answer.without).push_back(kind);
    if (found.empty()) std::ranges::move(open, std::back_inserter(answer.unproven));
    std::ranges::move(found, std::back_inserter(answer.remedies));
  }
  for (Remedies* list : {&answer.remedies, &answer.unproven})
    std::ranges::stable_sort(*list, {}, [](const Remedy& remedy) { return std::tuple(remedy.size, remedy.kind); });
  answer.tests = experiment.runs() - runs_before;
  return answer;
}

}  // namespace muster::answers
