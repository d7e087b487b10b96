// Keys of a cluster's objects that the reader of those objects knows or meets, but does not read. Each is a warning of
// the snapshot; with any, a plan is proven to be the best only of what was read.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/base/error_code.h"

namespace muster {

// Inconsistencies of a snapshot that were planned around: named, so that they can be fixed, and never the reason why
// nothing else is planned.
//
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

// The first object that has the key, and how many have it.
struct UnreadKey {
  std::string kind, name;  // "Pod", "default/web"
  std::string place, key;  // "annotation", "kai.scheduler/preemption-delay"; "field", "spec.preemption"
  std::string value;       // shortened
  std::string treatment;   // "ignored", "held", "protected"; "unknown": nothing is known of the key
  std::string may_change;  // reads after "may change"
  std::int64_t count = 1;
};

// `annotation kai.scheduler/preemption-delay "2m"`.
std::string unread_title(const UnreadKey& key);

// Its warning: about the first object.
Warning unread_warning(const UnreadKey& key);

struct Anomalies {
  static constexpr std::size_t kMostWarnings = 1000;  // that are kept; all are counted

  bool strict = true;  // an inconsistency is an error of the whole snapshot instead of a warning
  std::vector<Warning> warnings;
  std::size_t more = 0;                      // warnings that are not kept
  std::vector<UnreadKey> unread;             // each has a warning, too
  std::vector<std::string_view> held_gangs;  // of which some part cannot be read: none of their pods are placed

  void tell(Warning warning) {
    if (warnings.size() < kMostWarnings) {
      warnings.push_back(std::move(warning));
    } else {
      ++more;
    }
  }
  void tell(UnreadKey key) {
    tell(unread_warning(key));
    unread.push_back(std::move(key));
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

// For people: the message of a remark, with the object that it is about.
std::string remark_text(const Warning& remark);

// Whether a warning is one of these.
inline bool is_unread(const Warning& warning) { return warning.code == ErrorCode::kUnread; }

// Whether it comes with the snapshot, not from an inconsistency in it: of a list as a whole, or of a key that is
// unread.
inline bool is_remark(const Warning& warning) { return warning.object == kImportRemark || is_unread(warning); }

inline bool has_unread(const Anomalies& anomalies) { return std::ranges::any_of(anomalies.warnings, is_unread); }

// For people, after "proven optimal": empty, or " of what was read".
inline std::string_view scope_of_proof(const Anomalies& anomalies) {
  return has_unread(anomalies) ? " of what was read" : "";
}

}  // namespace muster
