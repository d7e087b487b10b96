// Histories as text: what a server that sees a cluster over time has filled into a snapshot. A plan line states it, so
// that the plan can be made and verified again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json/reading.h"
#include "io/muster_v1/snapshot_input.h"
#include "model/base/error_code.h"
#include "model/snapshot/snapshot.h"

namespace muster::muster_v1 {

struct Histories {
  struct Durations {
    std::string queue;        // empty: of all
    DurationHistory history;  // without its queue
  };
  // On average, in units of quotas: millionths of a GPU, thousandths of a core, bytes.
  struct Usage {
    std::string queue;
    Amount gpu = 0, cpu = 0, memory = 0;
  };
  std::optional<std::vector<Durations>> durations;  // policy.expectedDurations; none: not known
  std::optional<std::vector<Usage>> usage;          // of queues; those that are left out have used nothing

  bool empty() const { return !durations && !usage; }
};

// Sets what the snapshot does not tell itself: expected durations, if its policy has none and orders by them; usage, if
// none of its queues has any. Of queues that it has. Returns what was set. Cost: O(histories x log queues).
Histories fill_in(Histories histories, Snapshot& snapshot);

// {"expectedDurations":[...],"queues":[{"name":"a","gpu":{"usage":1.5},"cpu":{"usage":0},"memory":{"usage":0}}]}, with
// the keys of a snapshot's policy and queues.
void write_histories(const Histories& histories, std::string& out);

// Reads histories: of a plan, and of the file in which a server keeps them.
//
// Errors as those of SnapshotReader.
Result<Histories> read_histories(std::string_view text);
// The same in a plan line. False: `in.error` describes what is wrong.
[[nodiscard]] bool read_histories(::muster::json::Reading& in, ::muster::json::JsonValue object, Histories& out);
void add_history_objects(std::vector<::muster::json::KnownObject>& out);

}  // namespace muster::muster_v1
