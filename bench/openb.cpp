// The OpenB trace online: one pod at a time, in the published orders of arrival, no pod moves, and a pod that does not
// fit is dropped. Muster's placer and FGD as implemented here, compared with the published curves of FGD. A separate
// replay checks every placement before it counts.
//
// Usage: bench_openb [--traces NAME,NAME] [--seeds S,S] [--policies muster,fgd,best-fit,...] [--batch K,K]
//        [--data DIR] [--json FILE]
// --batch: adds Muster's placer with K pods known at a time, as the policy muster-batch-K. A separate track: do not
// compare it with policies that know one pod at a time. Without flags: every trace and seed in datasets/openb. A seed
// that DIR has no order of is sampled in the same way. DIR is laid out as datasets/openb, or as published
// (openb_pod_list_TRACE.csv, arrivals/TRACE_SEED.idx).
#include "datasets/traces/openb.h"

#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/openb_files.h"
#include "bench/support/openb_replay.h"
#include "bench/support/program.h"
#include "heuristics/policies/online_placing.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "model/build/build_problem.h"

namespace muster::bench::openb_bench {
namespace {

struct Arguments {
  std::vector<std::string> traces = traces::openb_traces(), seeds{"42", "43", "44", "45", "46"},
                           policies{"muster", "fgd"};
  std::string directory = traces::openb_source_directory(), json;
};

// Policies are "muster", "muster-batch-K", and the names of online policies.
const std::string kBatchPrefix = "muster-batch-";

// How many pods are known at a time.
std::size_t batch_of(const std::string& policy) {
  return policy.starts_with(kBatchPrefix) ? std::stoull(policy.substr(kBatchPrefix.size())) : 1;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  std::vector<std::string> batches;
  parse_flags(argc, argv,
              {
                  {"--traces", [&](const std::string& value) { arguments.traces = split(value); }},
                  {"--seeds", [&](const std::string& value) { arguments.seeds = split(value); }},
                  {"--policies", [&](const std::string& value) { arguments.policies = split(value); }},
                  {"--batch", [&](const std::string& value) { batches = split(value); }},
                  {"--data", [&](const std::string& value) { arguments.directory = value; }},
                  {"--json", [&](const std::string& value) { arguments.json = value; }},
              });
  for (const std::string& policy : arguments.policies)
    if (policy != "muster" && !policies::online_policy_of(policy))
      throw std::runtime_error("there is no policy " + policy);
  for (const std::string& batch : batches) {
    if (batch.empty() || batch.size() > 6 || batch.find_first_not_of("0123456789") != std::string::npos ||
        batch[0] == '0')
      throw std::runtime_error("--batch takes numbers of pods, 1 to 999999");
    arguments.policies.push_back(kBatchPrefix + batch);
  }
  return arguments;
}

template <class Value>
Value value_of(Result<Value> result) {
  if (!result) throw std::runtime_error(result.error().path + ": " + result.error().message);
  return std::move(*result);
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The cost of one replay: wall time, CPU time of the placing thread, CPU time of all threads.
struct Took {
  double wall = 0, thread = 0, process = 0;
};
class Stopwatch {
 public:
  Took took() const {
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count(), thread_seconds() - thread_,
            static_cast<double>(std::clock() - process_) / CLOCKS_PER_SEC};
  }

 private:
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  double thread_ = thread_seconds();
  std::clock_t process_ = std::clock();
};

struct Measured {
  Replay replay;
  Took took;
};

Measured replay_muster(const traces::OpenbInput& input, std::size_t batch) {
  const OnlineInput online = online_input(input);
  online::OnlinePlacer placer(online.types, online.type_of_node);
  Measured measured;
  const Stopwatch watch;
  const std::span<const policies::OnlineClass> pods = online.pods;
  for (std::size_t first = 0; first < pods.size(); first += batch) {
    for (std::optional<online::OnlinePlace>& place :
         placer.place_batch(pods.subspan(first, std::min(batch, pods.size() - first))))
      measured.replay.push_back(std::move(place));
  }
  measured.took = watch.took();
  return measured;
}

// All pods of the order wait in one snapshot, and are taken in order: the same as one at a time, since nothing leaves.
Measured replay_policy(const traces::OpenbInput& input, policies::OnlinePolicyKind policy) {
  const std::string line = traces::openb_snapshot(input, {});
  Snapshot snapshot = value_of(muster_v1::SnapshotReader().read(line));
  const Problem problem = value_of(build_problem(snapshot));
  Measured measured;
  policies::OneByOneOptions options;
  options.policy = policy;
  for (const PodIndex pod : problem.pods.indices()) options.order.push_back(problem.pods[pod].gang);
  const Stopwatch watch;
  const Plan plan = policies::solve_one_by_one(problem, options);
  measured.took = watch.took();
  measured.replay.resize(input.order.size());
  for (const Placement& placement : plan.placements)
    measured.replay[placement.pod.value()] = online::OnlinePlace{placement.node.value(), placement.devices};
  return measured;
}

// Sums over the seeds of a trace, by policy.
struct Sum {
  Outcome outcome;
  int runs = 0;
  double pods = 0;
  Took took;
  double mean(std::size_t percent) const { return outcome.unallocated[percent] / runs; }
};

using Published = std::map<std::pair<std::string, std::int32_t>, double>;  // by policy and arrived percent

Published published_of(const std::string& trace) {
  static const std::vector<traces::OpenbPublished> all =
      value_of(traces::load_openb_published(traces::openb_source_directory()));
  Published result;
  for (const traces::OpenbPublished& point : all)
    if (point.trace == trace) result[{point.policy, point.arrived}] = point.unallocated_milli / 1000.0;
  return result;
}

void write_line(const std::string& file, const std::string& trace, const std::string& seed, const std::string& policy,
                const Outcome& outcome, const Measured& measured) {
  if (file.empty()) return;
  std::ostringstream curve;
  for (std::size_t percent = 50; percent <= kLastPercent; ++percent)
    curve << (percent > 50 ? "," : "") << fmt::format("{:.3f}", outcome.unallocated[percent]);
  const auto pods = static_cast<double>(measured.replay.size());
  std::ofstream(file, std::ios::app) << fmt::format(
      R"({{"trace":"{}","seed":{},"policy":"{}","pods":{},"lostEights":{},"podsPerSecond":{:.0f},)"
      R"("podsPerThreadSecond":{:.0f},"podsPerProcessorSecond":{:.0f},"unallocatedFrom50":[{}]}})"
      "\n",
      trace, seed, policy, measured.replay.size(), outcome.lost_eights, pods / measured.took.wall,
      pods / measured.took.thread, pods / measured.took.process, curve.str());
}

using Sums = std::map<std::string, Sum>;  // by policy

Sums measure(const std::string& trace, const Arguments& arguments) {
  Sums sums;
  for (const std::string& seed : arguments.seeds) {
    traces::OpenbInput input = value_of(traces::load_openb(openb_files_in(arguments.directory, trace, seed)));
    if (input.order.empty()) input.order = sampled_order(input, std::stoull(seed));
    for (const std::string& policy : arguments.policies) {
      const Measured measured = policy.starts_with("muster")
                                    ? replay_muster(input, batch_of(policy))
                                    : replay_policy(input, *policies::online_policy_of(policy));
      check_replay(input, measured.replay, batch_of(policy));
      const Outcome outcome = outcome_of(input, measured.replay);
      write_line(arguments.json, trace, seed, policy, outcome, measured);
      Sum& sum = sums[policy];
      ++sum.runs;
      for (std::size_t i = 0; i <= kLastPercent; ++i) sum.outcome.unallocated[i] += outcome.unallocated[i];
      sum.outcome.lost_eights += outcome.lost_eights;
      sum.pods += static_cast<double>(measured.replay.size());
      sum.took.wall += measured.took.wall;
      sum.took.thread += measured.took.thread;
      sum.took.process += measured.took.process;
    }
  }
  return sums;
}

std::string three(const auto& at) { return fmt::format("{} / {} / {}", at(95), at(100), at(130)); }

void print_row(const std::string& trace, const std::string& policy, const Sum& sum, const Published& published) {
  static const std::map<std::string, std::string> names{
      {"fgd", "FGD"}, {"best-fit", "BestFit"}, {"dot-product", "DotProd"}};
  const auto name = names.find(policy);
  const auto theirs = [&](std::int32_t percent) {
    const auto point = published.find({name == names.end() ? "FGD" : name->second, percent});
    return point == published.end() ? std::string("?") : fmt::format("{:.2f}", point->second);
  };
  const auto ours = [&](std::size_t percent) { return fmt::format("{:.2f}", sum.mean(percent)); };
  const std::string beside = policy.starts_with(kBatchPrefix) ? "-"
                             : name == names.end()            ? "FGD " + three(theirs)
                                                              : name->second + " " + three(theirs);
  fmt::print("| {} | {} | {} | {} | {:.1f} | {:.0f} | {:.0f} | {:.0f} |\n", trace, policy, three(ours), beside,
             static_cast<double>(sum.outcome.lost_eights) / sum.runs, sum.pods / sum.took.thread,
             sum.pods / sum.took.process, sum.pods / sum.took.wall);
  std::fflush(stdout);
}

// How much more of the GPUs, in points, a batch may leave than placement pod by pod.
constexpr double kBatchSlack = 0.1;

// Below the published FGD, and no batch worse than one pod at a time.
bool is_good(const Sums& sums, const Published& published, std::int32_t percent) {
  if (!sums.contains("muster")) return true;
  const auto at = static_cast<std::size_t>(percent);
  const double online = sums.at("muster").mean(at);
  for (const auto& [policy, sum] : sums)
    if (policy.starts_with(kBatchPrefix) && sum.mean(at) > online + kBatchSlack) return false;
  const auto fgd = published.find({"FGD", percent});
  return fgd == published.end() || online < fgd->second;
}

// 1 if Muster is not below the published FGD at 100 and at 130 % of a trace, or a batch is worse than no batch.
int run(const Arguments& arguments) {
  fmt::print(
      "Percent of the GPUs unallocated at 95 / 100 / 130 % arrived, means over the seeds; nothing moves.\n"
      "| trace | policy | unallocated | published | lost pods of 8 GPUs by 100 % | pods/s of the placing thread | "
      "pods/s of "
      "all processor time | pods/s |\n|---|---|---|---|---|---|---|---|\n");
  bool all_good = true;
  for (const std::string& trace : arguments.traces) {
    const Sums sums = measure(trace, arguments);
    const Published published = published_of(trace);
    for (const std::string& policy : arguments.policies) print_row(trace, policy, sums.at(policy), published);
    for (const std::int32_t percent : {100, 130}) all_good = all_good && is_good(sums, published, percent);
  }
  return all_good ? 0 : 1;
}

const Program kProgram("openb", [](int argc, char** argv) { return run(parse(argc, argv)); });

}  // namespace
}  // namespace muster::bench::openb_bench
