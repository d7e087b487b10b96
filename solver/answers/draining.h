// What draining nodes takes from what runs on them: whether it finds room elsewhere, what is lost, and in which order
// the nodes go best one after another.
//
// All the nodes are cordoned first. The pods of a node that is drained are pending again, and the next plan decides on
// them. What waits already is held back, unless it is to compete for the room. Pods that a DaemonSet has tied to their
// node (by metadata.name) stay, as `kubectl drain --ignore-daemonsets` leaves them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "solver/answers/experiment.h"
#include "solver/answers/loss.h"

namespace muster::answers {

struct DrainQuestion {
  std::vector<std::string> nodes;
  bool competes = false;  // what waits already takes part
};

// A gang with pods on the nodes.
struct DrainedGang {
  std::string name;
  std::int64_t pods = 0, placed = 0;  // on the nodes; of these, that find room elsewhere
  bool is_broken = false;             // it falls below its minimum while these pods are gone
  bool is_whole = false;              // it has its minimum once the plan is carried out
  std::int64_t lost_work = 0;         // of these pods; of all its pods if it is broken
  std::string reason, message;        // why not all find room; empty: they do
};

// A disruption budget that forbids it.
struct ExceededBudget {
  std::string title;
  std::int64_t allowed = 0, needed = 0;  // pods
};

// What one plan makes of it.
struct DrainOutcome {
  std::int64_t pods = 0, placed = 0;
  std::int64_t lost_work = 0;     // of all drained gangs; thousandths of a GPU x seconds, see eviction_loss.h
  std::int64_t running_work = 0;  // thousandths of a GPU at work once the plan is carried out, of all gangs
  Loss loss;                      // what is evicted or moved for them
  bool has_room() const { return placed == pods && loss.evicted_pods == 0; }
};

struct DrainStep {
  std::string node;
  DrainOutcome outcome;  // of this node alone, after those before it
};

struct Draining {
  DrainOutcome at_once;
  std::vector<DrainedGang> gangs;  // of at_once, in the order of the snapshot
  std::vector<ExceededBudget> budgets;
  std::vector<LeavingPod> others;  // on other nodes, that leave for those of at_once
  std::int64_t tied_pods = 0;      // of DaemonSets: they stay
  std::vector<DrainStep> steps;    // one after another
  bool is_greedy = true;           // each step is the best of all that were left; else some were not tried
  bool is_complete = true;         // there was time for all steps
  std::int64_t runs = 0;
};

// Requires at least one node, each once. With one node there are no steps. `options.budget` is that of the whole
// answer. Errors: UnknownName, those of build_problem. Cost: a plan, and n(n+1)/2 greedy ones for n nodes, of many
// nodes fewer.
Result<Draining> drain_nodes(const Snapshot& original, portfolio::Portfolio& portfolio,
                             const ExperimentOptions& options, const DrainQuestion& question);

}  // namespace muster::answers
