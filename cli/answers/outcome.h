// What a plan does with a gang that is about to be submitted: where its pods go, which pods leave for it, why it waits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/terminal/text_table.h"
#include "solver/answers/experiment.h"

namespace muster::cli {

struct GangOutcome {
  using Counts = std::vector<std::pair<std::string, std::int64_t>>;  // a name and pods; most first, then by name

  // As in the plan; empty: none.
  struct Obstacle {
    std::string reason, words, make_room, message;
    Counts blockers;  // nodes by the filter that excludes them
  };

  std::string name, queue, phase;
  bool starts = false;     // its minimum starts, if it must once others have left
  bool is_at_once = true;  // and no pod of it waits for others to leave
  std::int64_t placed = 0, pods = 0;
  Counts nodes;              // where its pods are placed
  Counts evicted, moved;     // pods that leave for it, by gang
  std::int64_t leaving = 0;  // pods that are leaving anyway and for which it waits
  Obstacle obstacle;         // if it does not start
};

// Of gangs by name. One that the run does not have does not start. Cost: O(gangs + placements + evictions).
std::vector<GangOutcome> outcomes_of(const answers::Run& run, const std::vector<std::string>& gangs);

// "The gang ml/train would start now on n1, n2 (evicts 2 pods of ml/sweep)", without a full stop.
std::string sentence_of(const GangOutcome& outcome);

// "n1, n2 and 6 more".
std::string names_text(const GangOutcome::Counts& counts, std::size_t most);

// Tables of the gangs, of their nodes, and of what excludes nodes from those that do not start.
void add_outcomes(const std::vector<GangOutcome>& outcomes, AnswerDocument& document);

}  // namespace muster::cli
