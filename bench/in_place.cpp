// Pods that run where a scheduler spread them, and pods that found no room: how many more Muster runs by moving some,
// next to what it places of the same pods if none runs yet. Nodes that are nearly full, of two resources.
//
// Scenarios as in arXiv 2511.08373 (priority-aware scheduling): ReplicaSets of 1 to 4 pods, cpu uniform in 100 to
// 1,000 m, memory in 100 to 1,000 MB, priorities uniform in 1 to k; nodes of equal size, so that all pods together
// request `usage` percent. Pods run where least allocated nodes had room, in the order of their ReplicaSets. Each pod
// weighs the same, and one queue without a share makes the levels count pods, the highest priority first.
//
// Usage: bench_in_place [--nodes N,N] [--pods-a-node N,N] [--priorities N,N] [--usage P,P] [--seeds S,S] [--budget MS]
//        [--threads N]
// "Fewer": scenarios in which the plan in place runs fewer pods of some priority, or of a higher one, than the plan
// from scratch. The referee checks every plan.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/judge.h"
#include "bench/support/program.h"

namespace muster::bench::in_place_bench {
namespace {

struct Arguments {
  std::vector<std::string> nodes{"4", "8", "16", "32"}, pods{"4", "8"}, priorities{"1", "2", "4"},
      usage{"90", "95", "100", "105"}, seeds{"1", "2"};
  std::string budget_ms = "1000", threads = "2";
};

struct Scenario {
  std::int64_t nodes = 0, pods = 0, priorities = 0, usage = 0;
  std::uint64_t seed = 0;
};

struct Pod {
  std::int64_t cpu = 0, memory = 0;  // m, bytes
  int priority = 0;
  std::size_t node = 0;
  bool runs = false;
  Work work = 1'000;  // of the problem, in which each pod is to count 1,000
};

// The same with every standard library.
std::int64_t uniform(std::mt19937_64& random, std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
}

std::vector<Pod> pods_of(const Scenario& scenario) {
  std::mt19937_64 random(scenario.seed);
  const auto count = static_cast<std::size_t>(scenario.nodes * scenario.pods);
  std::vector<Pod> pods;
  while (pods.size() < count) {
    const auto replicas = static_cast<std::size_t>(uniform(random, 1, 4));
    const Pod pod{uniform(random, 100, 1'000), uniform(random, 100, 1'000) * 1'000'000,
                  static_cast<int>(uniform(random, 1, scenario.priorities))};
    pods.insert(pods.end(), std::min(replicas, count - pods.size()), pod);
  }
  return pods;
}

// The snapshot's line. `in_place`: pods run where there was room; else all wait.
std::string line_of(const Scenario& scenario, std::vector<Pod> pods, bool in_place) {
  std::int64_t cpu = 0, memory = 0;
  for (const Pod& pod : pods) cpu += pod.cpu, memory += pod.memory;
  cpu = cpu * 100 / scenario.usage / scenario.nodes;
  memory = memory * 100 / scenario.usage / scenario.nodes;
  std::vector<std::pair<std::int64_t, std::int64_t>> free(static_cast<std::size_t>(scenario.nodes), {cpu, memory});
  const auto idle = [&](const auto& of) {
    return static_cast<double>(of.first) / static_cast<double>(cpu) +
           static_cast<double>(of.second) / static_cast<double>(memory);
  };
  std::string text = R"({"format":"muster/v1","queues":[{"name":"q","gpu":{"quota":0,"weight":0},)"
                     R"("cpu":{"quota":0,"weight":0},"memory":{"quota":0,"weight":0}}],"nodes":[)";
  for (std::int64_t node = 0; node < scenario.nodes; ++node)
    text += fmt::format(R"({}{{"name":"n{}","resources":{{"cpu":"{}m","memory":{},"pods":1000}}}})",
                        node > 0 ? "," : "", node, cpu, memory);
  text += R"(],"pods":[)";
  for (std::size_t i = 0; i < pods.size(); ++i) {
    Pod& pod = pods[i];
    std::vector<std::size_t> order;
    for (std::size_t node = 0; node < free.size(); ++node)
      if (free[node].first >= pod.cpu && free[node].second >= pod.memory) order.push_back(node);
    if (in_place && !order.empty()) {
      pod.node = *std::ranges::max_element(order, {}, [&](std::size_t node) { return idle(free[node]); });
      pod.runs = true;
      free[pod.node].first -= pod.cpu;
      free[pod.node].second -= pod.memory;
    }
    text += fmt::format(R"({}{{"name":"p{}","queue":"q","priority":{},"weight":{},)"
                        R"("resources":{{"cpu":"{}m","memory":{}}}{}}})",
                        i > 0 ? "," : "", i, pod.priority, 1'000.0 / static_cast<double>(pod.work), pod.cpu, pod.memory,
                        pod.runs ? fmt::format(R"(,"node":"n{}")", pod.node) : "");
  }
  return text + "]}";
}

// Pods that run in the end of each priority and all above, the highest first.
std::vector<int> counts_of(const Judge& judge, const Plan& plan) {
  std::vector<bool> is_there(judge.problem.pods.size());
  for (const PodIndex pod : judge.problem.pods.indices())
    is_there[pod.value()] = judge.problem.pods[pod].status == PodStatus::kRunning;
  for (const Eviction& eviction : plan.evictions) is_there[eviction.pod.value()] = false;
  for (const Placement& placement : plan.placements) is_there[placement.pod.value()] = true;
  std::map<int, int, std::greater<>> by_priority;
  for (const PodIndex pod : judge.problem.pods.indices())
    by_priority[judge.problem.gangs[judge.problem.pods[pod].gang].priority] += is_there[pod.value()] ? 1 : 0;
  std::vector<int> counts;
  int sum = 0;
  for (const auto& [priority, count] : by_priority) counts.push_back(sum += count);
  return counts;
}

struct Tally {
  int scenarios = 0, pods = 0, at_first = 0, in_place = 0, from_scratch = 0, fewer = 0, more = 0, proven = 0;
  std::int64_t moved = 0;
};

void solve(const Scenario& scenario, const Arguments& arguments, Tally& tally) {
  std::vector<Pod> pods = pods_of(scenario);
  const Judge unweighted(line_of(scenario, pods, false));
  for (std::size_t i = 0; i < pods.size(); ++i) pods[i].work = unweighted.problem.class_of(PodIndex(i)).work;
  const std::vector<std::string> flags{"--budget", arguments.budget_ms + "ms", "--threads", arguments.threads,
                                       "--quiet"};
  std::vector<std::vector<int>> counts;
  for (const bool in_place : {true, false}) {
    const std::string line = line_of(scenario, pods, in_place);
    const Judge judge(line);
    const muster_v1::ReadPlan plan = judge.passed(answer_of(flags, line).line);
    counts.push_back(counts_of(judge, plan.plan));
    if (!in_place) continue;
    tally.at_first += counts_of(judge, {}).back();
    tally.moved += std::ranges::count(plan.plan.evictions, EvictionReason::kConsolidate, &Eviction::reason);
    const auto is_open = [](const auto& level) { return level.level == "work" && level.bound != level.value; };
    tally.proven += std::ranges::none_of(plan.objective, is_open) ? 1 : 0;
  }
  ++tally.scenarios;
  tally.pods += static_cast<int>(pods.size());
  tally.in_place += counts[0].back();
  tally.from_scratch += counts[1].back();
  tally.fewer += counts[0] < counts[1] ? 1 : 0;
  tally.more += counts[0] > counts[1] ? 1 : 0;
}

int run(const Arguments& arguments) {
  int faults = 0;
  fmt::print(
      "| nodes | scenarios | pods | run at first | in place | from scratch | fewer | more | moved | proven |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  for (const std::string& nodes : arguments.nodes) {
    Tally tally;
    for (const std::string& pods : arguments.pods)
      for (const std::string& priorities : arguments.priorities)
        for (const std::string& usage : arguments.usage)
          for (const std::string& seed : arguments.seeds) {
            try {
              solve({std::stoll(nodes), std::stoll(pods), std::stoll(priorities), std::stoll(usage), std::stoull(seed)},
                    arguments, tally);
            } catch (const std::exception& fault) {
              fmt::print("FAULT {} nodes, {} pods, {} priorities, {} %, seed {}: {}\n", nodes, pods, priorities, usage,
                         seed, fault.what());
              ++faults;
            }
          }
    fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", nodes, tally.scenarios, tally.pods,
               tally.at_first, tally.in_place, tally.from_scratch, tally.fewer, tally.more, tally.moved, tally.proven);
    std::fflush(stdout);
  }
  return faults == 0 ? 0 : 1;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--nodes", [&](const std::string& value) { arguments.nodes = split(value); }},
                  {"--pods-a-node", [&](const std::string& value) { arguments.pods = split(value); }},
                  {"--priorities", [&](const std::string& value) { arguments.priorities = split(value); }},
                  {"--usage", [&](const std::string& value) { arguments.usage = split(value); }},
                  {"--seeds", [&](const std::string& value) { arguments.seeds = split(value); }},
                  {"--budget", [&](const std::string& value) { arguments.budget_ms = value; }},
                  {"--threads", [&](const std::string& value) { arguments.threads = value; }},
              });
  return arguments;
}

const Program kProgram("in_place", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::in_place_bench
