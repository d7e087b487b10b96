// A million small snapshots as requests to one server, over a connection that is replaced after every thousand: the
// same snapshots and the same judgement as bench_soak.
//
// Usage: bench_serve_soak [--snapshots N] [--engine greedy] [--budget DURATION] [--threads N] [--json FILE]
//                         [--commit NAME] [--program FILE]
// Exit code 1: an answer is missing, is an error or has the wrong id, or the memory drifts by 1 % or more.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/support/http_client.h"
#include "bench/support/machine.h"
#include "bench/support/program.h"
#include "bench/support/serve_process.h"
#include "bench/support/soak.h"
#include "model/base/parallel.h"

namespace muster::bench::serve_soak_bench {
namespace {

constexpr int kPatienceMs = 600'000;
constexpr std::int64_t kRequestsPerConnection = 1'000;

SoakOutcome soak(const SoakArguments& arguments) {
  SoakOutcome outcome;
  const std::vector<SoakFrame> frames = soak_frames();
  const ServeProcess server(
      {"--engine", arguments.engine, "--budget", arguments.budget, "--threads", arguments.threads, "--quiet"},
      arguments.program);
  const std::int64_t sampled_each = std::max<std::int64_t>(1, arguments.snapshots / kSamples);
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<HttpClient> client;
  while (outcome.answered < arguments.snapshots) {
    if (outcome.answered % kRequestsPerConnection == 0) client = std::make_unique<HttpClient>(server.socket());
    const SoakFrame& frame = frames[static_cast<std::size_t>(outcome.answered % kDistinct)];
    client->send(post("/v1/solve", frame.before + soak_id(outcome.answered) + frame.after));
    const auto answer = client->answer(kPatienceMs);
    outcome.fault = fault_of(answer ? std::optional(answer->body) : std::nullopt, outcome.answered);
    if (!outcome.fault.empty()) return outcome;
    if (++outcome.answered % sampled_each == 0) outcome.sample(server.id());
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

int run(const SoakArguments& arguments) {
  fmt::print("{} cores, load {:.1f}, commit {}, engine {}, budget {}, {} threads\n", usable_cores(), load_average(),
             arguments.commit, arguments.engine, arguments.budget, arguments.threads);
  std::fflush(stdout);
  return tell(soak(arguments), arguments, "serve_soak");
}

const Program kProgram("serve_soak", [](int argc, char** argv) { return run(parse_soak(argc, argv)); });

}  // namespace
}  // namespace muster::bench::serve_soak_bench
