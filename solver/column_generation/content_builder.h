// Makes configurations of relaxed contents: whole numbers of pods that fit exactly, and what else fits beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "solver/column_generation/relaxed_node.h"

namespace muster::column_generation {

// What one device (or several, for a pod of whole ones) may hold, as a candidate for mixing.
struct DeviceBundle {
  std::vector<std::size_t> items;  // one entry a pod
  std::int32_t devices = 0;        // idle devices that it takes
  double value = 0, use = 0;       // at the prices; of the scarcest resource
};

struct PricedContents {
  double dual_bound = 0;                                   // no configuration is worth more
  std::vector<formulation::Configuration> configurations;  // no two alike
  std::vector<double> worth;                               // of each
};

class ContentBuilder {
 public:
  // `node` outlives the object. set_prices() comes first.
  explicit ContentBuilder(const NodeItems& node) : node_(node) {}

  // The two orders in which items are placed, at these prices: large ones first, and those with the most value for
  // their use. Cost: O(items x (resources + log items)).
  void set_prices(const std::vector<double>& price);
  // Whole devices first, then the shared ones one by one, then the rest; then fills up. Adds the configuration, if it
  // is new, as do the next ones. Cost: O(pods x items) where anti-affinity counts, else O(pods).
  void build(const std::vector<double>& price, const RelaxedNode::Content& content, PricedContents& result) const;
  // Of the bundles, one after another; those of whole devices first.
  void build(const std::vector<double>& price, const std::vector<const DeviceBundle*>& bundles,
             PricedContents& result) const;

 private:
  // A node that is being filled.
  struct Filling {
    explicit Filling(const NodeItems& node) : space(node.in.problem, node.residual), counts(node.items.size(), 0) {}
    formulation::NodeResidual space;
    formulation::Configuration configuration;
    std::vector<std::int64_t> counts;  // by item
  };

  bool may_put(std::size_t item, const std::vector<std::int64_t>& counts) const;
  void put(std::size_t item, std::int64_t count, Filling& node) const;
  void put_on(std::int32_t device, const std::vector<std::size_t>& items, Filling& node) const;
  std::int32_t idle_device(const formulation::NodeResidual& space) const;
  void finish(const std::vector<double>& price, Filling& node, PricedContents& result) const;

  const NodeItems& node_;
  std::vector<std::size_t> by_bulk_, by_density_;  // items, in the orders in which they are put down
};

}  // namespace muster::column_generation
