// disruptionBudgets[]
#include <array>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "io/muster_v1/snapshot_input.h"

namespace muster::muster_v1 {

namespace {

using Budget = SnapshotDisruptionBudget;

constexpr std::array<json::Field<SnapshotInput, Budget>, 6> kBudgetFields = {
    {{"name", [](SnapshotInput& in, json::JsonValue v, Budget& b) { return in.read_name(v, b.name); }, true},
     {"namespace", [](SnapshotInput& in, json::JsonValue v,
                      Budget& b) { return in.read_shared_name(v, in.last.namespace_name, b.namespace_name); }},
     {"selector",
      [](SnapshotInput& in, json::JsonValue v, Budget& b) { return read_label_selector(in, v, b.selector.emplace()); }},
     {"allowed",
      [](SnapshotInput& in, json::JsonValue v, Budget& b) {
        return in.read_integer(v, 0, std::numeric_limits<std::int64_t>::max(), b.allowed);
      },
      true},
     {"exclusive", [](SnapshotInput& in, json::JsonValue v, Budget& b) { return in.read(v, b.exclusive); }},
     {"unclear", [](SnapshotInput& in, json::JsonValue v, Budget&) { return read_unclear(in, v); }}}};

json::JsonValue member_at(json::JsonValue object, std::string_view key) {
  for (const json::JsonMember member : object.members()) {
    if (member.key == key) return member.value;
  }
  return {};
}

// Passes over the error of what is tried.
bool tried(SnapshotInput& input, bool is_done) {
  if (!is_done) input.error = {};
  return is_done;
}

// A budget that is only partly understood allows no eviction of the pods that it may select: those of its selector; all
// pods of its namespace if the selector cannot be read; those of all namespaces if not even the namespace can be read.
void recover_budget(SnapshotInput& input, json::JsonValue element, InputError error) {
  const std::string path = error.path.substr(0, error.path.find(']')) + "]";
  const bool is_ambiguous = error.code == ErrorCode::kDuplicateKey;
  Budget budget;
  budget.selector.emplace();  // all pods
  bool has_namespace = false;
  if (element.is(json::JsonKind::kObject)) {
    const json::JsonValue name = member_at(element, "name"), space = member_at(element, "namespace"),
                          selector = member_at(element, "selector"), exclusive = member_at(element, "exclusive");
    if (name) static_cast<void>(tried(input, input.read_name(name, budget.name)));
    has_namespace =
        !space || tried(input, input.read_shared_name(space, input.last.namespace_name, budget.namespace_name));
    LabelSelector own;
    if (selector && !is_ambiguous && tried(input, read_label_selector(input, selector, own)))
      budget.selector = std::move(own);
    if (exclusive) static_cast<void>(tried(input, input.read(exclusive, budget.exclusive)));
  }
  warn_of(input, {"disruptionBudget", element}, std::move(error), "no pod that it may select can be evicted");
  if (!has_namespace) {
    input.snapshot.policy.protect.push_back(*std::move(budget.selector));
    return;
  }
  if (budget.name.empty()) budget.name = input.keep(path);
  if (budget.namespace_name.empty()) budget.namespace_name = "default";
  input.snapshot.disruption_budgets.push_back(std::move(budget));
}

// Two of one name both count.
void warn_of_repeated(SnapshotInput& input) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const Budget& budget : input.snapshot.disruption_budgets) {
    if (names.emplace(budget.namespace_name, budget.name).second) continue;
    input.snapshot.anomalies.tell({ErrorCode::kDuplicateName, "disruptionBudget",
                                   std::string(budget.namespace_name).append("/").append(budget.name),
                                   "duplicate name in the namespace; both budgets apply"});
  }
}

}  // namespace

bool read_disruption_budgets(SnapshotInput& input, json::JsonValue list) {
  const auto finish = [](json::JsonValue, Budget& budget) {
    if (budget.namespace_name.empty()) budget.namespace_name = "default";
    return true;
  };
  const auto recover = [&](json::JsonValue element, InputError error) {
    recover_budget(input, element, std::move(error));
  };
  if (!read_objects(input, list, kBudgetFields, input.snapshot.disruption_budgets, finish, recover)) return false;
  if (!input.snapshot.anomalies.strict) warn_of_repeated(input);
  return true;
}

void add_disruption_budget_objects(std::vector<json::KnownObject>& out) {
  out.push_back(json::known_object("disruptionBudget", kBudgetFields));
}

}  // namespace muster::muster_v1
