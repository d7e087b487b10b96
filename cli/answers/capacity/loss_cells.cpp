#include "cli/answers/capacity/loss_cells.h"

#include <fmt/format.h>

namespace muster::cli {

Cell hours_cell(std::int64_t work) {
  constexpr double kPerHour = 3'600'000;
  const double hours = static_cast<double>(work) / kPerHour;
  return Cell(hours).shown_as(fmt::format("{:.1f}", hours));
}

}  // namespace muster::cli
