#include "model/explain/reason.h"

#include <algorithm>
#include <utility>

#include "model/problem/problem.h"

namespace muster::explain {

namespace {

// One pod of each class that waits; none if all are gated.
std::vector<GangNeed> single_needs(const Problem& problem, const Gang& gang, const PodPredicate& waits) {
  std::vector<GangNeed> needs;
  std::vector<std::pair<PodClassIndex, GroupIndex>> seen;
  for (const PodIndex pod : gang.pods) {
    const std::pair key(problem.pods[pod].pod_class, problem.pods[pod].group);
    if (!waits(pod) || std::ranges::find(seen, key) != seen.end() || needs.size() >= kMostNeeds) continue;
    seen.push_back(key);
    needs.push_back(need_of_pods(problem, {pod}));
  }
  if (needs.empty()) needs.push_back(need_of_pods(problem, {}));
  return needs;
}

void append(std::string& key, std::int64_t value) {
  key += std::to_string(value);
  key += ',';
}

}  // namespace

ReasonSubject reason_subject(const Problem& problem, const AfterPlan& end, GangIndex index, bool left_over) {
  const Gang& gang = problem.gangs[index];
  ReasonSubject subject{.gang = index, .left_over = left_over, .need = {}, .others = {}, .wholes = {}};
  const auto status = [&](PodIndex pod) { return problem.pods[pod].status; };
  const PodPredicate succeeded = [&](PodIndex pod) { return status(pod) == PodStatus::kSucceeded; };
  const PodPredicate has = [&](PodIndex pod) { return end.is_present(pod) || succeeded(pod); };
  const PodPredicate waits = [&](PodIndex pod) {
    return !end.is_present(pod) && (status(pod) == PodStatus::kPending || status(pod) == PodStatus::kRunning);
  };
  if (left_over) {
    subject.others = needs_of_minimum(problem, index, has, waits);
    subject.wholes = needs_of_minimum(problem, index, succeeded, [&](PodIndex pod) {
      return status(pod) == PodStatus::kPending || status(pod) == PodStatus::kRunning ||
             status(pod) == PodStatus::kGated;
    });
  }
  if (!left_over || (subject.others.front().possible && subject.others.front().pods == 0)) {
    subject.others = single_needs(problem, gang, waits);  // surplus, or a minimum of none: any pod
    subject.wholes = subject.others;
  }
  subject.need = subject.others.front();
  subject.has_present = std::ranges::any_of(gang.pods, [&](PodIndex pod) { return end.is_present(pod); });
  subject.has_topology = requires_level(problem, gang);
  for (const GangNeed& need : subject.others) {
    subject.has_anti_affinity = subject.has_anti_affinity || has_anti_affinity(problem, need);
  }
  return subject;
}

std::string signature(const Problem& problem, const ReasonSubject& subject) {
  const Gang& gang = problem.gangs[subject.gang];
  if (subject.has_topology && (subject.has_present || gang.groups.size() > 1)) return "";
  if (subject.has_present && subject.left_over) return "";
  std::string key;
  append(key, gang.queue.value());
  append(key, gang.priority);
  append(key, gang.preemptible);
  append(key, gang.preemption_policy == PreemptionPolicy::kNever);
  append(key, subject.left_over);
  append(key, problem.groups[gang.root].required_level.value());
  for (const std::vector<GangNeed>* needs : {&subject.others, &subject.wholes}) {
    for (const GangNeed& need : *needs) {
      for (const NeedItem& item : need.items) {
        append(key, item.pod_class.value());
        append(key, std::ssize(item.pods));
      }
      key += ';';
    }
    key += '/';
  }
  append(key, gang.min_resources.gpu);
  for (const Amount amount : gang.min_resources.amounts) append(key, amount);
  return key;
}

std::optional<std::array<std::uint64_t, 8>> plain_signature(const Problem& problem, const AfterPlan& end,
                                                            GangIndex index) {
  const Gang& gang = problem.gangs[index];
  if (gang.groups.size() > 1 || gang.pods.empty() || !gang.times.may_start() || !gang.min_resources.amounts.empty())
    return std::nullopt;
  const PodClassIndex pod_class = problem.pods[gang.pods.front()].pod_class;
  const bool are_equal = std::ranges::all_of(gang.pods, [&](PodIndex pod) {
    const Pod& p = problem.pods[pod];
    return p.pod_class == pod_class && p.status == PodStatus::kPending && !end.is_present(pod);
  });
  if (!are_equal) return std::nullopt;
  const Group& root = problem.groups[gang.root];
  return std::array<std::uint64_t, 8>{gang.queue.value(),
                                      static_cast<std::uint32_t>(gang.priority),
                                      gang.preemptible,
                                      static_cast<std::uint64_t>(gang.preemption_policy),
                                      root.required_level.value(),
                                      pod_class.value(),
                                      gang.pods.size(),
                                      static_cast<std::uint32_t>(root.minimum)};
}

}  // namespace muster::explain
