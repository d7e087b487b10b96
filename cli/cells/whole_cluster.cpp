#include "cli/cells/whole_cluster.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/line/line.h"
#include "cli/line/line_options.h"
#include "cli/line/line_source.h"
#include "cli/terminal/console.h"
#include "cli/terminal/terminal.h"
#include "io/muster_v1/plan_line.h"
#include "model/build/build_problem.h"

namespace muster::cli {
namespace {

void report(const std::string& file, const InputError& error, Console& console) {
  console.say(Severity::kError, fmt::format("{}: {} at {}: {}", escaped(file), error_code_text(error.code),
                                            escaped(error.path), escaped(error.message)));
}

template <class I>
I position(const NameTable& names, std::string_view name, InputError& error) {
  const std::uint32_t found = names.find(name);
  if (found != NameTable::kAbsent) return I(found);
  error = {ErrorCode::kUnknownName, "$", "the snapshot has no object \"" + std::string(name) + "\""};
  return I::none();
}

}  // namespace

NameIndex::NameIndex(const Problem& problem) {
  const Snapshot& snapshot = *problem.snapshot;
  pods_.reserve(problem.pods.size());
  nodes_.reserve(problem.nodes.size());
  gangs_.reserve(problem.gangs.size());
  for (const PodIndex pod : problem.pods.indices()) pods_.insert(snapshot.pods[pod.value()].name, pod.value());
  for (const NodeIndex node : problem.nodes.indices()) nodes_.insert(snapshot.nodes[node.value()].name, node.value());
  for (const GangIndex gang : problem.gangs.indices()) gangs_.insert(problem.gangs[gang].name, gang.value());
}

Result<Plan> NameIndex::resolve(const muster_v1::NamedPlan& named) const {
  InputError error;
  Plan plan;
  for (const muster_v1::NamedPlan::Placement& from : named.placements) {
    Placement placement{
        position<PodIndex>(pods_, from.pod, error), position<NodeIndex>(nodes_, from.node, error), {}, {}, 0};
    for (const muster_v1::NamedPlan::Device& device : from.devices)
      placement.devices.push_back(static_cast<std::int32_t>(device.index));
    for (const std::string& pod : from.after) placement.after.push_back(position<PodIndex>(pods_, pod, error));
    placement.step = static_cast<std::int32_t>(from.step);
    plan.placements.push_back(std::move(placement));
  }
  for (const muster_v1::NamedPlan::Eviction& from : named.evictions)
    plan.evictions.push_back(
        {position<PodIndex>(pods_, from.pod, error), from.reason,
         from.for_gang.empty() ? GangIndex::none() : position<GangIndex>(gangs_, from.for_gang, error)});
  if (error.code != ErrorCode::kNone) return error;
  normalise(plan);
  return plan;
}

WholeCluster::WholeCluster(const Settings& settings) : options_(reader_options(settings)) {
  options_.threads = line_options(settings).solve.threads;
}

int WholeCluster::read(const std::string& file, Console& console) {
  LineSource source({file}, {.max_line_bytes = options_.max_line_bytes});
  const auto line = source.next();
  if (!line) {
    console.say(Severity::kError,
                source.failure().empty() ? fmt::format("{}: no line", escaped(file)) : source.failure());
    return kExitNoInput;
  }
  muster_v1::SnapshotReader reader(options_);
  Result<Snapshot> snapshot = reader.read(line->text);
  if (!snapshot) {
    report(file, snapshot.error(), console);
    return kExitNoValidLine;
  }
  snapshot_ = std::make_unique<Snapshot>(std::move(*snapshot));
  Result<Problem> problem = build_problem(*snapshot_, options_.threads);
  if (!problem) {
    report(file, problem.error(), console);
    return kExitNoValidLine;
  }
  problem_.emplace(std::move(*problem));
  return kExitAnswered;
}

std::optional<Plan> WholeCluster::read_plan(const std::string& file, Console& console) const {
  LineSource source({file}, {});
  const auto line = source.next();
  if (!line) {
    console.say(Severity::kError,
                source.failure().empty() ? fmt::format("{}: no line", escaped(file)) : source.failure());
    return std::nullopt;
  }
  Result<muster_v1::ReadPlan> read = muster_v1::read_plan(line->text, &*problem_);
  if (!read) {
    report(file, read.error(), console);
    return std::nullopt;
  }
  return std::move(read->plan);
}

}  // namespace muster::cli
