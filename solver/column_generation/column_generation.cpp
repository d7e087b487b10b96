#include "solver/column_generation/column_generation.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "model/base/parallel.h"
#include "model/base/tuning.h"
#include "solver/column_generation/lp_rounds.h"
#include "solver/column_generation/restricted_master.h"

namespace muster::column_generation {
namespace {

constexpr int kQuick = 0, kUsual = 1;       // effort of pricing
constexpr std::size_t kResidualsATask = 4;  // that one thread prices before it asks for more

class Generation {
 public:
  Generation(RestrictedMaster& restricted, const PricingTask& task, cbc::Backend& backend)
      : restricted_(restricted), task_(task), backend_(backend) {
    build();
  }

  Priced run() {
    const cbc::MilpRequest request = relaxation_request(task_.deadline);
    Priced priced;
    std::vector<double>& stability_center = restricted_.stability_center;
    if (stability_center.size() != static_cast<std::size_t>(milp_.rows())) stability_center.clear();
    bool is_smoothed = !stability_center.empty();
    if (is_smoothed) {
      for (formulation::ResidualClassIndex residual : restricted_.supply.residuals.indices())
        stability_center[static_cast<std::size_t>(restricted_.formulation->capacity_row(residual))] = 0;
      lp::Milp more = no_columns(milp_);
      priced.dual_bound = dual_bound_at(stability_center, stability_center, kUsual, more);
      build();
    }
    cbc::MilpAnswer answer = backend_.open_lp(milp_, request);
    while (answer.status == cbc::SolveStatus::kOptimal) {
      priced.x = answer.x;
      priced.value = answer.objective;
      lp::Milp more = no_columns(milp_);
      std::vector<double> price =
          is_smoothed ? between(stability_center, answer.row_price, kTuning.generation.smoothing) : answer.row_price;
      double best = dual_bound_at(price, answer.row_price, kQuick, more);
      // No column has positive reduced profit at these prices: at the master's own, and thoroughly priced.
      if (more.columns() == 0) best = std::min(best, dual_bound_at(price, answer.row_price, kUsual, more));
      if (more.columns() == 0 && is_smoothed) {
        price = answer.row_price;
        best = std::min(best, dual_bound_at(price, answer.row_price, kUsual, more));
      }
      if (more.columns() == 0)
        best = std::min(best, dual_bound_at(price, answer.row_price, kTuning.pricing.thorough, more));
      if (best < priced.dual_bound) {
        priced.dual_bound = best;
        stability_center = price;
        is_smoothed = true;
      }
      const double gap = priced.dual_bound - answer.objective;
      if (more.columns() == 0 || gap <= std::max(1e-7, 1e-5 * std::abs(answer.objective))) break;
      if (task_.deadline.passed()) break;
      answer = backend_.extend_lp(more, request);
    }
    priced.defect = defect_of(answer, request);
    return priced;
  }

 private:
  // The formulation's model, with all configurations that have a column.
  void build() {
    milp_ = restricted_.formulation->model().build(task_.expression, task_.sign);
    is_configuration_.assign(static_cast<std::size_t>(milp_.columns()), false);
    for (formulation::ResidualClassIndex residual : restricted_.supply.residuals.indices())
      for (const std::int32_t column : restricted_.formulation->configuration_columns(residual))
        is_configuration_[static_cast<std::size_t>(column)] = true;
  }

  // An upper bound of the LP over all columns, by pricing at `price`, from which impossible signs are removed;
  // configurations with positive reduced profit at the master's prices become columns.
  double dual_bound_at(std::vector<double>& price, const std::vector<double>& master, int effort, lp::Milp& more) {
    const double bound = bound_of_prices(milp_, is_configuration_, price);
    const double slack = price_round(price, master, effort, more);
    return bound + slack + 1e-11 * (std::abs(bound) + slack);
  }

  // Prices every residual class at these row prices; configurations with positive reduced profit become columns.
  // Returns how much the LP's value could still rise: sum over residual classes of nodes x (bound - price of the node);
  // infinity if the time was up before the end.
  double price_round(const std::vector<double>& row_price, const std::vector<double>& master, int effort,
                     lp::Milp& more) {
    const auto row_of = [&](std::int32_t row) { return std::max(0.0, row_price[static_cast<std::size_t>(row)]); };
    Indexed<formulation::ResidualClassIndex, Pricing::Result> results(restricted_.supply.residuals.size());
    std::atomic<bool> is_late = false;
    const std::size_t parts = (restricted_.supply.residuals.size() + kResidualsATask - 1) / kResidualsATask;
    parallel_for(parts, task_.threads, [&](std::size_t part) {
      std::vector<double> price(restricted_.demand.classes.size());
      for (std::size_t i = part * kResidualsATask;
           i < std::min(restricted_.supply.residuals.size(), (part + 1) * kResidualsATask); ++i) {
        if (is_late || task_.deadline.passed()) {
          is_late = true;
          return;
        }
        const formulation::ResidualClassIndex residual(i);
        for (formulation::DemandIndex d : restricted_.supply.residuals[residual].demands)
          price[d.value()] = row_of(restricted_.formulation->supply_row(d, residual));
        Pricing& pricing = restricted_.pool.pricing(residual);
        results[residual] = effort == kQuick && restricted_.demand.running.empty()
                                ? pricing.quick(price)
                                : pricing.price(price, std::max(effort, kUsual));
      }
    });
    if (is_late) return lp::kInfinity;
    double slack = 0;
    for (formulation::ResidualClassIndex residual : restricted_.supply.residuals.indices()) {
      Pricing::Result& priced = results[residual];
      const auto nodes = static_cast<double>(restricted_.supply.residuals[residual].count());
      const std::int32_t capacity_row = restricted_.formulation->capacity_row(residual);
      slack += nodes * std::max(0.0, priced.dual_bound - row_of(capacity_row));
      const double node = std::max(0.0, master[static_cast<std::size_t>(capacity_row)]);
      for (std::size_t j = 0; j < priced.configurations.size(); ++j) {
        if (reduced_profit_of(residual, priced.configurations[j], master) <= node + 1e-7 * std::max(1.0, node))
          continue;
        const std::vector<lp::Entry> entries = restricted_.formulation->entries_of(residual, priced.configurations[j]);
        if (!restricted_.pool.add(residual, std::move(priced.configurations[j]))) continue;
        more.add_column({0, 0, nodes, true}, entries);
      }
      restricted_.add_new_columns(residual);
    }
    return slack;
  }

  double reduced_profit_of(formulation::ResidualClassIndex residual, const formulation::Configuration& configuration,
                           const std::vector<double>& master) const {
    double worth = 0;
    for (const auto& [demand, count] : configuration.counts) {
      const std::int32_t row = restricted_.formulation->supply_row(demand, residual);
      worth += count * std::max(0.0, master[static_cast<std::size_t>(row)]);
    }
    return worth;
  }

  RestrictedMaster& restricted_;
  const PricingTask& task_;
  cbc::Backend& backend_;
  lp::Milp milp_;
  std::vector<bool> is_configuration_;  // by column of milp_
};

}  // namespace

double bound_of_prices(const lp::Milp& milp, const std::vector<bool>& is_configuration, std::vector<double>& price) {
  long double bound = 0;
  for (std::int32_t i = 0; i < milp.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double side = price[row] > 0 ? milp.row_upper[row] : milp.row_lower[row];
    if (!std::isfinite(side)) price[row] = 0;
    if (price[row] != 0) bound += static_cast<long double>(price[row]) * side;
  }
  for (std::int32_t j = 0; j < milp.columns(); ++j) {
    const auto column = static_cast<std::size_t>(j);
    if (is_configuration[column]) continue;
    long double gain = milp.objective[column];
    for (std::int64_t e = milp.column_begin[column]; e < milp.column_begin[column + 1]; ++e) {
      const auto entry = static_cast<std::size_t>(e);
      gain -=
          static_cast<long double>(milp.entry_value[entry]) * price[static_cast<std::size_t>(milp.entry_row[entry])];
    }
    bound += gain * (gain > 0 ? milp.upper[column] : milp.lower[column]);
  }
  return static_cast<double>(bound);
}

std::vector<double> between(const std::vector<double>& stability_center, const std::vector<double>& master,
                            double part) {
  std::vector<double> price(master.size());
  for (std::size_t i = 0; i < price.size(); ++i) price[i] = part * stability_center[i] + (1 - part) * master[i];
  return price;
}

Priced price_columns(RestrictedMaster& restricted, const PricingTask& task, cbc::Backend& backend) {
  return Generation(restricted, task, backend).run();
}

}  // namespace muster::column_generation
