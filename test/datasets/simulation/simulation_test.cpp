// The replay: the time of each event, and the records about it. Plans are made by hand.
#include "datasets/simulation/simulation.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "datasets/simulation/summary.h"
#include "io/snapshot_reader/event_reader.h"
#include "model/build/build_problem.h"
#include "model/referee/referee.h"

namespace muster::simulation {
namespace {

constexpr Nanoseconds kSecond = kNanosecondsPerSecond;

Workload workload_of(const std::vector<std::string>& lines) {
  muster_v1::EventReader reader;
  for (const std::string& line : lines) {
    const auto error = reader.read(line);
    EXPECT_FALSE(error) << line << "\n" << error->path << " " << error->message;
  }
  return reader.take();
}

std::string cluster(int nodes, int gpus) {
  std::string line = R"({"format":"muster/v1","nodes":[)";
  for (int i = 0; i < nodes; ++i) {
    line += (i == 0 ? "" : ",");
    line += R"({"name":"n)" + std::to_string(i) + R"(","gpus":{"count":)" + std::to_string(gpus) + "}}";
  }
  return line + "]}";
}

std::string job(const std::string& time, const std::string& name, int gpus, const std::string& duration) {
  return R"({"time":)" + time + R"(,"event":"submit","pods":[{"name":")" + name + R"(","gpu":{"count":)" +
         std::to_string(gpus) + R"(}}],"duration":)" + duration + "}";
}

std::string gang(const std::string& time, const std::string& name, int pods, const std::string& terms,
                 const std::string& duration) {
  std::string line =
      R"({"time":)" + time + R"(,"event":"submit","gangs":[{"name":")" + name + "\"" + terms + R"(}],"pods":[)";
  for (int i = 0; i < pods; ++i) {
    line += (i == 0 ? "" : ",");
    line += R"({"name":")" + name + "-" + std::to_string(i) + R"(","gang":")" + name + R"(","gpu":{"count":1}})";
  }
  return line + R"(],"duration":)" + duration + "}";
}

// First fit, gangs in the order of the snapshot; whole gangs at first, then whatever fits.
Plan first_fit(const Snapshot& snapshot, const Problem& problem) {
  std::vector<std::vector<bool>> is_free;
  for (const SnapshotNode& node : snapshot.nodes) {
    is_free.emplace_back(static_cast<std::size_t>(node.gpu_count), !node.unschedulable);
  }
  for (const PodIndex pod : problem.pods.indices()) {
    for (const std::int32_t device : problem.devices_of(pod)) {
      is_free[problem.pods[pod].node.value()][static_cast<std::size_t>(device)] = false;
    }
  }
  Plan plan;
  for (const Gang& one : problem.gangs) {
    auto attempt = is_free;
    std::vector<Placement> placements;
    std::int32_t there = 0;
    for (const PodIndex pod : one.pods) {
      there += problem.pods[pod].status == PodStatus::kRunning ? 1 : 0;
      if (problem.pods[pod].status != PodStatus::kPending) continue;
      const auto wanted = static_cast<std::size_t>(problem.class_of(pod).gpu.devices);
      for (std::size_t node = 0; node < attempt.size(); ++node) {
        std::vector<std::int32_t> devices;
        for (std::size_t d = 0; d < attempt[node].size() && devices.size() < wanted; ++d) {
          if (attempt[node][d]) devices.push_back(static_cast<std::int32_t>(d));
        }
        if (devices.size() < wanted) continue;
        for (const std::int32_t device : devices) attempt[node][static_cast<std::size_t>(device)] = false;
        placements.push_back({pod, NodeIndex(node), devices, {}});
        break;
      }
    }
    there += static_cast<std::int32_t>(placements.size());
    if (there < problem.groups[one.root].minimum) continue;
    is_free = attempt;
    plan.placements.insert(plan.placements.end(), placements.begin(), placements.end());
  }
  std::ranges::sort(plan.placements, {}, &Placement::pod);
  return plan;
}

using Decide = std::function<Plan(const Snapshot&, const Problem&)>;

// What came of a run: the jobs and the events, as "SECONDS what name".
struct Told {
  std::vector<SimulatedJob> jobs;
  std::vector<std::string> events;
  SimulationTotals totals;
  SimulationSummary summary;
  double end = 0;

  const SimulatedJob& of(std::string_view name) const {
    for (const SimulatedJob& one : jobs)
      if (one.name == name) return one;
    ADD_FAILURE() << "no job " << name;
    return jobs.front();
  }
  bool has(const std::string& event) const { return std::ranges::find(events, event) != events.end(); }
};

std::string told(const SimulationRecord& record) {
  const auto at = [](Nanoseconds time) { return std::to_string(time / kSecond) + " "; };
  static const std::vector<std::string> job_events = {"submit", "place",     "start",  "move",
                                                      "evict",  "interrupt", "finish", "drop"};
  static const std::vector<std::string> node_events = {"failed",  "repaired", "added",
                                                       "removed", "cordoned", "uncordoned"};
  if (const auto* one = std::get_if<JobRecord>(&record)) {
    return at(one->time) + job_events[static_cast<std::size_t>(one->event)] + " " + std::string(one->job.name);
  }
  if (const auto* node = std::get_if<NodeRecord>(&record)) {
    return at(node->time) + node_events[static_cast<std::size_t>(node->event)] + " " + std::string(node->node.name);
  }
  return at(std::get<CycleRecord>(record).time) + "cycle";
}

Told run(const std::vector<std::string>& lines, const SimulationOptions& options, const Decide& decide = first_fit) {
  const Workload workload = workload_of(lines);
  Told result;
  auto begun = Simulation::begin(workload, options,
                                 [&](const SimulationRecord& record) { result.events.push_back(told(record)); });
  if (!begun) {
    ADD_FAILURE() << begun.error().path << " " << begun.error().message;
    return result;
  }
  Simulation& simulation = **begun;
  while (simulation.advance()) {
    auto problem = build_problem(simulation.snapshot());
    EXPECT_TRUE(problem) << problem.error().message;
    if (!problem) break;
    const FairShares shares = compute_fair_shares(*problem);
    const Plan plan = decide(simulation.snapshot(), *problem);
    for (const referee::Violation& violation : referee::check_plan(simulation.snapshot(), *problem, shares, plan)) {
      ADD_FAILURE() << referee::rule_name(violation.rule) << " " << violation.message;
    }
    simulation.carry_out(*std::move(problem), shares, plan);
  }
  result.jobs = simulation.jobs();
  for (SimulatedJob& one : result.jobs) one.queue = {};
  result.totals = simulation.totals();
  result.summary = summarize(simulation);
  result.end = static_cast<double>(simulation.now()) / 1e9;
  // Names point into the workload, which ends here.
  static std::vector<std::unique_ptr<std::string>> kept;
  for (SimulatedJob& one : result.jobs) {
    kept.push_back(std::make_unique<std::string>(one.name));
    one.name = *kept.back();
  }
  result.totals.samples.queues.clear();
  result.totals.samples.last.reset();
  return result;
}

SimulationOptions one_by_one() {
  SimulationOptions options;
  options.cycle = CycleRule::kEach;
  return options;
}

TEST(Simulation, OneGpuServesOneJobAfterAnother) {
  const Told told = run({cluster(1, 1), job("0", "a", 1, "100"), job("10", "b", 1, "50")}, one_by_one());
  EXPECT_EQ(told.events,
            (std::vector<std::string>{"0 submit a", "0 place a", "0 start a", "0 cycle", "10 submit b", "10 cycle",
                                      "100 finish a", "100 place b", "100 start b", "100 cycle", "150 finish b"}));
  EXPECT_EQ(told.of("b").first_start, 100 * kSecond);
  EXPECT_DOUBLE_EQ(told.summary.all.waiting.mean_seconds, 45);
  EXPECT_DOUBLE_EQ(told.summary.all.completion.mean_seconds, (100 + 140) / 2.0);
  EXPECT_EQ(told.summary.all.waiting.p99, 90 * kSecond);
  EXPECT_DOUBLE_EQ(told.end, 150);
  EXPECT_DOUBLE_EQ(gpu_seconds(told.totals.allocated), 150);
  EXPECT_DOUBLE_EQ(gpu_seconds(told.totals.capacity), 150);
}

TEST(Simulation, APeriodPutsOffWhatComesInBetween) {
  SimulationOptions options;
  options.period = 60 * kSecond;
  const Told told = run({cluster(1, 1), job("0", "a", 1, "100"), job("10", "b", 1, "50")}, options);
  EXPECT_EQ(told.of("a").first_start, 0);
  EXPECT_EQ(told.of("b").first_start, 120 * kSecond);
  EXPECT_EQ(told.of("b").finished, 170 * kSecond);
}

TEST(Simulation, ABatchWaitsForItsPods) {
  SimulationOptions options;
  options.cycle = CycleRule::kBatch;
  options.batch = 2;
  const Told told =
      run({cluster(1, 8), job("0", "a", 1, "100"), job("5", "b", 1, "100"), job("9", "c", 1, "100")}, options);
  EXPECT_EQ(told.of("a").first_start, 5 * kSecond);
  EXPECT_EQ(told.of("b").first_start, 5 * kSecond);
  EXPECT_EQ(told.of("c").first_start, 9 * kSecond) << "the last ones wait for no other gang";
}

// The counts of the histories that the policy is given, at each cycle.
std::vector<std::int64_t> told_counts(const std::vector<std::string>& lines, const SimulationOptions& options) {
  std::vector<std::int64_t> counts;
  run(lines, options, [&](const Snapshot& snapshot, const Problem& problem) {
    const auto& histories = snapshot.policy.over_time.expected_durations;
    std::int64_t count = histories ? 0 : -1;
    for (const DurationHistory& history : histories ? *histories : std::vector<DurationHistory>{}) {
      if (history.queue.empty()) count += history.count;
    }
    counts.push_back(count);
    return first_fit(snapshot, problem);
  });
  return counts;
}

TEST(Simulation, KeepsTheDurationsOfWhatHasFinished) {
  const std::vector<std::string> lines{cluster(1, 1), job("0", "a", 1, "100"), job("10", "b", 1, "50"),
                                       job("20", "c", 1, "50")};
  EXPECT_EQ(told_counts(lines, one_by_one()), (std::vector<std::int64_t>{0, 0, 0, 1, 2}));
  SimulationOptions without = one_by_one();
  without.durations = KnownDurations::kNone;
  EXPECT_EQ(told_counts(lines, without), std::vector<std::int64_t>(5, -1));
}

// Evicts the first gang for the second as soon as there are two.
Plan preempt_first(const Snapshot& snapshot, const Problem& problem) {
  if (snapshot.pods.size() < 2 || snapshot.pods[1].status != PodStatus::kPending ||
      snapshot.pods[0].status != PodStatus::kRunning)
    return first_fit(snapshot, problem);
  Plan plan;
  plan.evictions.push_back({PodIndex(0), EvictionReason::kPreempt, problem.pods[PodIndex(1)].gang});
  plan.placements.push_back({PodIndex(1), NodeIndex(0), {0}, {PodIndex(0)}});
  return plan;
}

std::vector<std::string> preempting() {
  std::string urgent = job("40", "urgent", 1, "10");
  urgent.replace(urgent.find("\"gpu\""), 5, R"("priority":50,"gpu")");
  return {cluster(1, 1), job("0", "meek", 1, "100"), urgent};
}

// What the policy knows at each cycle of the job's duration, in seconds; -1: nothing.
std::vector<std::int64_t> told_durations(const std::vector<std::string>& lines, const SimulationOptions& options,
                                         std::string_view name, const Decide& decide = first_fit) {
  std::vector<std::int64_t> seconds;
  run(lines, options, [&](const Snapshot& snapshot, const Problem& problem) {
    for (const PodIndex pod : problem.pods.indices()) {
      const Gang& gang = problem.gangs[problem.pods[pod].gang];
      if (gang.name == name)
        seconds.push_back(gang.times.expected_duration == 0 ? -1 : gang.times.expected_duration / kSecond);
    }
    return decide(snapshot, problem);
  });
  return seconds;
}

SimulationOptions knowing(KnownDurations durations) {
  SimulationOptions options = one_by_one();
  options.durations = durations;
  return options;
}

TEST(Simulation, TellsThePolicyOnlyWhatItMayKnow) {
  const std::vector<std::string> lines{cluster(1, 1), job("0", "a", 1, "100"), job("10", "b", 1, "70"),
                                       gang("20", "c", 1, "", "80")};
  const auto first_told = [&](KnownDurations durations, std::string_view name) {
    return told_durations(lines, knowing(durations), name).front();
  };
  constexpr std::int64_t kFourHours = 4 * 3600;
  EXPECT_EQ(first_told(KnownDurations::kNone, "b"), -1);
  EXPECT_EQ(first_told(KnownDurations::kByRules, "b"), kFourHours);
  EXPECT_EQ(first_told(KnownDurations::kExpected, "b"), kFourHours);
  EXPECT_EQ(first_told(KnownDurations::kExact, "b"), 70);
  EXPECT_EQ(first_told(KnownDurations::kExact, "c"), 80);
}

TEST(Simulation, TellsWhatIsLeftOfAnInterruptedJob) {
  std::vector<std::string> lines = preempting();
  lines[1] = job("0", "meek", 1, "300");
  SimulationOptions options = knowing(KnownDurations::kExact);
  options.resumes_work = true;
  const std::vector<std::int64_t> left = told_durations(lines, options, "meek", preempt_first);
  EXPECT_EQ(left.front(), 300);
  EXPECT_EQ(left.back(), 260) << "it ran for 40 s";
}

TEST(Simulation, APolicyThatReservesByItselfIsSparedTheRules) {
  const auto policy_of = [](KnownDurations durations, const std::string& order) {
    std::string first = cluster(1, 1);
    first.insert(first.size() - 1, R"(,"policy":{"overTime":{"order":")" + order + "\"}}");
    OverTime told;
    run({first, job("0", "a", 1, "100")}, knowing(durations), [&](const Snapshot& snapshot, const Problem& problem) {
      told = snapshot.policy.over_time;
      return first_fit(snapshot, problem);
    });
    return told;
  };
  EXPECT_NE(policy_of(KnownDurations::kByRules, "expectedDuration").reserve_after, kNever);
  EXPECT_EQ(policy_of(KnownDurations::kExpected, "expectedDuration").reserve_after, kNever);
  EXPECT_EQ(policy_of(KnownDurations::kByRules, "waited").order, SeniorityRule::kWaited);
  EXPECT_EQ(policy_of(KnownDurations::kExpected, "waited").order, SeniorityRule::kExpectedDuration);
  EXPECT_EQ(policy_of(KnownDurations::kNone, "expectedDuration").order, SeniorityRule::kWaited);
}

// GPUs by queue that the policy knows of the past, at each cycle; -1: nothing.
std::vector<std::vector<double>> told_usage(const std::vector<std::string>& lines, const SimulationOptions& options) {
  std::vector<std::vector<double>> usage;
  run(lines, options, [&](const Snapshot& snapshot, const Problem& problem) {
    std::vector<double>& now = usage.emplace_back();
    for (const SnapshotQueue& queue : snapshot.queues) now.push_back(queue.gpu.usage.value_or(-1e6) / 1e6);
    return first_fit(snapshot, problem);
  });
  return usage;
}

std::string job_of(const std::string& queue, const std::string& time, int gpus, const std::string& duration) {
  return R"({"time":)" + time + R"(,"event":"submit","pods":[{"name":")" + queue + time + R"(","queue":")" + queue +
         R"(","gpu":{"count":)" + std::to_string(gpus) + R"(}}],"duration":)" + duration + "}";
}

TEST(Simulation, TellsWhatQueuesHaveUsedByHalfLives) {
  const std::string start = R"({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":8}}],"queues":[
      {"name":"top"},{"name":"a","parent":"top"},{"name":"b","parent":"top"}]})";
  // a uses eight GPUs for 100 s, then none; b uses four from 300 s on.
  const std::vector<std::string> lines{start, job_of("a", "0", 8, "100"), job_of("b", "300", 4, "500"),
                                       job_of("b", "400", 1, "1")};
  SimulationOptions options = one_by_one();
  options.usage_half_life = 100 * kSecond;
  EXPECT_EQ(told_usage(lines, options), (std::vector<std::vector<double>>{{0, 0, 0}, {1, 1, 0}, {2.5, 0.5, 2}}));
  EXPECT_EQ(told_usage(lines, one_by_one()), (std::vector<std::vector<double>>(3, {-1, -1, -1})));
}

TEST(Simulation, UsageBeginsWithWhatTheFirstLineTells) {
  const std::string start = R"({"format":"muster/v1","nodes":[{"name":"n","gpus":{"count":8}}],"queues":[
      {"name":"a","gpu":{"usage":6}},{"name":"b"}]})";
  SimulationOptions options = one_by_one();
  options.usage_half_life = 100 * kSecond;
  EXPECT_EQ(told_usage({start, job_of("b", "0", 4, "10"), job_of("b", "100", 1, "1")}, options).front(),
            (std::vector<double>{6, 0}));
}

TEST(Simulation, AGangRunsWhileItsMinimumRuns) {
  const Told told = run({cluster(1, 3), gang("0", "g", 4, R"(,"minMember":2)", "100")}, one_by_one());
  EXPECT_TRUE(told.has("0 start g"));
  EXPECT_EQ(told.of("g").finished, 100 * kSecond) << "the pod that never found room does not hold it up";
  EXPECT_DOUBLE_EQ(gpu_seconds(told.totals.allocated), 300);
}

TEST(Simulation, WhatIsLeftOutEndsTheReplay) {
  const Told told = run({cluster(1, 2), job("0", "big", 4, "10"), job("0", "small", 1, "10")}, one_by_one());
  EXPECT_FALSE(told.of("big").first_start);
  EXPECT_DOUBLE_EQ(told.end, 10);
  EXPECT_EQ(told.summary.all.started, 1);
  EXPECT_EQ(told.summary.all.waiting.p99, 10 * kSecond) << "it has waited until the end";
}

TEST(Simulation, DroppedJobsLeaveImmediately) {
  SimulationOptions options = one_by_one();
  options.drops = true;
  const Told told =
      run({cluster(1, 1), job("0", "a", 1, "100"), job("10", "b", 1, "50"), job("100", "c", 1, "50")}, options);
  EXPECT_TRUE(told.of("b").is_dropped);
  EXPECT_FALSE(told.of("b").first_start);
  EXPECT_EQ(told.of("c").first_start, 100 * kSecond);
}

TEST(Simulation, EvictedWorkBeginsAgain) {
  const Told told = run(preempting(), one_by_one(), preempt_first);
  EXPECT_TRUE(told.has("40 evict meek"));
  EXPECT_TRUE(told.has("40 interrupt meek"));
  EXPECT_TRUE(told.has("50 start meek"));
  EXPECT_EQ(told.of("meek").finished, 150 * kSecond);
  EXPECT_EQ(told.of("meek").first_start, 0);
  EXPECT_DOUBLE_EQ(gpu_seconds(told.summary.lost), 40);
  EXPECT_EQ(told.totals.departed.preempted, 1);
}

TEST(Simulation, EvictedWorkGoesOnWhereAsked) {
  SimulationOptions options = one_by_one();
  options.resumes_work = true;
  const Told told = run(preempting(), options, preempt_first);
  EXPECT_EQ(told.of("meek").finished, 110 * kSecond);
  EXPECT_DOUBLE_EQ(gpu_seconds(told.summary.lost), 0);
}

// Two nodes of two GPUs: both first jobs run on one each; the third needs a whole node, so one moves.
Plan move_for_big(const Snapshot& snapshot, const Problem& problem) {
  const auto position = [&](std::string_view name) {
    for (std::size_t i = 0; i < snapshot.pods.size(); ++i)
      if (snapshot.pods[i].name == name) return i;
    return snapshot.pods.size();
  };
  Plan plan;
  if (position("big") == snapshot.pods.size()) {
    const std::size_t b = position("b");
    if (b == snapshot.pods.size()) return first_fit(snapshot, problem);
    plan.placements.push_back({PodIndex(b), NodeIndex(1), {0}, {}});
    return plan;
  }
  const std::size_t b = position("b"), big = position("big");
  plan.evictions.push_back({PodIndex(b), EvictionReason::kConsolidate, problem.pods[PodIndex(big)].gang});
  plan.placements.push_back({PodIndex(b), NodeIndex(0), {1}, {}});
  plan.placements.push_back({PodIndex(big), NodeIndex(1), {0, 1}, {PodIndex(b)}});
  return plan;
}

std::vector<std::string> moving() {
  return {cluster(2, 2), job("0", "a", 1, "100"), job("1", "b", 1, "100"), job("50", "big", 2, "100")};
}

TEST(Simulation, AMoveIsARestart) {
  const Told told = run(moving(), one_by_one(), move_for_big);
  EXPECT_TRUE(told.has("50 move b"));
  EXPECT_TRUE(told.has("50 interrupt b"));
  EXPECT_EQ(told.of("b").finished, 150 * kSecond);
  EXPECT_EQ(told.of("big").first_start, 50 * kSecond);
  EXPECT_DOUBLE_EQ(gpu_seconds(told.summary.lost), 49);
}

TEST(Simulation, ALiveMoveInterruptsNoPod) {
  SimulationOptions options = one_by_one();
  options.moves_live = true;
  const Told told = run(moving(), options, move_for_big);
  EXPECT_TRUE(told.has("50 move b"));
  EXPECT_FALSE(told.has("50 interrupt b"));
  EXPECT_EQ(told.of("b").finished, 101 * kSecond);
}

TEST(Simulation, ANodeThatGoesTakesItsPodsAlong) {
  const Told told = run({cluster(2, 1), job("0", "a", 1, "100"), R"({"time":30,"event":"removeNodes","names":["n0"]})"},
                        one_by_one());
  EXPECT_TRUE(told.has("30 evict a"));
  EXPECT_EQ(told.of("a").finished, 130 * kSecond);
  EXPECT_EQ(told.totals.departed.failed, 1);
  EXPECT_DOUBLE_EQ(gpu_seconds(told.totals.capacity), 2 * 30 + 100);
}

TEST(Simulation, ACordonedNodeKeepsWhatRuns) {
  const Told told = run({cluster(1, 2), job("0", "a", 1, "100"), R"({"time":30,"event":"cordon","names":["n0"]})",
                         job("40", "b", 1, "10"), R"({"time":70,"event":"uncordon","names":["n0"]})"},
                        one_by_one());
  EXPECT_EQ(told.of("a").finished, 100 * kSecond);
  EXPECT_EQ(told.of("b").first_start, 70 * kSecond);
}

TEST(Simulation, NodesThatFailComeBackAndTheirWorkIsDoneAgain) {
  SimulationOptions options;
  options.failures = {500 * kSecond, 100 * kSecond, 3};
  std::vector<std::string> lines = {cluster(4, 2)};
  for (int i = 0; i < 40; ++i) lines.push_back(job(std::to_string(i * 20), "j" + std::to_string(i), 1, "200"));
  const Told told = run(lines, options);
  EXPECT_EQ(told.summary.all.finished, 40);
  EXPECT_GT(told.totals.departed.failed, 5);
  EXPECT_GT(told.summary.lost, 0);
  EXPECT_EQ(run(lines, options).events, told.events) << "the same seed";
  options.failures.seed = 4;
  EXPECT_NE(run(lines, options).events, told.events);
}

TEST(Simulation, AGangBelowItsMinimumLosesItsWorkAndIsCompletedAgain) {
  const Told told =
      run({cluster(2, 2), gang("0", "g", 4, "", "100"), R"({"time":30,"event":"removeNodes","names":["n1"]})",
           R"({"time":50,"event":"addNodes","nodes":[{"name":"n2","gpus":{"count":2}}]})"},
          one_by_one());
  EXPECT_TRUE(told.has("30 interrupt g"));
  EXPECT_TRUE(told.has("50 start g"));
  EXPECT_EQ(told.of("g").finished, 150 * kSecond);
  EXPECT_DOUBLE_EQ(gpu_seconds(told.summary.lost), 120);
}

TEST(Simulation, NothingHappensAfterItsEnd) {
  SimulationOptions options = one_by_one();
  options.until = 60 * kSecond;
  const Told told = run({cluster(1, 1), job("0", "a", 1, "100"), job("80", "b", 1, "10")}, options);
  EXPECT_DOUBLE_EQ(told.end, 60);
  EXPECT_FALSE(told.of("a").finished);
  EXPECT_EQ(told.jobs.size(), 1U);
  EXPECT_DOUBLE_EQ(gpu_seconds(told.totals.allocated), 60);
}

TEST(Simulation, WhatRunsAtTheStartRunsForEver) {
  std::string start = cluster(1, 2);
  start.pop_back();
  start += R"(,"pods":[{"name":"old","node":"n0","gpu":{"count":1}}]})";
  const Told told = run({start, job("0", "a", 2, "100"), job("0", "b", 1, "100")}, one_by_one());
  EXPECT_TRUE(told.has("0 start old"));
  EXPECT_FALSE(told.of("a").first_start);
  EXPECT_TRUE(told.of("b").finished);
  EXPECT_FALSE(told.of("old").finished);
}

TEST(Simulation, RefusesAWorkloadThatMakesNoSense) {
  const Workload workload =
      workload_of({cluster(1, 1), R"({"time":5,"event":"submit","pods":[{"name":"p","priorityClass":"gone"}]})"});
  const auto begun = Simulation::begin(workload, {}, {});
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().path, "$.pods[0].priorityClass");
}

TEST(Simulation, TellsFairSharesOverTime) {
  std::string start = cluster(1, 4);
  start.pop_back();
  start += R"(,"queues":[{"name":"x","gpu":{"quota":2}},{"name":"y","gpu":{"quota":2}}]})";
  const auto queued = [](std::string line, const std::string& queue) {
    return line.replace(line.find("\"gpu\""), 5, R"("queue":")" + queue + R"(","gpu")");
  };
  std::vector<std::string> lines = {start};
  for (int i = 0; i < 4; ++i) lines.push_back(queued(job("0", "x" + std::to_string(i), 1, "100"), "x"));
  for (int i = 0; i < 2; ++i) lines.push_back(queued(job("0", "y" + std::to_string(i), 1, "100"), "y"));
  SimulationOptions options;
  options.period = 100 * kSecond;
  const Told told = run(lines, options);
  // Of 4 GPUs over 200 s, y is due 2 for 100 s, which x has.
  EXPECT_DOUBLE_EQ(gpu_seconds(told.totals.samples.shortfall), 200);
  EXPECT_DOUBLE_EQ(gpu_seconds(told.totals.samples.capacity), 800);
}

TEST(NodeFailures, SpansHaveTheirMeanAndNoMemory) {
  generator::Random random(7);
  constexpr int kDraws = 20'000;
  double sum = 0;
  int beyond = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double span = static_cast<double>(exponential_span(random, 1000 * kSecond)) / 1e9;
    EXPECT_GT(span, 0);
    sum += span;
    beyond += span > 2000 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 1000, 25);                               // 3.5 standard errors
  EXPECT_NEAR(static_cast<double>(beyond) / kDraws, 0.1353, 0.009);  // e^-2
}

TEST(SpanStatistics, TakesQuantilesByTheNearestRank) {
  std::vector<Nanoseconds> spans;
  for (int i = 100; i >= 1; --i) spans.push_back(i * kSecond);
  const SpanStatistics statistics = statistics_of(spans);
  EXPECT_EQ(statistics.count, 100);
  EXPECT_DOUBLE_EQ(statistics.mean_seconds, 50.5);
  EXPECT_EQ(statistics.p50, 50 * kSecond);
  EXPECT_EQ(statistics.p99, 99 * kSecond);
  EXPECT_EQ(statistics.most, 100 * kSecond);
  EXPECT_EQ(statistics_of({}).count, 0);
}

// One GPU: the first job takes 10 minutes, so the second is expected to wait as long, and does.
TEST(Simulation, KeepsTheFirstExpectedStartOfEachJobIfAsked) {
  const auto told = [](bool calibrates) {
    const std::string terms = R"(,"minMember":1,"expectedDuration":600)";
    const Workload workload =
        workload_of({cluster(1, 1), gang("0", "a", 1, terms, "600"), gang("60", "b", 1, terms, "600")});
    SimulationOptions options;
    options.calibrates = calibrates;
    const auto simulation = Simulation::begin(workload, options, {});
    EXPECT_TRUE(simulation);
    while ((*simulation)->advance()) {
      Problem problem = *build_problem((*simulation)->snapshot());
      const FairShares shares = compute_fair_shares(problem);
      const Plan plan = first_fit((*simulation)->snapshot(), problem);
      (*simulation)->carry_out(std::move(problem), shares, plan);
    }
    EXPECT_FALSE((*simulation)->jobs()[0].told_start);
    EXPECT_EQ((*simulation)->jobs()[1].first_start, 600 * kSecond);
    const ToldStatistics statistics = summarize(**simulation).all.told;
    EXPECT_EQ(statistics.count, calibrates ? 1 : 0);
    EXPECT_EQ(statistics.p50, calibrates ? 1 : 0);
    return (*simulation)->jobs()[1].told_start;
  };
  EXPECT_EQ(told(true), 600 * kSecond);
  EXPECT_EQ(told(false), std::nullopt);
}

}  // namespace
}  // namespace muster::simulation
