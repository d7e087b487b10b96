#include "cli/serve/metrics.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include <dirent.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

namespace muster {
namespace {

constexpr double kMicroPerGpu = 1e6;
// Reasons that are exported from the start, so that rates of them are defined.
constexpr std::array<std::string_view, 5> kRefusals = {"max_connections", "header_timeout", "body_timeout",
                                                       "idle_timeout", "write_timeout"};

std::vector<double> duration_bounds() {
  return {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30};
}

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

Histogram& at(std::map<std::string, Histogram, std::less<>>& histograms, std::string_view key) {
  auto found = histograms.find(key);
  if (found == histograms.end()) found = histograms.emplace(std::string(key), Histogram(duration_bounds())).first;
  return found->second;
}

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

// The gap over the levels that determine what runs. The choice among equal nodes often remains unproven.
double gap_of_what_runs(const SolvedLine& line) {
  std::vector<LevelReport> levels = line.solution.report.objective;
  std::erase_if(levels, [](const LevelReport& level) { return level.id.kind > LevelKind::kSeniority; });
  return gap_of(levels, line.problem.snapshot->policy.placement);
}

void write_process(PrometheusText& out) {
  static const double start = start_time();
  out.family("process_resident_memory_bytes", "gauge", "Resident memory of the server, without its workers.")
      .sample({}, resident_bytes());
  out.family("process_start_time_seconds", "gauge", "Start of the process, in seconds since 1970.").sample({}, start);
  out.family("process_cpu_seconds_total", "counter", "Processor time, including that of workers that have exited.")
      .sample({}, cpu_seconds());
  out.family("process_open_fds", "gauge", "Open file descriptors.").sample({}, open_descriptors());
}

}  // namespace

Metrics::Metrics()
    : solve_duration_(duration_bounds()),
      overshoot_(duration_bounds()),
      gap_({0, 0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1}) {
  for (const std::string_view reason : kRefusals) refused_connections_[std::string(reason)] = 0;
  reloads_ = {{"ok", 0}, {"failed", 0}};
}

void Metrics::solved(const SolvedLine& line, Clock::duration waited) {
  const WholeNodeCount whole_nodes = whole_nodes_after(line.problem, line.solution.plan);
  const std::scoped_lock lock(mutex_);
  ++solves_[{std::string(line.statement.origin), std::string(line.statement.proof)}];
  solve_duration_.observe(seconds(line.elapsed));
  gap_.observe(gap_of_what_runs(line));
  if (line.statement.deadline_missed) {
    ++deadlines_missed_;
    overshoot_.observe(seconds(line.elapsed - line.budget));
  }
  referee_rejections_ += line.solution.rejected_plans;
  at(stages_, "queue").observe(seconds(waited));
  for (const auto& [stage, milliseconds] : line.statement.phases_ms) at(stages_, stage).observe(milliseconds / 1e3);
  count_last_plan(line, whole_nodes);
}

void Metrics::count_last_plan(const SolvedLine& line, const WholeNodeCount& whole_nodes) {
  for (const GangPhase phase : kGangPhases) gangs_[std::string(phase_name(phase))] = 0;
  for (const GangReport& gang : line.solution.report.gangs) ++gangs_[std::string(phase_name(gang.phase))];
  Amount allocated = 0;
  for (const QueueReport& queue : line.solution.report.queues) {
    if (line.problem.queues[queue.queue].parent.is_none()) allocated += queue.allocated[kQueueGpu];
  }
  const auto total = static_cast<double>(line.problem.total[kQueueGpu]) / kMicroPerGpu;
  gpus_["allocated"] = static_cast<double>(allocated) / kMicroPerGpu;
  gpus_["free"] = total - gpus_["allocated"];
  whole_nodes_ = whole_nodes;
  const Anomalies& anomalies = line.problem.snapshot->anomalies;
  last_warnings_ = anomalies.count();
  for (const Warning& warning : anomalies.warnings) ++warnings_[warning.object];
  if (anomalies.more > 0) warnings_["other"] += static_cast<std::int64_t>(anomalies.more);
}

void Metrics::refused_input(std::string_view code) {
  const std::scoped_lock lock(mutex_);
  ++input_errors_[std::string(code)];
}

void Metrics::answered(std::string_view path, unsigned status, Clock::duration duration) {
  const std::scoped_lock lock(mutex_);
  ++http_requests_[{std::string(path), status}];
  at(http_durations_, path).observe(seconds(duration));
}

void Metrics::dropped(std::string_view reason) {
  const std::scoped_lock lock(mutex_);
  ++refused_connections_[std::string(reason)];
}

void Metrics::reloaded(bool is_good) {
  const std::scoped_lock lock(mutex_);
  ++reloads_[is_good ? "ok" : "failed"];
}

std::string Metrics::text(const MetricsNow& now) const {
  std::string text;
  PrometheusText out(text);
  out.family("muster_build_info", "gauge", "Always 1; the labels identify the build.")
      .sample({{"version", MUSTER_VERSION}}, 1);
  {
    const std::scoped_lock lock(mutex_);
    write_solving(out);
    write_serving(out, now);
  }
  out.family("muster_worker_restarts_total", "counter", "Solver processes that died or were killed and were replaced.")
      .sample({}, static_cast<double>(now.worker_failures));
  write_process(out);
  return text;
}

void Metrics::write_solving(PrometheusText& out) const {
  out.family("muster_solves_total", "counter", "Plans, by the engine that made them and by proof.");
  for (const auto& [key, count] : solves_) {
    out.sample({{"origin", key.first}, {"proof", key.second}}, static_cast<double>(count));
  }
  out.family("muster_solve_duration_seconds", "histogram",
             "Time from receipt of the line to its plan, including time in the queue.")
      .histogram({}, solve_duration_);
  out.family("muster_stage_duration_seconds", "histogram",
             "Time per stage of a solve; stage queue is the waiting time.");
  for (const auto& [stage, histogram] : stages_) out.histogram({{"stage", stage}}, histogram);
  out.family("muster_deadline_missed_total", "counter", "Plans that exceeded their budget.")
      .sample({}, static_cast<double>(deadlines_missed_));
  out.family("muster_deadline_overshoot_seconds", "histogram", "By how much late plans exceeded their budget.")
      .histogram({}, overshoot_);
  out.family("muster_gap_ratio", "histogram", "Gap of the first level up to seniority that is not proven optimal.")
      .histogram({}, gap_);
  out.family("muster_referee_rejections_total", "counter", "Plans that broke a rule and were not sent: defects.")
      .sample({}, static_cast<double>(referee_rejections_));
  out.family("muster_input_errors_total", "counter", "Invalid lines and requests, by error code.");
  for (const auto& [code, count] : input_errors_) out.sample({{"code", code}}, static_cast<double>(count));
  out.family("muster_snapshot_warnings_total", "counter", "Inconsistent objects in snapshots, by kind.");
  for (const auto& [object, count] : warnings_) out.sample({{"object", object}}, static_cast<double>(count));
  out.family("muster_snapshot_warnings", "gauge", "Inconsistent objects in the last snapshot.")
      .sample({}, static_cast<double>(last_warnings_));
  out.family("muster_gangs", "gauge", "Gangs of the last plan, by phase.");
  for (const auto& [phase, count] : gangs_) out.sample({{"phase", phase}}, static_cast<double>(count));
  out.family("muster_gpus", "gauge", "GPUs of the last snapshot, by state after the plan.");
  for (const auto& [state, amount] : gpus_) out.sample({{"state", state}}, amount);
  out.family("muster_whole_nodes", "gauge", "Nodes that count as whole nodes, by state after the last plan.")
      .sample({{"state", "idle"}}, static_cast<double>(whole_nodes_.whole))
      .sample({{"state", "used"}}, static_cast<double>(whole_nodes_.of - whole_nodes_.whole));
}

void Metrics::write_serving(PrometheusText& out, const MetricsNow& now) const {
  out.family("muster_queue_depth", "gauge", "Lines that wait for a solver.")
      .sample({}, static_cast<double>(now.queue_depth));
  out.family("muster_requests_in_flight", "gauge", "Requests accepted and not yet answered.")
      .sample({}, static_cast<double>(now.requests_in_flight));
  out.family("muster_http_requests_total", "counter",
             "Requests by path and status; status 0: the client did not take the response.");
  for (const auto& [key, count] : http_requests_) {
    out.sample({{"path", key.first}, {"code", fmt::format("{}", key.second)}}, static_cast<double>(count));
  }
  out.family("muster_http_request_duration_seconds", "histogram",
             "Time from receipt of the request until the client has taken the response.");
  for (const auto& [path, histogram] : http_durations_) out.histogram({{"path", path}}, histogram);
  out.family("muster_http_connections", "gauge", "Open connections.").sample({}, static_cast<double>(now.connections));
  out.family("muster_http_connections_refused_total", "counter", "Connections rejected or closed by a limit.");
  for (const auto& [reason, count] : refused_connections_) {
    out.sample({{"reason", reason}}, static_cast<double>(count));
  }
  out.family("muster_config_reloads_total", "counter", "Reloads of the configuration.");
  for (const auto& [result, count] : reloads_) out.sample({{"result", result}}, static_cast<double>(count));
}

}  // namespace muster
