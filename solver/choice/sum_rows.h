// Supply as sums: what a choice of gangs may ask for without saying which node serves it.
//
// Pools    residual classes that take the same demand classes, as one: the sums of what is free, and devices by free
// capacity Shapes   asked pods that are equal for every pool: request, devices, and the pools that take them Columns
// f_sg  pods of shape s in pool g, if several pools take it (continuous)
//          p_tk  devices of pool g with one free capacity t that are shared in pattern k, integer
// Rows     of a shape:            sum_g f_sg = pods asked
//          of pool and resource:  sum request f <= sum free
//          of a pool's devices:   whole devices of f + patterns <= idle devices; patterns of each partly used kind
//          of a share:            sharers <= what the patterns hold of it
//          of a size w > 1:       sum floor(devices / w) f <= sum over nodes of floor(idle devices / w)
//          of pods that come and exclude each other from a node: pods asked in a zone <= nodes of it that take them
// Pods that run on a node and exclude each other there may all stay.
// Nodes on which pods stay that may be evicted but not moved have rows of their own (solver/choice/anchored_rows.h).
// All of it holds for every plan that obeys the rules of capacity, so a bound under these rows is one of the plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "model/problem/problem.h"
#include "solver/choice/anchored_rows.h"
#include "solver/demand/anti_affinity.h"
#include "solver/demand/demand.h"
#include "solver/formulation/formulation.h"
#include "solver/supply/residual_class.h"

namespace muster::choice {

class SumRows {
 public:
  // All outlive the rows. `base`: without those that may leave. `formulation`: pooled, of the same demand and supply.
  SumRows(const Problem& problem, const formulation::Demand& demand, const formulation::Supply& supply,
          const formulation::AntiAffinityRules& anti_affinity, const ClusterState& base,
          formulation::Formulation& formulation);

  // Adds all columns and rows. May throw lp::ModelTooLong, as ModelBuilder does.
  void add();
  // The columns that say in which pool pods are, for a plan's places. Only after add().
  std::vector<std::pair<std::int32_t, std::int64_t>> decisions_of(
      const std::vector<formulation::PlanColumns::Place>& places) const;

 private:
  struct Pool {
    std::vector<formulation::ResidualClassIndex> residuals;
    std::vector<Amount> free;                      // sums
    std::int64_t beyond = 0;                       // pods that hold a host port next to another one that does
    std::map<std::int64_t, std::int64_t> devices;  // by free capacity in millionths of a device: how many
    std::vector<NodeIndex> anchored;               // nodes with rows of their own; what those offer is left out
  };
  struct Shape {
    const PodClass* pod_class = nullptr;
    bool is_anchored = false;
    std::vector<std::size_t> pools;
    lp::LinearExpression asked;
    std::int64_t most = 0;
  };
  // Pods of a shape in a pool.
  struct Part {
    const Shape* shape;
    std::int64_t share;  // of each device, in millionths
    lp::LinearExpression pods;
    std::int64_t most;
    std::int32_t column = -1;  // -1: the shape has no other pool
  };

  void make_pools();
  void add_shared_ports();
  void make_shapes();
  void own(std::int32_t first, std::size_t pool);
  void divide_shapes();
  void add_one_a_node();
  std::int64_t most_in(const Pool& pool, const Shape& shape) const;
  std::int64_t share_in(const Pool& pool, const PodClass& pod_class) const;
  void add_resources(std::size_t pool);
  void add_devices(std::size_t pool);
  AnchoredRows::Offer offer_of(std::size_t pool);
  void add_patterns(std::size_t pool, const AnchoredRows::Offer& offer);
  std::int64_t idle_devices(NodeIndex node) const;
  void add_sizes(std::size_t pool);

  const Problem& problem_;
  const formulation::Demand& demand_;
  const formulation::Supply& supply_;
  const formulation::AntiAffinityRules& anti_affinity_;
  const ClusterState& base_;
  formulation::Formulation& formulation_;
  lp::ModelBuilder& model_;
  AnchoredRows anchored_;
  std::vector<Pool> pools_;
  Indexed<formulation::ResidualClassIndex, std::size_t> pool_of_;
  std::vector<Shape> shapes_;
  std::vector<std::size_t> shape_of_;     // by position in what is asked
  std::vector<std::vector<Part>> parts_;  // by pool
};

}  // namespace muster::choice
