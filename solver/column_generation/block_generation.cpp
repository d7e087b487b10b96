#include "solver/column_generation/block_generation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "model/base/parallel.h"
#include "model/base/tuning.h"
#include "solver/column_generation/demand_side.h"
#include "solver/column_generation/grid_fill.h"
#include "solver/column_generation/grids.h"
#include "solver/column_generation/lp_rounds.h"

namespace muster::column_generation {
namespace {

constexpr double kNothing = 1e-6;            // of a block: a share that is rounding
constexpr std::size_t kResidualsATask = 16;  // that one thread prices before it asks for more

class BlockGeneration {
 public:
  BlockGeneration(RestrictedMaster& restricted, Blocks& blocks, std::vector<MultiplierGrid>& grids,
                  const PricingTask& task, cbc::Backend& backend)
      : restricted_(restricted),
        all_(blocks),
        blocks_(blocks.blocks),
        grids_(grids),
        task_(task),
        backend_(backend),
        side_(restricted, task) {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      for (std::size_t at = 0; at < blocks_[b].residuals.size(); ++at) residuals_.push_back({b, at});
      block_rows_.push_back(side_.milp.add_row(-lp::kInfinity, 1));
    }
  }

  Priced run(const OnRound& on_round) {
    const cbc::MilpRequest request = relaxation_request(task_.deadline);
    Priced priced;
    std::vector<double>& stability_center = restricted_.stability_center;
    if (stability_center.size() != static_cast<std::size_t>(side_.whole.rows())) stability_center.clear();
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (const Blocks::Column& column : blocks_[b].columns) {
        side_.milp.add_column({0, 0, 1, false}, entries_of(b, column.choice));
        owners_.push_back(b);
      }
    if (!stability_center.empty()) priced.dual_bound = dual_bound_at(stability_center, {}, side_.milp);
    add_points();
    cbc::MilpAnswer answer = backend_.open_lp(side_.milp, request);
    double before = -lp::kInfinity;  // the master's value
    while (answer.status == cbc::SolveStatus::kOptimal) {
      keep(answer, priced);
      const std::vector<double> master = side_.whole_prices(answer.row_price);
      std::vector<double> price =
          stability_center.empty() ? master : between(stability_center, master, kTuning.generation.smoothing);
      lp::Milp more = no_columns(side_.milp);
      double dual_bound = dual_bound_at(price, answer.row_price, more);
      const auto price_at_master = [&] {
        price = master;
        dual_bound = std::min(dual_bound, dual_bound_at(price, answer.row_price, more));
      };
      if (more.columns() == 0 && !stability_center.empty()) price_at_master();
      const bool is_stalled =
          answer.objective - before < kTuning.generation.grid.stalled * (priced.dual_bound - answer.objective);
      before = answer.objective;
      if (!all_.is_by_residuals && (is_stalled || more.columns() == 0)) {
        all_.is_by_residuals = true;
        if (more.columns() == 0) price_at_master();
      }
      if (dual_bound < priced.dual_bound) {
        priced.dual_bound = dual_bound;
        stability_center = price;
      }
      const double gap = priced.dual_bound - answer.objective;
      if (on_round(priced)) break;
      if (more.columns() == 0 || gap <= 1e-5 * std::abs(answer.objective)) break;
      if (task_.deadline.passed()) break;
      answer = backend_.extend_lp(more, request);
    }
    priced.defect = defect_of(answer, request);
    return priced;
  }

 private:
  struct ResidualAt {
    std::size_t block, position;
  };

  // The solution: demand's columns at their places in the formulation, the blocks' shares in the blocks.
  void keep(const cbc::MilpAnswer& answer, Priced& priced) {
    priced.x.assign(static_cast<std::size_t>(side_.whole.columns()), 0.0);
    for (std::size_t j = 0; j < side_.columns.size(); ++j) priced.x[side_.columns[j]] = answer.x[j];
    priced.value = answer.objective;
    std::vector<std::size_t> next(blocks_.size(), 0);
    for (std::size_t j = 0; j < owners_.size(); ++j)
      blocks_[owners_[j]].columns[next[owners_[j]]++].share = answer.x[side_.columns.size() + j];
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (; next[b] < blocks_[b].columns.size(); ++next[b]) blocks_[b].columns[next[b]].share = 0;
  }

  formulation::ResidualClassIndex index_of(const ResidualAt& at) const {
    return blocks_[at.block].residuals[at.position];
  }
  const formulation::ResidualClass& room_at(const ResidualAt& at) const {
    return restricted_.supply.residuals[index_of(at)];
  }
  double nodes_at(const ResidualAt& at) const { return static_cast<double>(room_at(at).count()); }

  std::vector<lp::Entry> entries_of(std::size_t b, const std::vector<std::uint32_t>& choice) {
    sum_.resize(static_cast<std::size_t>(side_.whole.rows()), 0.0);
    std::vector<std::int32_t> rows;
    for (std::size_t at = 0; at < choice.size(); ++at) {
      if (choice[at] == Blocks::kEmpty) continue;
      const formulation::ResidualClassIndex residual = blocks_[b].residuals[at];
      for (const lp::Entry& entry :
           restricted_.formulation->entries_of(residual, restricted_.pool.configurations()[residual][choice[at]])) {
        if (side_.row_of(entry.row) < 0) continue;
        double& sum = sum_[static_cast<std::size_t>(entry.row)];
        if (sum == 0) rows.push_back(entry.row);
        sum += nodes_at({b, at}) * entry.value;
      }
    }
    std::vector<lp::Entry> entries{{block_rows_[b], 1}};
    for (const std::int32_t row : rows) {
      double& sum = sum_[static_cast<std::size_t>(row)];
      if (sum != 0) entries.push_back({side_.row_of(row), sum});
      sum = 0;
    }
    return entries;
  }

  // Of all residual classes in turn, at these prices. Empty: the time was up.
  ResidualContents contents_at(const std::vector<double>& price) const {
    if (all_.is_by_residuals) return contents_by_residuals(price);
    return contents_on_grids(restricted_, grids_, task_, price,
                             Indexed<formulation::ResidualClassIndex, bool>(restricted_.supply.residuals.size(), true));
  }

  ResidualContents contents_by_residuals(const std::vector<double>& price) const {
    ResidualContents contents(restricted_.supply.residuals.size());
    std::atomic<bool> is_late = false;
    parallel_for((residuals_.size() + kResidualsATask - 1) / kResidualsATask, task_.threads, [&](std::size_t part) {
      std::vector<double> pod_price(restricted_.demand.classes.size());
      for (std::size_t i = part * kResidualsATask; i < std::min(residuals_.size(), (part + 1) * kResidualsATask); ++i) {
        if (is_late || task_.deadline.passed()) {
          is_late = true;
          return;
        }
        const formulation::ResidualClassIndex residual = index_of(residuals_[i]);
        for (const formulation::DemandIndex d : restricted_.supply.residuals[residual].demands)
          pod_price[d.value()] =
              std::max(0.0, price[static_cast<std::size_t>(restricted_.formulation->supply_row(d, residual))]);
        Pricing::Result result = restricted_.pool.pricing(residual).price(pod_price);
        contents[residual].dual_bound = result.dual_bound;
        if (!result.configurations.empty()) contents[residual].configuration = std::move(result.configurations[0]);
      }
    });
    if (is_late) contents.clear();
    return contents;
  }

  // An upper bound of the LP over all columns, by pricing at `price`; a result with positive reduced profit at the
  // master's prices (empty: any result) becomes a column.
  double dual_bound_at(std::vector<double>& price, const std::vector<double>& master, lp::Milp& more) {
    const double bound = bound_of_prices(side_.whole, side_.is_configuration, price);
    ResidualContents contents = contents_at(price);
    if (contents.empty() && !residuals_.empty()) return lp::kInfinity;
    double slack = 0;
    for (const ResidualAt& at : residuals_) slack += nodes_at(at) * std::max(0.0, contents[index_of(at)].dual_bound);
    for (std::size_t b = 0; b < blocks_.size(); ++b) add_column(b, column_of(b, contents), master, more);
    return bound + slack + 1e-11 * (std::abs(bound) + slack);
  }

  Blocks::Column column_of(std::size_t b, ResidualContents& contents) {
    Blocks::Column column;
    for (const formulation::ResidualClassIndex residual : blocks_[b].residuals) {
      formulation::Configuration& configuration = contents[residual].configuration;
      column.choice.push_back(
          configuration.steps.empty() ? Blocks::kEmpty : restricted_.pool.position(residual, std::move(configuration)));
    }
    return column;
  }

  void add_points() {
    const PricePoints points = std::exchange(all_.points, {});
    for (std::size_t point = 0; point < points.prices.size(); ++point) {
      const auto is_of = [&](const Blocks::Block& block) {
        return std::ranges::find(points.of_residual[block.residuals.front()], point) !=
               points.of_residual[block.residuals.front()].end();
      };
      Indexed<formulation::ResidualClassIndex, bool> is_wanted(restricted_.supply.residuals.size(), false);
      for (const Blocks::Block& block : blocks_)
        for (const formulation::ResidualClassIndex residual : block.residuals) is_wanted[residual] = is_of(block);
      ResidualContents contents = contents_on_grids(restricted_, grids_, task_, points.prices[point], is_wanted);
      for (std::size_t b = 0; b < blocks_.size() && !contents.empty(); ++b)
        if (is_of(blocks_[b])) add_column(b, column_of(b, contents), {}, side_.milp);
    }
  }

  // Adds a column of a block if it is new and has positive reduced profit at the master's prices (empty: any).
  void add_column(std::size_t b, Blocks::Column column, const std::vector<double>& master, lp::Milp& more) {
    Blocks::Block& block = blocks_[b];
    if (std::ranges::find(block.columns, column.choice, &Blocks::Column::choice) != block.columns.end()) return;
    const std::vector<lp::Entry> entries = entries_of(b, column.choice);
    double worth = 0;
    if (!master.empty())
      for (const lp::Entry& entry : entries) worth -= entry.value * master[static_cast<std::size_t>(entry.row)];
    if (!master.empty() && worth <= 1e-9 * std::max(1.0, master[static_cast<std::size_t>(block_rows_[b])])) return;
    more.add_column({0, 0, 1, false}, entries);
    owners_.push_back(b);
    block.columns.push_back(std::move(column));
  }

  RestrictedMaster& restricted_;
  Blocks& all_;
  std::vector<Blocks::Block>& blocks_;
  std::vector<MultiplierGrid>& grids_;
  const PricingTask& task_;
  cbc::Backend& backend_;
  DemandSide side_;                    // its model becomes the master
  std::vector<ResidualAt> residuals_;  // of all blocks, block by block
  std::vector<std::int32_t> block_rows_;
  std::vector<std::size_t> owners_;  // of the master's further columns
  std::vector<double> sum_;          // by row of the whole model; all zero between calls
};

}  // namespace

Blocks make_blocks(const RestrictedMaster& restricted, std::size_t most) {
  const auto key = [&](formulation::ResidualClassIndex index) {
    const formulation::ResidualClass& residual = restricted.supply.residuals[index];
    const DeviceUnits largest = residual.free_devices.empty() ? 0 : residual.free_devices.back();
    DeviceUnits partial = 0;
    std::int64_t idle = 0;
    for (const DeviceUnits units : residual.free_devices) {
      idle += units == largest ? 1 : 0;
      partial += units == largest ? 0 : units;
    }
    return std::tuple(residual.zone, residual.demands.size(), idle, residual.free.empty() ? 0 : residual.free[0],
                      partial);
  };
  std::vector<formulation::ResidualClassIndex> order;
  for (formulation::ResidualClassIndex residual : restricted.supply.residuals.indices()) order.push_back(residual);
  std::stable_sort(
      order.begin(), order.end(),
      [&](formulation::ResidualClassIndex a, formulation::ResidualClassIndex b) { return key(a) < key(b); });
  const std::size_t size = (order.size() + most - 1) / most;
  Blocks all;
  for (formulation::ResidualClassIndex residual : order) {
    const bool is_new = all.blocks.empty() || all.blocks.back().residuals.size() >= size ||
                        restricted.supply.residuals[all.blocks.back().residuals[0]].zone !=
                            restricted.supply.residuals[residual].zone ||
                        restricted.supply.residuals[residual].count() > static_cast<std::int64_t>(size);
    if (is_new) all.blocks.emplace_back();
    all.blocks.back().residuals.push_back(residual);
  }
  for (Blocks::Block& block : all.blocks) {
    std::size_t most_known = 1;
    for (formulation::ResidualClassIndex residual : block.residuals)
      most_known = std::max(most_known, restricted.pool.configurations()[residual].size());
    for (std::size_t k = 0; k < most_known; ++k) {
      Blocks::Column& column = block.columns.emplace_back();
      for (formulation::ResidualClassIndex residual : block.residuals) {
        const std::size_t known = restricted.pool.configurations()[residual].size();
        column.choice.push_back(known == 0 ? Blocks::kEmpty : static_cast<std::uint32_t>(std::min(k, known - 1)));
      }
    }
  }
  return all;
}

Priced price_blocks(RestrictedMaster& restricted, Blocks& blocks, std::vector<MultiplierGrid>& grids,
                    const PricingTask& task, cbc::Backend& backend, const OnRound& on_round) {
  return BlockGeneration(restricted, blocks, grids, task, backend).run(on_round);
}

formulation::FormulationSolution disaggregate(const RestrictedMaster& restricted, const Blocks& blocks,
                                              const std::vector<double>& x) {
  formulation::FormulationSolution solution = restricted.formulation->round(x);
  for (const Blocks::Block& block : blocks.blocks) {
    std::vector<double> owed(block.columns.size(), 0.0);
    for (std::size_t at = 0; at < block.residuals.size(); ++at) {
      const formulation::ResidualClassIndex residual = block.residuals[at];
      std::map<std::size_t, std::int64_t> chosen;
      for (std::int64_t n = 0; n < restricted.supply.residuals[residual].count() && !owed.empty(); ++n) {
        for (std::size_t k = 0; k < owed.size(); ++k) owed[k] += block.columns[k].share;
        const auto most = std::ranges::max_element(owed);
        *most -= 1;
        const std::uint32_t position = block.columns[static_cast<std::size_t>(most - owed.begin())].choice[at];
        if (position != Blocks::kEmpty) ++chosen[position];
      }
      solution.configurations[residual.value()].assign(chosen.begin(), chosen.end());
    }
  }
  return solution;
}

}  // namespace muster::column_generation
