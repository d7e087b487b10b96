#include "solver/column_generation/grid_generation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "model/base/parallel.h"
#include "model/base/tuning.h"
#include "solver/column_generation/demand_side.h"
#include "solver/column_generation/grids.h"
#include "solver/column_generation/lp_rounds.h"

namespace muster::column_generation {
namespace {

using formulation::DemandIndex, formulation::ResidualClass, formulation::ResidualClassIndex;

constexpr double kNothing = 1e-6;  // relative: a gain, or a share, that is rounding

class GridGeneration {
 public:
  GridGeneration(RestrictedMaster& restricted, std::vector<MultiplierGrid>& grids, const PricingTask& task,
                 cbc::Backend& backend)
      : restricted_(restricted), grids_(grids), task_(task), backend_(backend), side_(restricted, task) {
    for (std::size_t kind = 0; kind < grids.size(); ++kind) add_blocks(kind);
    empty_ = side_.milp;
  }

  GridPrices run(const std::function<bool(const GridPrices&)>& on_round) {
    const cbc::MilpRequest request = relaxation_request(task_.deadline);
    GridPrices result;
    std::vector<double>& center = restricted_.stability_center;
    if (center.size() != static_cast<std::size_t>(side_.whole.rows())) center.clear();
    double best = lp::kInfinity;  // bound at the stability center, by the residual classes that are priced
    const auto price_at = [&](std::vector<double> price, const std::vector<double>& master, lp::Milp& more) {
      const double bound = dual_bound_at(price, master, more);
      prices_.push_back(price);
      if (stride_ == 1) result.dual_bound = std::min(result.dual_bound, bound);
      if (bound >= best) return;
      best = bound;
      center = std::move(price);
    };
    if (!center.empty()) price_at(center, {}, side_.milp);
    stride_ = std::max<std::size_t>(1, restricted_.supply.residuals.size() / kTuning.generation.grid.sampled);
    if (stride_ > 1) best = lp::kInfinity;
    cbc::MilpAnswer answer = backend_.open_lp(side_.milp, request);
    const Deadline sampling = task_.deadline.part(kTuning.parts.main);
    double value = -lp::kInfinity;  // of the round before
    int idle = 0;                   // rounds without progress
    // Contents that come from a part of the residual classes are estimates: for a bound, those that the master holds
    // are found anew. True: enough.
    const auto price_all = [&] {
      std::vector<std::vector<double>> prices = prices_of_master();
      keep_points(result.points);
      result.is_of_a_part = true;
      stride_ = 1;
      best = lp::kInfinity;
      lp::Milp whole = empty_;
      owners_.clear();
      price_at(center, {}, whole);
      if (on_round(result)) return true;
      for (std::vector<double>& price : prices) price_at(std::move(price), {}, whole);
      answer = backend_.open_lp(whole, request);
      value = -lp::kInfinity;
      idle = 0;
      return false;
    };
    while (answer.status == cbc::SolveStatus::kOptimal) {
      result.value = answer.objective;
      if (!result.is_of_a_part) keep(answer, result);
      const double before = best;
      const std::vector<double> master = side_.whole_prices(answer.row_price);
      lp::Milp more = no_columns(side_.milp);
      // After a round without any progress, at the master's own prices.
      const bool is_smoothed = idle % 2 == 0 && !center.empty();
      price_at(is_smoothed ? between(center, master, kTuning.generation.grid.smoothing) : master, answer.row_price,
               more);
      if (more.columns() == 0 && is_smoothed) price_at(master, answer.row_price, more);
      const bool has_gained = best < before || result.value - value > kNothing * std::abs(result.value);
      value = result.value;
      idle = has_gained ? 0 : idle + 1;
      const bool is_near = best - result.value <= kTuning.generation.grid.gap * std::abs(best);
      const bool is_done = is_near || more.columns() == 0 || idle > kTuning.generation.grid.idle;
      if (on_round(result) || (is_done && stride_ == 1) || task_.deadline.passed()) break;
      if (stride_ == 1 || (!is_done && !sampling.passed()))
        answer = backend_.extend_lp(more, request);
      else if (price_all())
        break;
    }
    if (!result.is_of_a_part) keep_points(result.points);
    result.defect = defect_of(answer, request);
    return result;
  }

 private:
  struct Block {
    std::size_t kind;
    std::vector<std::size_t> positions;  // in the residual classes of the kind's grid
    double nodes = 0;
    std::int32_t row = 0;
  };

  ResidualClassIndex index_of(std::size_t kind, std::size_t position) const {
    return grids_[kind].residuals()[position];
  }
  double nodes_of(std::size_t kind, std::size_t position) const {
    return static_cast<double>(restricted_.supply.residuals[index_of(kind, position)].count());
  }

  // Of residual classes adjacent in order of the first resource for each free device; those without devices come first.
  void add_blocks(std::size_t kind) {
    const std::size_t residuals = grids_[kind].residuals().size();
    const std::size_t blocks =
        std::max<std::size_t>(1, kTuning.generation.grid.blocks * residuals / restricted_.supply.residuals.size());
    std::vector<std::tuple<bool, double, std::size_t>> order;
    for (std::size_t at = 0; at < residuals; ++at) {
      const ResidualClass& residual = restricted_.supply.residuals[index_of(kind, at)];
      double devices = 0;
      for (const DeviceUnits units : residual.free_devices)
        devices += static_cast<double>(units) / static_cast<double>(residual.free_devices.back());
      const auto free = static_cast<double>(residual.free[grids_[kind].first_resource()]);
      order.emplace_back(devices > 0, devices > 0 ? free / devices : free, at);
    }
    std::ranges::sort(order);
    for (std::size_t b = 0; b < blocks; ++b) {
      Block block{kind, {}};
      for (std::size_t i = b * residuals / blocks; i < (b + 1) * residuals / blocks; ++i) {
        block.positions.push_back(std::get<2>(order[i]));
        block.nodes += nodes_of(kind, block.positions.back());
      }
      block.row = side_.milp.add_row(-lp::kInfinity, block.nodes);
      blocks_.push_back(std::move(block));
    }
  }

  void keep(const cbc::MilpAnswer& answer, GridPrices& result) {
    last_ = answer.x;
    result.asked = asked_pods(restricted_, grids_, side_, answer.x);
  }

  bool is_held(std::size_t column) const {
    return last_[side_.columns.size() + column] > kNothing * blocks_[owners_[column].first].nodes;
  }

  // At which the master's solution holds contents, each once.
  std::vector<std::vector<double>> prices_of_master() const {
    std::set<std::size_t> rounds;
    for (std::size_t k = 0; side_.columns.size() + k < last_.size(); ++k)
      if (is_held(k)) rounds.insert(owners_[k].second);
    std::vector<std::vector<double>> prices;
    for (const std::size_t round : rounds) prices.push_back(prices_[round]);
    return prices;
  }

  void keep_points(PricePoints& points) const {
    std::map<std::size_t, std::size_t> position;  // of a round's prices in the result
    std::vector<std::vector<std::size_t>> used(blocks_.size());
    for (std::size_t k = 0; side_.columns.size() + k < last_.size(); ++k) {
      if (!is_held(k)) continue;
      const auto& [block, round] = owners_[k];
      const auto [found, is_new] = position.try_emplace(round, points.prices.size());
      if (is_new) points.prices.push_back(prices_[round]);
      used[block].push_back(found->second);
    }
    points.of_residual = Indexed<ResidualClassIndex, std::vector<std::size_t>>(restricted_.supply.residuals.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (const std::size_t at : blocks_[b].positions) points.of_residual[index_of(blocks_[b].kind, at)] = used[b];
  }

  // An upper bound of the LP over all contents, at `price`, or an estimate of it from every so many residual classes;
  // what a block holds there becomes a column if it is worth more than the master's prices (empty: any does). Infinity:
  // the time was up.
  double dual_bound_at(std::vector<double>& price, const std::vector<double>& master, lp::Milp& more) {
    const double bound = bound_of_prices(side_.whole, side_.is_configuration, price);
    parallel_for(grids_.size(), task_.threads, [&](std::size_t kind) {
      if (!task_.deadline.passed()) grids_[kind].set_prices(pod_prices(restricted_, grids_[kind], price));
    });
    if (task_.deadline.passed()) return lp::kInfinity;
    std::vector<double> slack(blocks_.size(), 0.0);
    std::vector<std::vector<double>> pods(blocks_.size());
    std::atomic<bool> is_late = false;
    parallel_for(blocks_.size(), task_.threads, [&](std::size_t b) {
      const Block& block = blocks_[b];
      std::size_t pair = 0;
      pods[b].assign(restricted_.demand.classes.size(), 0.0);
      double priced = 0;  // nodes
      for (std::size_t i = 0; i < block.positions.size(); i += stride_) {
        if (is_late || task_.deadline.passed()) {
          is_late = true;
          return;
        }
        const std::size_t at = block.positions[i];
        const double nodes = nodes_of(block.kind, at);
        const MultiplierGrid::Choice choice = grids_[block.kind].choose(at, pair);
        pair = choice.pair;
        priced += nodes;
        slack[b] += nodes * choice.dual_bound;
        grids_[block.kind].trace_mixture(
            at, choice, [&](DemandIndex demand, double count) { pods[b][demand.value()] += nodes * count; });
      }
      if (priced == 0 || priced == block.nodes) return;
      slack[b] *= block.nodes / priced;
      for (double& count : pods[b]) count *= block.nodes / priced;
    });
    if (is_late) return lp::kInfinity;
    double all = 0;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      all += slack[b];
      add_column(b, pods[b], master, more, prices_.size());
    }
    return bound + all + 1e-9 * (std::abs(bound) + all);
  }

  // A node with an even part of what the block holds, as often as the block has nodes.
  void add_column(std::size_t b, const std::vector<double>& pods, const std::vector<double>& master, lp::Milp& more,
                  std::size_t round) {
    const Block& block = blocks_[b];
    std::vector<lp::Entry> entries{{block.row, 1}};
    for (const DemandIndex d : grids_[block.kind].demands())
      if (pods[d.value()] > 0)
        entries.push_back(
            {side_.row_of(supply_row(restricted_, grids_[block.kind], d)), -pods[d.value()] / block.nodes});
    double worth = 0;
    if (!master.empty())
      for (const lp::Entry& entry : entries) worth -= entry.value * master[static_cast<std::size_t>(entry.row)];
    if (entries.size() == 1 ||
        (!master.empty() && worth <= kNothing * std::abs(master[static_cast<std::size_t>(block.row)])))
      return;
    more.add_column({0, 0, block.nodes, false}, entries);
    owners_.emplace_back(b, round);
  }

  RestrictedMaster& restricted_;
  std::vector<MultiplierGrid>& grids_;
  const PricingTask& task_;
  cbc::Backend& backend_;
  DemandSide side_;  // its model becomes the master
  lp::Milp empty_;   // the master without contents
  std::vector<Block> blocks_;
  std::size_t stride_ = 1;                                   // of a block's residual classes, every so many are priced
  std::vector<std::vector<double>> prices_;                  // that were priced at
  std::vector<std::pair<std::size_t, std::size_t>> owners_;  // (block, prices) of the master's further columns
  std::vector<double> last_;                                 // solution of the master
};

}  // namespace

GridPrices price_on_grids(RestrictedMaster& restricted, std::vector<MultiplierGrid>& grids, const PricingTask& task,
                          cbc::Backend& backend, const std::function<bool(const GridPrices&)>& on_round) {
  return GridGeneration(restricted, grids, task, backend).run(on_round);
}

}  // namespace muster::column_generation
