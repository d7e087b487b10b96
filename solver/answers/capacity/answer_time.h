// The time of one answer, which takes several plans.
#pragma once

#include <algorithm>
#include <chrono>

#include "model/base/tuning.h"
#include "solver/answers/experiment.h"
#include "solver/budget/deadline.h"

namespace muster::answers {

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
