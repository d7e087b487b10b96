// What a plan with given levels does without: pods that could be present in the end and are not. For bounds.
//
// The levels before `wholeNodes` say exactly how much that is. `work`: of each priority, the work that could be present
// less that which is. `seniority`: of pods that wait, what all of them would count less what those placed do.
// `evicted`: of pods that run and do not go as stale, the value itself. `moved` says how much work changes its place.
#pragma once

#include <cstdint>
#include <vector>

#include "model/fractional_knapsack.h"
#include "model/levels.h"
#include "model/possibilities.h"
#include "model/problem.h"

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
  // All must outlive it but `levels`, which are levels of the problem.
  MissingPods(const Problem& problem, const Possibilities& possibilities, const PossibleSums& sums,
              const Levels& levels);

  // Whether some plan with these levels evicts, or moves, the pod, as far as they tell.
  bool may_be_evicted(PodIndex pod) const;
  bool may_be_moved(PodIndex pod) const;
  bool may_leave(PodIndex pod) const { return may_be_evicted(pod) || may_be_moved(pod); }

  // What one pod, or pods of one gang that are missing together, take of each of these sums. Of pods that go uncounted
  // it is 0.
  struct Cost {
    std::size_t rank = 0;  // of the priority; as many as there are: no level `work` counts it
    bool runs = false;
    Work work = 0;
    std::int64_t other = 0;  // of `evicted` where it runs, else of `seniority`
    friend bool operator==(const Cost&, const Cost&) = default;
  };
  Cost cost_of(PodIndex pod) const;
  // Whether so much may be missing at once.
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
  std::vector<Work> work_;       // missing, by rank
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
