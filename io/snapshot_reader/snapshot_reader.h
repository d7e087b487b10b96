// Reads one line of `muster/v1`, or of Kubernetes objects, into a Snapshot, or reports what is wrong with it and where.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/json/json_document.h"
#include "io/kubernetes/import.h"
#include "io/muster_v1/policy_overrides.h"
#include "model/base/error_code.h"
#include "model/snapshot/snapshot.h"

namespace muster::muster_v1 {

struct ReaderOptions {
  bool lenient = false;  // unknown keys are passed over
  // Whatever does not add up is an error of the whole line; else objects are left out or settled, and named in the
  // snapshot's `anomalies`.
  bool strict = true;
  std::size_t max_line_bytes = json::JsonLimits().max_bytes;
  std::size_t max_depth = json::JsonLimits().max_depth;
  kubernetes::KubernetesOptions kubernetes = {};
  int threads = 1;              // that read the pods of a long line
  PolicyOverrides policy = {};  // of every snapshot
};

// Reused from line to line for its buffers; one a thread.
//
// Errors: InvalidUtf8, InvalidJson, TooLarge, TooDeep, DuplicateKey, UnknownKey, WrongType, InvalidValue, MissingKey,
// UnsupportedFormat, and what the contract itself refuses; each with the JSON path of the culprit
// ("$.pods[3].gpu.count"). Ensures: the snapshot owns its text; the line may go away. Cost: one pass over the parsed
// document.
class SnapshotReader {
 public:
  explicit SnapshotReader(ReaderOptions options = {});
  ~SnapshotReader();
  SnapshotReader(SnapshotReader&&) noexcept;
  SnapshotReader& operator=(SnapshotReader&&) noexcept;

  Result<Snapshot> read(std::string_view line);
  // The same with other options for Kubernetes objects than those of the reader.
  Result<Snapshot> read(std::string_view line, const kubernetes::KubernetesOptions& kubernetes);
  // Of objects that are kept, as import_kept has it.
  Result<Snapshot> read(const kubernetes::KeptObjects& objects, const kubernetes::KubernetesOptions& kubernetes);
  const kubernetes::KubernetesOptions& kubernetes() const;

  // What was ignored in the last line, or held back, in the words of its warnings; empty if the line could not be read.
  const std::vector<std::string>& remarks() const;

  // The `id` of a line that may be broken otherwise; empty if there is none to be found.
  static std::string id_of(std::string_view line);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace muster::muster_v1
