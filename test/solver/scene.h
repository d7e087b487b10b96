// A cluster that is small enough to be worked out by hand, with what the solver makes of it before it solves anything.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "random_cluster.h"
#include "solver/column_generation/column_generation.h"

namespace muster::test {

// A node with so many GPUs and plenty of all else.
inline std::string node_line(const std::string& name, int gpus) {
  return R"({"name":")" + name + R"(","resources":{"cpu":64,"memory":"64Gi"},"gpus":{"count":)" + std::to_string(gpus) +
         "}}";
}

// Pods `name-0`, `name-1`, ... that ask for that, e.g. R"("gpu":{"count":2})".
inline std::string pod_lines(const std::string& name, int count, const std::string& asks) {
  std::string lines;
  for (int i = 0; i < count; ++i)
    lines += (i == 0 ? "" : ",") + (R"({"name":")" + name) + "-" + std::to_string(i) + R"(",)" + asks + "}";
  return lines;
}

inline Cluster cluster_of(const std::string& nodes, const std::string& pods, const std::string& rest = "") {
  return *build_cluster(R"({"format":"muster/v1","time":1000,"nodes":[)" + nodes + R"(],"pods":[)" + pods + "]" + rest +
                        "}");
}

inline Deadline no_deadline() { return {Deadline::Clock::now() + std::chrono::hours(1), true}; }

struct Scene {
  explicit Scene(Cluster made)
      : cluster(std::move(made)),
        before(cluster.problem, ClusterState::Releasing::kFreed),
        rules(cluster.problem, cluster.shares, before),
        setting{cluster.problem, cluster.shares, rules},
        sub(setting, before, formulation::find_candidates(cluster.problem, rules, before),
            std::vector<bool>(cluster.problem.nodes.size(), false)) {}
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  // The level of the highest priority, of a formulation that is made for it.
  lp::LinearExpression formulated(LevelKind kind) {
    sub.formulate(false, no_deadline());
    const std::vector<LevelId> ids = level_ids(cluster.problem);
    return *sub.formulation->level(*std::ranges::find(ids, kind, &LevelId::kind));
  }
  PodIndex pod(std::string_view name) const {
    for (const PodIndex index : cluster.problem.pods.indices())
      if (cluster.snapshot->pods[index.value()].name == name) return index;
    return PodIndex::none();
  }

  Cluster cluster;
  ClusterState before;
  preemption::EvictionRules rules;
  column_generation::Setting setting;
  column_generation::RestrictedMaster sub;
};

}  // namespace muster::test
