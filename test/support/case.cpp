#include "test/support/case.h"

#include <stdexcept>
#include <utility>

#include "io/snapshot_reader/snapshot_reader.h"
#include "model/build/build_problem.h"
#include "model/objective/evaluation.h"
#include "model/objective/level_bounds.h"
#include "model/problem/next_snapshot.h"

namespace muster::test {
namespace {

std::string text_of(const InputError& error) {
  return std::string(error_code_text(error.code)) + " at " + error.path + ": " + error.message;
}

template <class T>
T required(Result<T> result) {
  if (!result) throw std::runtime_error(text_of(result.error()));
  return std::move(*result);
}

template <class I, class Items>
I named(const Items& items, std::string_view name) {
  std::size_t at = 0;
  for (const auto& item : items) {
    if (item.name == name) return I(at);
    ++at;
  }
  throw std::runtime_error("nothing is named " + std::string(name));
}

}  // namespace

Case::Case(Snapshot snapshot) : parts_(std::make_unique<Parts>(Parts{std::move(snapshot), {}, {}})) {
  parts_->problem = required(build_problem(parts_->snapshot));
  parts_->shares = compute_fair_shares(parts_->problem);
}

Case Case::of_line(const std::string& line, Oddities oddities) {
  Case made(read(line, oddities));
  made.line_ = line;
  return made;
}

std::optional<Case> Case::if_valid(const std::string& line) {
  Result<Snapshot> snapshot = muster_v1::SnapshotReader().read(line);
  std::optional<Case> made = snapshot ? if_valid(std::move(*snapshot)) : std::nullopt;
  if (made) made->line_ = line;
  return made;
}

std::optional<Case> Case::if_valid(Snapshot snapshot) {
  auto parts = std::make_unique<Parts>(Parts{std::move(snapshot), {}, {}});
  Result<Problem> problem = build_problem(parts->snapshot);
  if (!problem) return std::nullopt;
  parts->problem = std::move(*problem);
  parts->shares = compute_fair_shares(parts->problem);
  return Case(std::move(parts));
}

Snapshot Case::read(std::string_view line, Oddities oddities) {
  return required(muster_v1::SnapshotReader({.strict = oddities == Oddities::kErrors}).read(line));
}

PodIndex Case::pod(std::string_view name) const { return named<PodIndex>(snapshot().pods, name); }
NodeIndex Case::node(std::string_view name) const { return named<NodeIndex>(snapshot().nodes, name); }
GangIndex Case::gang(std::string_view name) const { return named<GangIndex>(problem().gangs, name); }
QueueIndex Case::queue(std::string_view name) const { return named<QueueIndex>(problem().queues, name); }

std::vector<std::int32_t> Case::devices_of(std::string_view name) const {
  const auto devices = problem().devices_of(pod(name));
  return {devices.begin(), devices.end()};
}

Case& Case::place(std::string_view pod_name, std::string_view node_name, std::vector<std::int32_t> devices,
                  const std::vector<std::string_view>& after) {
  Placement placement{pod(pod_name), node(node_name), std::move(devices), {}};
  for (const std::string_view name : after) placement.after.push_back(pod(name));
  plan_.placements.push_back(std::move(placement));
  return *this;
}

Case& Case::evict(std::string_view pod_name, EvictionReason reason, std::string_view for_gang) {
  plan_.evictions.push_back({pod(pod_name), reason, for_gang.empty() ? GangIndex::none() : gang(for_gang)});
  return *this;
}

Plan Case::plan() const {
  Plan plan = plan_;
  normalise(plan);
  return plan;
}

std::int64_t Case::value(LevelKind kind, std::int32_t priority) const {
  return evaluate(problem(), shares(), plan()).values[position(kind, priority)];
}

std::int64_t Case::bound(LevelKind kind, std::int32_t priority) const {
  return trivial_bounds(problem(), shares())[position(kind, priority)];
}

Snapshot Case::next(const Plan& plan, Nanoseconds later) {
  return next_snapshot(std::move(parts_->snapshot), problem(), plan, later);
}

std::size_t Case::position(LevelKind kind, std::int32_t priority) const {
  const std::vector<LevelId> ids = level_ids(problem());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == LevelId{kind, priority}) return i;
  }
  throw std::runtime_error("no level " + std::string(level_name(kind)) + " of priority " + std::to_string(priority));
}

std::string error_of(const std::string& body) {
  Result<Snapshot> snapshot = muster_v1::SnapshotReader().read(line_of(body));
  if (!snapshot) return std::string(error_code_text(snapshot.error().code)) + " " + snapshot.error().path;
  const Result<Problem> built = build_problem(*snapshot);
  return built ? "" : std::string(error_code_text(built.error().code)) + " " + built.error().path;
}

}  // namespace muster::test
