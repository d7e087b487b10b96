#include "cli/answers/capacity/loss_cells.h"

#include <utility>

#include <fmt/format.h>

namespace muster::cli {

Table leaving_table(std::string key, std::string title, const std::vector<answers::LeavingPod>& pods) {
  constexpr std::size_t kMostRows = 20;
  Table table{.key = std::move(key),
              .title = std::move(title),
              .columns = {{"pod", "POD"}, {"gang", "GANG"}, {"action", "ACTION"}, {"from", "FROM"}, {"to", "TO"}},
              .most_rows = kMostRows};
  for (const answers::LeavingPod& pod : pods) {
    table.rows.push_back({pod.pod, pod.gang, std::string(pod.to.empty() ? "evicted" : "moved"), pod.from,
                          pod.to.empty() ? Cell() : Cell(pod.to)});
  }
  return table;
}

Cell hours_cell(std::int64_t work) {
  constexpr double kPerHour = 3'600'000;
  const double hours = static_cast<double>(work) / kPerHour;
  return Cell(hours).shown_as(fmt::format("{:.1f}", hours));
}

}  // namespace muster::cli
