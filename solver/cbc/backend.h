// Solves LPs and MILPs in a worker process of our own binary, so that CBC can neither overrun a deadline nor bring the
// program down.
//
// The worker is spawned (never forked) from the program's own binary with one argument, talks over a socket pair in
// length-prefixed binary messages, and is killed when it does not answer in time. Every failure of it (crash, hang, out
// of memory) is a status here.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "solver/cbc/channel.h"
#include "solver/cbc/mps.h"
#include "solver/cbc/worker_protocol.h"
#include "solver/lp/milp.h"

namespace muster::cbc {

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

  // Starts the worker and its spare now, so that the first request does not wait for them. Optional. Returns
  // immediately.
  void prepare();

  // Between two requests: reaps workers that have died meanwhile or were killed, so that none is left behind as a
  // zombie. Starts nothing. Returns immediately.
  void tidy();

  // Solves from scratch. Never throws because of the worker. x is feasible to within 1e-6 (see is_feasible), checked
  // here, with integer columns rounded to integers; it is the best of CBC's answer, what CBC had found before it was
  // stopped or killed, and the start. Cost above the search itself: about 1.2 ms, nearly all of it in setting CBC up
  // (0.1 ms with `relax`); the model is copied twice.
  MilpAnswer solve(const lp::Milp& milp, const MilpRequest& request);

  // Two lanes at the same time, each with a worker of its own; the second one begins only if the first takes longer
  // than a process to start. When a lane is settled, the other one is stopped and told what it had found and proven by
  // then. No limits of work. Without time to start a process, the first lane's first question is all that is asked.
  void race(Lane& first, Lane& second, std::chrono::steady_clock::time_point deadline);

  // Column generation: an LP that is kept in the worker, grows by columns, and starts each time from its last basis.
  // open() replaces the former. Each call solves the LP relaxation and returns x, prices and objective; after a failure
  // is_open() is false and the caller opens again or gives up.
  MilpAnswer open_lp(const lp::Milp& milp, const MilpRequest& request);
  // The rows of `more_columns` are those of the open LP; only its columns count.
  MilpAnswer extend_lp(const lp::Milp& more_columns, const MilpRequest& request);
  bool is_open() const;

  // Where the models of the requests are written from here on.
  ModelFiles& model_files();

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

}  // namespace muster::cbc
