#include "cli/bench.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/line/line_source.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "model/base/process.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

struct Benchmark {
  std::string_view name;
  std::string_view program;             // in bench/ next to this one
  std::vector<std::string_view> quick;  // arguments for a run of a few seconds
  std::string_view help;
};

const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> all{
      {"quality",
       "bench_quality",
       {"--instances", "openb-empty,openb-half", "--budgets", "200,1000", "--seeds", "1"},
       "proven gaps on six kinds of clusters"},
      {"scale",
       "bench_scale",
       {"--runs", "3", "--cases", "gangs,reasons"},
       "duration of the cycle and its phases, p50 and p99"},
      {"deadline",
       "bench_latency",
       {"--budgets", "50,200", "--sizes", "100,1213", "--solves", "5"},
       "by how much plans exceed their budget"},
      {"offline",
       "bench_offline",
       {"--traces", "default", "--seeds", "42", "--budget", "1000"},
       "OpenB, all arrived pods planned together, compared with published results"},
      {"online",
       "bench_openb",
       {"--traces", "default", "--seeds", "42"},
       "OpenB, one pod at a time, compared with the published curves"},
      {"policy",
       "bench_policy",
       {"--repetitions", "1", "--nodes", "50"},
       "reclaim, consolidation and gangs that cannot be placed"},
      {"philly",
       "bench_philly",
       {"--loads", "0.9", "--days", "1", "--period", "1800"},
       "a week of the Philly trace at three loads, compared with FIFO and KAI's order"}};
  return all;
}

}  // namespace

const CommandSyntax& bench_syntax() {
  static const std::string summary = [] {
    std::string text =
        "Runs benchmarks, each of which passes every plan to the referee before it counts it. Prints their tables, and "
        "writes\nDIR/NAME.jsonl. Without a NAME all of them, which takes hours. Meant for an idle machine.\n";
    for (const Benchmark& benchmark : benchmarks()) text += fmt::format("\n  {:<10}{}", benchmark.name, benchmark.help);
    return text;
  }();
  static const CommandSyntax syntax{
      "muster bench [NAME...] [OPTION...]",
      summary.c_str(),
      {{"batch", "K,K", "online: also place pods in batches of K with Muster's placer"},
       {"output", "DIR", "write the JSON lines to DIR; created if missing [bench-results]"},
       {"quick", "", "run only the smallest cases, as a smoke test"},
       {"shard", "I/N", "run only the benchmarks whose number, from 0, modulo N is I"},
       {"shards", "N", "the same, with I from JOB_COMPLETION_INDEX or SLURM_ARRAY_TASK_ID"}},
      0,
      std::numeric_limits<std::size_t>::max()};
  return syntax;
}

namespace {

const Benchmark& benchmark_named(std::string_view name) {
  const auto found = std::ranges::find(benchmarks(), name, &Benchmark::name);
  if (found == benchmarks().end()) {
    std::vector<std::string_view> names;
    for (const Benchmark& benchmark : benchmarks()) names.emplace_back(benchmark.name);
    throw UsageError(fmt::format("unknown benchmark '{}'{}", escaped(name), did_you_mean(name, names)));
  }
  return *found;
}

std::vector<std::string> names_of(const Shard& shard, const std::vector<std::string>& names) {
  std::vector<std::string> own;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (shard.has(static_cast<std::int64_t>(i))) own.push_back(names[i]);
  return own;
}

// In a build directory the benchmarks lie next to the program.
fs::path directory_of_programs() {
  fs::path directory = fs::read_symlink("/proc/self/exe").parent_path() / "bench";
  if (!fs::is_directory(directory)) {
    throw UsageError(
        fmt::format("no benchmarks in {}; build Muster from source to get them", escaped(directory.string())));
  }
  return directory;
}

// The exit code of the program; kExitInternal if it cannot be started or is ended by a signal.
int run_program(std::vector<std::string> words) {
  write_all(STDOUT_FILENO, fmt::format("+ {}\n", fmt::join(words, " ")));
  const std::string program = words.front();
  const pid_t child = start_process(std::move(words), ChildFiles());
  if (child < 0) {
    write_all(STDERR_FILENO, fmt::format("muster bench: {}: {}\n", escaped(program), std::strerror(-child)));
    return kExitInternal;
  }
  const std::optional<int> status = reap(child);
  return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : kExitInternal;
}

}  // namespace

int run_bench(int argc, const char* const* argv) {
  const Settings settings(bench_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(bench_syntax()), kExitAnswered);
  std::vector<std::string> names = settings.arguments();
  if (names.empty())
    for (const Benchmark& benchmark : benchmarks()) names.emplace_back(benchmark.name);
  for (const std::string& name : names) benchmark_named(name);
  const std::optional<std::string> batch = settings.text("batch");
  if (batch && std::ranges::find(names, "online") == names.end())
    throw UsageError("--batch applies only to the benchmark online");
  names = names_of(shard_of(settings), names);
  const fs::path programs = directory_of_programs();
  const fs::path output = settings.text("output").value_or("bench-results");
  std::error_code error;
  fs::create_directories(output, error);
  if (error) {
    write_all(STDERR_FILENO, fmt::format("muster bench: {}: {}\n", escaped(output.string()), error.message()));
    return kExitCannotCreate;
  }
  std::vector<std::string> failed;
  for (const std::string& name : names) {
    const Benchmark& benchmark = benchmark_named(name);
    const fs::path lines = output / (name + ".jsonl");
    fs::remove(lines, error);  // the programs append
    std::vector<std::string> words{(programs / benchmark.program).string(), "--json", lines.string()};
    if (settings.is_on("quick")) words.insert(words.end(), benchmark.quick.begin(), benchmark.quick.end());
    if (batch && name == "online") words.insert(words.end(), {"--batch", *batch});
    if (run_program(std::move(words)) != 0) failed.push_back(name);
  }
  if (failed.empty()) return print(fmt::format("\n{} benchmarks, none failed\n", names.size()), kExitAnswered);
  return print(fmt::format("\n{} benchmarks, failed: {}\n", names.size(), fmt::join(failed, ", ")), kExitSomeErrors);
}

}  // namespace muster::cli
