// The formulation's model without its supply: no configurations, no rows of their residual classes. Other components
// model the supply (blocks of residual classes, or their sum).
#pragma once

#include <cstdint>
#include <vector>

#include "solver/column_generation/column_generation.h"
#include "solver/column_generation/restricted_master.h"
#include "solver/lp/milp.h"

namespace muster::column_generation {

struct DemandSide {
  DemandSide(const RestrictedMaster& restricted, const PricingTask& task);

  std::int32_t row_of(std::int32_t whole_row) const { return rows_[static_cast<std::size_t>(whole_row)]; }  // -1: none
  // Prices of the rows of `milp` (further ones are left out) by rows of the whole model; 0 if there is none.
  std::vector<double> whole_prices(const std::vector<double>& price) const;

  lp::Milp whole;                      // of the formulation, maximised
  std::vector<bool> is_configuration;  // by column of `whole`
  lp::Milp milp;                       // what is left
  std::vector<std::size_t> columns;    // by column of `milp`: that of `whole`

 private:
  std::vector<std::int32_t> rows_;
};

}  // namespace muster::column_generation
