// Whether the budget is kept for snapshots that stress one dimension at a time: see odd_cases.h. The referee checks
// every plan.
//
// Usage: bench_odd [--budgets MS,MS] [--engines greedy,auto] [--cases NAME,NAME] [--runs N] [--threads N]
//                  [--program FILE]
// A row reports the worst of the runs, each of them the first line of a new process.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/answer.h"
#include "bench/support/arguments.h"
#include "bench/support/child.h"
#include "bench/support/judge.h"
#include "bench/support/machine.h"
#include "bench/support/odd_cases.h"
#include "bench/support/program.h"
#include "model/base/parallel.h"
#include "test/support/paths.h"

namespace muster::bench::odd_bench {
namespace {

struct Arguments {
  std::vector<std::string> budgets{"300", "1000"}, engines{"greedy", "auto"}, cases;
  int runs = 3, threads = 2;
  std::string program = test::program();
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--budgets", [&](const std::string& value) { arguments.budgets = split(value); }},
                  {"--engines", [&](const std::string& value) { arguments.engines = split(value); }},
                  {"--cases", [&](const std::string& value) { arguments.cases = split(value); }},
                  {"--runs", [&](const std::string& value) { arguments.runs = std::stoi(value); }},
                  {"--threads", [&](const std::string& value) { arguments.threads = std::stoi(value); }},
                  {"--program", [&](const std::string& value) { arguments.program = value; }},
              });
  return arguments;
}

// The answer that took longest.
std::string slowest(const std::string& line, const Judge& judge, const std::string& engine, const std::string& budget,
                    const Arguments& arguments) {
  std::string worst;
  for (int run = 0; run < arguments.runs; ++run) {
    SolveProcess process(arguments.program, {"--budget", budget + "ms", "--engine", engine, "--threads",
                                             std::to_string(arguments.threads), "--quiet"});
    std::string answer = process.ask(line);
    judge.passed(answer);
    if (worst.empty() || elapsed_ms(answer) > elapsed_ms(worst)) worst = std::move(answer);
  }
  return worst;
}

void print_row(const OddCase& one, const std::string& engine, const std::string& budget, const std::string& answer) {
  const double elapsed = elapsed_ms(answer).value_or(0), late = std::max(0.0, elapsed - std::stod(budget));
  fmt::print("| {} ({}) | {} | {} | {:.0f} | {} |", one.what, one.name, engine, budget, elapsed,
             late > 0 ? fmt::format("{:.0f} ({:.0f} %)", late, 100 * late / std::stod(budget)) : "none");
  for (const std::string& phase : phase_names()) {
    const auto value = number_after(statement_of(answer), phase);
    fmt::print(" {} |", value ? fmt::format("{:.0f}", *value) : "");
  }
  fmt::print("\n");
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  fmt::print("{} cores, commit {}, {} threads, the slowest of {} runs; milliseconds\n\n", usable_cores(), commit(),
             arguments.threads, arguments.runs);
  fmt::print("| case | engine | budget | plan | late | parse | model | greedy | milp | search | verify | write |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const OddCase& one : odd_cases()) {
    if (!arguments.cases.empty() && std::ranges::find(arguments.cases, one.name) == arguments.cases.end()) continue;
    const std::string line = one.line();
    const Judge judge(line);
    for (const std::string& budget : arguments.budgets) {
      for (const std::string& engine : arguments.engines)
        print_row(one, engine, budget, slowest(line, judge, engine, budget, arguments));
    }
  }
  return 0;
}

const Program kProgram("odd", run);

}  // namespace
}  // namespace muster::bench::odd_bench
