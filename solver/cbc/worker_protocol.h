// The messages between the parent and its worker, as bytes. Both sides are the same binary: native byte order, no
// versions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "solver/budget/deadline.h"
#include "solver/lp/milp.h"

namespace muster::cbc {

// What is asked of a MILP solver, and its answer.
enum class SolveStatus : std::uint8_t {
  kOptimal,     // proven, within the gap asked for
  kFeasible,    // stopped early with a solution
  kNoSolution,  // stopped early without one
  kInfeasible,  // proven
  kUnbounded,
  kFailed  // the worker crashed, hung, ran out of memory, or answered nonsense; `message` says which
};

enum class SearchWay : std::uint8_t {
  kDefault,
  kWithoutCuts,   // branching alone, on small LPs
  kFewHeuristics  // CBC's strategy 0
};

struct MilpRequest {
  // Hard: the call returns by then (+ the time to kill a process). Must be set. Where there is no time for an answer,
  // or to start a worker that is missing, no worker is asked: kNoSolution.
  std::chrono::steady_clock::time_point deadline;
  double relative_gap = 0, absolute_gap = 0;  // solutions that near to the bound are good enough
  WorkLimit work;                // deterministic mode: what each request spends; reached, kNoSolution immediately
  std::int64_t node_limit = -1;  // branch-and-bound nodes; < 0: none
  // A feasible point given to CBC as its first incumbent; empty: none. One that is not feasible is left out, and
  // `message` says so.
  std::vector<double> start;
  // Only solutions better than this are of interest; -infinity: none. kInfeasible then means: proven that there are
  // none, and `bound` is the cutoff.
  double cutoff = -lp::kInfinity;
  bool relax = false;  // solve the LP relaxation only
  // Slower, but another way through CBC: some models make its preprocessing fail an assertion (signal 6).
  bool without_preprocessing = false;
  // Some models are solved at once in one way, and hardly in another.
  SearchWay way = SearchWay::kDefault;
  // The proof of a large model is of more interest than its solutions: HiGHS is asked where the program is built with
  // it (solver/cbc/highs.h), and neither a cutoff nor a limit of work is given.
  bool is_proof = false;
};

struct Question {
  lp::Milp milp;
  MilpRequest request;
};

struct MilpAnswer {
  SolveStatus status = SolveStatus::kFailed;
  double objective = 0;  // of x
  // Proven upper bound of the maximum; +infinity: none. Exactly the optimum where that is proven and all costs are
  // integers on integer columns; else 2e-5 + 1e-9 |bound| above what CBC says, whose own tolerances are of that size.
  double bound = lp::kInfinity;
  std::vector<double> x;  // empty: none
  // Duals of the LP relaxation at its optimum, d objective / d side: >= 0 for <= rows, <= 0 for >= rows; only with
  // `relax` and kOptimal.
  std::vector<double> row_price;
  std::int64_t nodes = 0;
  std::int64_t work = 0;        // units of WorkLimit, where the request had one
  bool start_was_used = false;  // CBC reported the start as its first incumbent
  std::string message;
};

enum class MessageType : std::uint32_t {
  kSolve = 1,  // parent: a model and a request; the LP that is open stays so
  kOpenLp,     // parent: the same, kept in the worker
  kExtendLp,   // parent: more columns for it
  kIncumbent,  // worker: a solution found while solving, with the bound so far
  kAnswer      // worker: the last word on a request
};

std::vector<std::byte> encode(const lp::Milp& milp, const MilpRequest& request);
std::vector<std::byte> encode(const MilpAnswer& answer);

// None if the bytes are not what encode() writes, or describe a model with inconsistent arrays.
std::optional<Question> decode_question(std::span<const std::byte> bytes);
std::optional<MilpAnswer> decode_answer(std::span<const std::byte> bytes);

}  // namespace muster::cbc
