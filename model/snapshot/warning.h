// Inconsistencies of a snapshot that were planned around: named, so that they can be fixed, and never the reason why
// nothing else is planned.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/base/error_code.h"

namespace muster {

// `code`: kExceeded, kRemark, kUnread, or that of the error which a strict reader makes of it. `object` is the kind of
// object that `name` names: "node", "pod", "gang", "queue", "priorityClass", "podTemplate", "disruptionBudget", or
// kImportRemark. If the name cannot be read, it is the path in the line: "$.pods[3]". `message` is for people: what is
// wrong, and how it was handled.
struct Warning {
  ErrorCode code = ErrorCode::kNone;
  std::string object;
  std::string name;
  std::string message;
  friend auto operator<=>(const Warning&, const Warning&) = default;
};

// The `object` of a remark about a whole list of Kubernetes objects: what was ignored or held back.
inline constexpr std::string_view kImportRemark = "import";

struct Anomalies {
  static constexpr std::size_t kMostWarnings = 1000;  // that are kept; all are counted

  bool strict = true;  // an inconsistency is an error of the whole snapshot instead of a warning
  std::vector<Warning> warnings;
  std::size_t more = 0;                      // warnings that are not kept
  std::vector<std::string_view> held_gangs;  // of which some part cannot be read: none of their pods are placed

  void tell(Warning warning) {
    if (warnings.size() < kMostWarnings) {
      warnings.push_back(std::move(warning));
    } else {
      ++more;
    }
  }
  void remark(std::string text) { tell({ErrorCode::kRemark, std::string(kImportRemark), "$", std::move(text)}); }
  std::size_t count() const { return warnings.size() + more; }
};

// By what they name.
inline std::vector<Warning> sorted_warnings(const Anomalies& anomalies) {
  std::vector<Warning> sorted = anomalies.warnings;
  std::ranges::sort(sorted, {}, [](const Warning& w) { return std::tie(w.object, w.name, w.code, w.message); });
  return sorted;
}

}  // namespace muster
