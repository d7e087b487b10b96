// A snapshot with what is needed to judge its plans: whether they obey the rules, how near they are proven to be to the
// optimum, and how full they leave the cluster.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/answer.h"
#include "bench/support/child.h"
#include "io/muster_v1/plan_line.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "model/build/build_problem.h"
#include "model/objective/evaluation.h"
#include "model/objective/fair_share.h"
#include "model/problem/next_snapshot.h"
#include "model/referee/referee.h"
#include "test/support/paths.h"

namespace muster::bench {

class Judge {
 public:
  // Throws what is wrong with the line.
  explicit Judge(const std::string& line) : snapshot(value_of(muster_v1::SnapshotReader().read(line))) {
    problem = value_of(build_problem(snapshot));
    shares = compute_fair_shares(problem);
  }
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  // Throws what the referee, or the reader, has against the plan.
  muster_v1::ReadPlan passed(const std::string& plan_line) const {
    muster_v1::ReadPlan plan = value_of(muster_v1::read_plan(plan_line, &problem));
    if (plan.is_error) throw std::runtime_error(plan.error.message);
    const auto violations = referee::check_plan(snapshot, problem, shares, plan.plan);
    if (!violations.empty()) throw std::runtime_error(violations[0].subject + ": " + violations[0].message);
    check_values(plan);
    return plan;
  }

  // Work of GPU pods that run and stay or are placed, as a share of the cluster's devices. Exact if no pod asks for
  // device memory.
  double allocated(const Plan& plan) const {
    std::vector<bool> is_there(problem.pods.size());
    for (const PodIndex pod : problem.pods.indices())
      is_there[pod.value()] = problem.pods[pod].status == PodStatus::kRunning;
    for (const Eviction& eviction : plan.evictions) is_there[eviction.pod.value()] = false;
    for (const Placement& placement : plan.placements) is_there[placement.pod.value()] = true;
    double work = 0;
    for (const PodIndex pod : problem.pods.indices()) {
      const PodClass& pod_class = problem.class_of(pod);
      if (is_there[pod.value()] && pod_class.counts_as_gpu) work += static_cast<double>(pod_class.work);
    }
    return work / static_cast<double>(problem.objective.total_gpu_work);
  }

  Snapshot snapshot;
  Problem problem;
  FairShares shares;

 private:
  template <class Value>
  static Value value_of(Result<Value> result) {
    if (!result) throw std::runtime_error(result.error().path + ": " + result.error().message);
    return std::move(*result);
  }

  // The values that the plan claims are recomputed: gaps are computed from them.
  void check_values(const muster_v1::ReadPlan& plan) const {
    const std::vector<LevelId> ids = level_ids(problem);
    const Levels levels = evaluate(problem, shares, plan.plan);
    if (plan.objective.size() != ids.size()) throw std::runtime_error("the plan has other levels than the snapshot");
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto scale = static_cast<double>(level_scale(ids[i].kind, snapshot.policy.placement));
      const double value = static_cast<double>(levels.values[i]) / scale;
      if (std::abs(std::stod(plan.objective[i].value) - value) > 1e-9 * std::max(1.0, std::abs(value)))
        throw std::runtime_error(
            fmt::format("level {} is {}, not {}", plan.objective[i].level, value, plan.objective[i].value));
    }
  }
};

inline std::string name_of(const muster_v1::ReadPlan::LevelClaim& level) {
  return level.priority ? fmt::format("{}:{}", level.level, *level.priority) : level.level;
}

// The distance of the first level that is short of its bound. None is short: everything is proven optimal.
struct ProvenGap {
  std::string level;            // empty: no level is short
  std::optional<double> share;  // of |bound|; none: that level has no bound
};
inline ProvenGap proven_gap(const muster_v1::ReadPlan& plan) {
  for (const muster_v1::ReadPlan::LevelClaim& level : plan.objective) {
    if (!level.bound) return {name_of(level), std::nullopt};
    if (*level.bound == level.value) continue;
    const double bound = std::stod(*level.bound), value = std::stod(level.value);
    return {name_of(level), std::abs(bound - value) / std::max(1.0, std::abs(bound))};
  }
  return {{}, 0.0};
}

// One plan of a new process that has answered an empty snapshot before: starting is not counted.
struct Answered {
  std::string line;
  double told_ms = 0;  // from the line to its plan, as the program reports it
};
inline Answered answer_of(const std::vector<std::string>& arguments, const std::string& line) {
  SolveProcess process(test::program(), arguments);
  process.ask(R"({"format":"muster/v1"})");
  std::string answer = process.ask(line);
  const auto told = elapsed_ms(answer);
  if (!told) throw std::runtime_error("the plan does not say how long it took");
  return {std::move(answer), *told};
}

}  // namespace muster::bench
