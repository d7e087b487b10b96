// disruptionBudgets[]
#include <array>
#include <limits>

#include "io/snapshot_input.h"

namespace muster {

namespace {

using Budget = SnapshotDisruptionBudget;

constexpr std::array<Field<SnapshotInput, Budget>, 5> kBudgetFields = {
    {{"name", [](SnapshotInput& in, JsonValue v, Budget& b) { return in.read_name(v, b.name); }, true},
     {"namespace", [](SnapshotInput& in, JsonValue v,
                      Budget& b) { return in.read_shared_name(v, in.last_namespace, b.namespace_name); }},
     {"selector", [](SnapshotInput& in, JsonValue v,
                     Budget& b) { return read_label_selector(in, v, b.selector.emplace()); }},
     {"allowed",
      [](SnapshotInput& in, JsonValue v, Budget& b) {
        return in.read_integer(v, 0, std::numeric_limits<std::int64_t>::max(), b.allowed);
      },
      true},
     {"exclusive", [](SnapshotInput& in, JsonValue v, Budget& b) { return in.read(v, b.exclusive); }}}};

}  // namespace

bool read_disruption_budgets(SnapshotInput& input, JsonValue list) {
  std::vector<Budget>& budgets = input.snapshot.disruption_budgets;
  if (!read_list(input, list, kBudgetFields, budgets)) return false;
  for (Budget& budget : budgets) {
    if (budget.namespace_name.empty()) budget.namespace_name = "default";
  }
  return true;
}

void add_disruption_budget_objects(std::vector<KnownObject>& out) {
  out.push_back(known_object("disruptionBudget", kBudgetFields));
}

}  // namespace muster
