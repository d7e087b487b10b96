#include "cli/cells/ledger.h"

#include <array>
#include <unordered_map>
#include <utility>

#include "io/json/json_document.h"
#include "io/json/json_writer.h"
#include "io/json/reading.h"

namespace muster::cli {
namespace {

constexpr std::string_view kFormat = "muster-ledger/v1";

struct CellRecord {
  std::string_view id;
  std::vector<std::string_view> nodes;
};

struct LedgerRecord {
  std::string_view format, id;
  std::vector<CellRecord> cells;
};

constexpr std::array<json::Field<json::Reading, CellRecord>, 2> kCellFields = {
    {{"id", [](json::Reading& in, json::JsonValue value, CellRecord& out) { return in.read_name(value, out.id); },
      true},
     {"nodes",
      [](json::Reading& in, json::JsonValue value, CellRecord& out) { return in.read_names(value, out.nodes); },
      true}}};

constexpr std::array<json::Field<json::Reading, LedgerRecord>, 3> kLedgerFields = {
    {{"format",
      [](json::Reading& in, json::JsonValue value, LedgerRecord& out) { return in.read_name(value, out.format); },
      true},
     {"id", [](json::Reading& in, json::JsonValue value, LedgerRecord& out) { return in.read(value, out.id); }, true},
     {"cells",
      [](json::Reading& in, json::JsonValue value, LedgerRecord& out) {
        return json::read_list(in, value, kCellFields, out.cells);
      },
      true}}};

InputError error_of(ErrorCode code, std::string message) { return {code, "$", std::move(message)}; }

}  // namespace

std::string ledger_text(const Problem& problem, const cells::Dealing& dealing, const std::vector<std::string>& ids) {
  std::string text;
  json::JsonWriter json(text);
  json.object().member("format", kFormat).member("id", problem.snapshot->id).key("cells").array();
  std::vector<std::vector<NodeIndex>> nodes(dealing.size());
  for (const NodeIndex node : problem.nodes.indices()) nodes[dealing.cell_of_node[node].value()].push_back(node);
  for (std::size_t cell = 0; cell < dealing.size(); ++cell) {
    json.object().member("id", ids[cell]).key("nodes").array();
    for (const NodeIndex node : nodes[cell]) json.value(problem.snapshot->nodes[node.value()].name);
    json.end().end();
  }
  json.end().end().raw("\n");
  return text;
}

Result<Ledger> read_ledger(std::string_view text, const Problem& problem) {
  json::JsonDocument document;
  if (auto error = document.parse(text, {})) return *std::move(error);
  StringPool pool;
  json::Reading reading{false, &pool, {}};
  LedgerRecord record;
  if (!json::read_fields(reading, document.root(), kLedgerFields, record)) return std::move(reading.error);
  if (record.format != kFormat)
    return error_of(ErrorCode::kUnsupportedFormat, "the format must be \"" + std::string(kFormat) + "\"");
  if (record.id != problem.snapshot->id)
    return error_of(ErrorCode::kInvalidValue, "the ledger is of the snapshot \"" + std::string(record.id) + "\"");
  std::unordered_map<std::string_view, NodeIndex> by_name;
  for (const NodeIndex node : problem.nodes.indices())
    by_name.emplace(problem.snapshot->nodes[node.value()].name, node);
  Ledger ledger;
  ledger.dealing.cell_of_node.resize(problem.nodes.size());
  for (const CellRecord& cell : record.cells) {
    for (const std::string_view name : cell.nodes) {
      const auto found = by_name.find(name);
      const auto fault = [&](ErrorCode code, const char* before, const char* after) {
        return InputError{code, "$.cells[" + std::to_string(ledger.ids.size()) + "].nodes",
                          before + ("\"" + std::string(name) + "\"") + after};
      };
      if (found == by_name.end()) return fault(ErrorCode::kUnknownName, "the snapshot has no node ", "");
      cells::CellIndex& cell_of_node = ledger.dealing.cell_of_node[found->second];
      if (!cell_of_node.is_none()) return fault(ErrorCode::kDuplicateName, "the node ", " is in a cell already");
      cell_of_node = cells::CellIndex(ledger.ids.size());
    }
    ledger.ids.emplace_back(cell.id);
    ledger.dealing.names.emplace_back(cell.id);
  }
  for (const NodeIndex node : problem.nodes.indices())
    if (ledger.dealing.cell_of_node[node].is_none())
      return error_of(ErrorCode::kMissingKey,
                      "the node \"" + std::string(problem.snapshot->nodes[node.value()].name) + "\" is in no cell");
  cells::settle_gangs(problem, nullptr, ledger.dealing);
  return ledger;
}

}  // namespace muster::cli
