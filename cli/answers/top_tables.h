// The tables of `muster top`.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/overview.h"
#include "cli/terminal/text_table.h"
#include "io/muster_v1/plan_line.h"
#include "model/explain/report.h"
#include "model/problem/problem.h"

namespace muster::cli {

// What a plan reports of a gang, by its name.
struct GangState {
  std::string phase, reason;  // codes; no reason: empty
  std::string message;        // for people
  std::optional<Nanoseconds> expected_start;
};
using GangStates = std::map<std::string, GangState, std::less<>>;
GangStates states_of(const muster_v1::ReadPlan& plan);
GangStates states_of(const Problem& problem, const explain::Report& report);

// Rows in the order of interest: queues with the most allocated GPUs first; kinds of devices by number; gangs that wait
// before those that run, the largest of each first; nodes with the most wasted GPUs first.
Table queue_table(const Problem& problem, const Overview& overview);
Table device_table(const Overview& overview);
// `states`: none if there is no plan.
Table gang_table(const Problem& problem, const Overview& overview, const std::optional<GangStates>& states);
Table node_table(const Problem& problem, const Overview& overview);

// Fields about the cluster as a whole.
void add_totals(const Problem& problem, const Overview& overview, AnswerDocument& document);

// "45s", "12m", "3h05m", "2d4h".
std::string age_text(std::int64_t seconds);

// Tables sorted by a column and cut to a number of rows, as options of a command request it.
//
// Sorts the rows by the column with this key or title, whatever the case of letters: numbers descending, texts
// ascending, and what is unknown last. Equal rows keep their order. False: there is no such column, and nothing
// changes.
bool sort_rows(Table& table, std::string_view column);

// The keys of the columns by which rows can be sorted.
std::vector<std::string> sortable_columns(const Table& table);

// Keeps the first rows; returns how many are removed.
std::size_t limit_rows(Table& table, std::size_t most);

}  // namespace muster::cli
