#include "io/kubernetes/known/dialects.h"

#include <array>
#include <utility>

namespace muster::kubernetes::known {

namespace {

constexpr std::size_t kTreatments = 5;

std::string objects_text(Objects on) {
  constexpr std::array<std::pair<Objects, std::string_view>, 7> kNames = {{{kLivePods, "pods"},
                                                                           {kTemplates, "templates"},
                                                                           {kOwners, "what makes pods"},
                                                                           {kGroups, "groups"},
                                                                           {kQueues, "queues"},
                                                                           {kNodes, "nodes"},
                                                                           {kOthers, "other objects"}}};
  if (on == kAll) return "all objects";
  std::string text;
  for (const auto& [bit, name] : kNames) {
    if ((on & bit) != 0) text.append(text.empty() ? "" : ", ").append(name);
  }
  return text;
}

void write_row(std::string_view where, std::string_view key, const Rule& rule, std::string& out) {
  out.append("| ").append(where).append(" | `").append(key).append("` | ").append(treatment_name(rule.treatment));
  out.append(" | ").append(rule.may_change);
  if (!rule.unless.empty()) {
    std::string values(rule.unless);
    for (std::size_t bar = values.find('|'); bar != std::string::npos; bar = values.find('|', bar + 4))
      values.replace(bar, 1, "`, `");
    out.append("; not with `").append(values).append("`");
  }
  if (!rule.unless_key.empty()) out.append("; not with the key `").append(rule.unless_key).append("`");
  out.append(" |\n");
}

void write_keys(std::string_view place, std::span<const KeyRow> rows, std::string& out) {
  for (const KeyRow& row : rows)
    write_row(std::string(place).append(" of ").append(objects_text(row.on)), row.key, row.rule, out);
}

// How many rows of a dialect have each treatment.
void write_counts(const Dialect& dialect, std::string& out) {
  std::array<int, kTreatments> counts = {};
  for (const auto rows : {dialect.annotations, dialect.labels, dialect.resources})
    for (const KeyRow& row : rows) ++counts[static_cast<std::size_t>(row.rule.treatment)];
  for (const FieldRow& row : dialect.fields) ++counts[static_cast<std::size_t>(row.rule.treatment)];
  out.append("| ").append(dialect.name);
  for (const int count : counts) out.append(" | ").append(std::to_string(count));
  out.append(" |\n");
}

}  // namespace

std::span<const Dialect* const> dialects() {
  static constexpr std::array<const Dialect*, 13> kAllDialects = {
      &kCore,   &kDevices, &kWorkloadApi, &kCoscheduling, &kKai, &kVolcano, &kKueue, &kLeaderWorkerSet,
      &kJobSet, &kRay,     &kKoordinator, &kYuniKorn,     &kHami};
  return kAllDialects;
}

std::string_view treatment_name(Treatment treatment) {
  constexpr std::array<std::string_view, kTreatments> kNames = {"read", "harmless", "ignored", "held", "protected"};
  return kNames[static_cast<std::size_t>(treatment)];
}

std::string table_text() {
  std::string out = "## Rows by system\n\n| system";
  for (std::size_t i = 0; i < kTreatments; ++i) out.append(" | ").append(treatment_name(static_cast<Treatment>(i)));
  out.append(" |\n|---|---|---|---|---|---|\n");
  for (const Dialect* dialect : dialects()) write_counts(*dialect, out);
  out += "\n";
  for (const Dialect* dialect : dialects()) {
    out.append("## ").append(dialect->name).append("\n\n");
    out.append("| where | key | treatment | may change |\n|---|---|---|---|\n");
    write_keys("annotation", dialect->annotations, out);
    write_keys("label", dialect->labels, out);
    write_keys("resource", dialect->resources, out);
    for (const FieldRow& row : dialect->fields)
      write_row(row.kind, row.path.empty() ? std::string_view("the kind itself") : row.path, row.rule, out);
    out += "\n";
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace muster::kubernetes::known
