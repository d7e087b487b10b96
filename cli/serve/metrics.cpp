#include "cli/serve/metrics.h"

#include <utility>

#include "cli/serve/process_metrics.h"

namespace muster::cli {

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

}  // namespace muster::cli
