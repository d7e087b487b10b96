#include "io/report/cluster_plan.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "io/report/block.h"
#include "io/report/columns.h"
#include "model/base/saturating.h"
#include "model/objective/wholeness.h"

namespace muster::reporting {
namespace {

constexpr std::size_t kMostViolations = 20, kMostWarnings = 20;

class PlanWriter {
 public:
  PlanWriter(const ClusterPlan& plan, json::JsonWriter& json)
      : problem_(plan.problem), positions_(plan.positions), json_(json) {}
  void write(const ReportedPlan& reported);

 private:
  void write_decisions(const Plan& plan);
  void write_gang_claims(const std::vector<muster_v1::GangClaim>& claims);
  void write_remedies(const std::vector<muster_v1::GangClaim>& claims);
  void write_queue_claims(const std::vector<muster_v1::ReadPlan::QueueClaim>& claims);
  void write_objective(const muster_v1::ReadPlan& plan);
  void write_violations(const std::vector<referee::Violation>& violations);
  void write_warnings(const muster_v1::ReadPlan& plan);

  const Problem& problem_;
  const PodPositions& positions_;
  json::JsonWriter& json_;
};

void PlanWriter::write(const ReportedPlan& reported) {
  const muster_v1::ReadPlan& plan = reported.plan;
  json_.raw(R"({"label":)").string(reported.label);
  json_.raw(R"(,"origin":)").string(origin_name(plan.solver.origin));
  json_.raw(R"(,"proof":)").string(proof_name(plan.solver.proof));
  if (plan.solver.of_what_was_read) json_.raw(R"(,"proofOf":"whatWasRead")");
  json_.raw(R"(,"gap":)").number(plan.solver.gap);
  if (plan.solver.budget_ms) json_.raw(R"(,"budgetMs":)").number(*plan.solver.budget_ms);
  if (plan.solver.elapsed_ms) json_.raw(R"(,"elapsedMs":)").number(*plan.solver.elapsed_ms);
  json_.raw(plan.solver.deadline_missed ? R"(,"deadlineMissed":true)" : R"(,"deadlineMissed":false)");
  json_.raw(R"(,"wholeNodes":)").integer(whole_nodes_after(problem_, plan.plan).whole);
  write_decisions(plan.plan);
  write_gang_claims(plan.gangs);
  write_remedies(plan.gangs);
  write_queue_claims(plan.queues);
  write_objective(plan);
  write_violations(reported.violations);
  write_warnings(plan);
  json_.raw("}");
}

void PlanWriter::write_decisions(const Plan& plan) {
  const auto position = [&](const auto& decision) { return positions_.at(decision.pod); };
  std::vector<std::int32_t> devices;
  for (const Placement& p : plan.placements) devices.insert(devices.end(), p.devices.begin(), p.devices.end());
  json_.raw(R"(,"placements":{)");
  write_column(json_, "pod", plan.placements, position);
  json_.raw(",");
  write_column(json_, "node", plan.placements, [](const Placement& p) { return p.node.value(); });
  json_.raw(",");
  write_column(json_, "devices", devices, [](std::int32_t device) { return device; });
  json_.raw(",");
  write_column(json_, "waits", plan.placements, [](const Placement& p) { return p.after.empty() ? 0 : 1; });
  json_.raw(R"(},"evictions":{)");
  write_column(json_, "pod", plan.evictions, position);
  json_.raw(",");
  write_column(json_, "reason", plan.evictions, [](const Eviction& e) { return static_cast<int>(e.reason); });
  json_.raw(",");
  write_column(json_, "for", plan.evictions, [](const Eviction& e) { return number_of(e.for_gang); });
  json_.raw("}");
}

// A line for each: "2 InsufficientGpu".
std::string blockers_text(const std::vector<muster_v1::GangClaim::Blocker>& blockers) {
  std::string text;
  for (const muster_v1::GangClaim::Blocker& blocker : blockers) {
    std::string code = muster_v1::claimed_text(blocker.filter, explain::filter_text);
    std::ranges::replace(code, '\n', ' ');  // a resource may have any name
    text += text.empty() ? "" : "\n";
    text += std::to_string(blocker.nodes) + ' ' + code;
  }
  return text;
}

void PlanWriter::write_gang_claims(const std::vector<muster_v1::GangClaim>& claims) {
  using Claim = muster_v1::GangClaim;
  std::unordered_map<std::string_view, std::int64_t> index;
  for (const GangIndex gang : problem_.gangs.indices()) index.emplace(problem_.gangs[gang].name, gang.value());
  TextTable texts;
  const auto column = [&](std::string_view key, const auto& value) {
    json_.raw(",");
    write_column(json_, key, claims, value);
  };
  json_.raw(R"(,"gangs":{)");
  write_column(json_, "gang", claims, [&](const Claim& claim) { return index.at(claim.name); });
  column("phase", [&](const Claim& claim) { return texts.number(explain::phase_name(claim.phase)); });
  column("running", [](const Claim& claim) { return claim.running; });
  column("placed", [](const Claim& claim) { return claim.placed; });
  column("evicted", [](const Claim& claim) { return claim.evicted; });
  column("pending", [](const Claim& claim) { return claim.pending; });
  column("reason",
         [&](const Claim& claim) { return texts.number(muster_v1::claimed_text(claim.reason, explain::reason_text)); });
  column("makeRoom", [&](const Claim& claim) {
    return texts.number(muster_v1::claimed_text(claim.make_room, explain::make_room_text));
  });
  column("message", [&](const Claim& claim) { return texts.number(claim.message); });
  column("blockers", [&](const Claim& claim) { return texts.number(blockers_text(claim.blockers)); });
  column("startsIn", [&](const Claim& claim) {  // seconds; -1: not expected
    if (!claim.expected_start) return std::int64_t{-1};
    const Nanoseconds ahead = saturating_subtract(*claim.expected_start, problem_.snapshot->time);
    return std::max<std::int64_t>(0, ahead / kNanosecondsPerSecond);
  });
  column("waitsFor", [&](const Claim& claim) {
    return texts.number(claim.expected_start ? muster_v1::claimed_text(claim.waits_for, forecast::start_obstacle_text)
                                             : "");
  });
  json_.raw(R"(,"texts":)");
  texts.write(json_);
  json_.raw("}");
}

// A table of its own: few gangs have one.
void PlanWriter::write_remedies(const std::vector<muster_v1::GangClaim>& claims) {
  std::vector<std::size_t> rows;  // in the table of gangs
  for (std::size_t row = 0; row < claims.size(); ++row) {
    if (claims[row].remedy) rows.push_back(row);
  }
  using Remedy = muster_v1::GangClaim::Remedy;
  TextTable texts;
  const auto text_column = [&](std::string_view key, std::string Remedy::*member) {
    json_.raw(",");
    write_column(json_, key, rows, [&](std::size_t row) { return texts.number((*claims[row].remedy).*member); });
  };
  json_.raw(R"(,"remedies":{)");
  write_column(json_, "row", rows, [](std::size_t row) { return row; });
  text_column("kind", &Remedy::kind);
  text_column("text", &Remedy::text);
  text_column("options", &Remedy::options);
  json_.raw(",");
  write_column(json_, "smallest", rows, [&](std::size_t row) { return claims[row].remedy->smallest ? 1 : 0; });
  json_.raw(R"(,"texts":)");
  texts.write(json_);
  json_.raw("}");
}

// By queue, in the order of the queue table: the values in the plan line; null if it has none.
void PlanWriter::write_queue_claims(const std::vector<muster_v1::ReadPlan::QueueClaim>& claims) {
  std::unordered_map<std::string_view, const muster_v1::ReadPlan::QueueClaim*> by_name;
  for (const muster_v1::ReadPlan::QueueClaim& claim : claims) by_name.emplace(claim.name, &claim);
  json_.raw(R"(,"allocated":[)");
  bool first = true;
  for (const Queue& queue : problem_.queues) {
    json_.separate(first);
    const auto found = by_name.find(queue.name);
    if (found == by_name.end()) {
      json_.raw("null");
      continue;
    }
    const muster_v1::ReadPlan::QueueClaim& claim = *found->second;
    json_.raw("[").raw(claim.gpu.allocated).raw(",").raw(claim.cpu.allocated);
    json_.raw(",").raw(claim.memory.allocated).raw("]");
  }
  json_.raw("]");
}

void PlanWriter::write_objective(const muster_v1::ReadPlan& plan) {
  json_.raw(R"(,"objective":[)");
  bool first = true;
  for (const muster_v1::ReadPlan::LevelClaim& level : plan.objective) {
    json_.separate(first).raw(R"({"level":)").string(level.level);
    if (level.priority) json_.raw(R"(,"priority":)").integer(*level.priority);
    json_.raw(R"(,"value":)").raw(level.value);
    if (level.bound) json_.raw(R"(,"bound":)").raw(*level.bound);
    json_.raw("}");
  }
  json_.raw("]");
}

void PlanWriter::write_violations(const std::vector<referee::Violation>& violations) {
  json_.raw(R"(,"violationCount":)").integer(std::ssize(violations)).raw(R"(,"violations":[)");
  bool first = true;
  for (std::size_t i = 0; i < std::min(violations.size(), kMostViolations); ++i) {
    json_.separate(first).raw(R"({"rule":)").string(referee::rule_name(violations[i].rule));
    json_.raw(R"(,"subject":)").string(violations[i].subject);
    json_.raw(R"(,"message":)").string(violations[i].message).raw("}");
  }
  json_.raw("]");
}

void PlanWriter::write_warnings(const muster_v1::ReadPlan& plan) {
  const std::int64_t count = std::ssize(plan.warnings) + plan.warnings_omitted;
  json_.raw(R"(,"warningCount":)").integer(count).raw(R"(,"warnings":[)");
  bool first = true;
  for (std::size_t i = 0; i < std::min(plan.warnings.size(), kMostWarnings); ++i) {
    json_.separate(first).raw(R"({"object":)").string(plan.warnings[i].object);
    json_.raw(R"(,"name":)").string(plan.warnings[i].name);
    json_.raw(R"(,"message":)").string(plan.warnings[i].message).raw("}");
  }
  json_.raw("]");
}

}  // namespace

void write_cluster_plan(const ClusterPlan& plan, json::JsonWriter& json) {
  PlanWriter(plan, json).write(plan.reported);
}

}  // namespace muster::reporting
