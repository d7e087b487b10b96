// Shared by the soaks: small snapshots with unique ids, samples of the memory of the process that answers them, and
// reports of both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/types.h>

#include "bench/support/arguments.h"
#include "bench/support/machine.h"
#include "bench/support/statistics.h"
#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "model/base/parallel.h"
#include "test/support/paths.h"

namespace muster::bench {

inline constexpr std::int64_t kWarm = 100'000, kSamples = 100;  // a sample each 10,000 of a million
inline constexpr int kDistinct = 50, kMostNodes = 20;
inline constexpr std::size_t kMedianOf = 5;
inline constexpr double kMostDrift = 0.01;

struct SoakArguments {
  std::int64_t snapshots = 1'000'000;
  std::string engine = "greedy", budget = "1s", threads = "1", json, commit = bench::commit(),
              program = test::program();
};

inline SoakArguments parse_soak(int argc, char** argv) {
  SoakArguments arguments;
  parse_flags(argc, argv,
              {
                  {"--snapshots", [&](const std::string& value) { arguments.snapshots = std::stoll(value); }},
                  {"--engine", [&](const std::string& value) { arguments.engine = value; }},
                  {"--budget", [&](const std::string& value) { arguments.budget = value; }},
                  {"--threads", [&](const std::string& value) { arguments.threads = value; }},
                  {"--json", [&](const std::string& value) { arguments.json = value; }},
                  {"--commit", [&](const std::string& value) { arguments.commit = value; }},
                  {"--program", [&](const std::string& value) { arguments.program = value; }},
              });
  if (arguments.snapshots < 1) throw std::runtime_error("--snapshots is at least 1");
  return arguments;
}

// Snapshot lines without their ids, which go between the two parts.
struct SoakFrame {
  std::string before, after;
};

// Of every feature that the generator has, two thirds of the clusters half occupied.
inline std::vector<SoakFrame> soak_frames() {
  const std::string id = "the-id";
  std::vector<SoakFrame> result;
  for (int k = 0; k < kDistinct; ++k) {
    generator::GeneratorOptions options = *generator::generator_preset("full");
    options.id = id;
    options.cluster.nodes = 1 + k * kMostNodes / kDistinct;
    options.cluster.zones = 1;
    options.cluster.racks_per_zone = std::min(4, options.cluster.nodes);
    options.seed = static_cast<std::uint64_t>(k + 1);
    options.cluster.gpus_per_node = 1 << k % 3;
    options.running.occupied = k % 3 == 0 ? 0 : 0.5;
    options.gangs.largest = 4;
    if (const auto fault = generator::generator_fault(options))
      throw std::runtime_error(fault->path + ": " + fault->message);
    const std::string line = generator::generate_snapshot(options);
    const std::size_t at = line.find(id);
    result.push_back({line.substr(0, at), line.substr(at + id.size()) + "\n"});
  }
  return result;
}

inline std::string soak_id(std::int64_t number) { return fmt::format("soak-{}", number); }

struct SoakOutcome {
  std::int64_t answered = 0;
  std::string fault;                    // what is wrong with the first answer that is wrong
  std::vector<double> memory, workers;  // MiB, by sample: of the process; of what it has started
  double seconds = 0;

  void sample(pid_t process) {
    memory.push_back(memory_mib(process, "VmRSS:"));
    workers.push_back(memory_mib_of_children(process, "VmRSS:"));
  }
};

// What is wrong with an answer; empty: nothing.
inline std::string fault_of(const std::optional<std::string>& answer, std::int64_t number) {
  if (!answer) return fmt::format("there are {} answers", number);
  if (answer->starts_with(fmt::format(R"({{"format":"muster/v1","id":"{}","status":"ok",)", soak_id(number))))
    return {};
  return fmt::format("answer {} is not to {}: {}", number, soak_id(number), answer->substr(0, 200));
}

inline double median_from(const std::vector<double>& values, std::size_t begin) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  return median({first, first + static_cast<std::ptrdiff_t>(std::min(kMedianOf, values.size() - begin))});
}

// `name`: of the case. Returns the exit code.
inline int tell(const SoakOutcome& outcome, const SoakArguments& arguments, const std::string& name) {
  fmt::print("{} snapshots answered in {:.0f} s, {:.0f} a second\n", outcome.answered, outcome.seconds,
             static_cast<double>(outcome.answered) / std::max(1e-9, outcome.seconds));
  if (!outcome.fault.empty()) {
    fmt::print("{}\n", outcome.fault);
    return 1;
  }
  const std::vector<double>& memory = outcome.memory;
  const auto samples = static_cast<std::int64_t>(memory.size());
  // The sample after the first 100,000, or after a tenth.
  const auto warm = static_cast<std::size_t>(
      std::max<std::int64_t>(1, std::min(samples / 10, kWarm * samples / arguments.snapshots)) - 1);
  const std::size_t last = memory.size() - std::min(memory.size(), kMedianOf);
  const double before = median_from(memory, warm), after = median_from(memory, last), drift = after / before - 1;
  fmt::print("resident memory, MiB: {:.2f} after {}, {:.2f} at the end, {:.2f} at most; drift {:+.2f} %\n", before,
             static_cast<std::int64_t>(warm + 1) * (arguments.snapshots / samples), after, std::ranges::max(memory),
             100 * drift);
  fmt::print("of its worker: {:.2f} at first, {:.2f} at the end, {:.2f} at most\n", median_from(outcome.workers, warm),
             median_from(outcome.workers, last), std::ranges::max(outcome.workers));
  if (!arguments.json.empty()) {
    std::ofstream(arguments.json)
        << fmt::format(R"({{"case":"{}","commit":"{}","cores":{},"engine":"{}","budget":"{}","snapshots":{},)"
                       R"("seconds":{:.1f},"drift":{:.5f},"memoryMiB":[{:.2f}],"workersMiB":[{:.2f}]}})",
                       name, arguments.commit, usable_cores(), arguments.engine, arguments.budget, outcome.answered,
                       outcome.seconds, drift, fmt::join(memory, ","), fmt::join(outcome.workers, ","))
        << "\n";
  }
  return drift < kMostDrift ? 0 : 1;
}

}  // namespace muster::bench
