// Solves LPs and MILPs in a worker process of our own binary, so that CBC can neither overrun a deadline nor take
// anybody down.
//
// The worker is spawned (never forked) from the program's own binary with one argument, talks over a socket pair in
// length-prefixed binary messages, and is killed when it does not answer in time. Whatever happens to it (crash, hang,
// out of memory) is a status here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "solver/milp.h"
#include "solver/work_limit.h"

namespace muster {

enum class SolveStatus : std::uint8_t {
  kOptimal,     // proven, within the gap asked for
  kFeasible,    // stopped early with a solution
  kNoSolution,  // stopped early without one
  kInfeasible,  // proven
  kUnbounded,
  kFailed  // the worker crashed, hung, ran out of memory, or answered nonsense; `message` says which
};

struct MilpRequest {
  // Hard: the call returns by then (+ the time to kill a process). Must be set. Where there is no time for an answer,
  // or to start a worker that is missing, nobody is asked: kNoSolution.
  std::chrono::steady_clock::time_point deadline;
  double relative_gap = 0;
  WorkLimit work;                // deterministic mode: what each request spends; reached, kNoSolution at once
  std::int64_t node_limit = -1;  // branch-and-bound nodes; < 0: none
  // A feasible point given to CBC as its first incumbent; empty: none. One that is not feasible is left out, and
  // `message` says so.
  std::vector<double> start;
  // Only solutions better than this are of interest; -infinity: none. kInfeasible then means: proven that there are
  // none, and `bound` is the cutoff.
  double cutoff = -kInfinity;
  bool relax = false;  // solve the LP relaxation only
  // Slower, but another way through CBC: some models make its preprocessing fail an assertion (signal 6).
  bool without_preprocessing = false;
};

struct MilpAnswer {
  SolveStatus status = SolveStatus::kFailed;
  double objective = 0;  // of x
  // Proven upper bound of the maximum; +infinity: none. Exactly the optimum where that is proven and all costs are
  // integers on integer columns; else 2e-5 + 1e-9 |bound| above what CBC says, whose own tolerances are of that size.
  double bound = kInfinity;
  std::vector<double> x;  // empty: none
  // Duals of the LP relaxation at its optimum, d objective / d side: >= 0 for <= rows, <= 0 for >= rows; only with
  // `relax` and kOptimal.
  std::vector<double> row_price;
  std::int64_t nodes = 0;
  std::int64_t work = 0;  // units of WorkLimit, where the request had one
  bool start_was_used = false;  // CBC reported the start as its first incumbent
  std::string message;
};

struct BackendOptions {
  std::string worker_program;  // path of the program that calls serve_worker() when run as `program worker`
  std::string fault;           // for tests: passed on as `--fault`
  // Of a worker, bytes of address space; 0: none. Under sanitizers always none.
  std::uint64_t memory_limit = std::uint64_t{4} << 30;
};

// Starts no process before the first request, then keeps a second one ready for when the first has to be killed. For
// one thread at a time. A worker ends when its channel is closed, so none outlives the program.
class Backend {
 public:
  explicit Backend(std::string worker_program);
  explicit Backend(BackendOptions options);
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // Starts the worker and its spare now, so that the first request does not wait for them. Optional. Returns at once.
  void prepare();

  // Between two requests: reaps workers that have died meanwhile or were killed, so that none is left behind as a
  // zombie. Starts nothing. Returns at once.
  void tidy();

  // Solves from scratch. Never throws for the worker's sake. x is feasible to within 1e-6 (see is_feasible), checked
  // here, with integer columns rounded to integers; it is the best of what CBC answered, what it had found before it
  // was stopped or killed, and the start. Cost above the search itself: about 1.2 ms, nearly all of it in setting CBC
  // up (0.1 ms with `relax`); the model is copied twice.
  MilpAnswer solve(const Milp& milp, const MilpRequest& request);

  // Column generation: an LP that is kept in the worker, grows by columns, and starts each time from its last basis.
  // open() replaces the former. Each call solves the LP relaxation and returns x, prices and objective; after a failure
  // is_open() is false and the caller opens again or gives up.
  MilpAnswer open_lp(const Milp& milp, const MilpRequest& request);
  // The rows of `more_columns` are those of the open LP; only its columns count.
  MilpAnswer extend_lp(const Milp& more_columns, const MilpRequest& request);
  bool is_open() const;

  // How many workers had to be killed or died since the beginning.
  std::int64_t failures() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// The worker's side: serves requests on `file_descriptor` until it is closed. Called by `muster worker`. `fault` is ""
// or, for tests of the parent's patience: "segv", "hang", "alloc", "kill", "garbage", "hang-after-incumbent". Returns
// the process's exit code.
int serve_worker(int file_descriptor, const std::string& fault);

}  // namespace muster
