// The ratios of two runs of bench_scale or bench_latency, case by case and phase by phase: the second to the first, by
// the medians.
//
// Usage: bench_compare OLD.jsonl NEW.jsonl
// Cases that only one file has are left out and listed. If a file has a case several times, the lowest median counts:
// other work on the machine only adds to a time.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/program.h"
#include "bench/support/statistics.h"
#include "io/json/json_document.h"

namespace muster::bench::compare_bench {
namespace {

constexpr double kLeastMs = 0.1;  // shorter phases are noise

struct Run {
  std::string commit;
  std::map<std::string, double> medians;  // ms, by phase
};
struct Runs {
  std::vector<std::string> order;  // of the cases
  std::map<std::string, Run> by_case;
};

json::JsonValue member(json::JsonValue object, std::string_view wanted) {
  if (object && object.is(json::JsonKind::kObject))
    for (const auto& [key, value] : object.members())
      if (key == wanted) return value;
  return {};
}

std::string text_of(json::JsonValue value) {
  return value && value.is(json::JsonKind::kString) ? std::string(value.string()) : std::string();
}

void add_line(const std::string& line, Runs& runs) {
  json::JsonDocument document;
  if (const auto error = document.parse(line, {.max_bytes = 1 << 20, .max_depth = 8}))
    throw std::runtime_error(error->message);
  const std::string name = text_of(member(document.root(), "case"));
  const json::JsonValue phases = member(document.root(), "ms");
  if (name.empty() || !phases || !phases.is(json::JsonKind::kObject))
    throw std::runtime_error("a line without \"case\" or \"ms\"");
  if (!runs.by_case.contains(name)) runs.order.push_back(name);
  Run& run = runs.by_case[name];
  run.commit = text_of(member(document.root(), "commit"));
  for (const auto& [phase, values] : phases.members()) {
    const json::JsonValue median = member(values, "p50");
    if (!median) continue;
    const double ms = std::stod(std::string(document.number_text(median)));
    const auto [at, is_new] = run.medians.emplace(phase, ms);
    if (!is_new) at->second = std::min(at->second, ms);
  }
}

Runs read(const std::string& file) {
  std::ifstream input(file);
  if (!input) throw std::runtime_error("cannot read " + file);
  Runs runs;
  try {
    for (std::string line; std::getline(input, line);) add_line(line, runs);
  } catch (const std::runtime_error& fault) {
    throw std::runtime_error(file + ": " + fault.what());
  }
  return runs;
}

// None: a file does not report the phase, or it is too short to be compared.
std::optional<double> ratio(const Run& before, const Run& after, const std::string& phase) {
  const auto old_ms = before.medians.find(phase), new_ms = after.medians.find(phase);
  if (old_ms == before.medians.end() || new_ms == after.medians.end()) return std::nullopt;
  if (old_ms->second < kLeastMs || new_ms->second < kLeastMs) return std::nullopt;
  return new_ms->second / old_ms->second;
}

int compare(const Runs& before, const Runs& after) {
  static const std::vector<std::string> kPhases{"cycle",  "parse",  "model", "greedy", "milp",
                                                "search", "verify", "write", "pipe",   "overrun"};
  std::map<std::string, std::vector<double>> ratios;
  fmt::print("new / old, medians; under 1 is faster\n\n| case | old | new | old ms | new ms |");
  for (const std::string& phase : kPhases) fmt::print(" {} |", phase);
  fmt::print("\n|---|---|---|---|---|");
  for (std::size_t i = 0; i < kPhases.size(); ++i) fmt::print("---|");
  fmt::print("\n");
  for (const std::string& name : before.order) {
    const auto found = after.by_case.find(name);
    if (found == after.by_case.end()) continue;
    const Run &old_run = before.by_case.at(name), &new_run = found->second;
    const auto cycle = [](const Run& run) { return run.medians.contains("cycle") ? run.medians.at("cycle") : 0.0; };
    fmt::print("| {} | {} | {} | {:.1f} | {:.1f} |", name, old_run.commit, new_run.commit, cycle(old_run),
               cycle(new_run));
    for (const std::string& phase : kPhases) {
      const auto value = ratio(old_run, new_run, phase);
      fmt::print(" {} |", value ? fmt::format("{:.2f}", *value) : "");
      if (value) ratios[phase].push_back(*value);
    }
    fmt::print("\n");
  }
  if (ratios.empty()) throw std::runtime_error("the files have no case in common");
  fmt::print("| geometric mean | | | | |");
  for (const std::string& phase : kPhases)
    fmt::print(" {} |", ratios.contains(phase) ? fmt::format("{:.2f}", geometric_mean(ratios[phase])) : "");
  fmt::print("\n");
  return 0;
}

void tell_missing(const Runs& of, const Runs& other, const std::string& file) {
  for (const std::string& name : of.order)
    if (!other.by_case.contains(name)) std::cerr << "only in " << file << ": " << name << "\n";
}

int run(int argc, char** argv) {
  if (argc != 3) throw std::runtime_error("usage: bench_compare OLD.jsonl NEW.jsonl");
  const Runs before = read(argv[1]), after = read(argv[2]);
  tell_missing(before, after, argv[1]);
  tell_missing(after, before, argv[2]);
  return compare(before, after);
}

const Program kProgram("compare", run);

}  // namespace
}  // namespace muster::bench::compare_bench
