#include "cli/line/summary.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/terminal/terminal.h"
#include "model/base/words.h"
#include "model/objective/wholeness.h"
#include "model/snapshot/unread.h"

namespace muster::cli {
namespace {

constexpr std::size_t kMostReasons = 5, kMostStarts = 5, kMostMoves = 5;
constexpr double kMicroPerGpu = 1e6;

// Nothing if no node counts.
std::string whole_nodes_text(const SolvedLine& line) {
  const WholeNodeCount count = whole_nodes_after(line.problem, line.solution.plan);
  return count.of == 0 ? std::string() : fmt::format("; whole nodes idle {} of {}", count.whole, count.of);
}

std::string clusters_line(const SolvedLine& line) {
  const Snapshot& snapshot = *line.problem.snapshot;
  Amount allocated = 0;
  for (const explain::QueueReport& queue : line.solution.report.queues) {
    if (line.problem.queues[queue.queue].parent.is_none()) allocated += queue.allocated[kQueueGpu];
  }
  const double total = static_cast<double>(line.problem.total[kQueueGpu]) / kMicroPerGpu;
  const double used = static_cast<double>(allocated) / kMicroPerGpu;
  const std::string id = snapshot.id.empty() ? "" : escaped(snapshot.id) + ": ";
  std::string text = fmt::format("{}nodes {}, pods {}, GPUs {:g}, allocated {:.1f}", id, snapshot.nodes.size(),
                                 snapshot.pods.size(), total, used);
  if (total > 0) text += fmt::format(" ({:.2f} % unallocated)", 100 * (total - used) / total);
  return text + whole_nodes_text(line);
}

// "Scheduled 12, Unschedulable 3", most first.
std::string tally(const std::map<std::string, std::int64_t>& counts, std::size_t most) {
  std::vector<std::pair<std::string_view, std::int64_t>> rows(counts.begin(), counts.end());
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", rows[i].first, rows[i].second);
  }
  return text;
}

// "; 240 gangs pending (Fragmented)".
std::string pending_text(const std::map<std::string, std::int64_t>& reasons) {
  if (reasons.empty()) return "";
  std::int64_t gangs = 0;
  for (const auto& [reason, count] : reasons) gangs += count;
  const std::string why = reasons.size() == 1 ? reasons.begin()->first : tally(reasons, kMostReasons);
  return fmt::format("; {} pending ({})", counted(gangs, "gang"), why);
}

std::string gangs_line(const SolvedLine& line) {
  std::map<std::string, std::int64_t> phases, reasons;
  for (const explain::GangReport& gang : line.solution.report.gangs) {
    ++phases[std::string(explain::phase_name(gang.phase))];
    const bool is_gone = gang.phase == explain::GangPhase::kEvicted || gang.phase == explain::GangPhase::kStale;
    if (gang.reason.code != explain::ReasonCode::kNone && !is_gone) ++reasons[explain::reason_text(gang.reason)];
  }
  std::string text = fmt::format("  gangs: {}", phases.empty() ? "nothing to do" : tally(phases, phases.size()));
  text += pending_text(reasons);
  const auto is_move = [](const Eviction& eviction) { return eviction.reason == EvictionReason::kConsolidate; };
  const std::vector<Eviction>& evictions = line.solution.plan.evictions;
  const auto moves = std::ranges::count_if(evictions, is_move);
  return text + fmt::format("; pods placed {}, evicted {}, moved{} {}",
                            std::ssize(line.solution.plan.placements) - moves, std::ssize(evictions) - moves,
                            moves > 0 ? " and restarted" : "", moves);
}

// A queue that uses more of some resource than its fair share once the plan is carried out.
bool is_above_share(const SolvedLine& line, QueueIndex queue) {
  const auto& reports = line.solution.report.queues;
  const auto found = std::ranges::find(reports, queue, &explain::QueueReport::queue);
  if (found == reports.end()) return false;
  for (std::size_t r = 0; r < kQueueResources; ++r) {
    if (found->allocated[r] > found->fair_share[r]) return true;
  }
  return false;
}

// "\n  moved for other queues: 3 pods of mid for pre, which is above its fair share"; nothing if no pod is. Most first.
std::string moves_line(const SolvedLine& line) {
  const Problem& problem = line.problem;
  std::map<std::pair<QueueIndex, QueueIndex>, std::int64_t> moved;  // whose pods, for which
  for (const Eviction& eviction : line.solution.plan.evictions) {
    if (eviction.reason != EvictionReason::kConsolidate || eviction.for_gang.is_none()) continue;
    const QueueIndex own = problem.gangs[problem.pods[eviction.pod].gang].queue;
    const QueueIndex claimant = problem.gangs[eviction.for_gang].queue;
    if (own != claimant && !own.is_none() && !claimant.is_none()) ++moved[{own, claimant}];
  }
  std::vector<std::pair<std::pair<QueueIndex, QueueIndex>, std::int64_t>> rows(moved.begin(), moved.end());
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.second > b.second; });
  if (rows.size() > kMostMoves) rows.resize(kMostMoves);
  std::string text;
  for (const auto& [queues, pods] : rows) {
    text += fmt::format("{}{} of {} for {}{}", text.empty() ? "" : "; ", counted(pods, "pod"),
                        escaped(problem.queues[queues.first].name), escaped(problem.queues[queues.second].name),
                        is_above_share(line, queues.second) ? ", which is above its fair share" : "");
  }
  if (moved.size() > kMostMoves) text += fmt::format("; {} more", moved.size() - kMostMoves);
  return text.empty() ? text : "\n  moved for other queues: " + text;
}

// "\n  expected starts: a in 3.0 h (Quota), ...; 12 more"; nothing if none is expected. Those that start first.
std::string starts_line(const SolvedLine& line) {
  std::vector<const explain::GangReport*> gangs;
  for (const explain::GangReport& gang : line.solution.report.gangs) {
    if (gang.expected_start) gangs.push_back(&gang);
  }
  if (gangs.empty()) return "";
  std::ranges::stable_sort(gangs, {}, [](const explain::GangReport* gang) { return gang->expected_start->time; });
  std::string text;
  for (const explain::GangReport* gang : std::span(gangs).first(std::min(gangs.size(), kMostStarts))) {
    const Nanoseconds ahead = gang->expected_start->time - line.problem.snapshot->time;
    text += fmt::format("{}{} in {:.1f} h ({})", text.empty() ? "" : ", ", escaped(line.problem.gangs[gang->gang].name),
                        static_cast<double>(ahead) / 3600e9,
                        forecast::start_obstacle_text(gang->expected_start->waits_for));
  }
  if (gangs.size() > kMostStarts) text += fmt::format("; {} more", gangs.size() - kMostStarts);
  return "\n  expected starts: " + text;
}

std::string warnings_line(const SolvedLine& line) {
  const std::size_t count = line.problem.snapshot->anomalies.count();
  return count == 0 ? std::string() : fmt::format("\n  warnings: {} (see the plan)", count);
}

std::string level_line(const SolvedLine& line) {
  const PlacementPolicy policy = line.problem.snapshot->policy.placement;
  for (const explain::LevelReport& level : line.solution.report.objective) {
    if (level.bound == level.value) continue;
    const double scale = static_cast<double>(level_scale(level.id.kind, policy));
    std::string text = fmt::format("  first level not proven optimal: {}", level_name(level.id.kind));
    if (has_priority(level.id.kind)) text += fmt::format(" of priority {}", level.id.priority);
    text += fmt::format(", value {:.10g}", static_cast<double>(level.value) / scale);
    if (!level.bound) return text + ", no bound";
    return text + fmt::format(", bound {:.10g}, gap {:.3f} %", static_cast<double>(*level.bound) / scale,
                              100 * line.solution.gap);
  }
  return fmt::format("  every level proven optimal{}", scope_of_proof(line.problem.snapshot->anomalies));
}

}  // namespace

std::string summary_of(const SolvedLine& line) {
  const auto seconds = [](portfolio::Clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
  };
  const bool is_optimal = line.solution.proof == Proof::kOptimal;
  return fmt::format("{}\n{}{}{}{}\n{}\n  by {}, proof {}{}, {:.3f} of {:.3f} s", clusters_line(line), gangs_line(line),
                     moves_line(line), starts_line(line), warnings_line(line), level_line(line),
                     origin_name(line.solution.origin), proof_name(line.solution.proof),
                     is_optimal ? scope_of_proof(line.problem.snapshot->anomalies) : "", seconds(line.elapsed),
                     seconds(line.budget));
}

}  // namespace muster::cli
