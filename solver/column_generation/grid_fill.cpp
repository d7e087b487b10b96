#include "solver/column_generation/grid_fill.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "model/base/parallel.h"
#include "model/base/require.h"
#include "model/base/tuning.h"
#include "solver/column_generation/grids.h"
#include "solver/column_generation/node_content.h"

namespace muster::column_generation {
namespace {

using formulation::Configuration, formulation::DemandIndex, formulation::ResidualClassIndex;

constexpr std::size_t kNodesATask = 64;  // that one thread takes before it asks for more

// One shard: its nodes take pods from its part of the demand.
class GridFill {
 public:
  GridFill(const RestrictedMaster& restricted, const std::vector<MultiplierGrid>& grids, std::vector<std::int64_t> left,
           std::vector<double> asked)
      : restricted_(restricted),
        grids_(grids),
        price_(grids.size()),
        content_(restricted, grids_, price_),
        left_(std::move(left)),
        asked_(std::move(asked)),
        placed_(left_.size(), 0.0) {}

  // `done`: part of the shard's nodes that is filled. False: the deadline has passed on the way.
  bool renew_prices(const std::vector<double>& row_price, double done, const Deadline& deadline) {
    for (std::size_t kind = 0; kind < grids_.size(); ++kind) {
      if (deadline.passed()) return false;
      price_[kind] = pod_prices(restricted_, grids_[kind], row_price);
      for (const DemandIndex d : grids_[kind].demands()) {
        const double asked = asked_[d.value()];
        const double few = kTuning.generation.grid.few;
        const double ratio = (std::max(0.0, asked - placed_[d.value()]) + few) / (asked * (1 - done) + few);
        price_[kind][d.value()] *= left_[d.value()] > 0 ? std::pow(ratio, kTuning.generation.grid.response) : 0;
      }
      grids_[kind].set_prices(price_[kind]);
    }
    content_.reset();
    return true;
  }

  Configuration fill(const ResidualOnGrid& at) {
    Configuration configuration = content_.make(at, left_);
    for (const auto& [d, count] : configuration.counts) {
      left_[d.value()] -= count;
      placed_[d.value()] += count;
    }
    return configuration;
  }

 private:
  const RestrictedMaster& restricted_;
  std::vector<MultiplierGrid> grids_;  // at this shard's prices
  std::vector<std::vector<double>> price_;
  NodeContent content_;
  std::vector<std::int64_t> left_;  // by DemandIndex, as the following
  std::vector<double> asked_, placed_;
};

// One entry a node.
std::vector<ResidualOnGrid> random_order(const formulation::Supply& supply, const std::vector<MultiplierGrid>& grids) {
  std::vector<ResidualOnGrid> order;
  for (std::size_t kind = 0; kind < grids.size(); ++kind)
    for (std::size_t at = 0; at < grids[kind].residuals().size(); ++at)
      order.insert(order.end(), supply.residuals[grids[kind].residuals()[at]].nodes.size(), {kind, at});
  std::mt19937_64 random(1);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

}  // namespace

ChosenConfigurations fill_on_grids(RestrictedMaster& restricted, const std::vector<MultiplierGrid>& grids,
                                   const PricingTask& task, const std::vector<double>& row_price,
                                   const std::vector<double>& asked) {
  MUSTER_REQUIRE(asked.size() == restricted.demand.classes.size());
  const std::vector<ResidualOnGrid> order = random_order(restricted.supply, grids);
  const std::size_t shards =
      std::clamp<std::size_t>(order.size() / kTuning.generation.grid.renewals, 1, kTuning.generation.grid.shards);
  std::vector<Configuration> filled(order.size());
  std::atomic<bool> is_late = false;
  parallel_for(shards, task.threads, [&](std::size_t shard) {
    if (is_late) return;
    std::vector<std::int64_t> left;
    std::vector<double> asked_here;
    for (const DemandIndex d : restricted.demand.classes.indices()) {
      left.push_back((restricted.demand.classes[d].count + static_cast<std::int64_t>((shard + d.value()) % shards)) /
                     static_cast<std::int64_t>(shards));
      asked_here.push_back(asked[d.value()] / static_cast<double>(shards));
    }
    GridFill fill(restricted, grids, std::move(left), std::move(asked_here));
    const std::size_t count = (order.size() + shards - 1 - shard) / shards;
    const std::size_t step = count / kTuning.generation.grid.renewals + 1;
    for (std::size_t i = 0; i < count; ++i) {
      const double done = static_cast<double>(i) / static_cast<double>(count);
      if (is_late || task.deadline.passed() || (i % step == 0 && !fill.renew_prices(row_price, done, task.deadline))) {
        is_late = true;
        return;
      }
      filled[i * shards + shard] = fill.fill(order[i * shards + shard]);
    }
  });
  if (is_late) return {};
  std::vector<std::map<std::size_t, std::int64_t>> chosen(restricted.supply.residuals.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const ResidualClassIndex residual = grids[order[i].kind].residuals()[order[i].position];
    if (!filled[i].steps.empty()) ++chosen[residual.value()][restricted.pool.position(residual, std::move(filled[i]))];
  }
  ChosenConfigurations result;
  for (const std::map<std::size_t, std::int64_t>& of_residual : chosen)
    result.emplace_back(of_residual.begin(), of_residual.end());
  return result;
}

ResidualContents contents_on_grids(const RestrictedMaster& restricted, std::vector<MultiplierGrid>& grids,
                                   const PricingTask& task, const std::vector<double>& row_price,
                                   const Indexed<ResidualClassIndex, bool>& is_wanted) {
  std::vector<ResidualOnGrid> order;
  for (std::size_t kind = 0; kind < grids.size(); ++kind)
    for (std::size_t at = 0; at < grids[kind].residuals().size(); ++at)
      if (is_wanted[grids[kind].residuals()[at]]) order.push_back({kind, at});
  std::vector<std::vector<double>> price(grids.size());
  parallel_for(grids.size(), task.threads, [&](std::size_t kind) {
    if (task.deadline.passed()) return;
    price[kind] = pod_prices(restricted, grids[kind], row_price);
    grids[kind].set_prices(price[kind]);
  });
  std::vector<std::int64_t> left;
  for (const formulation::DemandClass& demand : restricted.demand.classes) left.push_back(demand.count);
  ResidualContents result(restricted.supply.residuals.size());
  std::atomic<bool> is_late = false;
  parallel_for((order.size() + kNodesATask - 1) / kNodesATask, task.threads, [&](std::size_t part) {
    NodeContent content(restricted, grids, price);
    for (std::size_t i = part * kNodesATask; i < std::min(order.size(), (part + 1) * kNodesATask); ++i) {
      if (is_late || task.deadline.passed()) {
        is_late = true;
        return;
      }
      ResidualContent& of_residual = result[grids[order[i].kind].residuals()[order[i].position]];
      of_residual.dual_bound = content.dual_bound(order[i]);
      of_residual.configuration = content.make(order[i], left);
    }
  });
  if (is_late) result.clear();
  return result;
}

}  // namespace muster::column_generation
