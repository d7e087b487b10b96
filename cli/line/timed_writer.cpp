#include "cli/line/timed_writer.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "model/base/parallel.h"
#include "model/objective/levels.h"
#include "solver/portfolio/instance_size.h"

namespace muster::cli {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

// The size that determines the time of the report, except for its reasons.
std::int64_t report_size(const Problem& problem) {
  return static_cast<std::int64_t>(problem.gangs.size() + problem.queues.size()) + levels_of_presence(problem);
}

// Pods of which the plan may say something.
std::int64_t decidable(const Problem& problem) {
  const auto waiting =
      std::ranges::count_if(problem.pods, [](const Pod& pod) { return pod.status == PodStatus::kPending; });
  return waiting + portfolio::leaving_pods(problem);
}

}  // namespace

portfolio::Clock::duration TimedWriter::reserve(const Problem& problem, int threads) const {
  const double decisions = decisions_.of(decidable(problem)), report = report_.of(report_size(problem));
  return std::chrono::duration_cast<portfolio::Clock::duration>(
      Milliseconds(threads > 1 ? std::max(decisions, report) : decisions + report));
}

void TimedWriter::write(muster_v1::PlanLine& line, const LineTime& time, std::string& out) {
  const portfolio::Clock::time_point begun = portfolio::Clock::now();
  std::string beside;
  std::string& report = line.threads > 1 ? beside : out;
  std::array<Milliseconds, 2> taken{};
  parallel_for(taken.size(), line.threads, [&](std::size_t part) {  // in this order if there is one thread
    const portfolio::Clock::time_point start = portfolio::Clock::now();
    part == 0 ? muster_v1::write_decisions(line, out) : muster_v1::write_report(line, report);
    taken[part] = portfolio::Clock::now() - start;
  });
  out += beside;

  const portfolio::Clock::time_point ended = portfolio::Clock::now();
  line.solver.phases_ms.emplace_back("write", Milliseconds(ended - begun).count());
  line.solver.elapsed_ms = Milliseconds(ended - time.start).count();
  line.solver.deadline_missed = line.with_timings && ended > time.deadline;
  muster_v1::write_statement(line, out);
  out += '\n';

  const auto reasons =
      std::ranges::count_if(line.report.gangs, [](const explain::GangReport& g) { return !g.message.empty(); });
  decisions_.learn(decidable(line.problem), 0, taken[0].count());
  report_.learn(report_size(line.problem), reasons, taken[1].count());
}

}  // namespace muster::cli
