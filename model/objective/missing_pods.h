// What a plan with given levels leaves out: pods that could be present in the end and are not. For bounds.
//
// The levels before `wholeNodes` determine the amount exactly. `work`: for each priority, the work that could be
// present minus the work that is. `seniority`: over the waiting pods, the sum of all minus the sum of the placed ones.
// `evicted`: over running pods that do not leave as stale, the value itself. `moved` gives the work that changes its
// place.
#pragma once

#include <cstdint>
#include <vector>

#include "model/objective/levels.h"
#include "model/objective/possibilities.h"
#include "model/objective/subset_sums.h"
#include "model/problem/problem.h"

namespace muster {

// All that may be present in the end, by the levels that count it. Saturates.
struct PossibleSums {
  // Cost: O(pods).
  PossibleSums(const Problem& problem, const Possibilities& possibilities);
  std::vector<Work> work;  // weighted, by rank of the priority
  std::int64_t seniority = 0;
};

class MissingPods {
 public:
  // All except `levels`, which are levels of the problem, must outlive it.
  MissingPods(const Problem& problem, const Possibilities& possibilities, const PossibleSums& sums,
              const Levels& levels);

  // Whether some plan with these levels evicts, or moves, the pod, as far as the levels determine it.
  bool may_be_evicted(PodIndex pod) const;
  bool may_be_moved(PodIndex pod) const;
  bool may_leave(PodIndex pod) const { return may_be_evicted(pod) || may_be_moved(pod); }

  // The amount of each of these sums that one pod takes, or pods of one gang that are missing together. 0 for pods that
  // leave uncounted.
  struct Cost {
    std::size_t rank = 0;  // of the priority; equal to the number of priorities: no level `work` counts it
    bool runs = false;
    Work work = 0;
    std::int64_t other = 0;  // of `evicted` if it runs, else of `seniority`
    friend bool operator==(const Cost&, const Cost&) = default;
  };
  Cost cost_of(PodIndex pod) const;
  // Whether all of this may be missing together.
  bool is_possible(const Cost& cost) const;

  std::int64_t evicted() const { return evicted_; }
  Work moved() const { return moved_; }
  // What the eviction of a running pod adds to the level `evicted`.
  std::int64_t evicted_by(PodIndex pod) const;

 private:
  friend class MostMissing;
  bool goes_uncounted(const Gang& gang) const;

  const Problem& problem_;
  const Possibilities& possibilities_;
  std::vector<Work> work_;      // missing, by rank
  std::int64_t seniority_ = 0;  // missing
  std::int64_t evicted_ = 0;
  Work moved_ = 0;
};

// A bound of how much of something can be missing: the knapsacks of the work of each priority, and those of the levels
// `seniority` and `evicted`, whichever hold less.
class MostMissing {
 public:
  explicit MostMissing(const MissingPods& missing);

  // `profit` of each of `count` that may be missing.
  void add(const MissingPods::Cost& cost, std::int64_t profit, std::int64_t count);
  std::int64_t profit() const;

 private:
  const MissingPods& missing_;
  std::vector<FractionalKnapsack> by_work_;  // by rank
  FractionalKnapsack by_seniority_, by_evicted_;
  std::int64_t of_no_rank_ = 0;
};

}  // namespace muster
