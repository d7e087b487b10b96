// Hundreds of clients that send their headers byte by byte, and dozens that do not read their answers: how long
// /healthz takes meanwhile, and whether the server disconnects all of them.
//
// Usage: bench_serve_slow [--slow-headers N] [--slow-readers N] [--seconds S] [--header-timeout D] [--write-timeout D]
// Exit code 1: a connection is not cut, or the 99th percentile of /healthz is above 50 ms.
#include <chrono>
#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/machine.h"
#include "bench/support/program.h"
#include "bench/support/slow_clients.h"
#include "bench/support/statistics.h"
#include "datasets/generator/generator.h"
#include "model/base/parallel.h"

namespace muster::bench::serve_slow_bench {
namespace {

constexpr double kMostMs = 50;
constexpr int kLines = 5'000;

struct Arguments {
  int slow_headers = 500, slow_readers = 50, seconds = 8;
  std::string header_timeout = "10s", write_timeout = "10s";
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--slow-headers", [&](const std::string& value) { arguments.slow_headers = std::stoi(value); }},
                  {"--slow-readers", [&](const std::string& value) { arguments.slow_readers = std::stoi(value); }},
                  {"--seconds", [&](const std::string& value) { arguments.seconds = std::stoi(value); }},
                  {"--header-timeout", [&](const std::string& value) { arguments.header_timeout = value; }},
                  {"--write-timeout", [&](const std::string& value) { arguments.write_timeout = value; }},
              });
  return arguments;
}

std::string snapshot() {
  generator::GeneratorOptions options;
  options.cluster.nodes = 2;
  options.cluster.gpus_per_node = 2;
  return generator::generate_snapshot(options);
}

int run(const Arguments& arguments) {
  fmt::print("{} cores, load {:.1f}, commit {}\n", usable_cores(), load_average(), commit());
  const ServeProcess server({"--engine", "greedy", "--quiet", "--header-timeout", arguments.header_timeout,
                             "--write-timeout", arguments.write_timeout});
  const auto alone = health_ms(server, std::chrono::seconds(2), [] {});
  SlowReaders readers(server, arguments.slow_readers, snapshot(), kLines);
  SlowHeaders headers(server, arguments.slow_headers);
  const auto beside = health_ms(server, std::chrono::seconds(arguments.seconds), [&] { headers.send_a_byte(); });
  constexpr int kPatienceMs = 60'000;
  const std::size_t headers_cut = headers.cut_within(kPatienceMs), readers_cut = readers.cut_within(kPatienceMs);
  const double p99 = percentile(beside, 0.99);
  fmt::print("/healthz, ms: p50 {:.2f}, p99 {:.2f} alone; p50 {:.2f}, p99 {:.2f}, most {:.2f} of {} beside the slow\n",
             median(alone), percentile(alone, 0.99), median(beside), p99, percentile(beside, 1), beside.size());
  fmt::print("cut: {} of {} slow headers, {} of {} slow readers\n", headers_cut, arguments.slow_headers, readers_cut,
             arguments.slow_readers);
  const bool all_cut = headers_cut == static_cast<std::size_t>(arguments.slow_headers) &&
                       readers_cut == static_cast<std::size_t>(arguments.slow_readers);
  return all_cut && p99 <= kMostMs ? 0 : 1;
}

const Program kProgram("serve_slow", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::serve_slow_bench
