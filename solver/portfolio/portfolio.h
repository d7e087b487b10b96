// One cycle: every engine that the budget has room for, and the best plan that the referee passes when time is up.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/problem/problem.h"
#include "model/snapshot/plan.h"
#include "solver/cbc/backend.h"
#include "solver/portfolio/plan_memory.h"
#include "solver/portfolio/solution.h"

namespace muster::portfolio {

// Owns what outlives a cycle: the worker process. One for each solving thread. Never throws because of a worker.
class Portfolio {
 public:
  explicit Portfolio(std::string worker_program);   // path of the `muster` binary, run as `muster worker`
  explicit Portfolio(cbc::BackendOptions options);  // for tests of workers that fail
  ~Portfolio();
  Portfolio(const Portfolio&) = delete;
  Portfolio& operator=(const Portfolio&) = delete;

  Solution solve(const Snapshot& snapshot, const Problem& problem, const SolveOptions& options);

  // The next call of `solve` starts from what still fits of this plan, if that is better than its own beginning.
  void start_from(const StartPlan& plan);
  // The same, of a plan of another problem.
  void start_from(const Problem& problem, const Plan& plan);

  // Between two calls of `solve`: reaps dead workers. Returns immediately.
  void tidy();

  // Workers that died or had to be killed since the beginning; each was replaced.
  std::int64_t worker_failures() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace muster::portfolio
