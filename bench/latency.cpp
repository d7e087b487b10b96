// Whether the budget is kept: the delay of plans beyond it, through the program's own pipe, for several budgets and
// sizes of clusters, on an idle or a loaded machine. The referee checks every plan after it has been received and the
// clock has been read.
//
// Usage: bench_latency [--budgets 50,200,1000] [--sizes 100,1213,9704] [--solves N] [--stress K] [--seed S]
//                      [--engine auto] [--threads N] [--json FILE] [--commit NAME] [--program FILE]
//                      [--contended yes]
// `--sizes` are nodes: multiples of 1,213 are that many copies of OpenB, others are generated: clusters in which
// nothing has to be evicted, or contended ones. `--stress` is the number of processes that compute concurrently;
// bench/quota is a `--program` with a limit of processor time. `late` is the share of plans beyond the budget.
// `overrun` is the time of a plan beyond its budget, from the line's arrival, as the program reports it (elapsedMs);
// `pipe` is the time that its user sees, from the first byte written to the last one read. An answer is missing if the
// process ends or ten seconds pass after the budget. `stall` is the longest that a thread which only sleeps was late
// during a solve: that much of an overrun may be due to the machine.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/support/answer.h"
#include "bench/support/arguments.h"
#include "bench/support/busy.h"
#include "bench/support/child.h"
#include "bench/support/instances.h"
#include "bench/support/judge.h"
#include "bench/support/machine.h"
#include "bench/support/program.h"
#include "bench/support/stalls.h"
#include "bench/support/statistics.h"
#include "model/base/parallel.h"
#include "test/support/paths.h"

namespace muster::bench::latency_bench {
namespace {

constexpr int kDistinct = 8;  // lines of one size, used in turn
constexpr int kPatienceMs = 10'000;
// The target for the overrun's p99.9: a share of the budget, and on a loaded machine a number of milliseconds.
constexpr double kWantedShare = 0.1, kWantedMsStressed = 250;

struct Arguments {
  std::vector<std::string> budgets{"50", "200", "1000"};  // ms
  std::vector<std::string> sizes{"100", "1213", "9704"};  // nodes
  int solves = 1'000, stress = 0, threads = 2;
  bool contended = false;
  std::uint64_t seed = 1;
  std::string engine = "auto", json, commit = bench::commit(), program = test::program();
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--budgets", [&](const std::string& value) { arguments.budgets = split(value); }},
                  {"--sizes", [&](const std::string& value) { arguments.sizes = split(value); }},
                  {"--solves", [&](const std::string& value) { arguments.solves = std::stoi(value); }},
                  {"--stress", [&](const std::string& value) { arguments.stress = std::stoi(value); }},
                  {"--seed", [&](const std::string& value) { arguments.seed = std::stoull(value); }},
                  {"--engine", [&](const std::string& value) { arguments.engine = value; }},
                  {"--threads", [&](const std::string& value) { arguments.threads = std::stoi(value); }},
                  {"--json", [&](const std::string& value) { arguments.json = value; }},
                  {"--commit", [&](const std::string& value) { arguments.commit = value; }},
                  {"--program", [&](const std::string& value) { arguments.program = value; }},
                  {"--contended", [&](const std::string& value) { arguments.contended = value == "yes"; }},
              });
  if (arguments.solves < 1) throw std::runtime_error("--solves is at least 1");
  return arguments;
}

// A line and what is needed to judge its plans.
struct Asked {
  explicit Asked(std::string text) : line(std::move(text)), judge(line) {}
  std::string line;
  Judge judge;
};

std::string instance(int nodes, std::uint64_t seed, bool contended) {
  if (nodes % kOpenbNodes == 0) {
    traces::OpenbOptions options;
    options.seed = seed;
    options.tile = nodes / kOpenbNodes;
    options.load = 1.2;
    return openb(options);
  }
  generator::GeneratorOptions options = contended ? *generator::generator_preset("contended") : synth(nodes, seed);
  options.cluster.nodes = nodes;
  options.seed = seed;
  options.place_only = false;
  return generator::generate_snapshot(options);
}

std::vector<std::unique_ptr<Asked>> lines_of(int nodes, const Arguments& arguments) {
  std::vector<std::unique_ptr<Asked>> lines;
  for (std::uint64_t k = 0; k < kDistinct; ++k)
    lines.push_back(std::make_unique<Asked>(instance(nodes, arguments.seed + k, arguments.contended)));
  return lines;
}

struct Outcome {
  std::vector<double> told, seen, stalls;  // ms of each answer
  int missing = 0;
  std::map<std::string, int> rejected;  // what the referee has against plans, and how many times
  std::string slowest;                  // the statement of the solver of that plan
  double slowest_stall = 0;
};

class Session {
 public:
  Session(double budget_ms, const Arguments& arguments)
      : arguments_(arguments),
        words_{"--budget",  fmt::format("{}ms", budget_ms),    "--engine", arguments.engine,
               "--threads", std::to_string(arguments.threads), "--quiet"},
        patience_ms_(static_cast<int>(budget_ms) + kPatienceMs) {}

  // A process has answered this line once, which paid for starting.
  void warm_up(const std::string& line) {
    if (process_) return;
    process_ = std::make_unique<SolveProcess>(arguments_.program, words_);
    process_->ask(line);
  }

  // None: there is no answer. Requires to be warmed up.
  std::optional<std::string> ask(const std::string& line) {
    auto answer = process_->ask_within(line, patience_ms_);
    if (!answer) process_.reset();
    return answer;
  }

 private:
  const Arguments& arguments_;
  std::vector<std::string> words_;
  int patience_ms_;
  std::unique_ptr<SolveProcess> process_;
};

void judge(const Asked& asked, const std::string& answer, Outcome& outcome) {
  try {
    asked.judge.passed(answer);
  } catch (const std::exception& fault) {
    ++outcome.rejected[fault.what()];
  }
}

Outcome measure(const std::vector<std::unique_ptr<Asked>>& lines, double budget_ms, const Arguments& arguments) {
  Outcome outcome;
  Stalls stalls;
  Session session(budget_ms, arguments);
  for (int n = 0; n < arguments.solves; ++n) {
    const Asked& asked = *lines[static_cast<std::size_t>(n % kDistinct)];
    session.warm_up(asked.line);
    stalls.take_worst();
    const auto start = std::chrono::steady_clock::now();
    const std::optional<std::string> answer = session.ask(asked.line);
    const std::chrono::duration<double, std::milli> seen = std::chrono::steady_clock::now() - start;
    if (!answer) {
      ++outcome.missing;
      continue;
    }
    const double told = elapsed_ms(*answer).value_or(seen.count());
    outcome.stalls.push_back(stalls.take_worst());
    if (outcome.told.empty() || told > std::ranges::max(outcome.told)) {
      outcome.slowest = statement_of(*answer);
      outcome.slowest_stall = outcome.stalls.back();
    }
    outcome.told.push_back(told);
    outcome.seen.push_back(seen.count());
    judge(asked, *answer, outcome);
  }
  return outcome;
}

// --- Telling

struct Row {
  int nodes = 0;
  double budget_ms = 0;
  Outcome outcome;
  std::vector<double> overrun() const {
    std::vector<double> beyond;
    for (const double told : outcome.told) beyond.push_back(std::max(0.0, told - budget_ms));
    return beyond;
  }
  double late() const {  // percent
    const auto count = std::ranges::count_if(outcome.told, [&](double told) { return told > budget_ms; });
    return 100.0 * static_cast<double>(count) / static_cast<double>(std::max<std::size_t>(1, outcome.told.size()));
  }
  int rejected() const {
    int sum = 0;
    for (const auto& [fault, count] : outcome.rejected) sum += count;
    return sum;
  }
};

bool is_met(const Row& row, const Arguments& arguments) {
  const double wanted = arguments.stress > 0 ? kWantedMsStressed : kWantedShare * row.budget_ms;
  if (row.outcome.missing > 0 || row.rejected() > 0) return false;
  return percentile(row.overrun(), 0.999) <= wanted;
}

const std::vector<std::pair<std::string, double>> kTold{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"worst", 1}};

void print_row(const Row& row, const Arguments& arguments) {
  fmt::print("| {} | {} | ", row.budget_ms, row.nodes);
  if (row.outcome.told.empty()) {
    fmt::print("| | | | | | | | ");
  } else {
    fmt::print("{:.1f} | {:.1f} | ", median(row.outcome.told), row.late());
    for (const auto& [name, share] : kTold) {
      const double beyond = percentile(row.overrun(), share);
      fmt::print("{:.1f} ({:.1f} %) | ", beyond, 100 * beyond / row.budget_ms);
    }
    fmt::print("{:.1f} / {:.1f} | ", median(row.outcome.seen), percentile(row.outcome.seen, 1));
    fmt::print("{:.1f} / {:.1f} | ", median(row.outcome.stalls), percentile(row.outcome.stalls, 1));
  }
  fmt::print("{} | {} | {} |\n", row.outcome.missing, row.rejected(), is_met(row, arguments) ? "yes" : "no");
  std::fflush(stdout);
  for (const auto& [fault, count] : row.outcome.rejected) std::cerr << count << " x " << fault << "\n";
}

std::string json_of(const std::string& name, const std::vector<double>& values) {
  std::vector<std::string> parts;
  for (const auto& [part, share] : kTold)
    parts.push_back(fmt::format(R"("{}":{:.3f})", part, values.empty() ? 0 : percentile(values, share)));
  return fmt::format(R"("{}":{{{}}})", name, fmt::join(parts, ","));
}

std::string json_of(const Row& row, const Arguments& arguments) {
  std::vector<std::string> phases;
  for (const auto& [phase, ms] : phases_of(row.outcome.slowest))
    phases.push_back(fmt::format(R"("{}":{:.3f})", phase, ms));
  return fmt::format(
      R"({{"case":"{} nodes, {} ms, {} busy","commit":"{}","cores":{},"threads":{},"engine":"{}","seed":{},"load":{},)"
      R"("nodes":{},"budgetMs":{},"busy":{},"solves":{},"missing":{},"rejected":{},"met":{},"ms":{{{},{},{},{}}},)"
      R"("slowest":{{{}}},"slowestStall":{:.3f}}})",
      row.nodes, row.budget_ms, arguments.stress, arguments.commit, usable_cores(), arguments.threads, arguments.engine,
      arguments.seed, load_average(), row.nodes, row.budget_ms, arguments.stress, arguments.solves, row.outcome.missing,
      row.rejected(), is_met(row, arguments), json_of("cycle", row.outcome.told), json_of("overrun", row.overrun()),
      json_of("pipe", row.outcome.seen), json_of("stall", row.outcome.stalls), fmt::join(phases, ","),
      row.outcome.slowest_stall);
}

// The phases of a row's slowest plan, if it missed the target.
void print_slowest(const std::vector<Row>& rows, const Arguments& arguments) {
  for (const Row& row : rows) {
    if (is_met(row, arguments) || row.outcome.slowest.empty()) continue;
    fmt::print("\n{} nodes in {} ms, the slowest: {:.1f} ms,", row.nodes, row.budget_ms,
               elapsed_ms(row.outcome.slowest).value_or(0));
    for (const auto& [phase, ms] : phases_of(row.outcome.slowest)) fmt::print(" {} {:.1f}", phase, ms);
    fmt::print("; the machine stalled for {:.1f} ms at most meanwhile\n", row.outcome.slowest_stall);
  }
}

int run(const Arguments& arguments) {
  std::ofstream json;
  if (!arguments.json.empty()) json.open(arguments.json);
  fmt::print(
      "{} cores, load {:.1f}, commit {}, seed {}, engine {}, {} threads, {} solves each, {} busy processes beside\n"
      "milliseconds, and percent of the budget\n\n"
      "| budget | nodes | plan p50 | late % | overrun p50 | p99 | p99.9 | worst | pipe p50 / worst | stall p50 / worst "
      "| "
      "missing | rejected | "
      "wanted "
      "met |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      usable_cores(), load_average(), arguments.commit, arguments.seed, arguments.engine, arguments.threads,
      arguments.solves, arguments.stress);
  const BusyProcesses busy(arguments.stress);
  std::vector<Row> rows;
  for (const std::string& size : arguments.sizes) {
    const auto lines = lines_of(std::stoi(size), arguments);
    for (const std::string& budget : arguments.budgets) {
      const double budget_ms = std::stod(budget);
      rows.push_back({std::stoi(size), budget_ms, measure(lines, budget_ms, arguments)});
      print_row(rows.back(), arguments);
      if (json.is_open()) json << json_of(rows.back(), arguments) << std::endl;
    }
  }
  print_slowest(rows, arguments);
  const bool is_right =
      std::ranges::all_of(rows, [](const Row& row) { return row.outcome.missing + row.rejected() == 0; });
  return is_right ? 0 : 1;
}

const Program kProgram("latency", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::latency_bench
