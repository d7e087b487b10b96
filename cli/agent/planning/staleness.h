// Since when gangs of KAI run below their minimum: an annotation of their PodGroups, which KAI's scheduler writes and
// the import reads. In the mode `kai`, the agent is in that scheduler's place.
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

struct Staleness {
  std::vector<StalenessNote> notes;
  std::optional<Nanoseconds> next;  // when the first gang, at the earliest, becomes stale
};

// Of the gangs whose pods are all planned here. Cost: O(pods + gangs).
Staleness staleness_of(const SolvedLine& line);

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
