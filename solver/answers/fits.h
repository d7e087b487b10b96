// How many more gangs of a shape start, queue by queue: without evictions and moves, and with all that the policy
// allows.
//
// What waits now comes first: the question is asked of the cluster as it is once the next plan has been carried out.
// Two numbers for each answer:
// - found: so many start in a plan that the referee has checked;
// - bound: in no plan start more. Counted node by node (solver/answers/shape_capacity.h) and by the limits of the
// queues;
//   with evictions, of the cluster without all that may be evicted, and by sums without moves, too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/explain/codes.h"
#include "solver/answers/experiment.h"
#include "solver/answers/loss.h"
#include "solver/answers/shape_capacity.h"

namespace muster::answers {

struct FitsQuestion {
  change::GangShape shape;
  std::vector<std::string> queues;  // leaf queues; empty: all of them
  std::int32_t priority = 0;        // for which it may preempt; without evictions its rank is the lowest
  std::optional<bool> preemptible;  // none: as the priority says
  bool ignores_waiting = false;     // of what waits now, nothing is planned, now or later
  std::int64_t most_pods = 10'000;  // of all copies together: what a plan is made for
};

struct FitCount {
  std::int64_t found = 0;
  std::int64_t bound = 0;  // kLargest: none
  bool is_cut = false;     // most_pods is the reason why no more were found
  bool is_proven() const { return found == bound; }
  friend bool operator==(const FitCount&, const FitCount&) = default;
};

struct QueueFits {
  std::vector<std::string> queues;  // with equal answers; in the order of the snapshot
  FitCount now;                     // without evictions and moves
  std::string bound_by;             // of `now`, if a limit or quota bounds it and not the room: see QueueSlack
  bool has_policy = false;          // the policy allows evictions or moves, and there was time for them
  FitCount with_policy;
  Loss loss;  // of with_policy
};

// Why none fits, and what would.
struct NoFit {
  explain::Reason reason;
  std::string message;               // of the plan
  std::int64_t pods = 0;             // of one gang's, that would fit together; 0: none
  std::optional<std::int32_t> gpus;  // for each pod, with which a whole gang fits, all requests reduced alike
};

// In the cluster as it is after the next plan.
struct Fits {
  std::vector<QueueFits> queues;
  ShapeCapacity room;                     // that is free
  NoFit none;                             // if `now` of all queues found nothing
  std::int64_t started = 0, waiting = 0;  // gangs that the next plan starts, and that wait after it
  std::int64_t runs = 0;
  bool is_late = false;  // the time was up before all was asked
};

// `options.budget` is that of the whole answer. Errors: those of the changes and of build_problem; UnknownQueue.
Result<Fits> count_fits(const Snapshot& original, portfolio::Portfolio& portfolio, const ExperimentOptions& options,
                        const FitsQuestion& question);

}  // namespace muster::answers
