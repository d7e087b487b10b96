// A case that is small enough to be worked out by hand, with its restricted master before anything is solved.
#pragma once

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "solver/column_generation/column_generation.h"
#include "test/support/case.h"

namespace muster::test {

// Nodes with so many GPUs each and plenty of all else.
inline Cluster nodes_with(std::initializer_list<std::pair<const char*, int>> gpus) {
  Cluster cluster;
  cluster.at(1000);
  for (const auto& [name, count] : gpus) cluster.node(name, count, R"("resources":{"cpu":64,"memory":"64Gi"})");
  return cluster;
}

inline Deadline no_deadline() { return {Deadline::Clock::now() + std::chrono::hours(1), true}; }

struct MasterCase {
  explicit MasterCase(const Cluster& made) : MasterCase(Case(made)) {}
  explicit MasterCase(Case made)
      : cluster(std::move(made)),
        before(*cluster, ClusterState::Releasing::kFreed),
        rules(*cluster, cluster.shares(), before),
        setting{*cluster, cluster.shares(), rules},
        restricted(setting, before, formulation::find_candidates(*cluster, rules, before)) {}
  MasterCase(const MasterCase&) = delete;
  MasterCase& operator=(const MasterCase&) = delete;

  // The level of the highest priority, of a formulation that is made for it.
  lp::LinearExpression formulated(LevelKind kind) {
    restricted.formulate(false, no_deadline());
    const std::vector<LevelId> ids = level_ids(*cluster);
    return *restricted.formulation->level(*std::ranges::find(ids, kind, &LevelId::kind));
  }
  PodIndex pod(std::string_view name) const { return cluster.pod(name); }

  Case cluster;
  ClusterState before;
  preemption::EvictionRules rules;
  column_generation::Setting setting;
  column_generation::RestrictedMaster restricted;
};

}  // namespace muster::test
