// The time of the parts of a cycle for each pod and node, compared with the forecasts of the portfolio: it uses them to
// decide what to begin in the time left (solver/budget/time_plan.h). Clusters of several sizes are solved with a
// generous budget, and compared with the first values of model/base/tuning.h.
//
// Usage: bench_forecast [--kinds alike,occupied,leaving] [--scale SHARE] [--seed S] [--threads N] [--json FILE]
//                       [--commit NAME] [--program FILE]
// `alike`: empty clusters. `occupied`: OpenB, half under pods that stay. `leaving`: half under pods that may be
// evicted. `--scale` multiplies the nodes. An item is a pod or a node. Greedy's first start is run here, on one thread;
// the end is what a process of the engine `greedy` reports for its first line. The MILP engine's times are from the
// trace of the engine `milp`, from greedy's end on: its first bound, its first better plan, and when it has reached 90
// and 99 % of its gain in the first level that it improves. A time counts if the portfolio would use its forecast.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/support/answer.h"
#include "bench/support/arguments.h"
#include "bench/support/child.h"
#include "bench/support/instances.h"
#include "bench/support/judge.h"
#include "bench/support/machine.h"
#include "bench/support/program.h"
#include "bench/support/statistics.h"
#include "bench/support/trace_file.h"
#include "datasets/generator/presets.h"
#include "heuristics/greedy/greedy.h"
#include "model/base/parallel.h"
#include "model/base/tuning.h"
#include "test/support/paths.h"

namespace muster::bench::forecast_bench {
namespace {

constexpr double kFactor = 2;  // a greater deviation is reported

struct Arguments {
  std::vector<std::string> kinds{"alike", "occupied", "leaving"};
  double scale = 1;
  std::uint64_t seed = 1;
  std::string threads = "2", json, commit = bench::commit(), program = test::program();
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--kinds", [&](const std::string& value) { arguments.kinds = split(value); }},
                  {"--scale", [&](const std::string& value) { arguments.scale = std::stod(value); }},
                  {"--seed", [&](const std::string& value) { arguments.seed = std::stoull(value); }},
                  {"--threads", [&](const std::string& value) { arguments.threads = value; }},
                  {"--json", [&](const std::string& value) { arguments.json = value; }},
                  {"--commit", [&](const std::string& value) { arguments.commit = value; }},
                  {"--program", [&](const std::string& value) { arguments.program = value; }},
              });
  return arguments;
}

// --- The clusters

struct Cluster {
  std::string name, kind, line;
};

std::string openb_gangs(int nodes, double occupied, std::uint64_t seed) {
  traces::OpenbOptions options;
  options.seed = seed;
  options.node_count = nodes;
  options.gang_max = 64;
  options.falling_sizes = true;
  options.occupied = occupied;
  options.load = occupied > 0 ? 1.5 : 1.2;
  options.place_only = true;
  return openb(options);
}

std::string contended(int nodes, std::uint64_t seed) {
  generator::GeneratorOptions options = *generator::generator_preset("contended");
  options.cluster.nodes = nodes;
  options.seed = seed;
  return generator::generate_snapshot(options);
}

std::vector<Cluster> clusters(const Arguments& arguments) {
  std::vector<Cluster> all;
  for (const std::string& kind : arguments.kinds) {
    const auto add = [&](const std::string& name, const std::vector<int>& sizes, const auto& line_of) {
      for (const int size : sizes) {
        const int nodes = std::max(1, static_cast<int>(std::lround(arguments.scale * size)));
        all.push_back({fmt::format("{}-{}", name, nodes), kind, line_of(nodes)});
      }
    };
    if (kind == "alike") {
      add("synth", {2'000, 5'000, 10'000},
          [&](int nodes) { return generator::generate_snapshot(synth(nodes, arguments.seed)); });
      add("openb-empty", {1'213, 4'852, 9'704}, [&](int nodes) { return openb_gangs(nodes, 0, arguments.seed); });
    } else if (kind == "occupied") {
      add("openb-half", {1'213, 4'852, 9'704}, [&](int nodes) { return openb_gangs(nodes, 0.5, arguments.seed); });
    } else if (kind == "leaving") {
      add("contended", {250, 500, 1'000}, [&](int nodes) { return contended(nodes, arguments.seed); });
    } else {
      throw std::runtime_error("no kind is named " + kind);
    }
  }
  return all;
}

// --- Measuring

// Milliseconds; none: it did not happen.
struct Times {
  double greedy = 0, end_first = 0, end_again = 0;
  std::optional<double> bound, plan, most, nearly_all;  // of the MILP engine
};
struct Measured {
  Cluster cluster;
  double nodes = 0, pods = 0, may_leave = 0;
  Times times;
  double items() const { return nodes + pods; }
};

double greedy_ms(const Judge& judge) {
  greedy::GreedyOptions options;
  options.starts = 1;
  const auto start = std::chrono::steady_clock::now();
  greedy::solve_greedy(judge.problem, judge.shares, options);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Enough for the MILP engine to come near what it can do.
double budget_ms(const Measured& measured) {
  if (measured.cluster.kind == "leaving") return 500 + 3 * measured.may_leave;
  return 500 + (measured.cluster.kind == "alike" ? 0.2 : 0.35) * measured.items();
}

// A name for a file that lives as long as this.
class TemporaryFile {
 public:
  TemporaryFile() : path_(std::filesystem::temp_directory_path() / fmt::format("bench_forecast.{}", getpid())) {}
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void read_milp_times(const std::vector<TraceLine>& trace, Times& times) {
  std::map<std::string, double> before, last;  // values by level: as greedy left them, as they ended
  std::optional<std::string> improved;         // the first level that is
  double begun = 0;
  for (const TraceLine& line : trace) {
    if (line.engine == "greedy") {
      begun = line.ms;
      before[line.level] = line.value;
    }
    if (line.engine == "milp" && !times.bound) times.bound = line.ms - begun;
    if (line.engine == "milp" && !times.plan && line.value != last[line.level]) times.plan = line.ms - begun;
    last[line.level] = line.value;
  }
  for (const TraceLine& line : trace) {  // greedy reports all levels first, in their order
    if (!improved && line.engine == "greedy" && before[line.level] != last[line.level]) improved = line.level;
    if (!improved || line.engine != "milp" || line.level != *improved) continue;
    const double part = (line.value - before[*improved]) / (last[*improved] - before[*improved]);
    if (!times.most && part >= 0.9) times.most = line.ms - begun;
    if (!times.nearly_all && part >= 0.99) times.nearly_all = line.ms - begun;
  }
}

Measured measure(Cluster cluster, const Arguments& arguments) {
  Measured measured{std::move(cluster), 0, 0, 0, {}};
  const std::string& line = measured.cluster.line;
  const Judge judge(line);
  measured.nodes = static_cast<double>(judge.problem.nodes.size());
  measured.pods = static_cast<double>(judge.problem.pods.size());
  if (measured.cluster.kind == "leaving")
    measured.may_leave = static_cast<double>(std::ranges::count_if(judge.problem.pods, [&](const Pod& pod) {
      return pod.status == PodStatus::kRunning && judge.problem.gangs[pod.gang].preemptible;
    }));
  measured.times.greedy = median({greedy_ms(judge), greedy_ms(judge), greedy_ms(judge)});

  SolveProcess greedy(arguments.program,
                      {"--engine", "greedy", "--budget", "60s", "--threads", arguments.threads, "--quiet"});
  for (double* end : {&measured.times.end_first, &measured.times.end_again}) {
    const std::string answer = greedy.ask(line);
    judge.passed(answer);
    *end = number_after(statement_of(answer), "verify").value_or(0);
  }

  const TemporaryFile trace;
  SolveProcess milp(arguments.program, {"--engine", "milp", "--budget", fmt::format("{:.0f}ms", budget_ms(measured)),
                                        "--threads", arguments.threads, "--quiet", "--trace", trace.path()});
  judge.passed(milp.ask(line));
  read_milp_times(read_trace(trace.path()), measured.times);
  return measured;
}

// --- Telling

std::string per(const std::optional<double>& ms, double count) {
  return ms && count > 0 ? fmt::format("{:.1f} ({:.0f} ms)", 1'000 * *ms / count, *ms) : "-";
}

void print_row(const Measured& one) {
  const Times& times = one.times;
  fmt::print("| {} | {:.0f} | {:.0f} | {:.0f} | {} | {} | {} | {} | {} | {} | {} | {} |\n", one.cluster.name, one.nodes,
             one.pods, one.may_leave, per(times.greedy, one.pods), per(times.end_first, one.items()),
             per(times.end_again, one.items()), per(times.bound, one.items()), per(times.plan, one.items()),
             per(times.most, one.items()), per(times.nearly_all, one.items()), per(times.plan, one.may_leave));
  std::fflush(stdout);
}

std::string json_of(const Measured& one, const Arguments& arguments) {
  const auto told = [](const std::optional<double>& ms) { return ms ? fmt::format("{:.3f}", *ms) : "null"; };
  const Times& times = one.times;
  return fmt::format(
      R"({{"case":"{}","kind":"{}","commit":"{}","cores":{},"load":{:.2f},"threads":{},"seed":{},"nodes":{},"pods":{},)"
      R"("mayLeave":{},"budgetMs":{:.0f},"greedyMs":{:.3f},"endFirstMs":{:.3f},"endAgainMs":{:.3f},"boundMs":{},)"
      R"("planMs":{},"mostMs":{},"nearlyAllMs":{}}})",
      one.cluster.name, one.cluster.kind, arguments.commit, usable_cores(), load_average(), arguments.threads,
      arguments.seed, one.nodes, one.pods, one.may_leave, budget_ms(one), times.greedy, times.end_first,
      times.end_again, told(times.bound), told(times.plan), told(times.most), told(times.nearly_all));
}

// A number in use, and its measured value.
struct Forecast {
  std::string what, unit;
  double in_use;
  std::function<std::optional<double>(const Measured&)> measured;  // in its unit; none: not measured
};

// Small instances finish in any budget. The limit is lower if pods may leave.
bool is_small(const Measured& one) {
  return one.items() <= static_cast<double>(one.may_leave > 0 ? kTuning.forecast.few_items : kTuning.size.large);
}

std::vector<Forecast> forecasts() {
  const auto of_milp = [](const char* kind, std::optional<double> Times::*time) {
    return [kind = std::string(kind), time](const Measured& one) -> std::optional<double> {
      const std::optional<double>& ms = one.times.*time;
      if (one.cluster.kind != kind || is_small(one) || !ms) return std::nullopt;
      return 1'000 * *ms / one.items();
    };
  };
  const auto of_greedy = [](bool may_leave) {
    return [may_leave](const Measured& one) -> std::optional<double> {
      if (is_small(one) || (one.may_leave > 0) != may_leave) return std::nullopt;
      return 1'000 * one.times.greedy / one.pods;
    };
  };
  const NeedTuning& needs = kTuning.needs;
  const double all = kTuning.forecast.margin;
  const double alike = needs.first_plan_us, occupied = alike;
  return {
      {"greedy's first start, no pod may leave", "us per pod", needs.greedy_start_us, of_greedy(false)},
      {"greedy's first start, pods may leave", "us per pod", needs.greedy_start_us, of_greedy(true)},
      {"the end, of a first line", "ns per item", kTuning.forecast.first_end_ns,
       [](const Measured& one) -> std::optional<double> {
         if (is_small(one)) return std::nullopt;
         return 1e6 * one.times.end_first / one.items();
       }},
      {"MILP, alike: first plan", "us per item", alike, of_milp("alike", &Times::plan)},
      {"MILP, alike: alone (90 % of its gain)", "us per item", needs.gain_times * alike,
       of_milp("alike", &Times::most)},
      {"MILP, alike: all (99 %)", "us per item", all * needs.gain_times * alike, of_milp("alike", &Times::nearly_all)},
      {"MILP, occupied: first plan", "us per item", occupied, of_milp("occupied", &Times::plan)},
      {"MILP, occupied: alone (90 % of its gain)", "us per item", needs.gain_times * occupied,
       of_milp("occupied", &Times::most)},
      {"MILP, occupied: all (99 %)", "us per item", all * needs.gain_times * occupied,
       of_milp("occupied", &Times::nearly_all)},
      {"MILP, alike: first bound", "us per item", kTuning.parts.half * alike, of_milp("alike", &Times::bound)},
      {"MILP, occupied: first bound", "us per item", kTuning.parts.half * occupied, of_milp("occupied", &Times::bound)},
  };
}

std::string verdict(double in_use, double fitted) {
  if (fitted > kFactor * in_use) return fmt::format("too low, by {:.1f}", fitted / in_use);
  if (in_use > kFactor * fitted) return fmt::format("too high, by {:.1f}", in_use / fitted);
  return "within a factor of two";
}

void print_forecasts(const std::vector<Measured>& all) {
  fmt::print(
      "\n| forecast | unit | in use | measured (geometric mean) | least | most | clusters | |\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (const Forecast& forecast : forecasts()) {
    std::vector<double> values;
    for (const Measured& one : all)
      if (const auto value = forecast.measured(one)) values.push_back(*value);
    fmt::print("| {} | {} | {:.0f} | ", forecast.what, forecast.unit, forecast.in_use);
    if (values.empty()) {
      fmt::print("- | - | - | 0 | |\n");
      continue;
    }
    const double measured = geometric_mean(values);
    fmt::print("{:.1f} | {:.1f} | {:.1f} | {} | {} |\n", measured, std::ranges::min(values), std::ranges::max(values),
               values.size(), verdict(forecast.in_use, measured));
  }
}

int run(const Arguments& arguments) {
  std::ofstream json;
  if (!arguments.json.empty()) json.open(arguments.json);
  fmt::print(
      "{} cores, load {:.1f}, commit {}, seed {}, {} threads; microseconds a pod or node (in parentheses: in all)\n\n"
      "| cluster | nodes | pods | may leave | first start, a pod | end | end, second line | MILP: bound | plan | 90 % "
      "| "
      "99 % | plan, a pod that may leave |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      usable_cores(), load_average(), arguments.commit, arguments.seed, arguments.threads);
  std::vector<Measured> all;
  for (Cluster& cluster : clusters(arguments)) {
    all.push_back(measure(std::move(cluster), arguments));
    print_row(all.back());
    if (json.is_open()) json << json_of(all.back(), arguments) << std::endl;
  }
  print_forecasts(all);
  return 0;
}

const Program kProgram("forecast", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::forecast_bench
