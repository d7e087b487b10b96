#include "cli/serve/states.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "io/kubernetes/import.h"
#include "io/kubernetes/object/slim.h"
#include "io/muster_v1/snapshot_input.h"
#include "io/state/delta_reader.h"
#include "model/snapshot/unread.h"

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

Result<KeptSnapshot> kept_snapshot_of(Result<SnapshotDelta> whole) {
  if (!whole) return whole.error();
  KeptSnapshot kept;
  if (auto error = kept.apply(*std::move(whole), "$")) return *std::move(error);
  return kept;
}

// The snapshot that the objects are now.
Result<KeptSnapshot> import_objects(const state::ClusterObjects& objects, const muster_v1::ReaderOptions& options) {
  Result<Snapshot> imported = kubernetes::import_kept(objects.kept(), objects.at_their_time(options.kubernetes));
  if (!imported) return imported.error();
  const Anomalies& anomalies = imported->anomalies;  // a delta might change what is held for them
  for (const Warning& warning : anomalies.warnings) {
    if (warning.code == ErrorCode::kUnclear)
      return InputError{warning.code, "$", warning.object + " " + warning.name + ": " + warning.message};
  }
  if (!anomalies.held_gangs.empty())  // for one of the warnings that are not kept
    return InputError{ErrorCode::kUnclear, "$", "gang " + std::string(anomalies.held_gangs.front()) + ": it is held"};
  SnapshotDelta delta;
  delta.set = *std::move(imported);
  delta.sets_time = delta.sets_policy = delta.sets_topology = delta.sets_remarks = true;
  return kept_snapshot_of(std::move(delta));
}

json::JsonLimits limits_of_objects(const muster_v1::ReaderOptions& options) {
  return {std::numeric_limits<std::size_t>::max(), options.max_depth};
}

// With the path in the text, which an import of kept objects does not know.
InputError with_path_in(std::string_view text, const muster_v1::ReaderOptions& options, const InputError& error) {
  const auto imported = kubernetes::import_kubernetes_text(text, options.kubernetes, limits_of_objects(options));
  return imported ? error : imported.error();
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

void StateReport::count(const Snapshot& snapshot) {
  nodes = snapshot.nodes.size();
  queues = snapshot.queues.size();
  gangs = snapshot.gangs.size();
  pods = snapshot.pods.size();
}

ServeStates::State* ServeStates::find(std::string_view cluster, const muster_v1::ReaderOptions& options) {
  const auto found = states_.find(cluster);
  if (found == states_.end()) return nullptr;
  const auto* objects = std::get_if<state::ClusterObjects>(&found->second.kept);
  if (objects != nullptr && !objects->is_read_as(options.kubernetes)) {
    forget(cluster);
    return nullptr;
  }
  found->second.asked_for = ++clock_;
  return &found->second;
}

void ServeStates::put(std::string_view cluster, State state) {
  state.asked_for = ++clock_;
  publish(cluster, state.report);
  states_.insert_or_assign(std::string(cluster), std::move(state));
  if (states_.size() <= kMostStates) return;
  const auto oldest = std::ranges::min_element(states_, {}, [](const auto& named) { return named.second.asked_for; });
  forget(std::string(oldest->first));
}

void ServeStates::forget(std::string_view cluster) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = reports_.find(cluster); found != reports_.end()) reports_.erase(found);
  if (const auto found = states_.find(cluster); found != states_.end()) states_.erase(found);
}

void ServeStates::publish(std::string_view cluster, const StateReport& report) {
  const std::scoped_lock lock(mutex_);
  reports_.insert_or_assign(std::string(cluster), report);
}

std::optional<InputError> ServeStates::read_whole(std::string_view text, const muster_v1::ReaderOptions& options,
                                                  State& state) {
  if (!kubernetes::begins_as_kubernetes(text)) {
    Result<KeptSnapshot> kept = kept_snapshot_of(reader_with(options).read_whole(text));
    if (!kept) return kept.error();
    state.report.count(kept->snapshot());
    state.kept = *std::move(kept);
    return std::nullopt;
  }
  state::ClusterObjects objects(std::make_shared<const kubernetes::KubernetesOptions>(options.kubernetes));
  if (auto error = objects.set_whole(text, limits_of_objects(options))) return error;
  const Result<Snapshot> snapshot =
      muster_v1::SnapshotReader(options).read(objects.kept(), objects.at_their_time(options.kubernetes));
  if (!snapshot) return with_path_in(text, options, snapshot.error());
  state.report.count(*snapshot);
  state.kept = std::move(objects);
  return std::nullopt;
}

ServeAnswer ServeStates::set(std::string_view cluster, std::string_view text, std::uint64_t sequence,
                             const muster_v1::ReaderOptions& options) {
  State state;
  if (const auto error = read_whole(text, options, state)) return refused(*error);
  state.report.sequence = sequence;
  state.report.changed = std::chrono::steady_clock::now();
  state.whole_bytes = text.size();
  const StateReport report = state.report;
  put(cluster, std::move(state));
  return told(report);
}

ServeAnswer ServeStates::change(std::string_view cluster, std::string_view text,
                                const muster_v1::ReaderOptions& options) {
  State* state = find(cluster, options);
  if (state == nullptr) return no_state(cluster);
  state::DeltaReader reader = reader_with(options);
  const Result<state::SequenceStep> step = reader.read_step(text);
  if (!step) return refused(step.error());
  const std::uint64_t sequence = state->report.sequence;
  if (state->has_delta && step->from == state->from && step->to == sequence) return told(state->report);
  if (step->from != sequence) {
    return conflicting(http::HttpFault::kSequenceGap,
                       fmt::format("the delta leads from {} to {}, but the state{} is at {}; send the whole cluster to "
                                   "/v1/state",
                                   step->from, step->to, told_cluster(cluster), sequence));
  }
  const Result<state::DeltaForm> form = reader.read_form();
  if (!form) return refused(form.error());
  const bool are_objects = std::holds_alternative<state::ClusterObjects>(state->kept);
  const bool sets_objects = *form == state::DeltaForm::kKubernetes || (*form == state::DeltaForm::kNone && are_objects);
  const Delta delta{text, reader, options};
  if (auto refusal = sets_objects ? change_objects(delta, *state) : change_snapshot(cluster, delta, *state))
    return *std::move(refusal);
  state->from = step->from;
  state->has_delta = true;
  state->report.sequence = step->to;
  state->report.changed = std::chrono::steady_clock::now();
  publish(cluster, state->report);
  return told(state->report);
}

std::optional<ServeAnswer> ServeStates::change_objects(const Delta& delta, State& state) {
  auto* objects = std::get_if<state::ClusterObjects>(&state.kept);
  if (objects == nullptr) {
    return refused({ErrorCode::kInvalidValue, "$",
                    "the delta holds Kubernetes objects, but the state has the form of a snapshot; send the whole "
                    "cluster as Kubernetes objects to /v1/state, or a delta in the form of a snapshot"});
  }
  if (const auto error = delta.reader.change(*objects)) return refused(*error);
  return std::nullopt;
}

std::optional<ServeAnswer> ServeStates::change_snapshot(std::string_view cluster, const Delta& delta, State& state) {
  KeptSnapshot imported;
  auto* kept = std::get_if<KeptSnapshot>(&state.kept);
  if (kept == nullptr) {
    Result<KeptSnapshot> snapshot = import_objects(std::get<state::ClusterObjects>(state.kept), delta.options);
    if (!snapshot) return refused(snapshot.error());
    imported = *std::move(snapshot);
    kept = &imported;
  } else if (state.delta_bytes + delta.text.size() > kDeltaShare * state.whole_bytes + kDeltaBytes) {
    return conflicting(http::HttpFault::kSequenceGap,
                       fmt::format("the state{} has taken in so many deltas that it must be set anew; send the whole "
                                   "cluster to /v1/state",
                                   told_cluster(cluster)));
  }
  Result<SnapshotDelta> read = delta.reader.read_delta(*kept);
  if (!read) return refused(read.error());
  if (const auto error = kept->apply(*std::move(read), "$.set")) return refused(*error);
  if (kept == &imported) state.kept = std::move(imported);
  state.delta_bytes += delta.text.size();
  state.report.count(std::get<KeptSnapshot>(state.kept).snapshot());
  return std::nullopt;
}

namespace {

ParsedLine copied_line(const KeptSnapshot& kept, const muster_v1::ReaderOptions& options) {
  const portfolio::Clock::time_point begun = portfolio::Clock::now();
  ParsedLine line{1, {}, kept.for_cycle(), {}, begun, {}, {}};
  line.snapshot->anomalies.strict = options.strict;
  muster_v1::settle(options.policy, *line.snapshot);
  for (const Warning& warning : line.snapshot->anomalies.warnings) {
    if (is_remark(warning)) line.remarks.push_back(remark_text(warning));
  }
  line.parsing = portfolio::Clock::now() - begun;
  return line;
}

}  // namespace

std::optional<ParsedLine> ServeStates::line(std::string_view cluster, muster_v1::SnapshotReader& reader,
                                            const muster_v1::ReaderOptions& options) {
  State* state = find(cluster, options);
  if (state == nullptr) return std::nullopt;
  if (const auto* kept = std::get_if<KeptSnapshot>(&state->kept)) return copied_line(*kept, options);
  const auto& objects = std::get<state::ClusterObjects>(state->kept);
  ParsedLine line = parse_objects(reader, objects.kept(), objects.at_their_time(options.kubernetes));
  if (!line.snapshot) return line;
  state->report.count(*line.snapshot);
  publish(cluster, state->report);
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
