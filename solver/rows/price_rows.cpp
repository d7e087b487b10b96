#include "solver/rows/price_rows.h"

#include <algorithm>

#include "model/base/saturating.h"
#include "model/problem/eviction_loss.h"

namespace muster::formulation {

bool PriceRows::can_afford(const std::vector<GangClassIndex>& claimants, GangClassIndex victims) const {
  if (!price_.is_set()) return true;
  const std::vector<GangIndex>& gangs = demand_.gang_classes[victims].gangs;
  const GangIndex cheapest =
      *std::ranges::min_element(gangs, {}, [&](GangIndex gang) { return price_.least_loss(gang); });
  return std::ranges::any_of(claimants,
                             [&](GangClassIndex index) { return most_loss(index) >= price_.least_loss(cheapest); });
}

void PriceRows::add_loss(RunningCellIndex cell, const lp::LinearExpression& pods, Losses& losses) const {
  const std::vector<PodIndex>& alike = demand_.running[cell].pods;
  std::int64_t least = loss_of(problem_, alike.front());
  for (const PodIndex pod : alike) least = std::min(least, loss_of(problem_, pod));
  losses.lost.add(pods, least);
}

void PriceRows::add_claimants(GangClassIndex index, std::int32_t admitted, Losses& losses) const {
  if (admitted >= 0) {
    losses.allowed.add(admitted, most_loss(index));
  } else {
    losses.allowed.constant = saturating_add(losses.allowed.constant, most_loss(index));
  }
}

void PriceRows::add_row(const Losses& losses, const std::string& name, lp::ModelBuilder& model) {
  constexpr std::int64_t kUnits = 1'000'000;
  std::int64_t all = 0, largest = 1;
  for (const auto& [column, loss] : losses.lost.terms) {
    all = saturating_add(all, saturating_multiply(loss, static_cast<std::int64_t>(model.upper(column))));
    largest = std::max(largest, loss);
  }
  // To allow more than all losses makes no difference.
  if (losses.allowed.constant >= all) return;
  for (const auto& [column, allowed] : losses.allowed.terms) largest = std::max(largest, std::min(allowed, all));
  const std::int64_t unit = (largest + kUnits - 1) / kUnits;
  const auto rounded_up = [unit](std::int64_t value) { return value / unit + (value % unit != 0 ? 1 : 0); };
  lp::LinearExpression row;
  for (const auto& [column, loss] : losses.lost.terms) row.add(column, loss / unit);
  for (const auto& [column, allowed] : losses.allowed.terms) row.add(column, -rounded_up(std::min(allowed, all)));
  model.add_constraint(row, -lp::kInfinity, static_cast<double>(rounded_up(losses.allowed.constant)), name);
}

std::int64_t PriceRows::most_loss(GangClassIndex claimants) const {
  std::int64_t most = 0;
  for (const GangIndex gang : demand_.gang_classes[claimants].gangs) most = std::max(most, price_.most_loss(gang));
  return most;
}

}  // namespace muster::formulation
