// What one node of a residual class has, and the pods that could be put there, as numbers: for pricing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "solver/supply/configuration.h"

namespace muster::column_generation {

struct NodeItem {
  formulation::DemandIndex demand;
  const PodClass* pod_class;
  double most = 0;           // pods that fit at all, by counts and free capacity
  std::int32_t size = 0;     // of a sharer, in grains, rounded down; 0: takes no share
  std::int32_t whole = 0;    // whole devices
  std::int32_t devices = 0;  // of a sharer
};

struct NodeItems {
  // Requires that the residual class has no residents. Both outlive the object. Cost: O(demands x resources).
  NodeItems(const formulation::ConfigurationInput& input, const formulation::ResidualClass& residual);

  double request_of(std::size_t item, std::size_t resource) const {
    return request[item * resources.size() + resource];
  }
  // At which the most expensive pod would no longer be worth placing, by its use of the resource alone.
  double highest_multiplier(std::size_t resource, const std::vector<double>& price) const;

  const formulation::ConfigurationInput& in;
  const formulation::ResidualClass& residual;
  std::vector<NodeItem> items;               // by position in the residual class's demands
  std::vector<std::size_t> resources;        // counted resources that may bind
  std::vector<double> free;                  // of those
  std::vector<double> request;               // item x those
  std::vector<std::int32_t> partial_levels;  // of partly used devices, in grains, rounded up
  std::int32_t idle = 0, idle_level = 0;     // wholly free devices, and their level
  std::vector<std::size_t> by_size;          // items that take shares
};

}  // namespace muster::column_generation
