#include "cli/serve/snapshot_metrics.h"

#include <utility>

namespace muster::cli {
namespace {

constexpr double kMicroPerGpu = 1e6;

}  // namespace

PlanCounts::PlanCounts(const SolvedLine& line) : whole_nodes(whole_nodes_after(line.problem, line.solution.plan)) {
  for (const explain::GangPhase phase : explain::kGangPhases) gangs[std::string(explain::phase_name(phase))] = 0;
  for (const explain::GangReport& gang : line.solution.report.gangs)
    ++gangs[std::string(explain::phase_name(gang.phase))];
  Amount allocated = 0;
  for (const explain::QueueReport& queue : line.solution.report.queues) {
    if (line.problem.queues[queue.queue].parent.is_none()) allocated += queue.allocated[kQueueGpu];
  }
  allocated_gpus = static_cast<double>(allocated) / kMicroPerGpu;
  free_gpus = static_cast<double>(line.problem.total[kQueueGpu]) / kMicroPerGpu - allocated_gpus;
}

void SnapshotMetrics::solved(const Anomalies& anomalies, PlanCounts counts) {
  last_ = std::move(counts);
  last_warnings_ = anomalies.count();
  for (const Warning& warning : anomalies.warnings) ++warnings_[warning.object];
  if (anomalies.more > 0) warnings_["other"] += static_cast<std::int64_t>(anomalies.more);
}

void SnapshotMetrics::write(http::PrometheusText& out) const {
  out.family("muster_snapshot_warnings_total", "counter", "Inconsistent objects in snapshots, by kind.");
  for (const auto& [object, count] : warnings_) out.sample({{"object", object}}, static_cast<double>(count));
  out.family("muster_snapshot_warnings", "gauge", "Inconsistent objects in the last snapshot.")
      .sample({}, static_cast<double>(last_warnings_));
  write_last_plan(out);
}

void SnapshotMetrics::write_last_plan(http::PrometheusText& out) const {
  out.family("muster_gangs", "gauge", "Gangs of the last plan, by phase.");
  if (last_) {
    for (const auto& [phase, count] : last_->gangs) out.sample({{"phase", phase}}, static_cast<double>(count));
  }
  out.family("muster_gpus", "gauge", "GPUs of the last snapshot, by state after the plan.");
  if (last_) out.sample({{"state", "allocated"}}, last_->allocated_gpus).sample({{"state", "free"}}, last_->free_gpus);
  const WholeNodeCount nodes = last_ ? last_->whole_nodes : WholeNodeCount{};
  out.family("muster_whole_nodes", "gauge", "Nodes that count as whole nodes, by state after the last plan.")
      .sample({{"state", "idle"}}, static_cast<double>(nodes.whole))
      .sample({{"state", "used"}}, static_cast<double>(nodes.of - nodes.whole));
}

}  // namespace muster::cli
