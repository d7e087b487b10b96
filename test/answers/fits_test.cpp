#include "solver/answers/fits.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/answers/shape.h"
#include "test/cli/program.h"
#include "test/support/case.h"
#include "test/support/cluster.h"
#include "test/support/paths.h"

namespace muster::answers {
namespace {

portfolio::Portfolio& portfolio_of_tests() {
  static portfolio::Portfolio portfolio(test::program());
  return portfolio;
}

FitsQuestion question(std::string_view shape) {
  FitsQuestion asked;
  asked.shape = *cli::parse_shape(shape);
  return asked;
}

Fits fits(const test::Cluster& cluster, const FitsQuestion& asked) {
  ExperimentOptions options;
  options.solve.deterministic = true;
  const Snapshot snapshot = test::Case::read(cluster.line());
  Result<Fits> found = count_fits(snapshot, portfolio_of_tests(), options, asked);
  if (!found) throw std::runtime_error(found.error().message);
  return *std::move(found);
}
Fits fits(const test::Cluster& cluster, std::string_view shape) { return fits(cluster, question(shape)); }

constexpr const char* kStays = R"("preemptible":false,"started":1000)";
constexpr const char* kMayGo = R"("preemptible":true,"started":999000)";

// kubernetes-sigs/kueue#4329: quota for 8 GPUs is free, but on two nodes.
TEST(Fits, EightGpusThatAreFreeAsTwiceFourTakeNoPodOfEight) {
  test::Cluster cluster;
  cluster.node("n1", 8).node("n2", 8).running("a", "n1", 4, kStays).running("b", "n2", 4, kStays);
  const Fits found = fits(cluster, "8");
  ASSERT_EQ(found.queues.size(), 1U);
  EXPECT_EQ(found.queues[0].now, (FitCount{0, 0, false}));
  EXPECT_EQ(found.room.idle_devices, 8);
  EXPECT_EQ(found.room.most_idle_devices, 4);
  EXPECT_EQ(found.none.gpus, 4);
  EXPECT_EQ(found.none.reason.code, explain::ReasonCode::kFragmented);
  EXPECT_EQ(fits(cluster, "2x4").queues[0].now, (FitCount{1, 1, false}));
}

// kubernetes-sigs/scheduler-plugins#429: 12 GPUs are free, as 6 + 2 + 2 + 2.
TEST(Fits, AGangOfThreePodsWithFourGpusFindsRoomForOnePod) {
  test::Cluster cluster;
  cluster.node("n1", 8).node("n2", 8).node("n3", 8).node("n4", 8);
  cluster.running("a", "n1", 2, kStays);
  for (const char* node : {"n2", "n3", "n4"}) cluster.running(std::string("on-") + node, node, 6, kStays);
  const Fits found = fits(cluster, "3x4");
  EXPECT_EQ(found.queues[0].now, (FitCount{0, 0, false}));
  EXPECT_EQ(found.none.pods, 1);
  EXPECT_EQ(found.none.gpus, 2);
  EXPECT_FALSE(found.none.message.empty());
}

TEST(Fits, WhatWaitsComesFirst) {
  test::Cluster cluster;
  cluster.node("n1", 4).pod("waits", 3);
  EXPECT_EQ(fits(cluster, "1").queues[0].now, (FitCount{1, 1, false}));
  EXPECT_EQ(fits(cluster, "1").started, 1);
  FitsQuestion asked = question("1");
  asked.ignores_waiting = true;
  EXPECT_EQ(fits(cluster, asked).queues[0].now, (FitCount{4, 4, false}));
}

TEST(Fits, QueuesWithEqualLimitsAreOneRowAndLimitsAreNamed) {
  test::Cluster cluster;
  cluster.node("n1", 8);
  cluster.queue("all", R"("gpu":{"limit":6})");
  cluster.queue("a", R"("parent":"all","gpu":{"limit":2})").queue("b", R"("parent":"all","gpu":{"limit":2})");
  cluster.queue("c", R"("parent":"all")").queue("d");
  const Fits found = fits(cluster, "1");
  ASSERT_EQ(found.queues.size(), 3U);
  EXPECT_EQ(found.queues[0].queues, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(found.queues[0].now, (FitCount{2, 2, false}));
  EXPECT_EQ(found.queues[0].bound_by, "limit: gpu");
  EXPECT_EQ(found.queues[1].now, (FitCount{6, 6, false}));
  EXPECT_EQ(found.queues[1].bound_by, "limit of queue \"all\": gpu");
  EXPECT_EQ(found.queues[2].now, (FitCount{8, 8, false}));
  EXPECT_EQ(found.queues[2].bound_by, "");
}

TEST(Fits, LimitsOfAnyResourceBoundWhatFits) {
  test::Cluster cluster;
  cluster.node("n1", 8).queue("all", R"("resources":{"pods":{"limit":4}})").queue("a", R"("parent":"all")");
  cluster.running("r", "n1", 1, R"("queue":"a")");
  const Fits found = fits(cluster, "1");
  ASSERT_EQ(found.queues.size(), 1U);
  EXPECT_EQ(found.queues[0].now, (FitCount{3, 3, false}));
  EXPECT_EQ(found.queues[0].bound_by, "limit of queue \"all\": pods");
}

TEST(Fits, QuotaBoundsWhatIsNotPreemptible) {
  test::Cluster cluster;
  cluster.node("n1", 8).queue("a", R"("gpu":{"quota":3})");
  FitsQuestion asked = question("1");
  EXPECT_EQ(fits(cluster, asked).queues[0].now.found, 8);
  asked.priority = 100;
  EXPECT_EQ(fits(cluster, asked).queues[0].now, (FitCount{3, 3, false}));
  EXPECT_EQ(fits(cluster, asked).queues[0].bound_by, "quota: gpu");
}

TEST(Fits, WithEvictionsPodsOfLowerPriorityGiveWay) {
  test::Cluster cluster;
  cluster.node("n1", 4).running("low", "n1", 2, std::string(kMayGo) + R"(,"priority":10)");
  cluster.running("fixed", "n1", 1, kStays);
  FitsQuestion asked = question("1");
  asked.priority = 50;
  const QueueFits found = fits(cluster, asked).queues[0];
  EXPECT_EQ(found.now, (FitCount{1, 1, false}));
  ASSERT_TRUE(found.has_policy);
  EXPECT_EQ(found.with_policy, (FitCount{3, 3, false}));
  EXPECT_EQ(found.loss.evicted_pods, 1);
  EXPECT_EQ(found.loss.evicted_work, 2 * 1000 * 1000);  // two GPUs for 1000 s
}

TEST(Fits, WithMovesScatteredRoomIsGathered) {
  test::Cluster cluster;
  cluster.node("n1", 2).node("n2", 2).running("a", "n1", 1, kMayGo).running("b", "n2", 1, kMayGo);
  const QueueFits found = fits(cluster, "2").queues[0];
  EXPECT_EQ(found.now, (FitCount{0, 0, false}));
  EXPECT_EQ(found.with_policy, (FitCount{1, 1, false}));
  EXPECT_EQ(found.loss.moved_pods, 1);
  EXPECT_EQ(found.loss.evicted_pods, 0);
}

TEST(Fits, ARequiredLevelCountsDomainByDomain) {
  test::Cluster cluster;
  cluster.with(R"("topology":["rack"])");
  for (const char* name : {"n1", "n2", "n3"}) {
    cluster.node(name, 2, std::string(R"("labels":{"rack":")") + (name[1] == '3' ? "r2" : "r1") + "\"}");
  }
  EXPECT_EQ(fits(cluster, "3x2").queues[0].now.found, 1);
  EXPECT_EQ(fits(cluster, "3x2,level=rack").queues[0].now, (FitCount{0, 0, false}));
  EXPECT_EQ(fits(cluster, "3x2,level=rack").none.pods, 2);
  EXPECT_EQ(fits(cluster, "3x1,level=rack").queues[0].now, (FitCount{1, 1, false}));
}

TEST(Fits, CountingStopsAtMostPods) {
  test::Cluster cluster;
  cluster.node("n1", 8);
  FitsQuestion asked = question("2x0.1");
  asked.most_pods = 10;
  EXPECT_EQ(fits(cluster, asked).queues[0].now, (FitCount{5, 40, true}));
}

TEST(Fits, AnUnknownQueueIsAnError) {
  test::Cluster cluster;
  cluster.node("n1", 8).queue("a").queue("b", R"("parent":"a")");
  const Snapshot snapshot = test::Case::read(cluster.line());
  for (const char* name : {"a", "x"}) {
    FitsQuestion asked = question("1");
    asked.queues = {name};
    const Result<Fits> found = count_fits(snapshot, portfolio_of_tests(), {}, asked);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::kUnknownQueue);
  }
}

// ---- brute force ----

struct TinyNode {
  std::vector<int> free;  // hundredths, by device
  int cpu = 0;
  int rack = 0;
};

// The most gangs that fit, one pod after another in every way.
class Exhaustive {
 public:
  Exhaustive(std::vector<TinyNode> nodes, int pods, int devices, int part, int cpu)
      : nodes_(std::move(nodes)), pods_(pods), devices_(devices), part_(part), cpu_(cpu) {}
  int most(bool in_rack) {
    in_rack_ = in_rack;
    best_ = 0;
    place(0, 0, 0, -1);
    return best_;
  }

 private:
  void place(int gangs, int placed, std::size_t from, int rack) {
    if (placed == pods_) {
      best_ = std::max(best_, gangs + 1);
      return place(gangs + 1, 0, 0, -1);
    }
    for (std::size_t n = from; n < nodes_.size(); ++n) {
      TinyNode& node = nodes_[n];
      if (node.cpu < cpu_ || (in_rack_ && rack >= 0 && node.rack != rack)) continue;
      for (unsigned chosen = 0; chosen < (1U << node.free.size()); ++chosen) {
        if (__builtin_popcount(chosen) != devices_ || !takes(node, chosen, 1)) continue;
        node.cpu -= cpu_;
        place(gangs, placed + 1, n, node.rack);
        node.cpu += cpu_;
        takes(node, chosen, -1);
      }
    }
  }
  // Takes, or gives back, if all of them have as much.
  bool takes(TinyNode& node, unsigned chosen, int sign) const {
    for (std::size_t d = 0; d < node.free.size(); ++d) {
      if ((chosen >> d & 1U) != 0 && node.free[d] < sign * part_) return false;
    }
    for (std::size_t d = 0; d < node.free.size(); ++d) {
      if ((chosen >> d & 1U) != 0) node.free[d] -= sign * part_;
    }
    return true;
  }

  std::vector<TinyNode> nodes_;
  int pods_, devices_, part_, cpu_, best_ = 0;
  bool in_rack_ = false;
};

TEST(Fits, CountsAsAnExhaustiveSearchDoes) {
  std::mt19937 random(7);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  int some = 0;
  constexpr int kRounds = 150;
  for (int round = 0; round < kRounds; ++round) {
    test::Cluster cluster;
    cluster.with(R"("topology":["rack"])");
    std::vector<TinyNode> nodes;
    for (int n = 0; n < draw(1, 3); ++n) {
      TinyNode node{std::vector<int>(static_cast<std::size_t>(draw(0, 3)), 100), draw(1, 4), draw(0, 1)};
      const std::string name = "n" + std::to_string(n);
      cluster.node(name, R"("gpus":{"count":)" + std::to_string(node.free.size()) + R"(},"resources":{"cpu":)" +
                             std::to_string(node.cpu) + R"(},"labels":{"rack":"r)" + std::to_string(node.rack) + "\"}");
      for (std::size_t d = 0; d < node.free.size(); ++d) {
        if (draw(0, 2) > 0) continue;
        const int part = draw(0, 1) > 0 ? 100 : 60;
        cluster.pod(name + "-" + std::to_string(d), R"("node":")" + name + R"(","gpus":[)" + std::to_string(d) +
                                                        R"(],"gpu":{"fraction":)" + std::to_string(part / 100.0) +
                                                        R"(},"preemptible":false)");
        node.free[d] -= part;
      }
      nodes.push_back(std::move(node));
    }
    const int pods = draw(1, 3), devices = draw(1, 2), cpu = draw(0, 1);
    const int part = devices > 1 || draw(0, 1) > 0 ? 100 : draw(1, 2) * 40;
    std::string shape =
        std::to_string(pods) + "x" + (part == 100 ? std::to_string(devices) : "0." + std::to_string(part));
    if (cpu > 0) shape += ",cpu=1";
    const bool in_rack = draw(0, 1) > 0;
    if (in_rack) shape += ",level=rack";
    const int most = Exhaustive(nodes, pods, devices, part, cpu).most(in_rack);
    const FitCount found = fits(cluster, shape).queues[0].now;
    EXPECT_EQ(found, (FitCount{most, most, false})) << shape << "\n" << cluster.line();
    some += most > 0 ? 1 : 0;
  }
  EXPECT_GE(some, kRounds / 3);
}

// Whole devices by node: whether all of these pods fit at the same time.
bool all_fit(std::vector<int>& free, const std::vector<int>& pods, std::size_t next) {
  if (next == pods.size()) return true;
  for (int& node : free) {
    if (node < pods[next]) continue;
    node -= pods[next];
    const bool fit = all_fit(free, pods, next + 1);
    node += pods[next];
    if (fit) return true;
  }
  return false;
}

struct RunningPod {
  int node = 0, gpus = 0, priority = 0;
  bool preemptible = false;
};

// The most pods of `gpus` that start if any set of the running pods that may be preempted leaves, and those that are
// preemptible may be moved.
int most_with_evictions(const std::vector<int>& nodes, const std::vector<RunningPod>& running, int gpus, int priority) {
  int most = 0;
  for (unsigned evicted = 0; evicted < (1U << running.size()); ++evicted) {
    std::vector<int> free = nodes, movable;
    bool allowed = true;
    for (std::size_t i = 0; i < running.size(); ++i) {
      const RunningPod& pod = running[i];
      const bool leaves = (evicted >> i & 1U) != 0;
      allowed = allowed && (!leaves || (pod.preemptible && pod.priority < priority));
      if (leaves) continue;
      if (pod.preemptible) {
        movable.push_back(pod.gpus);
      } else {
        free[static_cast<std::size_t>(pod.node)] -= pod.gpus;
      }
    }
    if (!allowed) continue;
    for (int copies = most + 1;; ++copies) {
      std::vector<int> pods = movable;
      pods.insert(pods.end(), static_cast<std::size_t>(copies), gpus);
      if (!all_fit(free, pods, 0)) break;
      most = copies;
    }
  }
  return most;
}

TEST(Fits, WithEvictionsFindsNoMoreAndBoundsNoLessThanAnExhaustiveSearchAllows) {
  std::mt19937 random(3);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  int equal = 0, rounds = 0;
  constexpr int kClusters = 60;
  for (int cluster_number = 0; cluster_number < kClusters; ++cluster_number) {
    test::Cluster cluster;
    std::vector<int> nodes;
    std::vector<RunningPod> running;
    for (int n = 0; n < draw(2, 3); ++n) {
      nodes.push_back(draw(1, 4));
      const std::string name = "n" + std::to_string(n);
      cluster.node(name, nodes.back());
      for (int left = nodes.back(); left > 0 && draw(0, 3) > 0;) {
        const RunningPod pod{n, draw(1, left), draw(0, 2) * 10, draw(0, 3) > 0};
        left -= pod.gpus;
        cluster.running("r" + std::to_string(running.size()), name, pod.gpus,
                        R"("started":1000,"priority":)" + std::to_string(pod.priority) + R"(,"preemptible":)" +
                            (pod.preemptible ? "true" : "false"));
        running.push_back(pod);
      }
    }
    FitsQuestion asked = question(std::to_string(draw(1, 3)));
    asked.priority = draw(0, 2) * 10;
    const QueueFits found = fits(cluster, asked).queues[0];
    if (!found.has_policy) continue;
    ++rounds;
    const int most = most_with_evictions(nodes, running, asked.shape.pod.gpu.devices, asked.priority);
    EXPECT_LE(found.now.found, found.with_policy.found);
    EXPECT_LE(found.with_policy.found, most) << cluster.line();
    EXPECT_GE(found.with_policy.bound, most) << cluster.line();
    equal += found.with_policy.found == most ? 1 : 0;
  }
  EXPECT_GE(rounds, kClusters / 2);
  EXPECT_GE(equal, rounds * 9 / 10);
}

// ---- the program ----

TEST(Fits, ProgramTellsByItsExitCodeWhetherAnyFits) {
  const cli::Workplace place;
  test::Cluster cluster;
  cluster.node("n1", 8).running("a", "n1", 4, kStays);
  const std::string from = " --deterministic --quiet --from " + place.file("cluster.json", cluster.line());
  const cli::Outcome yes = place.run("fits 2x2 --format json" + from);
  EXPECT_EQ(yes.exit_code, 0) << yes.err;
  EXPECT_NE(yes.out.find(R"("now":1,"nowBound":1,"nowProven":true)"), std::string::npos) << yes.out;
  const cli::Outcome no = place.run("fits 8" + from);
  EXPECT_EQ(no.exit_code, 1) << no.err;
  EXPECT_NE(no.out.find("Largest shape that fits: "), std::string::npos) << no.out;
  EXPECT_EQ(place.run("fits 8" + from).out, no.out);
}

TEST(Fits, ProgramRefusesWhatItCannotRead) {
  const cli::Workplace place;
  test::Cluster cluster;
  cluster.node("n1", 8);
  const std::string from = " --from " + place.file("cluster.json", cluster.line());
  EXPECT_EQ(place.run("fits" + from).exit_code, 64);
  EXPECT_EQ(place.run("fits 1x" + from).exit_code, 64);
  EXPECT_EQ(place.run("fits 1 --queue absent" + from).exit_code, 64);
  EXPECT_EQ(place.run("fits 1,level=rack" + from).exit_code, 65);
  EXPECT_EQ(place.run("fits 1 --from " + place.path("none")).exit_code, 66);
}

}  // namespace
}  // namespace muster::answers
