#include "cli/serve/states.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "io/kubernetes/import.h"
#include "io/kubernetes/object/slim.h"
#include "io/muster_v1/settle.h"
#include "io/state/delta_reader.h"

namespace muster::cli {
namespace {

ServeAnswer refused(const InputError& error) {
  ServeAnswer answer;
  answer.number = 1;
  answer.is_error = true;
  answer.error = error;
  return answer;
}

ServeAnswer conflicting(http::HttpFault fault, std::string message) {
  ServeAnswer answer = refused({ErrorCode::kInvalidValue, {}, std::move(message)});
  answer.conflict = fault;
  return answer;
}

ServeAnswer told(const StateReport& report) {
  ServeAnswer answer;
  answer.number = 1;
  answer.text = state_text(report);
  return answer;
}

state::DeltaReader reader_with(const muster_v1::ReaderOptions& options) {
  return state::DeltaReader({options.lenient, {options.max_line_bytes, options.max_depth}, options.threads});
}

Result<SnapshotDelta> read_whole(std::string_view text, const muster_v1::ReaderOptions& options) {
  state::DeltaReader reader = reader_with(options);
  if (!kubernetes::begins_as_kubernetes(text)) return reader.read_whole(text);
  Result<kubernetes::ImportedSnapshot> imported = kubernetes::import_kubernetes_text(
      std::string(text), options.kubernetes, {std::numeric_limits<std::size_t>::max(), options.max_depth});
  if (!imported) return imported.error();
  Result<SnapshotDelta> delta = reader.read_whole(imported->line);
  if (!delta) return kubernetes::name_imported(delta.error(), imported->line);
  for (Warning& warning : imported->warnings) delta->set.anomalies.tell(std::move(warning));
  delta->sets_remarks = true;
  return delta;
}

std::string told_cluster(std::string_view cluster) {
  return cluster.empty() ? std::string() : fmt::format(" of the cluster \"{}\"", cluster);
}

}  // namespace

std::optional<std::uint64_t> sequence_in(std::string_view text) {
  if (text.empty()) return 0;
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = fault == std::errc() && end == text.data() + text.size();
  return is_number && number >> 63U == 0 ? std::optional(number) : std::nullopt;
}

ServeStates::State* ServeStates::find(std::string_view cluster) {
  const auto found = states_.find(cluster);
  if (found == states_.end()) return nullptr;
  found->second.asked_for = ++clock_;
  return &found->second;
}

void ServeStates::put(std::string_view cluster, State state) {
  state.asked_for = ++clock_;
  states_.insert_or_assign(std::string(cluster), std::move(state));
  if (states_.size() <= kMostStates) return;
  const auto oldest = std::ranges::min_element(states_, {}, [](const auto& named) { return named.second.asked_for; });
  const std::scoped_lock lock(mutex_);
  reports_.erase(oldest->first);
  states_.erase(oldest);
}

StateReport ServeStates::note(std::string_view cluster, const State& state) {
  const Snapshot& snapshot = state.kept.snapshot();
  const StateReport report{state.sequence,        snapshot.nodes.size(), snapshot.queues.size(),
                           snapshot.gangs.size(), snapshot.pods.size(),  std::chrono::steady_clock::now()};
  const std::scoped_lock lock(mutex_);
  reports_.insert_or_assign(std::string(cluster), report);
  return report;
}

ServeAnswer ServeStates::set(std::string_view cluster, std::string_view text, std::uint64_t sequence,
                             const muster_v1::ReaderOptions& options) {
  Result<SnapshotDelta> whole = read_whole(text, options);
  if (!whole) return refused(whole.error());
  State state;
  if (const auto error = state.kept.apply(*std::move(whole), "$")) return refused(*error);
  state.sequence = sequence;
  state.whole_bytes = text.size();
  const StateReport report = note(cluster, state);
  put(cluster, std::move(state));
  return told(report);
}

ServeAnswer ServeStates::change(std::string_view cluster, std::string_view text,
                                const muster_v1::ReaderOptions& options) {
  State* state = find(cluster);
  if (state == nullptr) return no_state(cluster);
  state::DeltaReader reader = reader_with(options);
  const Result<state::SequenceStep> step = reader.read_step(text);
  if (!step) return refused(step.error());
  const bool is_repeated = state->has_delta && step->from == state->from && step->to == state->sequence;
  if (is_repeated) return told(*report(cluster));
  if (step->from != state->sequence) {
    return conflicting(http::HttpFault::kSequenceGap,
                       fmt::format("the delta leads from {} to {}, but the state{} is at {}; send the whole cluster to "
                                   "/v1/state",
                                   step->from, step->to, told_cluster(cluster), state->sequence));
  }
  if (state->delta_bytes + text.size() > kDeltaShare * state->whole_bytes + kDeltaBytes) {
    return conflicting(http::HttpFault::kSequenceGap,
                       fmt::format("the state{} has taken in so many deltas that it must be set anew; send the whole "
                                   "cluster to /v1/state",
                                   told_cluster(cluster)));
  }
  Result<SnapshotDelta> delta = reader.read_delta(state->kept);
  if (!delta) return refused(delta.error());
  if (const auto error = state->kept.apply(*std::move(delta), "$.set")) return refused(*error);
  state->from = step->from;
  state->sequence = step->to;
  state->has_delta = true;
  state->delta_bytes += text.size();
  return told(note(cluster, *state));
}

std::optional<ParsedLine> ServeStates::line(std::string_view cluster, const muster_v1::ReaderOptions& options) {
  const State* state = find(cluster);
  if (state == nullptr) return std::nullopt;
  const portfolio::Clock::time_point begun = portfolio::Clock::now();
  ParsedLine line{1, {}, state->kept.for_cycle(), {}, begun, {}, {}};
  line.snapshot->anomalies.strict = options.strict;
  muster_v1::settle(options.policy, *line.snapshot);
  for (const Warning& warning : line.snapshot->anomalies.warnings) {
    if (warning.object == kImportRemark) line.remarks.push_back(warning.message);
  }
  line.parsing = portfolio::Clock::now() - begun;
  return line;
}

std::optional<StateReport> ServeStates::report(std::string_view cluster) const {
  const std::scoped_lock lock(mutex_);
  const auto found = reports_.find(cluster);
  return found == reports_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<StateReport> ServeStates::summary() const {
  const std::scoped_lock lock(mutex_);
  std::optional<StateReport> all;
  for (const auto& [cluster, report] : reports_) {
    if (!all) {
      all = report;
      continue;
    }
    if (report.changed > all->changed) {
      all->changed = report.changed;
      all->sequence = report.sequence;
    }
    all->nodes += report.nodes;
    all->queues += report.queues;
    all->gangs += report.gangs;
    all->pods += report.pods;
  }
  return all;
}

std::string state_text(const StateReport& report) {
  const std::chrono::duration<double> age = std::chrono::steady_clock::now() - report.changed;
  return fmt::format(
      "{{\"sequence\":{},\"objects\":{{\"nodes\":{},\"queues\":{},\"gangs\":{},\"pods\":{}}},\"ageSeconds\":{:.3f}}}\n",
      report.sequence, report.nodes, report.queues, report.gangs, report.pods, age.count());
}

ServeAnswer no_state(std::string_view cluster) {
  return conflicting(
      http::HttpFault::kNoState,
      fmt::format("the server holds no state{}; send the whole cluster to /v1/state", told_cluster(cluster)));
}

}  // namespace muster::cli
