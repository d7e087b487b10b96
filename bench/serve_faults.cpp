// Faults that a server must survive without losing a request: SIGTERM under load, and workers that crash, hang, are
// killed or have no memory.
//
// Usage: bench_serve_faults [--terms N] [--faults N] [--clients N] [--budget DURATION]
// Each SIGTERM goes to a new server with N clients, at a different moment of its work. The faults of one kind hit one
// server with one client, which keeps it busy: with more clients, plans would be late because they wait in the queue.
// Exit code 1: a request was lost or answered in part, a plan was late, a zombie is left over, or an exit code is not
// 0.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/machine.h"
#include "bench/support/program.h"
#include "bench/support/serve_requests.h"
#include "bench/support/serve_trials.h"
#include "bench/support/stalls.h"
#include "model/base/parallel.h"

namespace muster::bench::serve_faults_bench {
namespace {

struct Arguments {
  int terms = 100, faults = 20, clients = 4;
  std::string budget = "300ms";
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--terms", [&](const std::string& value) { arguments.terms = std::stoi(value); }},
                  {"--faults", [&](const std::string& value) { arguments.faults = std::stoi(value); }},
                  {"--clients", [&](const std::string& value) { arguments.clients = std::stoi(value); }},
                  {"--budget", [&](const std::string& value) { arguments.budget = value; }},
              });
  return arguments;
}

bool run_terms(const Arguments& arguments) {
  Drain sum;
  int unclean = 0;
  for (int i = 0; i < arguments.terms; ++i) {
    // A third each: plans by the integer program, immediate plans, and both with many snapshots in a request.
    const bool is_greedy = i % 3 == 1;
    const std::vector<std::string> server = {"--quiet", "--engine", is_greedy ? "greedy" : "milp", "--budget", "50ms"};
    const auto requests = i % 3 == 2 ? requests_of_lines(3) : requests_of_snapshots();
    const Drain drain = drain_under_load(server, requests, arguments.clients, std::chrono::milliseconds(i * 7 % 150));
    sum.sent_before += drain.sent_before;
    sum.at_work += drain.at_work;
    sum.lost += drain.lost;
    sum.cut += drain.cut;
    sum.seconds = std::max(sum.seconds, drain.seconds);
    if (drain.is_clean()) continue;
    ++unclean;
    fmt::print("  signal {}: {} lost, {} cut, exit code {}\n", i, drain.lost, drain.cut, drain.exit_code);
  }
  fmt::print(
      "{} SIGTERMs: {} requests sent before, {} of them answered after; {} lost, {} cut; longest end {:.2f} s; {} "
      "unclean\n",
      arguments.terms, sum.sent_before, sum.at_work, sum.lost, sum.cut, sum.seconds, unclean);
  std::fflush(stdout);
  return unclean == 0;
}

bool run_faults(const Arguments& arguments, const char* name, WorkerFault fault) {
  const ServeProcess server({"--quiet", "--engine", "milp", "--budget", arguments.budget});
  // One client keeps the solver busy. With more of them, plans are late for having waited.
  Stalls stalls;
  const Faults faults = worker_faults_under_load(server, requests_of_snapshots(), 1, fault, arguments.faults);
  const std::string lateness = fmt::format("{} late (by {:.1f} ms at most; the machine stalled for {:.1f} ms at most)",
                                           faults.late, faults.most_late_ms, stalls.take_worst());
  fmt::print("{:<7} {} of {} struck, {} requests: {} lost, {}, {} zombies, {}\n", name, faults.injected,
             arguments.faults, faults.requests, faults.lost, lateness, faults.zombies,
             faults.is_well ? "well" : "not well");
  std::fflush(stdout);
  return faults.is_clean() && faults.injected == arguments.faults;
}

int run(const Arguments& arguments) {
  fmt::print("{} cores, load {:.1f}, commit {}\n", usable_cores(), load_average(), commit());
  bool is_clean = run_terms(arguments);
  const std::pair<const char*, WorkerFault> kinds[] = {{"crash", WorkerFault::kCrash},
                                                       {"hang", WorkerFault::kHang},
                                                       {"kill", WorkerFault::kKill},
                                                       {"memory", WorkerFault::kMemory}};
  for (const auto& [name, fault] : kinds) is_clean = run_faults(arguments, name, fault) && is_clean;
  return is_clean ? 0 : 1;
}

const Program kProgram("serve_faults", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::serve_faults_bench
