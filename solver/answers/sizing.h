// The cheapest nodes of given kinds on which a whole workload runs at the same time.
//
// Upper bound: numbers of nodes with which a plan, checked by the referee, places every pod. Lower bound: by patterns
// (solver/answers/node_patterns.h). Limits and quotas of queues, priorities, timeouts and reservations are
// ignored; required levels, anti-affinity and all other rules of pods hold in the plan.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "solver/answers/experiment.h"

namespace muster::answers {

struct NodeKind {
  std::string title;                                // for people
  std::variant<std::string, change::NodeShape> of;  // as the node with this name, or of this shape
  std::int64_t price = 1'000'000;                   // of a node, in millionths; above 0
  std::optional<std::int64_t> most;                 // nodes of the kind
};

struct SizingQuestion {
  std::vector<NodeKind> kinds;
  bool uses_present = false;  // the free room of the cluster's own nodes counts first; nothing is evicted or moved
};

struct Sizing {
  std::vector<std::int64_t> nodes;      // by kind; empty: no nodes of these kinds were found on which all runs
  std::int64_t price = 0;               // of these
  std::int64_t bound = 0;               // of the price: no nodes that suffice cost less
  std::int64_t gangs = 0, pods = 0;     // of the workload
  std::vector<std::string> impossible;  // gangs with a pod that fits on no node, in the order of the snapshot
  bool is_impossible = false;           // proven: no number of these nodes suffices
  std::string message;                  // why the first of them, or of those that wait in the last plan, does not fit
  std::int64_t waiting = 0;             // without nodes: gangs that wait in the best plan
  std::int64_t runs = 0;                // plans that were made
  std::unique_ptr<Run> plan;            // with these nodes; null: none
  bool is_proven() const { return !nodes.empty() && price == bound; }
};

// The workload: what is pending in `cluster`. `options.budget` is that of the whole answer. Errors: UnknownName of a
// node, those of build_problem, InvalidValue if nothing is pending.
Result<Sizing> size_nodes(const Snapshot& cluster, portfolio::Portfolio& portfolio, cbc::Backend& backend,
                          const ExperimentOptions& options, const SizingQuestion& question);

}  // namespace muster::answers
