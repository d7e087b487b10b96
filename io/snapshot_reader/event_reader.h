// Reads a workload: a snapshot line, then event lines in the order of time (docs/simulation.md, "Workload").
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "io/snapshot_reader/snapshot_reader.h"
#include "model/base/error_code.h"
#include "model/snapshot/workload.h"

namespace muster::muster_v1 {

// Line by line; the first one is the snapshot. Errors: as SnapshotReader's, with the JSON path of the culprit within
// its line; DuplicateName for a gang or pod that existed before, UnknownName for a pod whose gang does not come with
// it, InvalidValue for an event that is earlier than the one before it. After an error the reader must not be used
// again.
class EventReader {
 public:
  explicit EventReader(ReaderOptions options = {});
  ~EventReader();
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  std::optional<InputError> read(std::string_view line);

  // All that has been read. Requires that the snapshot line has been; nothing more may be read afterwards.
  Workload take();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace muster::muster_v1
