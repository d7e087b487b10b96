// What the server answers to verifying and importing: one line each, as solving gives one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/line.h"
#include "io/kubernetes_import.h"
#include "io/snapshot_reader.h"

namespace muster {

// {"line":1,"id":"x","valid":true,"findings":[{"kind":"violation","rule":...,"subject":...,"message":...}]}; a false
// claim has no rule. No plan: that is a violation. Never an error: what cannot be read is a finding.
Answer verify_answer(SnapshotReader& reader, std::string_view snapshot, std::optional<std::string_view> plan,
                     std::int64_t number);

// The snapshot line, and its remarks as the log.
Answer import_answer(std::string_view text, const KubernetesOptions& options);

}  // namespace muster
