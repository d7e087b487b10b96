// The speed and memory of reading Kubernetes objects: a List of nodes and pods as kubectl prints it, through the reader
// of lines (first and later lines) and through `muster import kubernetes` of a file.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/support/arguments.h"
#include "bench/support/machine.h"
#include "bench/support/program.h"
#include "datasets/generator/kubernetes_list.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "io/state/cluster_objects.h"
#include "test/support/paths.h"

namespace muster::bench::import_bench {
namespace {

struct Settings {
  generator::KubernetesListOptions list;
  int runs = 3;
  std::string write;  // a file for the List, and nothing else is done
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

double megabytes(std::size_t bytes) { return static_cast<double>(bytes) / 1e6; }

// Throws where the snapshot is not the one that the List describes.
void check(const Result<Snapshot>& snapshot, const generator::KubernetesListOptions& list) {
  if (!snapshot) throw std::runtime_error(snapshot.error().path + ": " + snapshot.error().message);
  const auto nodes = static_cast<std::int64_t>(snapshot->nodes.size()),
             pods = static_cast<std::int64_t>(snapshot->pods.size());
  if (nodes != list.nodes || pods != list.pods) throw std::runtime_error("the snapshot lacks nodes or pods");
}

void measure_reader(const std::string& text, const Settings& settings) {
  muster_v1::ReaderOptions options;
  options.max_line_bytes = std::max(options.max_line_bytes, text.size());
  muster_v1::SnapshotReader reader(options);
  double first = 0, best = 0;
  for (int run = 0; run < settings.runs; ++run) {
    const Clock::time_point begun = Clock::now();
    const auto snapshot = reader.read(text);
    const double rate = megabytes(text.size()) / seconds_since(begun);
    check(snapshot, settings.list);
    if (run == 0) first = rate;
    best = std::max(best, rate);
  }
  fmt::print("| a line to a snapshot | {:.0f} | {:.0f} | |\n", first, best);
}

// As the agent does in each cycle: the objects are kept, with those of the namespaces, and imported anew.
void measure_kept(const std::string& list, const Settings& settings) {
  constexpr std::string_view kNamespace = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})";
  const std::string text = list + "\n" + std::string(kNamespace);
  const auto options = std::make_shared<const kubernetes::KubernetesOptions>();
  state::ClusterObjects objects(options);
  if (const auto error = objects.set_whole(text, {text.size(), json::JsonLimits().max_depth}))
    throw std::runtime_error(error->message);
  const kubernetes::KeptObjects kept = objects.kept();
  const kubernetes::KubernetesOptions at = objects.at_their_time(*options);
  muster_v1::SnapshotReader reader;
  double best = 0;
  for (int run = 0; run < settings.runs; ++run) {
    const std::clock_t begun = std::clock();
    const auto snapshot = reader.read(kept, at);
    const double milliseconds = 1e3 * static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
    check(snapshot, settings.list);
    best = run == 0 ? milliseconds : std::min(best, milliseconds);
  }
  fmt::print("\nKept objects to a snapshot: {:.0f} ms of processor time.\n", best);
}

struct Outcome {
  double wall_s = 0, processor_s = 0;
  std::size_t peak_bytes = 0;
};

Outcome run_import(const std::string& file) {
  const Clock::time_point begun = Clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    const std::string program = test::program();
    execl(program.c_str(), program.c_str(), "import", "kubernetes", "--quiet", file.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) < 0 || status != 0) throw std::runtime_error("the import failed");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {seconds_since(begun), seconds(used.ru_utime) + seconds(used.ru_stime),
          static_cast<std::size_t>(used.ru_maxrss) * 1024};
}

void measure_program(const std::string& text, const Settings& settings) {
  const std::string file = fmt::format("/tmp/muster-bench-import-{}.json", getpid());
  std::ofstream(file) << text;
  double first = 0, best = 0, processor = 0, peak = 0;
  for (int run = 0; run < settings.runs; ++run) {
    const Outcome outcome = run_import(file);
    if (run == 0) first = megabytes(text.size()) / outcome.wall_s;
    best = std::max(best, megabytes(text.size()) / outcome.wall_s);
    processor = std::max(processor, megabytes(text.size()) / outcome.processor_s);
    peak = static_cast<double>(outcome.peak_bytes) / static_cast<double>(text.size());
  }
  std::remove(file.c_str());
  fmt::print("| a file to a snapshot line, by the program | {:.0f} | {:.0f} | {:.2f} |\n", first, best, peak);
  fmt::print("| the same by its processor time | | {:.0f} | |\n", processor);
}

int run(int argc, char** argv) {
  Settings settings;
  parse_flags(argc, argv,
              {{"--nodes", [&](const auto& value) { settings.list.nodes = std::stoll(value); }},
               {"--pods", [&](const auto& value) { settings.list.pods = std::stoll(value); }},
               {"--indentation", [&](const auto& value) { settings.list.indentation = std::stoll(value); }},
               {"--runs", [&](const auto& value) { settings.runs = std::stoi(value); }},
               {"--write", [&](const auto& value) { settings.write = value; }}});
  std::string text;
  if (!settings.write.empty()) {
    std::ofstream(settings.write) << generator::kubernetes_list(settings.list) << '\n';
    return 0;
  }
  text = generator::kubernetes_list(settings.list);
  fmt::print("{}, {} nodes, {} pods, {:.1f} MB, indentation {}, load {:.1f}\n\n", commit(), settings.list.nodes,
             settings.list.pods, megabytes(text.size()), settings.list.indentation, load_average());
  fmt::print("| | first MB/s | best MB/s | peak memory / input |\n|---|---|---|---|\n");
  measure_program(text, settings);
  measure_reader(text, settings);
  measure_kept(text, settings);
  return 0;
}

const Program kProgram("import", run);

}  // namespace
}  // namespace muster::bench::import_bench
