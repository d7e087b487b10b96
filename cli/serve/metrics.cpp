#include "cli/serve/metrics.h"

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

namespace muster::cli {

namespace {

// Reasons that are exported from the start, so that rates of them are defined.
constexpr std::array<std::string_view, 5> kRefusals = {"max_connections", "header_timeout", "body_timeout",
                                                       "idle_timeout", "write_timeout"};

}  // namespace

ServingMetrics::ServingMetrics() : reloads_{{"ok", 0}, {"failed", 0}} {
  for (const std::string_view reason : kRefusals) refused_connections_[std::string(reason)] = 0;
}

void ServingMetrics::answered(std::string_view path, unsigned status, portfolio::Clock::duration duration) {
  ++requests_[{std::string(path), status}];
  durations_.observe(path, seconds_of(duration));
}

void ServingMetrics::dropped(std::string_view reason) { ++refused_connections_[std::string(reason)]; }

void ServingMetrics::reloaded(bool is_good) { ++reloads_[is_good ? "ok" : "failed"]; }

void ServingMetrics::write(http::PrometheusText& out, std::size_t connections) const {
  out.family("muster_http_requests_total", "counter",
             "Requests by path and status; status 0: the client did not take the response.");
  for (const auto& [key, count] : requests_) {
    out.sample({{"path", key.first}, {"code", fmt::format("{}", key.second)}}, static_cast<double>(count));
  }
  out.family("muster_http_request_duration_seconds", "histogram",
             "Time from receipt of the request until the client has taken the response.");
  durations_.write(out, "path");
  out.family("muster_http_connections", "gauge", "Open connections.").sample({}, static_cast<double>(connections));
  out.family("muster_http_connections_refused_total", "counter", "Connections rejected or closed by a limit.");
  for (const auto& [reason, count] : refused_connections_) {
    out.sample({{"reason", reason}}, static_cast<double>(count));
  }
  out.family("muster_config_reloads_total", "counter", "Reloads of the configuration.");
  for (const auto& [result, count] : reloads_) out.sample({{"result", result}}, static_cast<double>(count));
}

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

namespace {

// The gap over the levels that determine what runs. The choice among equal nodes often remains unproven.
double gap_of_what_runs(const SolvedLine& line) {
  std::vector<explain::LevelReport> levels = line.solution.report.objective;
  std::erase_if(levels, [](const explain::LevelReport& level) { return level.id.kind > LevelKind::kSeniority; });
  return explain::gap_of(levels, line.problem.snapshot->policy.placement);
}

}  // namespace

void SolvingMetrics::solved(const SolvedLine& line, portfolio::Clock::duration waited) {
  ++solves_[{origin_name(line.statement.origin), proof_name(line.statement.proof)}];
  duration_.observe(seconds_of(line.elapsed));
  gap_.observe(gap_of_what_runs(line));
  if (line.statement.deadline_missed) {
    ++deadlines_missed_;
    overshoot_.observe(seconds_of(line.elapsed - line.budget));
  }
  referee_rejections_ += line.solution.rejected_plans;
  for (const auto& [rule, times] : line.solution.refused) refused_[static_cast<std::size_t>(rule)] += times;
  stages_.observe("queue", seconds_of(waited));
  for (const auto& [stage, milliseconds] : line.statement.phases_ms) stages_.observe(stage, milliseconds / 1e3);
}

void SolvingMetrics::refused_input(ErrorCode code) { ++input_errors_[code]; }

void SolvingMetrics::write(http::PrometheusText& out) const {
  out.family("muster_solves_total", "counter", "Plans, by the engine that made them and by proof.");
  for (const auto& [key, count] : solves_) {
    out.sample({{"origin", key.first}, {"proof", key.second}}, static_cast<double>(count));
  }
  out.family("muster_solve_duration_seconds", "histogram",
             "Time from receipt of the line to its plan, including time in the queue.")
      .histogram({}, duration_);
  out.family("muster_stage_duration_seconds", "histogram",
             "Time per stage of a solve; stage queue is the waiting time.");
  stages_.write(out, "stage");
  out.family("muster_deadline_missed_total", "counter", "Plans that exceeded their budget.")
      .sample({}, static_cast<double>(deadlines_missed_));
  out.family("muster_deadline_overshoot_seconds", "histogram", "By how much late plans exceeded their budget.")
      .histogram({}, overshoot_);
  out.family("muster_gap_ratio", "histogram", "Gap of the first level up to seniority that is not proven optimal.")
      .histogram({}, gap_);
  out.family("muster_referee_rejections_total", "counter", "Plans that broke a rule and were not sent: defects.")
      .sample({}, static_cast<double>(referee_rejections_));
  out.family("muster_refused_candidates_total", "counter",
             "Rules that better plans broke, which an engine made and gave up, by rule.");
  for (std::size_t rule = 0; rule < referee::kRuleCount; ++rule) {
    out.sample({{"rule", referee::rule_name(static_cast<referee::Rule>(rule))}}, static_cast<double>(refused_[rule]));
  }
  out.family("muster_input_errors_total", "counter", "Invalid lines and requests, by error code.");
  for (const auto& [code, count] : input_errors_)
    out.sample({{"code", error_code_text(code)}}, static_cast<double>(count));
}

void Metrics::solved(const SolvedLine& line, portfolio::Clock::duration waited) {
  PlanCounts counts(line);
  const std::scoped_lock lock(mutex_);
  solving_.solved(line, waited);
  snapshots_.solved(line.problem.snapshot->anomalies, std::move(counts));
}

void Metrics::refused_input(ErrorCode code) {
  const std::scoped_lock lock(mutex_);
  solving_.refused_input(code);
}

void Metrics::answered(std::string_view path, unsigned status, portfolio::Clock::duration duration) {
  const std::scoped_lock lock(mutex_);
  serving_.answered(path, status, duration);
}

void Metrics::dropped(std::string_view reason) {
  const std::scoped_lock lock(mutex_);
  serving_.dropped(reason);
}

void Metrics::reloaded(bool is_good) {
  const std::scoped_lock lock(mutex_);
  serving_.reloaded(is_good);
}

std::string Metrics::text(const MetricsNow& now) const {
  std::string text;
  http::PrometheusText out(text);
  out.family("muster_build_info", "gauge", "Always 1; the labels identify the build.")
      .sample({{"version", MUSTER_VERSION}}, 1);
  {
    const std::scoped_lock lock(mutex_);
    solving_.write(out);
    snapshots_.write(out);
    write_queue(out, now);
    serving_.write(out, now.connections);
  }
  out.family("muster_worker_restarts_total", "counter", "Solver processes that died or were killed and were replaced.")
      .sample({}, static_cast<double>(now.worker_failures));
  out.family("muster_finished_gangs_total", "counter", "Gangs whose durations --keep-durations has counted.")
      .sample({}, static_cast<double>(now.finished_gangs));
  write_states(out, now.states);
  write_process_metrics(out);
  return text;
}

void Metrics::write_queue(http::PrometheusText& out, const MetricsNow& now) {
  out.family("muster_queue_depth", "gauge", "Lines that wait for a solver.")
      .sample({}, static_cast<double>(now.queue_depth));
  out.family("muster_requests_in_flight", "gauge", "Requests accepted and not yet answered.")
      .sample({}, static_cast<double>(now.requests_in_flight));
}

void Metrics::write_states(http::PrometheusText& out, const std::optional<StateReport>& states) {
  const StateReport held = states.value_or(StateReport{});
  out.family("muster_state_objects", "gauge", "Objects of the clusters that are kept between cycles, by kind.")
      .sample({{"object", "node"}}, static_cast<double>(held.nodes))
      .sample({{"object", "queue"}}, static_cast<double>(held.queues))
      .sample({{"object", "gang"}}, static_cast<double>(held.gangs))
      .sample({{"object", "pod"}}, static_cast<double>(held.pods));
  const std::chrono::duration<double> age =
      states ? std::chrono::steady_clock::now() - held.changed : std::chrono::steady_clock::duration::zero();
  out.family("muster_state_sequence", "gauge", "Sequence number of the kept cluster that changed last; 0 without one.")
      .sample({}, static_cast<double>(held.sequence));
  out.family("muster_state_age_seconds", "gauge", "Time since the last change of a kept cluster; 0 without one.")
      .sample({}, age.count());
}

namespace {

// Seconds since 1970 at which this process was started, as reported by the kernel.
double start_time() {
  std::ifstream stat("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(stat), {}};
  std::ifstream system("/proc/stat");
  double booted = 0;
  for (std::string word; system >> word;) {
    if (word == "btime") system >> booted;
  }
  // The command's name, in brackets, may contain anything; the 20th word after it is the start in ticks.
  std::size_t place = text.rfind(')');
  for (int i = 0; i < 20 && place != std::string::npos; ++i) place = text.find(' ', place + 1);
  if (place == std::string::npos) return 0;
  const long long ticks = std::atoll(text.c_str() + place);
  return booted + static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    sum += static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  }
  return sum;
}

double open_descriptors() {
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  int count = -3;  // ".", ".." and the directory itself
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

}  // namespace

void write_process_metrics(http::PrometheusText& out) {
  static const double start = start_time();
  out.family("process_resident_memory_bytes", "gauge", "Resident memory of the server, without its workers.")
      .sample({}, resident_bytes());
  out.family("process_start_time_seconds", "gauge", "Start of the process, in seconds since 1970.").sample({}, start);
  out.family("process_cpu_seconds_total", "counter", "Processor time, including that of workers that have exited.")
      .sample({}, cpu_seconds());
  out.family("process_open_fds", "gauge", "Open file descriptors.").sample({}, open_descriptors());
}

}  // namespace muster::cli
