// Lost work as cells of tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/terminal/text_table.h"
#include "solver/answers/capacity/loss.h"

namespace muster::cli {

// Pods that leave their nodes for others: which, whose, where from and where to.
Table leaving_table(std::string key, std::string title, const std::vector<answers::LeavingPod>& pods);

// GPU-hours, of thousandths of a GPU x seconds; for people with one decimal.
Cell hours_cell(std::int64_t work);

}  // namespace muster::cli
