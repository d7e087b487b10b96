// Turns a plan line and its snapshot into objects that carry the plan out: for `muster export` and `POST /v1/export`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/export/plan.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "model/base/error_code.h"

namespace muster::cli {

// The request as it was written; none: not set.
struct ExportWords {
  std::optional<std::string> format, phase, gate;
  bool has_snapshot = false;
  bool allows_shared = false;  // Bindings of pods that share devices, too
};

// Errors: InvalidValue, MissingKey; the path is "format", "phase", "gate" or "snapshot".
Result<exporting::ExportOptions> export_options(const ExportWords& words);

// Checks the plan against the snapshot, if there is one. Kubernetes objects are read at the time of the plan, unless
// the reader has one. Errors: those of both readers, of build_problem and of export_plan; OtherSnapshot; InvalidPlan,
// if the referee rejects it; NoPlan, for an error record.
Result<exporting::ExportedPlan> export_line(muster_v1::SnapshotReader& reader, std::string_view plan_text,
                                            std::optional<std::string_view> snapshot_text,
                                            const exporting::ExportOptions& options);

// The same with a plan by names and with objects that are kept as its snapshot, read as import_kept has it.
Result<exporting::ExportedPlan> export_objects(muster_v1::SnapshotReader& reader, const muster_v1::NamedPlan& plan,
                                               const kubernetes::KeptObjects& objects,
                                               const kubernetes::KubernetesOptions& kubernetes,
                                               const exporting::ExportOptions& options);

// The same without the check. Requires a plan of this problem that the referee passes, and the identities of its pods.
Result<exporting::ExportedPlan> export_passed(const Problem& problem, const muster_v1::NamedPlan& plan,
                                              Result<exporting::ObjectIdentities> identities,
                                              const exporting::ExportOptions& options);

}  // namespace muster::cli
