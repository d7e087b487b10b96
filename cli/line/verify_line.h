// One snapshot and its claimed plan, checked: the rules by the referee, the claims by recomputing them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/snapshot_reader/snapshot_reader.h"

namespace muster::cli {

// Texts as they stand in the lines, not escaped.
struct Finding {
  std::string rule;  // that is broken; empty: a false claim
  std::string subject, message;
};

struct VerifiedLine {
  std::string id;  // of the snapshot; empty if it has none or cannot be read
  bool is_valid_snapshot = false;
  std::vector<Finding> findings;
};

VerifiedLine verify_line(muster_v1::SnapshotReader& reader, std::string_view snapshot_text, std::string_view plan_text);

}  // namespace muster::cli
