// What a plan takes from what runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/tuning.h"
#include "solver/answers/experiment.h"
#include "solver/budget/deadline.h"

namespace muster::answers {

struct Loss {
  std::int64_t evicted_pods = 0, moved_pods = 0;
  std::int64_t evicted_gangs = 0;                 // of which a pod is evicted
  std::int64_t evicted_work = 0, moved_work = 0;  // thousandths of a GPU x seconds, see model/problem/eviction_loss.h

  friend bool operator==(const Loss&, const Loss&) = default;
};

// Cost: O(evictions x log).
Loss loss_of(const Run& run);

// A pod that leaves its node for others, by names.
struct LeavingPod {
  std::string pod, gang, from;
  std::string to;  // empty: it is evicted
};

// What the plan evicts or moves for the gang, or for any gang, in the order of the plan. Cost: O(evictions x log).
std::vector<LeavingPod> leaving_pods(const Run& run, std::optional<GangIndex> for_gang = std::nullopt);

// The time of one answer, which takes several plans.
class AnswerTime {
 public:
  // It begins now; `options.budget` is that of the whole answer. Deterministic: it never ends.
  explicit AnswerTime(const ExperimentOptions& options) : options_(options) {
    if (!options.solve.deterministic)
      end_ = std::min(options.end,
                      portfolio::Clock::now() + std::chrono::duration_cast<portfolio::Clock::duration>(options.budget));
  }

  bool is_over() const { return !options_.solve.deterministic && portfolio::Clock::now() >= end_; }
  portfolio::Engine engine() const { return options_.solve.engine; }
  int threads() const { return options_.solve.threads; }

  // The end of a share of what is left.
  Deadline part(double share) const { return Deadline(end_, options_.solve.deterministic).part(share); }

  // For one plan by this engine, in a share of what is left. A greedy plan late is better than none, so that there is
  // always some time for it.
  ExperimentOptions for_plan(portfolio::Engine engine, double share) const {
    ExperimentOptions options = options_;
    options.solve.engine = engine;
    options.end = portfolio::Clock::time_point::max();
    if (options.solve.deterministic) return options;
    const auto part = std::chrono::duration_cast<portfolio::Clock::duration>((end_ - portfolio::Clock::now()) * share);
    options.budget =
        std::max(engine == portfolio::Engine::kGreedy ? kLeastTime : portfolio::Clock::duration::zero(), part);
    return options;
  }

 private:
  static constexpr portfolio::Clock::duration kLeastTime = std::chrono::milliseconds(kTuning.answers.least_ms);

  const ExperimentOptions& options_;
  portfolio::Clock::time_point end_ = portfolio::Clock::time_point::max();
};

}  // namespace muster::answers
