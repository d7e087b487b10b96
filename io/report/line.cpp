#include "io/report/line.h"

#include <string>
#include <utility>

namespace muster::reporting {

namespace {

constexpr json::JsonLimits kLimits = {std::size_t{1} << 30, 64};

ReportLineKind kind_of(json::JsonValue root) {
  const auto has = [&](std::string_view key) { return static_cast<bool>(member_of(root, key)); };
  if (has("event")) return ReportLineKind::kEvent;
  if (has("simulation")) return ReportLineKind::kSummary;
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
