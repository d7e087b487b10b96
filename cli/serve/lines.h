// The server's answers for verifying and importing: one line each, as for solving.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/line/line.h"
#include "io/kubernetes/import.h"
#include "io/muster_v1/snapshot_reader.h"

namespace muster::cli {

// {"line":1,"id":"x","valid":true,"findings":[{"kind":"violation","rule":...,"subject":...,"message":...}]}; a false
// claim has no rule. No plan: that is a violation. Never an error: an unreadable line is a finding.
Answer verify_answer(muster_v1::SnapshotReader& reader, std::string_view snapshot, std::optional<std::string_view> plan,
                     std::int64_t number);

// The snapshot line, and its remarks as the log.
Answer import_answer(std::string_view text, const kubernetes::KubernetesOptions& options);

}  // namespace muster::cli
