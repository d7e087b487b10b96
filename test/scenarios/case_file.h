// Scenario files: small snapshots with a known outcome, one JSON object a line. README.md defines the keys.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace muster::scenarios {

struct ExpectedGang {
  std::optional<std::int64_t> running, evicted, moved, pending;
  std::optional<std::string> phase, make_room;
  std::vector<std::string> reasons;  // any of them is right; empty: not checked
  std::vector<std::string> nodes;    // each running pod is on one of these; empty: not checked
  std::vector<std::string> message_parts;
};

// One outcome that fits the counts, to compute its levels from.
struct ExpectedPods {
  std::vector<std::string> running, evicted, moved;
};

struct Scenario {
  std::string file, name, why;
  std::vector<std::string> features;
  bool as_good_suffices = false;     // judge "at-least-as-good"
  bool every_node_is_used = false;   // each node of `nodes` has a pod: cases without a judge
  std::string line;                  // the snapshot
  std::vector<std::string> actions;  // that its policy allows
  std::map<std::string, ExpectedGang> gangs;
  std::optional<ExpectedPods> pods;
  // Parts of the message with which a strict reader is to refuse the line. What else is expected is then that of a
  // reader that is not strict.
  std::vector<std::string> errors;
  std::vector<std::string> warnings;  // "Exceeded node a", each of which there is
};

// All scenarios of a file. Throws std::runtime_error that names file and line if one is not understood.
std::vector<Scenario> read_scenarios(const std::string& path);

}  // namespace muster::scenarios
