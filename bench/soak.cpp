// A million small snapshots through one process: whether each has its answer, in its order, and whether the process
// holds more memory at the end than after the first 100,000.
//
// Usage: bench_soak [--snapshots N] [--engine greedy] [--budget DURATION] [--threads N] [--json FILE] [--commit NAME]
//                   [--program FILE]
// The snapshots are 50 generated ones of 1 to 20 nodes in turn, each with an id of its own. One thread writes, one
// reads. Resident memory is read every 10,000 answers; the drift is what the median of the last five samples is above
// the median of the first five from the 100,000th answer (or a tenth of all, if that is less) on. Exit code 1: an
// answer is missing, is an error or has the wrong id, or the drift is 1 % or more.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/arguments.h"
#include "bench/child.h"
#include "bench/machine.h"
#include "bench/statistics.h"
#include "datasets/generator.h"
#include "heuristics/parallel.h"

namespace muster::bench {
namespace {

constexpr int kDistinct = 50, kMostNodes = 20, kPatienceMs = 600'000;
constexpr std::int64_t kWarm = 100'000, kSamples = 100;  // a sample each 10,000 of a million
constexpr std::size_t kMedianOf = 5, kBytesAtOnce = 1 << 16;
constexpr double kMostDrift = 0.01;

struct Arguments {
  std::int64_t snapshots = 1'000'000;
  std::string engine = "greedy", budget = "1s", threads = "1", json, commit = bench::commit(), program = MUSTER_BINARY;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
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

// Snapshot lines but for their ids, which go between the two parts.
struct Frame {
  std::string before, after;
};

// Of every feature that the generator has, two thirds of the clusters half occupied.
std::vector<Frame> frames() {
  const std::string id = "the-id";
  std::vector<Frame> result;
  for (int k = 0; k < kDistinct; ++k) {
    GeneratorOptions options = *generator_preset("full");
    options.id = id;
    options.nodes = 1 + k * kMostNodes / kDistinct;
    options.zones = 1;
    options.racks_per_zone = std::min(4, options.nodes);
    options.seed = static_cast<std::uint64_t>(k + 1);
    options.gpus_per_node = 1 << k % 3;
    options.occupied = k % 3 == 0 ? 0 : 0.5;
    options.gangs_max = 4;
    if (const auto fault = generator_fault(options)) throw std::runtime_error(fault->path + ": " + fault->message);
    const std::string line = generate_snapshot(options);
    const std::size_t at = line.find(id);
    result.push_back({line.substr(0, at), line.substr(at + id.size()) + "\n"});
  }
  return result;
}

std::string id_of(std::int64_t number) { return fmt::format("soak-{}", number); }

void write_all(const std::vector<Frame>& frames, std::int64_t count, SolveProcess& process) {
  std::string text;
  for (std::int64_t number = 0; number < count; ++number) {
    const Frame& frame = frames[static_cast<std::size_t>(number % kDistinct)];
    text += frame.before + id_of(number) + frame.after;
    if (text.size() < kBytesAtOnce) continue;
    process.write_text(text);
    text.clear();
  }
  process.write_text(text);
  process.end_input();
}

struct Outcome {
  std::int64_t answered = 0;
  std::string fault;                    // what is wrong with the first answer that is wrong
  std::vector<double> memory, workers;  // MiB, by sample: of the process; of what it has started
  double seconds = 0;
};

// What is wrong with an answer; empty: nothing.
std::string fault_of(const std::optional<std::string>& answer, std::int64_t number) {
  if (!answer) return fmt::format("there are {} answers", number);
  if (answer->starts_with(fmt::format(R"({{"format":"muster/v1","id":"{}","status":"ok",)", id_of(number)))) return {};
  return fmt::format("answer {} is not to {}: {}", number, id_of(number), answer->substr(0, 200));
}

Outcome soak(const Arguments& arguments) {
  Outcome outcome;
  const std::vector<Frame> all = frames();
  SolveProcess process(arguments.program, {"--engine", arguments.engine, "--budget", arguments.budget, "--threads",
                                           arguments.threads, "--quiet"});
  const std::int64_t sampled_each = std::max<std::int64_t>(1, arguments.snapshots / kSamples);
  const auto start = std::chrono::steady_clock::now();
  const std::jthread writer([&] {
    try {
      write_all(all, arguments.snapshots, process);
    } catch (const std::exception&) {  // it has ended: the reader tells
    }
  });
  while (outcome.answered < arguments.snapshots) {
    outcome.fault = fault_of(process.read_line(kPatienceMs), outcome.answered);
    if (!outcome.fault.empty()) {
      process.stop();
      return outcome;
    }
    if (++outcome.answered % sampled_each != 0) continue;
    outcome.memory.push_back(memory_mib(process.id(), "VmRSS:"));
    outcome.workers.push_back(memory_mib_of_children(process.id(), "VmRSS:"));
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (process.read_line(kPatienceMs)) outcome.fault = "there are more answers than snapshots";
  return outcome;
}

double median_from(const std::vector<double>& values, std::size_t begin) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  return median({first, first + static_cast<std::ptrdiff_t>(std::min(kMedianOf, values.size() - begin))});
}

int tell(const Outcome& outcome, const Arguments& arguments) {
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
        << fmt::format(
               R"({{"case":"soak","commit":"{}","cores":{},"engine":"{}","budget":"{}","snapshots":{},)"
               R"("seconds":{:.1f},"drift":{:.5f},"memoryMiB":[{:.2f}],"workersMiB":[{:.2f}]}})",
               arguments.commit, usable_cores(), arguments.engine, arguments.budget, outcome.answered, outcome.seconds,
               drift, fmt::join(memory, ","), fmt::join(outcome.workers, ","))
        << "\n";
  }
  return drift < kMostDrift ? 0 : 1;
}

int run(const Arguments& arguments) {
  fmt::print("{} cores, load {:.1f}, commit {}, engine {}, budget {}, {} threads\n", usable_cores(), load_average(),
             arguments.commit, arguments.engine, arguments.budget, arguments.threads);
  std::fflush(stdout);
  return tell(soak(arguments), arguments);
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  return muster::bench::guarded("bench_soak", [&] { return muster::bench::run(muster::bench::parse(argc, argv)); });
}
