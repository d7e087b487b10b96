// A million small snapshots through one process: whether each has its answer, in its order, and whether the process
// holds more memory at the end than after the first 100,000.
//
// Usage: bench_soak [--snapshots N] [--engine greedy] [--budget DURATION] [--threads N] [--json FILE] [--commit NAME]
//                   [--program FILE]
// The snapshots are 50 generated ones of 1 to 20 nodes in turn, each with a unique id. One thread writes, one reads.
// Resident memory is read every 10,000 answers; the drift is the excess of the median of the last five samples over the
// median of the first five from the 100,000th answer (or a tenth of all, if that is less) on. Exit code 1: an answer is
// missing, is an error or has the wrong id, or the drift is 1 % or more.
#include "bench/support/soak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "bench/support/child.h"
#include "bench/support/machine.h"
#include "bench/support/program.h"
#include "model/base/parallel.h"

namespace muster::bench::soak_bench {
namespace {

constexpr int kPatienceMs = 600'000;
constexpr std::size_t kBytesAtOnce = 1 << 16;

void write_all(const std::vector<SoakFrame>& frames, std::int64_t count, SolveProcess& process) {
  std::string text;
  for (std::int64_t number = 0; number < count; ++number) {
    const SoakFrame& frame = frames[static_cast<std::size_t>(number % kDistinct)];
    text += frame.before + soak_id(number) + frame.after;
    if (text.size() < kBytesAtOnce) continue;
    process.write_text(text);
    text.clear();
  }
  process.write_text(text);
  process.end_input();
}

SoakOutcome soak(const SoakArguments& arguments) {
  SoakOutcome outcome;
  const std::vector<SoakFrame> all = soak_frames();
  SolveProcess process(arguments.program, {"--engine", arguments.engine, "--budget", arguments.budget, "--threads",
                                           arguments.threads, "--quiet"});
  const std::int64_t sampled_each = std::max<std::int64_t>(1, arguments.snapshots / kSamples);
  const auto start = std::chrono::steady_clock::now();
  const std::jthread writer([&] {
    try {
      write_all(all, arguments.snapshots, process);
    } catch (const std::exception&) {  // it has ended: the reader reports it
    }
  });
  while (outcome.answered < arguments.snapshots) {
    outcome.fault = fault_of(process.read_line(kPatienceMs), outcome.answered);
    if (!outcome.fault.empty()) {
      process.stop();
      return outcome;
    }
    if (++outcome.answered % sampled_each == 0) outcome.sample(process.id());
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (process.read_line(kPatienceMs)) outcome.fault = "there are more answers than snapshots";
  return outcome;
}

int run(const SoakArguments& arguments) {
  fmt::print("{} cores, load {:.1f}, commit {}, engine {}, budget {}, {} threads\n", usable_cores(), load_average(),
             arguments.commit, arguments.engine, arguments.budget, arguments.threads);
  std::fflush(stdout);
  return tell(soak(arguments), arguments, "soak");
}

const Program kProgram("soak", [](int argc, char** argv) { return run(parse_soak(argc, argv)); });

}  // namespace
}  // namespace muster::bench::soak_bench
