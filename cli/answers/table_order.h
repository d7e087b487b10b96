// Tables sorted by a column and cut to a number of rows, as options of a command request it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/text_table.h"

namespace muster::cli {

// Sorts the rows by the column with this key or title, whatever the case of letters: numbers descending, texts
// ascending, and what is unknown last. Equal rows keep their order. False: there is no such column, and nothing
// changes.
bool sort_rows(Table& table, std::string_view column);

// The keys of the columns by which rows can be sorted.
std::vector<std::string> sortable_columns(const Table& table);

// Keeps the first rows; returns how many are removed.
std::size_t limit_rows(Table& table, std::size_t most);

}  // namespace muster::cli
