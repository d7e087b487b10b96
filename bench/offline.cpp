// The OpenB trace offline: all pods that have arrived at 100 % of the GPUs, in one snapshot, on the empty cluster. The
// unallocated part of one plan, compared with a bound of it and with the result of the published FGD, which sees one
// pod at a time. The referee checks every plan before it counts.
//
// Usage: bench_offline [--traces NAME,NAME] [--seeds S,S] [--budget MS] [--threads N] [--data DIR] [--json FILE]
// Traces and orders of arrival are read from DIR as pods_TRACE.csv or openb_pod_list_TRACE.csv, and
// arrivals_TRACE_SEED.idx or arrivals/TRACE_SEED.idx, next to nodes.csv or openb_node_list_gpu_node.csv; without DIR in
// datasets/openb. Seeds without an order are skipped.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/judge.h"
#include "bench/support/openb_files.h"
#include "bench/support/program.h"
#include "datasets/traces/openb.h"

namespace muster::bench::offline_bench {
namespace {

struct Arguments {
  std::vector<std::string> traces{"default", "gpushare100", "gpuspec33"}, seeds{"42", "43", "44", "45", "46"};
  std::string directory = traces::openb_source_directory(), budget_ms = "10000", threads = "2", json;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--traces", [&](const std::string& value) { arguments.traces = split(value); }},
                  {"--seeds", [&](const std::string& value) { arguments.seeds = split(value); }},
                  {"--budget", [&](const std::string& value) { arguments.budget_ms = value; }},
                  {"--threads", [&](const std::string& value) { arguments.threads = value; }},
                  {"--data", [&](const std::string& value) { arguments.directory = value; }},
                  {"--json", [&](const std::string& value) { arguments.json = value; }},
              });
  return arguments;
}

// Percent of the GPUs. Bound: of a linear program over node types and device patterns that does not couple cores and
// memory node by node, computed for seed 42 (datasets/README.md lists the bounds of the carried traces; the others are
// from the same program). So the best plan may leave a little more, and other seeds differ a little. They also differ
// in the exact cut at 100 %: here the pod that crosses the line is in, which is up to 0.13 %. FGD: Weng et al. 2023,
// the mean over ten seeds; online.
struct Published {
  double bound, fgd;
};
const std::map<std::string, Published>& published() {
  static const std::map<std::string, Published> figures = {
      {"default", {3.09, 4.77}},       {"cpu050", {3.09, 5.00}},     {"cpu100", {3.13, 4.79}},
      {"cpu250", {3.28, 6.80}},        {"gpushare40", {4.37, 6.04}}, {"gpushare60", {6.59, 8.74}},
      {"gpushare100", {10.81, 13.36}}, {"gpuspec10", {3.14, 5.34}},  {"gpuspec20", {3.09, 5.34}},
      {"gpuspec33", {3.63, 12.16}},    {"multigpu20", {2.65, 4.47}}, {"multigpu30", {2.34, 3.64}},
      {"multigpu50", {1.68, 2.91}}};
  return figures;
}

// Returns whether the plan stands.
bool measure(const std::string& trace, const std::string& seed, const traces::OpenbFiles& files,
             const Arguments& arguments) {
  const auto input = traces::load_openb(files);
  if (!input) throw std::runtime_error(input.error().path + ": " + input.error().message);
  traces::OpenbOptions options;
  options.arrived_percent = 100;
  if (const auto fault = traces::openb_fault(*input, options))
    throw std::runtime_error(fault->path + " " + fault->message);
  const std::string line = traces::openb_snapshot(*input, options);
  const Judge judge(line);
  fmt::print("| {} | {} | ", trace, seed);
  try {
    const Answered answered =
        answer_of({"--budget", arguments.budget_ms + "ms", "--threads", arguments.threads, "--quiet"}, line);
    const muster_v1::ReadPlan plan = judge.passed(answered.line);
    const double unallocated = 100 - 100 * judge.allocated(plan.plan);
    const ProvenGap gap = proven_gap(plan);
    const auto known = published().find(trace);
    const std::string bound = known == published().end() ? "?" : fmt::format("{:.2f}", known->second.bound);
    const std::string fgd = known == published().end() ? "?" : fmt::format("{:.2f}", known->second.fgd);
    fmt::print("{:.2f} | {} | {} | {} | {} | {:.0f} |\n", unallocated, bound, fgd,
               gap.share ? fmt::format("{:.3f} %", *gap.share * 100) : "none", gap.level.empty() ? "-" : gap.level,
               answered.told_ms);
    if (!arguments.json.empty())
      std::ofstream(arguments.json, std::ios::app)
          << fmt::format(R"({{"trace":"{}","seed":{},"budgetMs":{},"unallocatedPercent":{},"boundPercent":{},)"
                         R"("fgdPercent":{},"gapPercent":{},"elapsedMs":{}}})",
                         trace, seed, arguments.budget_ms, unallocated, bound == "?" ? "null" : bound,
                         fgd == "?" ? "null" : fgd, gap.share ? fmt::format("{}", *gap.share * 100) : "null",
                         answered.told_ms)
          << "\n";
    std::fflush(stdout);
    return true;
  } catch (const std::exception& fault) {
    fmt::print("FAULT: {} |\n", fault.what());
    return false;
  }
}

int run(const Arguments& arguments) {
  fmt::print(
      "budget {} ms; percent of the GPUs unallocated, all that arrived at 100 %\n"
      "| trace | seed | this plan | offline bound (seed 42) | FGD, online | proven gap | of level | plan ms |\n"
      "|---|---|---|---|---|---|---|---|\n",
      arguments.budget_ms);
  bool stands = true;
  int runs = 0;
  for (const std::string& trace : arguments.traces) {
    for (const std::string& seed : arguments.seeds) {
      const traces::OpenbFiles files = openb_files_in(arguments.directory, trace, seed);
      if (files.order.empty()) {
        std::cerr << "no order of arrival for " << trace << ", seed " << seed << "\n";
        continue;
      }
      ++runs;
      stands = measure(trace, seed, files, arguments) && stands;
    }
  }
  if (runs == 0) throw std::runtime_error("there is nothing to run in " + arguments.directory);
  return stands ? 0 : 1;
}

const Program kProgram("offline", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::offline_bench
