// Lost work as cells of tables.
#pragma once

#include <cstdint>

#include "cli/terminal/text_table.h"

namespace muster::cli {

// GPU-hours, of thousandths of a GPU x seconds; for people with one decimal.
Cell hours_cell(std::int64_t work);

}  // namespace muster::cli
