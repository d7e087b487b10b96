// How much processor time an answer to kube-scheduler takes: `filter`, `prioritize` and `preempt` of the agent's
// extender, for a cluster whose nodes are all in use differently.
//
// Usage: bench_extender [--nodes N] [--calls N]
// Each answer is checked before it counts. The request has the names of all nodes (nodeCacheCapable).
#include "cli/agent/extender/extender.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/support/arguments.h"
#include "bench/support/program.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "model/build/build_problem.h"

namespace muster::bench::extender_bench {
namespace {

class KeptExchange final : public http::HttpExchange {
 public:
  void respond(http::HttpResponse response) override { answer = std::move(response); }
  void begin(http::HttpResponse) override {}
  void write(std::string, std::function<void()>) override {}
  void end() override {}
  void abandon() override {}
  http::HttpResponse answer;
};

double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// Nodes of 8 GPUs of which 0 to 7 are in use, by pods with cores and memory of many sizes.
std::string cluster(std::size_t nodes) {
  std::mt19937_64 random(1);
  std::string line = R"({"format":"muster/v1","nodes":[)", pods;
  for (std::size_t i = 0; i < nodes; ++i) {
    line += fmt::format(R"({}{{"name":"node-{}","resources":{{"cpu":96,"memory":"1024Gi"}},"gpus":{{"count":8}}}})",
                        i == 0 ? "" : ",", i);
    for (std::uint64_t used = 0, most = random() % 8; used < most;) {
      const std::uint64_t gpus = 1 + random() % (most - used);
      pods += fmt::format(R"({}{{"name":"p{}-{}","status":"running","node":"node-{}",)"
                          R"("resources":{{"cpu":{},"memory":"{}Gi"}},"gpu":{{"count":{}}}}})",
                          pods.empty() ? "" : ",", i, used, i, gpus * (1 + random() % 10), gpus * (1 + random() % 100),
                          gpus);
      used += gpus;
    }
  }
  return line + R"(],"pods":[)" + pods + "]}";
}

std::string pod_json(const std::string& name, int gpus, int cores) {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"ml","uid":"u-{0}","labels":{{"app":"train"}}}},"spec":{{)"
      R"("schedulerName":"default-scheduler","containers":[{{"name":"main","image":"example.com/train:1","resources":)"
      R"({{"requests":{{"cpu":"{2}","memory":"16Gi","nvidia.com/gpu":"{1}"}},)"
      R"("limits":{{"nvidia.com/gpu":"{1}"}}}}}}]}},)"
      R"("status":{{"phase":"Pending"}}}})",
      name, gpus, cores);
}

class Measured {
 public:
  Measured(std::size_t nodes, std::size_t calls) : calls_(calls) {
    options_.mode = cli::ApplyMode::kExtender;
    options_.reader.strict = options_.reader.kubernetes.strict = false;
    options_.reader.policy.schedulers = {"default-scheduler"};
    for (std::size_t i = 0; i < nodes; ++i) names_.push_back(fmt::format("\"node-{}\"", i));
    Result<Snapshot> snapshot = muster_v1::SnapshotReader().read(cluster(nodes));
    if (!snapshot) throw std::runtime_error(snapshot.error().message);
    const Result<Problem> problem = build_problem(*snapshot);
    if (!problem) throw std::runtime_error(problem.error().message);
    const double begun = thread_ms();
    auto room = std::make_shared<cli::SpareCapacity>(*problem, Plan());
    std::cout << fmt::format("{} nodes; the room that a plan leaves: {:.1f} ms, once a plan\n", nodes,
                             thread_ms() - begun);
    exporting::ExportedPlan plan;
    plan.objects = {{"{}",
                     exporting::ExportPhase::kNow,
                     "ml",
                     "starts",
                     "u-starts",
                     fmt::format("node-{}", nodes - 1),
                     "ml/starts",
                     {}}};
    const std::vector<cli::PendingPod> pending = {{"ml/starts", "ml/starts"}, {"ml/waits", "ml/waits"}};
    const std::vector<cli::WaitingGangNote> waiting = {
        {"ml/waits", "ml/waits", "Fragmented", "0/5000 nodes are available: 5000 Insufficient nvidia.com/gpu"}};
    extender_.emplace(options_, std::chrono::steady_clock::now, [](const cli::ExtenderBinding&, std::uint64_t) {});
    extender_->publish(std::make_shared<const cli::PlanView>(plan, pending, waiting, std::chrono::steady_clock::now()),
                       room);
  }

  // `pod_of`: the pod of each call.
  void run(const char* what, const char* verb, const std::function<std::string(std::size_t)>& pod_of,
           const char* expected) {
    std::vector<double> times;
    for (std::size_t call = 0; call < calls_; ++call) {
      auto exchange = std::make_shared<KeptExchange>();
      exchange->request.path = fmt::format("/extender/{}", verb);
      exchange->request.body =
          fmt::format(R"({{"Pod":{},"Nodes":null,"NodeNames":[{}]}})", pod_of(call), fmt::join(names_, ","));
      const double begun = thread_ms();
      extender_->serve(exchange);
      times.push_back(thread_ms() - begun);
      if (exchange->answer.body.find(expected) == std::string::npos)
        throw std::runtime_error(fmt::format("{}: {}", what, exchange->answer.body.substr(0, 300)));
    }
    std::ranges::sort(times);
    std::cout << fmt::format("| {} | {:.3f} | {:.3f} | {:.3f} |\n", what, times[times.size() / 2],
                             times[times.size() * 99 / 100], times.back());
  }

 private:
  std::size_t calls_;
  cli::AgentOptions options_;
  std::vector<std::string> names_;
  std::optional<cli::Extender> extender_;
};

int run(int argc, char** argv) {
  std::size_t nodes = 5000, calls = 300;
  parse_flags(argc, argv,
              {{"--nodes", [&](const std::string& value) { nodes = std::stoull(value); }},
               {"--calls", [&](const std::string& value) { calls = std::stoull(value); }}});
  Measured measured(nodes, calls);
  std::cout << "| call | median ms | 99 % | most |\n|---|---|---|---|\n";
  const auto named = [](const char* name) { return [name](std::size_t) { return pod_json(name, 1, 8); }; };
  measured.run("filter, a pod that starts", "filter", named("starts"), R"("NodeNames":["node-)");
  measured.run("filter, a pod that waits", "filter", named("waits"), "muster: ml/waits waits");
  measured.run("prioritize", "prioritize", named("starts"), R"("Score":10)");
  measured.run(
      "filter, single pods of one kind", "filter",
      [](std::size_t call) { return pod_json(fmt::format("s{}", call), 1, 4); }, R"("NodeNames":["node-)");
  measured.run(
      "filter, single pods of 50 kinds", "filter",
      [](std::size_t call) { return pod_json(fmt::format("m{}", call), 1, 1 + static_cast<int>(call % 50)); },
      R"("NodeNames":[")");
  return 0;
}

const Program kProgram("extender", run);

}  // namespace
}  // namespace muster::bench::extender_bench
