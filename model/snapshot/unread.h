// Keys of a cluster's objects that the reader of those objects knows or meets, but does not read. Each is a warning of
// the snapshot; with any, a plan is proven to be the best only of what was read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/base/error_code.h"
#include "model/snapshot/warning.h"

namespace muster {

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
