#include "datasets/traces/openb_published.h"

#include <cmath>
#include <cstdlib>

#include "datasets/traces/compressed.h"
#include "datasets/traces/csv.h"

namespace muster::traces {

Result<std::vector<OpenbPublished>> load_openb_published(const std::string& directory) {
  const std::string file = directory + "/published.csv";
  const auto text = read_maybe_compressed(file);
  if (!text) return text.error();
  const auto table = read_csv(*text, file, {{"trace", "policy", "arrived", "unallocated_mean"}, {}});
  if (!table) return table.error();
  constexpr std::size_t kArrived = 2, kUnallocated = 3;
  std::vector<OpenbPublished> points;
  for (std::size_t row = 0; row < table->rows.size(); ++row) {
    const auto arrived = table->number(row, kArrived, 1000);
    if (!arrived) return arrived.error();
    const std::string field(table->rows[row][kUnallocated]);
    char* end = nullptr;
    const double percent = std::strtod(field.c_str(), &end);
    if (field.empty() || *end != '\0' || !(percent >= 0 && percent <= 100))
      return table->fault(row, kUnallocated, "not a percentage");
    points.push_back({std::string(table->rows[row][0]), std::string(table->rows[row][1]),
                      static_cast<std::int32_t>(*arrived), static_cast<std::int32_t>(std::lround(percent * 1000))});
  }
  return points;
}

}  // namespace muster::traces
