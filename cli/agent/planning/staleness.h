// Gangs in part: some pods run, but fewer than the minimum, since one was deleted, a node failed, or an agent was
// killed in the middle of a start. They are reported, and evicted after their `stalenessGracePeriod`, since when they
// are in part must be known from plan to plan.
//
// For KAI, an annotation of their PodGroups says since when: KAI's scheduler writes it and the import reads it; in the
// mode `kai`, the agent is in that scheduler's place. For all others, and until it is written, PartialGangs remembers
// it; another agent counts from when it sees them first.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/line/line.h"
#include "io/api_server/api_client.h"
#include "io/api_server/object_store.h"

namespace muster::cli {

// A PodGroup whose annotation is missing or has outlived its cause.
struct StalenessNote {
  std::string gang;       // as the snapshot names it
  bool is_below = false;  // to be written; false: to be removed
};

struct PartialGang {
  std::string gang, pod;  // as the snapshot names them; a pod that runs
  std::string sentence;   // "2 pods of it run, below its minimum of 4"
};

struct Staleness {
  std::vector<PartialGang> partial;  // in the order of the snapshot
  std::vector<StalenessNote> notes;
  std::optional<Nanoseconds> next;  // when the first gang, at the earliest, becomes stale
};

class PartialGangs {
 public:
  // Before a plan: `staleSince` of those gangs whose objects do not say it.
  void fill(Snapshot& snapshot);
  // After it, of the snapshot that was filled: of the gangs whose pods are all planned here, those that are in part
  // now, whatever the plan does. Cost: O(pods + gangs).
  Staleness note(const SolvedLine& line);

 private:
  std::map<std::string, Nanoseconds, std::less<>> since_;  // by gang, of those whose objects do not say it
};

class StalenessWriter {
 public:
  using Failed = std::function<void(const std::string& sentence)>;

  // The client outlives it.
  StalenessWriter(api_server::ApiClient& client, bool dry_run, Failed failed)
      : client_(client), dry_run_(dry_run), failed_(std::move(failed)) {}

  // Writes what was not asked for before. `now`: RFC 3339.
  void write(const std::vector<StalenessNote>& notes, const std::string& now, const api_server::ObjectStore& objects);

 private:
  void patch(const StalenessNote& note, const std::string& now, const api_server::ObjectStore& objects);

  api_server::ApiClient& client_;
  const bool dry_run_;
  const Failed failed_;
  std::map<std::string, bool> asked_;  // by gang: whether it is below its minimum
};

}  // namespace muster::cli
