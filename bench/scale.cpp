// How the whole cycle grows: from the line through the program's own pipe to its plan, p50 and p99 of the cycle and of
// each of its phases, for clusters of fixed shapes and, with `--sweep yes`, for nodes and pods that double. Every plan
// is passed to the referee before its time counts.
//
// Usage: bench_scale [--runs N] [--cases reasons,gangs,...] [--sweep yes] [--seed S] [--budget DURATION]
//                    [--engine NAME] [--threads N] [--json FILE] [--commit NAME] [--program FILE]
// Times are as the program tells them: from the moment when the whole line is there, parsing included. `pipe` is what
// its user sees beside that, from the first byte written to the last one read. The first answer of a process, which
// pays for its memory, is told apart.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/arguments.h"
#include "bench/child.h"
#include "bench/judge.h"
#include "datasets/generator.h"
#include "datasets/instance.h"
#include "datasets/openb.h"
#include "heuristics/parallel.h"

namespace muster::bench {
namespace {

const std::vector<std::string> kPhases{"cycle", "parse", "model", "greedy", "milp", "verify", "write", "rest", "pipe"};

struct Arguments {
  int runs = 100;
  std::vector<std::string> cases;
  bool sweeps = false;
  std::uint64_t seed = 1;
  std::string budget = "1s", engine = "greedy", json, commit = "unknown", program = MUSTER_BINARY;
  int threads = 2;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--runs", [&](const std::string& value) { arguments.runs = std::stoi(value); }},
                  {"--cases", [&](const std::string& value) { arguments.cases = split(value); }},
                  {"--sweep", [&](const std::string& value) { arguments.sweeps = value == "yes"; }},
                  {"--seed", [&](const std::string& value) { arguments.seed = std::stoull(value); }},
                  {"--budget", [&](const std::string& value) { arguments.budget = value; }},
                  {"--engine", [&](const std::string& value) { arguments.engine = value; }},
                  {"--threads", [&](const std::string& value) { arguments.threads = std::stoi(value); }},
                  {"--json", [&](const std::string& value) { arguments.json = value; }},
                  {"--commit", [&](const std::string& value) { arguments.commit = value; }},
                  {"--program", [&](const std::string& value) { arguments.program = value; }},
              });
  if (arguments.runs < 1) throw std::runtime_error("--runs is at least 1");
  return arguments;
}

// --- The clusters

GeneratorOptions synth(int nodes, std::uint64_t seed) {
  GeneratorOptions options = *generator_preset("synth");
  options.nodes = nodes;
  options.seed = seed;
  options.place_only = true;
  return options;
}

PodShape gpu_shape(std::int32_t devices) {
  PodShape shape;
  shape.cpu_milli = 8'000 * devices;
  shape.memory_mib = 32'768 * devices;
  shape.gpu = {GpuRequestKind::kWhole, devices, 0};
  return shape;
}

Instance cluster(int nodes) {
  Instance instance;
  instance.id = "scale";
  instance.time = 1'767'225'600;
  for (int i = 0; i < nodes; ++i) {
    InstanceNode node;
    node.name = fmt::format("node-{}", i);
    node.cpu_milli = 96'000;
    node.memory_mib = 786'432;
    node.gpu_count = 8;
    instance.nodes.push_back(node);
  }
  return instance;
}

void add_gang(Instance& instance, const std::string& name, std::int32_t shape, int pods) {
  const auto gang = static_cast<std::int32_t>(instance.gangs.size());
  instance.gangs.push_back(
      {.name = name, .terms = {}, .min_member = -1, .subgroups = {}, .required_level = {}, .preferred_level = {}});
  for (int i = 0; i < pods; ++i) {
    InstancePod pod;
    pod.name = fmt::format("{}-{}", name, i);
    pod.shape = shape;
    pod.gang = gang;
    instance.pods.push_back(pod);
  }
}

// 3,000 gangs of 3, of 1, 2 and 4 GPUs a pod in turn, on 5,000 idle nodes.
std::string gangs_of_three(std::uint64_t) {
  Instance instance = cluster(5'000);
  for (const int devices : {1, 2, 4}) instance.shapes.push_back(gpu_shape(devices));
  for (int i = 0; i < 3'000; ++i) add_gang(instance, fmt::format("team/job-{}", i), i % 3, 3);
  return write_instance(instance);
}

// 35 running pods on each of 4,000 nodes, and one gang that waits. Long names, as clusters have them.
std::string mostly_running(std::uint64_t) {
  constexpr int kNodes = 4'000, kPodsOfNode = 35;
  Instance instance = cluster(kNodes);
  PodShape share;
  share.cpu_milli = 500;
  share.memory_mib = 2'048;
  share.gpu = {GpuRequestKind::kFraction, 1, 200'000};
  instance.shapes = {share, gpu_shape(1)};
  const std::string padding(150, 'x');
  for (int i = 0; i < kNodes * kPodsOfNode; ++i) {
    InstancePod pod;
    pod.name = fmt::format("team-{}/service-{}-{}", i % 50, padding, i);
    pod.shape = 0;
    pod.status = PodStatus::kRunning;
    pod.node = i / kPodsOfNode;
    pod.devices = {i % kPodsOfNode % 8};
    pod.started = instance.time - 3'600 - i % 86'400;
    instance.pods.push_back(pod);
  }
  add_gang(instance, "team/next", 1, 6);
  return write_instance(instance);
}

// 10,000 gangs that find no room on 1,000 nodes: all of it is told why.
std::string left_over(std::uint64_t seed) {
  GeneratorOptions options = synth(1'000, seed);
  options.occupied = 0.97;
  options.load = 400;
  return generate_snapshot(options);
}

std::string waiting(std::uint64_t seed) {
  GeneratorOptions options = synth(10'000, seed);
  options.load = 2.1;
  return generate_snapshot(options);
}

std::string openb_half(std::uint64_t seed) {
  const Result<OpenbInput> input = load_openb(openb_trace_files(openb_source_directory(), "default"));
  if (!input) throw std::runtime_error(input.error().message);
  OpenbOptions options;
  options.seed = seed;
  options.tile = 8;
  options.occupied = 0.5;
  options.load = 1.5;
  return openb_snapshot(*input, options);
}

std::string million(std::uint64_t seed) {
  GeneratorOptions options = synth(100'000, seed);
  options.occupied = 0.5;
  options.fractions = 0.85;
  options.load = 0.9;
  return generate_snapshot(options);
}

struct Case {
  std::string name, what;
  std::function<std::string(std::uint64_t)> line;
  int most_runs = 1'000'000;
  std::string least_budget = {};  // where the arguments' would be too short for a whole plan; empty: they decide
};

std::vector<Case> fixed_cases() {
  return {
      {"gangs", "5,000 nodes, 3,000 gangs of 3 wait", gangs_of_three},
      {"synth", "10,000 nodes, load 1.2", [](std::uint64_t seed) { return generate_snapshot(synth(10'000, seed)); }},
      {"waiting", "10,000 nodes, 100,000 pods wait in gangs of 1-64", waiting},
      {"running", "4,000 nodes, 140,000 pods run, one gang of 6 waits", mostly_running},
      {"openb", "OpenB x 8, half occupied", openb_half},
      {"reasons", "1,000 nodes, gangs left over", left_over},
      {"million", "100,000 nodes, 1,000,000 pods, half of them run", million, 5, "10s"}};
}

// --- Measuring

using Samples = std::map<std::string, std::vector<double>>;  // milliseconds, by phase

struct Outcome {
  std::size_t nodes = 0, pods = 0, gangs = 0, bytes = 0;
  double first_ms = 0, allocated = 0, peak_mib = 0;
  int late = 0;
  Samples samples;
};

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

// None: the line does not say.
std::optional<double> number_after(const std::string& line, const std::string& key) {
  const std::string quoted = "\"" + key + "\":";
  const std::size_t at = line.rfind(quoted);
  if (at == std::string::npos) return std::nullopt;
  return std::stod(line.substr(at + quoted.size(), 32));
}

void add_times(const std::string& answer, double seen_ms, Samples& samples) {
  const std::string statement = answer.substr(answer.rfind("\"solver\":"));
  const double cycle = number_after(statement, "elapsedMs").value_or(0);
  double told = 0;
  for (const std::string& phase : kPhases) {
    const std::optional<double> value = number_after(statement, phase);
    if (!value) continue;
    samples[phase].push_back(*value);
    told += *value;
  }
  samples["cycle"].push_back(cycle);
  samples["rest"].push_back(cycle - told);
  samples["pipe"].push_back(seen_ms - cycle);
}

// What the process has held at most, as the kernel tells it.
double peak_mib(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1'024;
  }
  return 0;
}

Outcome measure(const std::string& line, const std::string& budget, int runs, const Arguments& arguments) {
  Outcome outcome;
  const Judge judge(line);
  outcome.nodes = judge.problem.nodes.size();
  outcome.pods = judge.problem.pods.size();
  outcome.gangs = judge.problem.gangs.size();
  outcome.bytes = line.size();
  SolveProcess process(arguments.program, {"--budget", budget, "--engine", arguments.engine, "--threads",
                                           std::to_string(arguments.threads), "--quiet"});
  for (int run = 0; run <= runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const std::string answer = process.ask(line);
    const std::chrono::duration<double, std::milli> seen = std::chrono::steady_clock::now() - start;
    const ReadPlan plan = judge.passed(answer);
    if (run == 0) {
      outcome.first_ms = number_after(answer, "elapsedMs").value_or(0);
      continue;
    }
    outcome.allocated = judge.allocated(plan.plan);
    outcome.late += answer.find("\"deadlineMissed\":true") == std::string::npos ? 0 : 1;
    add_times(answer, seen.count(), outcome.samples);
  }
  outcome.peak_mib = peak_mib(process.id());
  return outcome;
}

// --- Telling

void print_head() {
  fmt::print(
      "| case | nodes | pods | MB | first | cycle p50 | p99 | parse | model | greedy | verify | write | rest | "
      "allocated | "
      "late | MiB |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

double median_of(const Outcome& outcome, const std::string& phase) {
  const auto at = outcome.samples.find(phase);
  return at == outcome.samples.end() ? 0 : percentile(at->second, 0.5);
}

void print_row(const std::string& name, const Outcome& outcome) {
  fmt::print("| {} | {} | {} | {:.1f} | {:.0f} | {:.1f} | {:.1f} |", name, outcome.nodes, outcome.pods,
             static_cast<double>(outcome.bytes) / 1e6, outcome.first_ms, median_of(outcome, "cycle"),
             percentile(outcome.samples.at("cycle"), 0.99));
  for (const char* phase : {"parse", "model", "greedy", "verify", "write", "rest"})
    fmt::print(" {:.1f} |", median_of(outcome, phase));
  fmt::print(" {:.2f} % | {} | {:.0f} |\n", 100 * outcome.allocated, outcome.late, outcome.peak_mib);
  std::fflush(stdout);
}

std::string json_of(const std::string& name, const Outcome& outcome, const Arguments& arguments) {
  std::vector<std::string> phases;
  for (const auto& [phase, values] : outcome.samples) {
    phases.push_back(fmt::format(R"("{}":{{"p50":{:.3f},"p99":{:.3f},"least":{:.3f}}})", phase, percentile(values, 0.5),
                                 percentile(values, 0.99), percentile(values, 0)));
  }
  return fmt::format(
      R"({{"case":"{}","commit":"{}","cores":{},"threads":{},"engine":"{}","seed":{},"runs":{},"nodes":{},"pods":{},)"
      R"("gangs":{},"bytes":{},"firstMs":{:.3f},"allocated":{:.6f},"late":{},"peakMiB":{:.1f},"ms":{{{}}}}})",
      name, arguments.commit, usable_cores(), arguments.threads, arguments.engine, arguments.seed,
      outcome.samples.at("cycle").size(), outcome.nodes, outcome.pods, outcome.gangs, outcome.bytes, outcome.first_ms,
      outcome.allocated, outcome.late, outcome.peak_mib, fmt::join(phases, ","));
}

// The exponent k of the cost c x size^k that is nearest in the logarithms (least squares).
double exponent(const std::vector<double>& sizes, const std::vector<double>& costs) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double a = std::log(sizes[i]), b = std::log(std::max(costs[i], 1e-3));
    x += a, y += b, xx += a * a, xy += a * b;
  }
  const auto n = static_cast<double>(sizes.size());
  return (n * xy - x * y) / (n * xx - x * x);
}

void sweep(const Arguments& arguments, std::ostream* json) {
  constexpr int kLeastNodes = 1'000, kMostNodes = 128'000;
  std::vector<double> sizes;
  std::map<std::string, std::vector<double>> costs;
  for (int nodes = kLeastNodes; nodes <= kMostNodes; nodes *= 2) {
    const std::string name = fmt::format("sweep-{}", nodes);
    const Outcome outcome =
        measure(generate_snapshot(synth(nodes, arguments.seed)), "30s", std::min(arguments.runs, 5), arguments);
    print_row(name, outcome);
    if (json != nullptr) *json << json_of(name, outcome, arguments) << "\n";
    sizes.push_back(nodes);
    for (const std::string& phase : kPhases) costs[phase].push_back(median_of(outcome, phase));
  }
  fmt::print("\nexponents of the cost in nodes and pods:");
  for (const char* phase : {"cycle", "parse", "model", "greedy", "verify", "write"})
    fmt::print(" {} {:.2f}", phase, exponent(sizes, costs[phase]));
  fmt::print("\n");
}

int run(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  std::ofstream file;
  if (!arguments.json.empty()) file.open(arguments.json);
  std::ostream* json = arguments.json.empty() ? nullptr : &file;
  fmt::print("{} cores, commit {}, seed {}, budget {}, engine {}, {} threads; milliseconds, medians where not said\n\n",
             usable_cores(), arguments.commit, arguments.seed, arguments.budget, arguments.engine, arguments.threads);
  print_head();
  for (const Case& one : fixed_cases()) {
    const bool is_wanted = arguments.cases.empty()
                               ? !arguments.sweeps
                               : std::ranges::find(arguments.cases, one.name) != arguments.cases.end();
    if (!is_wanted) continue;
    const std::string budget = one.least_budget.empty() ? arguments.budget : one.least_budget;
    const Outcome outcome =
        measure(one.line(arguments.seed), budget, std::min(arguments.runs, one.most_runs), arguments);
    print_row(fmt::format("{} ({})", one.what, one.name), outcome);
    if (json != nullptr) *json << json_of(one.name, outcome, arguments) << "\n";
  }
  if (arguments.sweeps) sweep(arguments, json);
  return 0;
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  return muster::bench::guarded("bench_scale", [&] { return muster::bench::run(argc, argv); });
}
