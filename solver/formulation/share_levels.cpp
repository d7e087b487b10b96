#include "solver/formulation/share_levels.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "model/base/require.h"
#include "model/objective/evaluation.h"

namespace muster::formulation {
namespace {

bool counts_in(const PodClass& pod_class, std::size_t kind) { return pod_class.counts_as_gpu == (kind == 0); }

// The maximum that can run at one time, as work: of pods with GPUs no more than the devices, unless some pod's work is
// more than what it takes of them (rounded up, or measured on a smaller device than the one that it lands on).
Work most_at_once(const Problem& problem, std::size_t kind) {
  const bool is_bounded = kind == 0 && std::ranges::all_of(problem.pod_classes, [](const PodClass& pod_class) {
                            return !pod_class.counts_as_gpu || (pod_class.gpu.kind != GpuRequestKind::kMemory &&
                                                                1000 * pod_class.work <= pod_class.smallest_gpu_usage);
                          });
  return is_bounded ? problem.total[kQueueGpu] / 1000 : std::numeric_limits<Work>::max();
}

}  // namespace

ShareLevels::ShareLevels(const FormulationInput& input, const GangColumns& columns, lp::ModelBuilder& model)
    : in_(input),
      columns_(columns),
      model_(model),
      waiting_(classes_by_queue(input.problem, input.demand)),
      running_(input.problem.queues.size()) {
  for (const GangIndex gang : in_.problem.gangs.indices()) {
    const Gang& g = in_.problem.gangs[gang];
    const auto stays = [&](PodIndex pod) { return in_.base.is_present(pod); };
    if (!g.queue.is_none() && std::ranges::any_of(g.pods, stays)) running_[g.queue].push_back(gang);
  }
  for (const GangClassIndex index : in_.demand.gang_classes.indices()) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    if (!gang_class.queue.is_none() && gang_class.minimum == 0 && !gang_class.is_singles)
      first_of_class_.emplace(gang_class.gangs.front(), index);
  }
}

lp::LinearExpression ShareLevels::level(const LevelId& id) {
  MUSTER_REQUIRE(id.kind == LevelKind::kShare || id.kind == LevelKind::kQuota);
  lp::LinearExpression sum;
  for (QueueIndex root : root_queues(in_.problem))
    for (std::size_t kind = 0; kind < 2; ++kind) sum.add(queue_level(root, id, kind).expression);
  return sum;
}

ShareLevels::Bounded ShareLevels::queue_level(QueueIndex queue, const LevelId& id, std::size_t kind) {
  const bool is_share = id.kind == LevelKind::kShare;
  const std::int64_t cap = (is_share ? in_.shares.share_work : in_.shares.quota_work)[queue][kind];
  const Queue& q = in_.problem.queues[queue];
  if (q.is_leaf()) {
    if (is_share) return leaf_share(queue, id.priority, kind);
    return capped(leaf_work(queue, id.priority, kind), cap, "quota_work");
  }
  Bounded sum;
  for (QueueIndex child : q.children) {
    const Bounded part = queue_level(child, id, kind);
    sum.expression.add(part.expression);
    sum.most += part.most;
  }
  return capped(std::move(sum), cap, "inner_work");
}

// min(inner, cap): a column below both, unless the cap cannot bind.
ShareLevels::Bounded ShareLevels::capped(Bounded inner, std::int64_t cap, const char* label) {
  if (inner.most <= cap) return inner;
  if (inner.expression.terms.empty()) {
    inner.expression.constant = std::min(inner.expression.constant, cap);
    return {inner.expression, inner.expression.constant};
  }
  // In units of the common divisor: as an integer it lets CBC prove in an instant what it searches for as a fraction.
  std::int64_t unit = std::gcd(cap, inner.expression.constant);
  for (const auto& [term, coefficient] : inner.expression.terms) unit = std::gcd(unit, coefficient);
  const std::int32_t column =
      model_.add_column(0, static_cast<double>(cap / unit), true, label + std::to_string(model_.columns()));
  lp::LinearExpression slack = inner.expression;
  slack.add(column, -unit);
  model_.add_constraint(slack, 0, lp::kInfinity, label);
  Bounded result;
  result.expression.add(column, unit);
  result.most = cap;
  return result;
}

ShareLevels::Bounded ShareLevels::leaf_work(QueueIndex queue, std::int32_t priority, std::size_t kind) const {
  Bounded work;
  for (GangIndex gang : running_[queue]) {
    if (in_.problem.gangs[gang].priority < priority) continue;
    for (PodIndex pod : in_.problem.gangs[gang].pods)
      if (in_.base.is_present(pod) && counts_in(in_.problem.class_of(pod), kind))
        work.expression.constant += in_.problem.class_of(pod).work;
  }
  work.most = work.expression.constant;
  for (GangClassIndex index : waiting_[queue]) {
    const GangClass& gang_class = in_.demand.gang_classes[index];
    if (gang_class.priority < priority) continue;
    for (RunningCellIndex cell : gang_class.running) {
      const PodClass& pod_class = in_.problem.pod_classes[in_.demand.classes[in_.demand.running[cell].stay].pod_class];
      if (!counts_in(pod_class, kind)) continue;
      work.expression.add(columns_.kept(cell), pod_class.work);
      work.most += in_.demand.running[cell].count() * pod_class.work;
    }
    for (CellIndex cell : gang_class.cells) {
      const PodClass& pod_class = in_.problem.pod_classes[in_.demand.classes[in_.demand.cells[cell].demand].pod_class];
      if (!counts_in(pod_class, kind) || !in_.demand.cells[cell].moves.is_none()) continue;
      work.expression.add(columns_.placed(cell), pod_class.work);
      work.most += in_.demand.cells[cell].count() * gang_class.size() * pod_class.work;
    }
  }
  return work;
}

// The most work of whole units that fit together in the share: sum of work x counted, counted <= available, all of it
// <= F.
ShareLevels::Bounded ShareLevels::leaf_share(QueueIndex queue, std::int32_t priority, std::size_t kind) {
  const std::int64_t share = in_.shares.share_work[queue][kind];
  Bounded all;
  for (const Units& u : units_of(queue, priority, kind, true)) {
    all.expression.add(u.available, u.work);
    all.most += u.most * u.work;
  }
  const std::vector<GangIndex> varying = varying_gangs(queue, priority);
  // Pods that run below their gang's minimum are no units, unless it is completed.
  const bool may_lie_below = std::any_of(varying.begin(), varying.end(), [&](GangIndex gang) {
    const GangClass& gang_class = in_.demand.gang_classes[varying_class(gang)];
    return !gang_class.running.empty() && !gang_class.minimum_runs;
  });
  all.most = std::min(all.most, most_at_once(in_.problem, kind));
  if (all.most <= share && !may_lie_below) return all;
  lp::LinearExpression counted;
  for (GangIndex gang : varying) add_varying_units(gang, kind, counted);
  std::map<Work, Units> by_work;  // it does not matter which gang's unit of a size counts
  for (const Units& u : units_of(queue, priority, kind, false)) {
    if (u.work == 0 || u.work > share) continue;
    Units& all_of_it = by_work[u.work];
    all_of_it.available.add(u.available);
    all_of_it.most += u.most;
  }
  for (const auto& [work, u] : by_work) {
    const std::int32_t column =
        model_.add_column(0, static_cast<double>(u.most), true, "s" + std::to_string(model_.columns()));
    lp::LinearExpression slack = u.available;
    slack.add(column, -1);
    model_.add_constraint(slack, 0, lp::kInfinity, "units");
    counted.add(column, work);
  }
  model_.add_constraint(counted, -lp::kInfinity, static_cast<double>(share), "share" + std::to_string(queue.value()));
  return {counted, std::min(share, all.most)};
}

}  // namespace muster::formulation
