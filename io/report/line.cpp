#include "io/report/line.h"

#include <string>
#include <utility>

namespace muster::reporting {

namespace {

constexpr json::JsonLimits kLimits = {std::size_t{1} << 30, 64};

bool is_failed_experiment(json::JsonValue root) {
  const auto has = [](json::JsonValue object, std::string_view key, json::JsonKind kind) {
    const json::JsonValue value = member_of(object, key);
    return value && value.is(kind);
  };
  if (!member_of(root, "experiment") || !has(root, "error", json::JsonKind::kObject)) return false;
  const json::JsonValue error = member_of(root, "error");
  return has(error, "path", json::JsonKind::kString) && has(error, "message", json::JsonKind::kString);
}

ReportLineKind kind_of(json::JsonValue root) {
  const auto has = [&](std::string_view key) { return static_cast<bool>(member_of(root, key)); };
  if (has("event")) return ReportLineKind::kEvent;
  if (has("simulation")) return ReportLineKind::kSummary;
  if (is_failed_experiment(root)) return ReportLineKind::kFailedExperiment;
  if (has("timePlan")) return ReportLineKind::kTimePlan;
  if (has("engine") && has("level") && has("value")) return ReportLineKind::kTrace;
  if (has("format") && has("status")) return ReportLineKind::kPlan;
  if (has("format") || (has("apiVersion") && has("items"))) return ReportLineKind::kSnapshot;
  return ReportLineKind::kFigures;
}

}  // namespace

json::JsonValue member_of(json::JsonValue object, std::string_view key) {
  for (const json::JsonMember member : object.members()) {
    if (member.key == key) return member.value;
  }
  return {};
}

Result<ReportLineKind> read_report_line(std::string_view line, json::JsonDocument& document) {
  if (auto error = document.parse(line, kLimits)) return *std::move(error);
  const json::JsonValue root = document.root();
  if (!root.is(json::JsonKind::kObject)) {
    return InputError{ErrorCode::kWrongType, "$",
                      "expected an object, found " + std::string(json::kind_name(root.kind()))};
  }
  return kind_of(root);
}

}  // namespace muster::reporting
