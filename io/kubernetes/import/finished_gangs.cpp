#include "io/kubernetes/import/finished_gangs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "io/json/reading.h"
#include "model/base/saturating.h"
#include "model/problem/histories.h"

namespace muster::kubernetes {

namespace {

constexpr std::int64_t kOneGpu = 1'000'000;  // GPUs are counted in millionths

// Of one gang, or of one pod without a gang.
struct FinishedPods {
  bool is_known = true;  // all of them have finished, and tell when they ran
  std::string_view start, end;
  std::int64_t gpus = 0;  // millionths
  const KubernetesPod* first = nullptr;
};

// In millionths.
std::int64_t gpus_of(const GpuShare& share) {
  const bool is_part = share.kind == GpuRequestKind::kFraction;
  return share.kind == GpuRequestKind::kNone ? 0 : saturating_multiply(share.devices, is_part ? share.amount : kOneGpu);
}

void add(const KubernetesPod& pod, FinishedPods& all) {
  const PodState& state = pod.state;
  if (all.first == nullptr) all.first = &pod;
  all.is_known =
      all.is_known && state.status == PodStatus::kSucceeded && !state.started.empty() && !state.ended.empty();
  if (!all.is_known) return;
  if (all.start.empty() || is_earlier(state.started, all.start)) all.start = state.started;
  if (all.end.empty() || is_earlier(all.end, state.ended)) all.end = state.ended;
  all.gpus = saturating_add(all.gpus, gpus_of(pod.gpus.request));
}

class History {
 public:
  History(Nanoseconds now, KubernetesRemarks& remarks) : now_(now), remarks_(remarks) {}

  void add(const FinishedPods& pods) {
    if (!pods.is_known) return;
    const Nanoseconds start = *parse_instant(pods.start), end = *parse_instant(pods.end);
    if (end < start) {
      remarks_.add("the run time of finished pods is ignored, since they end before they start",
                   "Pod " + pods.first->full_name());
    } else if (end <= now_) {
      all_.emplace_back(std::max<std::int64_t>(1, pods.gpus / kOneGpu + (pods.gpus % kOneGpu > 0 ? 1 : 0)),
                        saturating_subtract(end, start));
    }
  }
  // Sorted, so that rounding does not depend on the order of the pods.
  std::vector<DurationHistory> list() {
    if (all_.empty()) return {};
    DurationHistories histories;
    std::ranges::sort(all_);
    for (const auto& [gpus, duration] : all_) histories.add("", gpus, duration);
    return histories.list();
  }

 private:
  Nanoseconds now_;
  KubernetesRemarks& remarks_;
  std::vector<std::pair<std::int64_t, Nanoseconds>> all_;  // GPUs, duration
};

}  // namespace

std::vector<DurationHistory> durations_of_finished(const std::vector<KubernetesPod>& pods, Nanoseconds now,
                                                   KubernetesRemarks& remarks) {
  const auto has_finished = [](const KubernetesPod& pod) { return pod.state.status == PodStatus::kSucceeded; };
  if (std::ranges::none_of(pods, has_finished)) return {};
  History history(now, remarks);
  std::map<std::int32_t, FinishedPods> gangs;
  for (const KubernetesPod& pod : pods) {
    if (pod.state.is_left_out) continue;
    if (pod.membership.gang >= 0) {
      add(pod, gangs[pod.membership.gang]);
    } else if (has_finished(pod)) {
      FinishedPods alone;
      add(pod, alone);
      history.add(alone);
    }
  }
  for (const auto& [gang, finished] : gangs) history.add(finished);
  return history.list();
}

}  // namespace muster::kubernetes
