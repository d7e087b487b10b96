// The kept state of `muster serve`: how long a delta takes until the state is ready, and what a cycle costs after it,
// compared with the same cluster sent whole, in one run.
//
// Usage: bench_state [--nodes N] [--seed S] [--pods N] [--rounds N] [--budget MS] [--threads N]
// Each delta sets half of `--pods` new pods and removes those of the delta before. Cycles are of the engine `greedy`;
// each plan is verified by the referee, which is not timed, before it counts. Processor times are of all threads.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/machine.h"
#include "bench/support/program.h"
#include "bench/support/statistics.h"
#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "io/state/delta_reader.h"
#include "model/build/build_problem.h"
#include "model/objective/fair_share.h"
#include "model/referee/referee.h"
#include "model/state/kept_snapshot.h"
#include "solver/portfolio/portfolio.h"
#include "test/support/paths.h"

namespace muster::bench::state_bench {
namespace {

struct Settings {
  std::int32_t nodes = 10'000, pods = 100, rounds = 5;
  std::int32_t threads = static_cast<std::int32_t>(std::max(1U, std::thread::hardware_concurrency()));
  std::uint64_t seed = 3;
  std::int64_t budget_ms = 100;
};

Settings parse(int argc, char** argv) {
  Settings settings;
  parse_flags(argc, argv,
              {{"--nodes", [&](const auto& value) { settings.nodes = std::stoi(value); }},
               {"--seed", [&](const auto& value) { settings.seed = std::stoull(value); }},
               {"--pods", [&](const auto& value) { settings.pods = std::stoi(value); }},
               {"--rounds", [&](const auto& value) { settings.rounds = std::stoi(value); }},
               {"--budget", [&](const auto& value) { settings.budget_ms = std::stoll(value); }},
               {"--threads", [&](const auto& value) { settings.threads = std::stoi(value); }}});
  return settings;
}

template <class T>
T good(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().path + ": " + result.error().message);
  return *std::move(result);
}

double processor_ms() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

// Medians, of the wall clock and of processor time.
class Times {
 public:
  template <class Work>
  auto of(const Work& work) {
    const auto begun = std::chrono::steady_clock::now();
    const double used = processor_ms();
    auto result = work();
    processor_.push_back(processor_ms() - used);
    wall_.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count());
    return result;
  }
  double wall() const { return median(wall_); }
  double processor() const { return median(processor_); }

 private:
  std::vector<double> wall_, processor_;
};

// Where the time of a cycle goes.
struct Cycle {
  Times input, model, solve;
};

void plan(Cycle& cycle, Snapshot& snapshot, portfolio::Portfolio& portfolio, const Settings& settings) {
  const Problem problem = cycle.model.of([&] { return good(build_problem(snapshot, settings.threads)); });
  portfolio::SolveOptions options;
  options.engine = portfolio::Engine::kGreedy;
  options.threads = settings.threads;
  options.deadline = portfolio::Clock::now() + std::chrono::milliseconds(settings.budget_ms);
  const portfolio::Solution solution = cycle.solve.of([&] { return portfolio.solve(snapshot, problem, options); });
  const auto violations = referee::check_plan(snapshot, problem, compute_fair_shares(problem), solution.plan);
  if (!violations.empty()) throw std::runtime_error(violations[0].subject + ": " + violations[0].message);
}

std::string new_pods(int round, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format(R"({}{{"name":"new-{}-{}","queue":"team-{}","gpu":{{"count":1}}}})", i == 0 ? "" : ",", round,
                        i, i % 4);
  return text;
}

std::string delta_of(int round, int count) {
  std::string removed;
  for (int i = 0; i < count && round > 0; ++i)
    removed += fmt::format(R"({}"new-{}-{}")", i == 0 ? "" : ",", round - 1, i);
  return fmt::format(R"({{"from":{},"to":{},"set":{{"pods":[{}]}},"remove":{{"pods":[{}]}}}})", round, round + 1,
                     new_pods(round, count), removed);
}

void tell(const char* name, const Times& text, const Times& state) {
  fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", name, text.wall(), text.processor(), state.wall(),
             state.processor());
}

int run(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  generator::GeneratorOptions options = *generator::generator_preset("full");
  options.cluster.nodes = settings.nodes;
  options.running.occupied = 0.95;
  options.seed = settings.seed;
  std::string text = generator::generate_snapshot(options);
  while (text.ends_with('\n')) text.pop_back();
  if (!text.ends_with("}]}")) throw std::runtime_error("pods are not the last of the line");

  state::DeltaReader reader({});
  muster_v1::SnapshotReader line_reader({.threads = settings.threads});
  KeptSnapshot kept;
  if (const auto error = kept.apply(good(reader.read_whole(text)), "$")) throw std::runtime_error(error->message);
  portfolio::Portfolio of_text{test::program()}, of_state{test::program()};
  Cycle whole, after;
  Times ready;
  const int count = settings.pods / 2;
  for (int round = 0; round < settings.rounds; ++round) {
    const std::string delta = delta_of(round, count);
    ready.of([&] {
      good(reader.read_step(delta));
      if (const auto error = kept.apply(good(reader.read_delta(kept)), "$.set"))
        throw std::runtime_error(error->path + ": " + error->message);
      return true;
    });
    const std::string line = text.substr(0, text.size() - 2) + "," + new_pods(round, count) + "]}";
    Snapshot sent = whole.input.of([&] { return good(line_reader.read(line)); });
    plan(whole, sent, of_text, settings);
    Snapshot copied = after.input.of([&] { return kept.for_cycle(); });
    if (copied.pods.size() != sent.pods.size()) throw std::runtime_error("the state is not the whole");
    plan(after, copied, of_state, settings);
  }
  fmt::print("{}, {} nodes, {} pods, {} rounds, {} threads, budget {} ms, load {:.1f}; medians in ms\n\n", commit(),
             settings.nodes, kept.snapshot().pods.size(), settings.rounds, settings.threads, settings.budget_ms,
             load_average());
  fmt::print("a delta of {} pods is ready after {:.3f} ms, {:.3f} ms of processor time\n\n", 2 * count, ready.wall(),
             ready.processor());
  fmt::print("| cycle | from text: wall | processor | from the state: wall | processor |\n|---|---|---|---|---|\n");
  tell("snapshot (read, or copied)", whole.input, after.input);
  tell("problem", whole.model, after.model);
  tell("plan", whole.solve, after.solve);
  const auto sum = [](const Cycle& c) { return c.input.processor() + c.model.processor() + c.solve.processor(); };
  const auto until_problem = [](const Cycle& c) { return c.input.processor() + c.model.processor(); };
  fmt::print("\nratio of processor times, state to text: cycle {:.2f}, until the problem is there {:.2f}\n",
             sum(after) / sum(whole), until_problem(after) / until_problem(whole));
  return 0;
}

const Program kProgram("state", run);

}  // namespace
}  // namespace muster::bench::state_bench
