#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/saturating.h"
#include "model/build/stages.h"
#include "model/problem/exceeded.h"
#include "model/problem/gang_tree.h"
#include "model/problem/histories.h"

namespace muster {

// The cluster's totals, the work of classes and pods, and the expected workload.

namespace {

constexpr std::int64_t kMillion = 1'000'000;
// If the workload is derived from the snapshot, only the most frequent classes count: the fragmentation level checks
// each class on each node, and a thousand classes of one or two pods (daemons that name their node) do not predict
// future pods.
constexpr std::size_t kMostDerivedClasses = 256;

void add_to_total(Problem& problem, const QueueAmounts& amounts) {
  for (std::size_t i = 0; i < kQueueResources; ++i) problem.total[i] = saturating_add(problem.total[i], amounts[i]);
}

QueueAmounts offered_by(const ProblemDraft& draft, const NodeClass& node_class) {
  MicroGpu gpu = node_class.device_count * kMillion;
  for (const ResourceIndex resource : draft.snapshot.resource_names.indices()) {
    const Work slice = mig_slice_work(draft.snapshot.resource_names[resource]);
    gpu = saturating_add(gpu, saturating_multiply(node_class.capacity[resource.value()], slice * 1'000));
  }
  const auto count = static_cast<std::int64_t>(node_class.nodes.size());
  return {saturating_multiply(gpu, count), saturating_multiply(node_class.capacity[kCpu.value()], count),
          saturating_multiply(node_class.capacity[kMemory.value()], count)};
}

void build_totals(ProblemDraft& draft) {
  Problem& problem = draft.problem;
  for (const NodeClass& node_class : problem.node_classes) {
    if (!node_class.cordoned) add_to_total(problem, offered_by(draft, node_class));
  }
  for (const Pod& pod : problem.pods) {
    if (pod.status != PodStatus::kRunning) continue;
    const NodeClass& node_class = problem.class_of(pod.node);
    if (node_class.cordoned) add_to_total(problem, queue_usage(problem.pod_classes[pod.pod_class], node_class));
  }
  const Work thousandths = problem.total[kQueueGpu] / 1'000;
  problem.objective.total_gpu_work = thousandths > 0 ? thousandths : 1'000;
}

Work work_of(const ProblemDraft& draft, const PodClass& pod_class) {
  if (!pod_class.counts_as_gpu) {
    return dominant_share_work(pod_class.request[kCpu.value()], pod_class.request[kMemory.value()], draft.problem.total,
                               draft.problem.objective.total_gpu_work);
  }
  const PodSpec& spec = draft.snapshot.pod_specs[pod_class.spec];
  const Work devices = device_work(spec.gpu, reference_device_mib(spec, draft.device_kinds));
  return saturating_add(devices, pod_class.mig_gpu_usage / 1'000);
}

// Pods of each class that predict future ones: all but those that have ended.
std::vector<std::int64_t> living_pods(const Problem& problem) {
  std::vector<std::int64_t> counts(problem.pod_classes.size(), 0);
  for (const Pod& pod : problem.pods) {
    if (pod.status != PodStatus::kSucceeded && pod.status != PodStatus::kFailed) ++counts[pod.pod_class.value()];
  }
  return counts;
}

// Without weight.
ExpectedClass expected(const Problem& problem, PodClassIndex index) {
  const PodClass& pod_class = problem.pod_classes[index];
  const auto& request = pod_class.request;
  const auto after_pods = request.begin() + kPods.value() + 1;
  return {index,
          0,
          pod_class.gpu,
          request[kCpu.value()],
          request[kMemory.value()],
          request[kPods.value()],
          std::any_of(after_pods, request.end(), [](Amount amount) { return amount > 0; })};
}

// Classes with equal requests and filters are one.
class ExpectedClasses {
 public:
  explicit ExpectedClasses(const Problem& problem) : problem_(problem) {}

  void add(PodClassIndex index, std::int64_t amount) {
    if (amount <= 0) return;
    const PodClass& pod_class = problem_.pod_classes[index];
    describe(pod_class);
    const auto [number, is_new] = known_.intern(signature_);
    if (is_new) merged_.push_back(expected(problem_, index));
    merged_[number].weight_millionths = saturating_add(merged_[number].weight_millionths, amount);
  }
  std::vector<ExpectedClass> take() { return std::move(merged_); }

 private:
  void describe(const PodClass& pod_class) {
    signature_.assign({static_cast<std::uint64_t>(pod_class.gpu.kind),
                       static_cast<std::uint64_t>(pod_class.gpu.devices),
                       static_cast<std::uint64_t>(pod_class.gpu.share)});
    for (const Amount amount : pod_class.request) signature_.push_back(static_cast<std::uint64_t>(amount));
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < pod_class.allowed.size(); ++i) {
      bits = bits << 1 | (pod_class.allowed[i] ? 1U : 0U);
      if (i % 64 == 63 || i + 1 == pod_class.allowed.size()) signature_.push_back(std::exchange(bits, 0));
    }
  }

  const Problem& problem_;
  SequenceTable known_;
  std::vector<ExpectedClass> merged_;
  std::vector<std::uint64_t> signature_;
};

// Nodes with the same number of devices of one model. With a single device, a node is whole exactly if the device is
// idle.
using WholeNodeKind = std::pair<std::int32_t, ModelIndex>;

std::optional<WholeNodeKind> kind_of(const NodeClass& node_class) {
  const bool is_there = !node_class.nodes.empty() && !node_class.cordoned && !node_class.devices_closed;
  const bool is_usable = is_there && node_class.device_count > 1;
  return is_usable ? std::optional(WholeNodeKind{node_class.device_count, node_class.model}) : std::nullopt;
}

// Whether a pod of the class takes all devices of a node that may take it.
bool fills_a_node(const Problem& problem, const PodClass& pod_class) {
  if (pod_class.gpu.kind != GpuRequestKind::kWhole) return false;
  return std::ranges::any_of(problem.node_classes.indices(), [&](NodeClassIndex index) {
    const std::optional<WholeNodeKind> kind = kind_of(problem.node_classes[index]);
    return kind && pod_class.allowed[index.value()] && pod_class.gpu.devices == kind->first;
  });
}

// Kinds of nodes, those with the most nodes first, at most kMostDerivedClasses.
std::vector<WholeNodeKind> whole_node_kinds(const Problem& problem) {
  std::map<WholeNodeKind, std::int64_t> nodes;
  for (const NodeClass& node_class : problem.node_classes) {
    if (const auto kind = kind_of(node_class)) nodes[*kind] += std::ssize(node_class.nodes);
  }
  std::vector<WholeNodeKind> kinds;
  for (const auto& [kind, count] : nodes) kinds.push_back(kind);
  std::ranges::stable_sort(kinds, std::greater<>{}, [&](const WholeNodeKind& kind) { return nodes.at(kind); });
  kinds.resize(std::min(kinds.size(), kMostDerivedClasses));
  return kinds;
}

// A pod that asks for all devices of a node of that kind and for nothing else, and accepts only such nodes.
PodClass whole_node_job(const Problem& problem, const WholeNodeKind& kind) {
  PodClass job;
  job.spec = PodSpecIndex::none();
  job.request.assign(problem.resource_count, 0);
  job.request[kPods.value()] = 1;
  const ResourceIndex count = device_count_resource(problem);
  if (!count.is_none()) job.request[count.value()] = kind.first;
  job.gpu.kind = GpuRequestKind::kWhole;
  job.gpu.devices = kind.first;
  job.work = kind.first * Work{1'000};
  job.counts_as_gpu = true;
  job.smallest_gpu_usage = kind.first * kMillion;
  for (const NodeClass& node_class : problem.node_classes) job.allowed.push_back(kind_of(node_class) == kind);
  job.preferences.preferred_weight.assign(problem.node_classes.size(), 0);
  job.preferences.untolerated_soft_taints = job.preferences.preferred_weight;
  return job;
}

// If no pod asks for whole nodes, adds a pod for each kind of node. Returns the number added.
std::int64_t add_whole_node_jobs(Problem& problem) {
  const auto fills = [&](const ExpectedClass& own) {
    return fills_a_node(problem, problem.pod_classes[own.pod_class]);
  };
  if (std::ranges::any_of(problem.objective.expected_workload, fills)) return 0;
  const std::vector<WholeNodeKind> kinds = whole_node_kinds(problem);
  for (const WholeNodeKind& kind : kinds) {
    const PodClassIndex job = problem.pod_classes.push_back(whole_node_job(problem, kind));
    problem.objective.expected_workload.push_back(expected(problem, job));
    problem.objective.expected_workload.back().weight_millionths = 1;
  }
  return std::ssize(kinds);
}

std::int64_t millionths_of(double weight) {
  const double scaled = std::floor(weight * static_cast<double>(kMillion) + 0.5);
  return scaled >= 9e18 ? kLargest : static_cast<std::int64_t>(scaled);
}

}  // namespace

void build_work(ProblemDraft& draft) {
  build_totals(draft);
  Problem& problem = draft.problem;
  for (PodClass& pod_class : problem.pod_classes) pod_class.work = std::max<Work>(1, work_of(draft, pod_class));
  for (Pod& pod : problem.pods) {
    pod.weighted_work = weighted(problem.pod_classes[pod.pod_class].work, problem.gangs[pod.gang].weight);
  }
}

void build_expected_workload(ProblemDraft& draft) {
  Problem& problem = draft.problem;
  ExpectedClasses classes(problem);
  if (draft.snapshot.policy.expected_workload) {
    const std::vector<ExpectedPod>& given = *draft.snapshot.policy.expected_workload;
    for (std::size_t i = 0; i < given.size(); ++i) {
      classes.add(problem.objective.expected_workload[i].pod_class, millionths_of(given[i].weight));
    }
    problem.objective.expected_workload = classes.take();
    return;
  }
  const std::vector<std::int64_t> counts = living_pods(problem);
  std::int64_t all = 0;
  for (const std::int64_t count : counts) all += count;
  for (const PodClassIndex index : problem.pod_classes.indices()) classes.add(index, counts[index.value()]);
  problem.objective.expected_workload = classes.take();
  if (problem.objective.expected_workload.size() > kMostDerivedClasses) {
    std::ranges::stable_sort(problem.objective.expected_workload, std::greater<>{}, &ExpectedClass::weight_millionths);
    problem.objective.expected_workload.resize(kMostDerivedClasses);
  }
  all += add_whole_node_jobs(problem);
  for (ExpectedClass& expected : problem.objective.expected_workload) {
    expected.weight_millionths = divide_rounded(Wide{expected.weight_millionths} * kMillion, all);
  }
  std::erase_if(problem.objective.expected_workload,
                [](const ExpectedClass& expected) { return expected.weight_millionths == 0; });
}

// What rules over time ask of each gang: its expected duration and end, and its seniority.

namespace {

const GangTerms& terms_of(const ProblemDraft& draft, GangIndex index) {
  static const GangTerms nothing_said;
  if (!draft.is_own_gang[index]) return draft.snapshot.gangs[index.value()].terms;
  const std::int32_t own = draft.snapshot.pods[draft.problem.gangs[index].pods.front().value()].own_gang;
  return own < 0 ? nothing_said : draft.snapshot.own_gang_terms[static_cast<std::size_t>(own)];
}

bool is_any_duration_known(const Snapshot& snapshot) {
  const auto tells = [](const GangTerms& terms) { return terms.expected_duration.has_value(); };
  return snapshot.policy.over_time.expected_durations ||
         std::ranges::any_of(snapshot.gangs, [&](const SnapshotGang& gang) { return tells(gang.terms); }) ||
         std::ranges::any_of(snapshot.own_gang_terms, tells);
}

// In whole GPUs, rounded up.
std::int64_t size_of(const Problem& problem, const Gang& gang) {
  const Work work = least_sum(problem, gang, [&](PodIndex pod) { return problem.class_of(pod).work; });
  return std::max<std::int64_t>(1, (work + 999) / 1000);
}

void set_times(ProblemDraft& draft, const ExpectedDurations& durations, GangIndex index) {
  const Problem& problem = draft.problem;
  Gang& gang = draft.problem.gangs[index];
  const GangTerms& terms = terms_of(draft, index);
  gang.times.gpus = size_of(problem, gang);
  gang.times.expected_duration = durations.expected(terms.queue, gang.times.gpus, terms.expected_duration);
  gang.times.seniority = turn_index(gang.times.gpus, gang.times.waited_seconds, gang.times.expected_duration);
  std::optional<Nanoseconds> run_time;
  for (const PodIndex pod : gang.pods) {
    const Pod& p = problem.pods[pod];
    if (p.status == PodStatus::kRunning) run_time = std::max(run_time.value_or(0), p.run_time);
  }
  if (!run_time) return;
  const Nanoseconds now = draft.snapshot.time;
  const Nanoseconds rest = terms.expected_end
                               ? std::max(saturating_subtract(*terms.expected_end, now), kShortestExpected)
                               : expected_rest(gang.times.expected_duration, *run_time);
  gang.times.expected_end = saturating_add(now, rest);
}

}  // namespace

void build_over_time(ProblemDraft& draft) {
  const OverTime& policy = draft.snapshot.policy.over_time;
  if (policy.order == SeniorityRule::kWaited || !is_any_duration_known(draft.snapshot)) return;
  const ExpectedDurations durations(policy);
  for (const GangIndex gang : draft.problem.gangs.indices()) set_times(draft, durations, gang);
  if (draft.snapshot.policy.non_preemptible_within_quota) close_held(draft, build_turns(draft));
}

}  // namespace muster
