#include "solver/portfolio/cycle_task.h"

#include <algorithm>

#include "model/objective/evaluation.h"
#include "model/objective/level_bounds.h"
#include "solver/portfolio/instance_size.h"

namespace muster::portfolio {

CycleTask::CycleTask(const Snapshot& snapshot, const Problem& problem, const SolveOptions& options)
    : snapshot_(snapshot),
      problem_(problem),
      options_(options),
      ids_(level_ids(problem)),
      shares_(compute_fair_shares(problem)),
      size_(instance_size(problem)),
      sums_(problem, shares_, trivial_) {}

bool CycleTask::counts_all() const {
  return std::all_of(problem_.pods.begin(), problem_.pods.end(),
                     [](const Pod& pod) { return pod.status != PodStatus::kPending || pod.weighted_work > 0; });
}

void CycleTask::find_trivial() { trivial_ = trivial_bounds(problem_, shares_); }

}  // namespace muster::portfolio
