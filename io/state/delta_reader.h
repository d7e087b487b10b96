// Documents for the kept state of a cluster: the whole of it, and deltas (docs/format.md, "Deltas").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "io/json/json_document.h"
#include "io/state/cluster_objects.h"
#include "model/base/error_code.h"
#include "model/state/kept_snapshot.h"

namespace muster::state {

struct DeltaOptions {
  bool lenient = false;  // unknown keys are passed over
  json::JsonLimits limits = {};
  int threads = 1;  // that read the pods of a long document
};

// The state before a delta, and the one after it.
struct SequenceStep {
  std::uint64_t from = 0, to = 0;
};

// What a delta's objects are: those of a snapshot, or of Kubernetes.
enum class DeltaForm : std::uint8_t { kNone, kSnapshot, kKubernetes };

// Reads one document after another; one a thread. Everything is read strictly: an object that cannot be read is an
// error of its document. Errors: those of SnapshotReader, with paths in the document. The results own their text.
class DeltaReader {
 public:
  explicit DeltaReader(const DeltaOptions& options) : options_(options) {}

  // A snapshot, as the delta from nothing to it.
  Result<SnapshotDelta> read_whole(std::string_view text);
  // Of a delta that parses: the step that it makes. To be called before read_delta().
  Result<SequenceStep> read_step(std::string_view text);
  // Of the delta that read_step() has read, as all that follow. Each requires that this succeeded for the document
  // before. None: it changes nothing. Errors: InvalidValue, if "set" has one form and "remove" the other.
  Result<DeltaForm> read_form();
  Result<SnapshotDelta> read_delta(const KeptSnapshot& state);
  // As ClusterObjects::change.
  std::optional<InputError> change(ClusterObjects& objects);

 private:
  DeltaOptions options_;
  json::JsonDocument document_;
  bool has_step_ = false;  // the document is a delta
  json::JsonValue set_, remove_;
};

}  // namespace muster::state
