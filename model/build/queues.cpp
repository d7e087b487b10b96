// Queues: names, the forest, and what children inherit.
#include <algorithm>

#include "model/build/stages.h"

namespace muster {
namespace {

Queue queue_of(const SnapshotQueue& source) {
  Queue queue;
  queue.name = source.name;
  queue.priority = source.priority;
  queue.quota = {source.gpu.quota, source.cpu.quota, source.memory.quota};
  queue.limit = {source.gpu.limit, source.cpu.limit, source.memory.limit};
  queue.weight = {source.gpu.weight, source.cpu.weight, source.memory.weight};
  queue.reclaimable = source.reclaimable;
  return queue;
}

void add_other_limits(const SnapshotQueue& source, QueueIndex queue, Problem& problem) {
  for (const OtherQueueResource& other : source.other_resources) {
    if (other.limit == kUnlimited) continue;
    problem.queues[queue].other_limits.push_back(
        problem.lists.other_limits.push_back({queue, other.resource, other.limit}));
  }
}

Failure add_queues(ProblemDraft& draft) {
  const std::vector<SnapshotQueue>& sources = draft.snapshot.queues;
  static const SnapshotQueue the_default{.name = "default",
                                         .parent = {},
                                         .priority = 100,
                                         .gpu = {},
                                         .cpu = {},
                                         .memory = {},
                                         .other_resources = {},
                                         .preempt_min_runtime = {},
                                         .reclaim_min_runtime = {},
                                         .reclaimable = true};
  if (sources.empty()) {
    draft.queues.insert(the_default.name, draft.problem.queues.push_back(queue_of(the_default)).value());
    return {};
  }
  draft.queues.reserve(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const QueueIndex index = draft.problem.queues.push_back(queue_of(sources[i]));
    add_other_limits(sources[i], index, draft.problem);
    if (!draft.queues.insert(sources[i].name, index.value()).second) {
      return name_error(ErrorCode::kDuplicateName, path_to("queues", i, "name"), "duplicate queue", sources[i].name);
    }
  }
  return {};
}

Failure link_parents(ProblemDraft& draft) {
  for (std::size_t i = 0; i < draft.snapshot.queues.size(); ++i) {
    const std::string_view parent = draft.snapshot.queues[i].parent;
    if (parent.empty()) continue;
    const std::uint32_t found = draft.queues.find(parent);
    if (found == NameTable::kAbsent) {
      return name_error(ErrorCode::kUnknownQueue, path_to("queues", i, "parent"), "unknown queue", parent);
    }
    draft.problem.queues[QueueIndex(i)].parent = QueueIndex(found);
    draft.problem.queues[QueueIndex(found)].children.push_back(QueueIndex(i));
  }
  return {};
}

void inherit(ProblemDraft& draft, QueueIndex index) {
  Queue& queue = draft.problem.queues[index];
  queue.ancestors = {index};
  if (!queue.parent.is_none()) {
    const Queue& parent = draft.problem.queues[queue.parent];
    queue.ancestors.insert(queue.ancestors.end(), parent.ancestors.begin(), parent.ancestors.end());
    queue.other_limits.insert(queue.other_limits.end(), parent.other_limits.begin(), parent.other_limits.end());
    queue.preempt_min_runtime = parent.preempt_min_runtime;
    queue.reclaim_min_runtime = parent.reclaim_min_runtime;
  }
  if (draft.snapshot.queues.empty()) return;
  const SnapshotQueue& source = draft.snapshot.queues[index.value()];
  queue.preempt_min_runtime = source.preempt_min_runtime.value_or(queue.preempt_min_runtime);
  queue.reclaim_min_runtime = source.reclaim_min_runtime.value_or(queue.reclaim_min_runtime);
}

// Walks down from the roots; queues that are not reached are part of a cycle.
Failure walk_forest(ProblemDraft& draft) {
  std::vector<QueueIndex> pending = root_queues(draft.problem);
  for (std::size_t at = 0; at < pending.size(); ++at) {
    inherit(draft, pending[at]);
    if (draft.problem.queues[pending[at]].ancestors.size() > kMostQueueDepth) {
      return name_error(ErrorCode::kTooDeep, path_to("queues", pending[at].value(), "parent"),
                        "queues may be nested at most " + std::to_string(kMostQueueDepth) + " deep; too many are above",
                        draft.problem.queues[pending[at]].name);
    }
    const std::vector<QueueIndex>& children = draft.problem.queues[pending[at]].children;
    pending.insert(pending.end(), children.begin(), children.end());
  }
  for (const QueueIndex index : draft.problem.queues.indices()) {
    const Queue& queue = draft.problem.queues[index];
    if (queue.ancestors.empty()) {
      return name_error(ErrorCode::kQueueCycle, path_to("queues", index.value(), "parent"),
                        "the queue is its own ancestor:", queue.name);
    }
  }
  return {};
}

std::string quotas_of(const Snapshot& snapshot, const SnapshotQueue& queue) {
  std::string text;
  for (const OtherQueueResource& other : queue.other_resources) {
    if (other.quota == kUnlimited) continue;
    text.append(text.empty() ? "" : ", ").append(snapshot.resource_names[other.resource]);
    text.append(" ").append(std::to_string(other.quota));
  }
  return text;
}

}  // namespace

void tell_uncounted_quotas(Snapshot& snapshot) {
  for (const SnapshotQueue& queue : snapshot.queues) {
    const std::string quotas = quotas_of(snapshot, queue);
    if (quotas.empty()) continue;
    Warning warning{ErrorCode::kRemark, "queue", std::string(queue.name),
                    "its quota (" + quotas +
                        ") is not counted: only gpu, cpu and memory have quotas and fair shares, so nothing is "
                        "reclaimed for it, and it bounds nothing"};
    // Of a snapshot that is built once more.
    if (std::ranges::find(snapshot.anomalies.warnings, warning) == snapshot.anomalies.warnings.end())
      snapshot.anomalies.tell(std::move(warning));
  }
}

Failure build_queues(ProblemDraft& draft) {
  for (const auto step : {add_queues, link_parents, walk_forest}) {
    if (Failure failure = step(draft)) return failure;
  }
  return {};
}

}  // namespace muster
