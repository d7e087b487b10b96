// The presets of one situation each: they contain what their known best plan relies on.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "model/objective/fair_share.h"
#include "model/problem/problem.h"
#include "test/support/case.h"

namespace muster::generator {
namespace {

using Json = nlohmann::json;

GeneratorOptions preset(const char* name) {
  const auto options = generator_preset(name);
  EXPECT_TRUE(options) << name;
  return options.value_or(GeneratorOptions{});
}

Json snapshot(const GeneratorOptions& options, std::uint64_t k = 0) {
  const auto fault = generator_fault(options);
  EXPECT_FALSE(fault) << fault->path << " " << fault->message;
  return Json::parse(generate_snapshot(options, k));
}

int gpus_of(const Json& line, const Json& pod) {
  return line["podTemplates"][pod["template"].get<std::string>()]["gpu"]["count"].get<int>();
}

std::map<std::string, int> gpus_in_use(const Json& line) {
  std::map<std::string, int> used;
  for (const Json& node : line["nodes"]) used[node["name"]] = 0;
  for (const Json& pod : line["pods"]) {
    if (pod.contains("node")) used[pod["node"]] += gpus_of(line, pod);
  }
  return used;
}

std::vector<Json> pending_pods(const Json& line) {
  std::vector<Json> pods;
  for (const Json& pod : line["pods"]) {
    if (!pod.contains("node")) pods.push_back(pod);
  }
  return pods;
}

class Situations : public testing::TestWithParam<const char*> {};

TEST_P(Situations, AreReadableAndTheSameForTheSameSeed) {
  GeneratorOptions options = preset(GetParam());
  options.cluster.nodes = 50;
  ASSERT_FALSE(generator_fault(options));
  const std::string line = generate_snapshot(options);
  EXPECT_EQ(generate_snapshot(options), line);
  EXPECT_NE(generate_snapshot(options, 1), line);
  EXPECT_NO_THROW(test::Case::of_line(line));
}

TEST_P(Situations, LetPodsStartAtAsManyTimesAsAreAskedFor) {
  GeneratorOptions options = preset(GetParam());
  options.cluster.nodes = 50;
  for (const int times : {4, 9, 0}) {
    options.running.start_times = times;
    std::set<std::int64_t> seen;
    std::size_t running = 0;
    const Json line = snapshot(options);
    for (const Json& pod : line["pods"]) {
      if (!pod.contains("node")) continue;
      ++running;
      seen.insert(pod["started"].get<std::int64_t>());
      EXPECT_LT(pod["started"], line["time"]);
    }
    EXPECT_EQ(seen.size(), times == 0 ? running : static_cast<std::size_t>(times));
  }
}

TEST_P(Situations, RefuseOptionsThatTheyHaveNoUseFor) {
  GeneratorOptions options = preset(GetParam());
  options.gangs.elastic = 0.5;
  const auto fault = generator_fault(options);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->path, "preset");
}

INSTANTIATE_TEST_SUITE_P(Each, Situations,
                         testing::Values("reclaim-gang", "reclaim-singles", "consolidate", "unplaceable"),
                         [](const testing::TestParamInfo<const char*>& situation) {
                           std::string name = situation.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(ReclaimGang, IsAFullClusterAndAGangWithinItsShare) {
  const std::string text = generate_snapshot(preset("reclaim-gang"));
  const Json line = Json::parse(text);
  EXPECT_EQ(line["nodes"].size(), 1000U);
  for (const auto& [node, gpus] : gpus_in_use(line)) EXPECT_EQ(gpus, 8) << node;
  ASSERT_EQ(line["gangs"].size(), 1U);
  EXPECT_EQ(line["gangs"][0]["minMember"], 100);
  const auto pending = pending_pods(line);
  EXPECT_EQ(pending.size(), 100U);
  EXPECT_EQ(line["pods"].size(), 8100U);
  for (const Json& pod : pending) EXPECT_EQ(gpus_of(line, pod), 8);

  EXPECT_EQ(test::Case::of_line(text).shares().share[QueueIndex(1)][kQueueGpu], 800'000'000);
}

TEST(ReclaimSingles, IsAFullClusterOfWhichBothQueuesAreDueHalf) {
  const std::string text = generate_snapshot(preset("reclaim-singles"));
  const Json line = Json::parse(text);
  EXPECT_EQ(line["nodes"].size(), 500U);
  for (const auto& [node, gpus] : gpus_in_use(line)) EXPECT_EQ(gpus, 8) << node;
  EXPECT_EQ(pending_pods(line).size(), 4000U);
  EXPECT_FALSE(line.contains("gangs"));

  const test::Case problem = test::Case::of_line(text);
  const FairShares& shares = problem.shares();
  for (const QueueIndex queue : problem->queues.indices())
    EXPECT_EQ(shares.share[queue][kQueueGpu], 2'000'000'000) << problem->queues[queue].name;
}

TEST(Consolidate, HasRoomForAllGangsInSumAndForNoPodAnywhere) {
  const Json line = snapshot(preset("consolidate"));
  EXPECT_EQ(line["nodes"].size(), 500U);
  EXPECT_EQ(line["gangs"].size(), 41U);
  const auto pending = pending_pods(line);
  EXPECT_EQ(pending.size(), 410U);
  std::set<int> sizes;
  int used = 0, asked = 0;
  for (const Json& pod : pending) asked += gpus_of(line, pod);
  for (const Json& pod : line["pods"]) {
    if (pod.contains("node")) sizes.insert(gpus_of(line, pod));
  }
  for (const auto& [node, gpus] : gpus_in_use(line)) {
    used += gpus;
    EXPECT_LT(8 - gpus, gpus_of(line, pending[0])) << node;
  }
  EXPECT_LE(used + asked, 4000);
  EXPECT_EQ(sizes, (std::set<int>{1, 2, 4}));
}

// Moves of one 1-GPU pod a node are enough: nodes that take a pod of a gang shed one, the others take them in.
TEST(Consolidate, CanBeDoneByMovingOneSmallPodForEachPendingPod) {
  for (const int nodes : {20, 40, 100, 500}) {
    GeneratorOptions options = preset("consolidate");
    options.cluster.nodes = nodes;
    const Json line = snapshot(options);
    std::set<std::string> can_shed_one;
    for (const Json& pod : line["pods"]) {
      if (pod.contains("node") && gpus_of(line, pod) == 1) can_shed_one.insert(pod["node"]);
    }
    const auto pending = pending_pods(line);
    const auto used = gpus_in_use(line);
    std::size_t hosts = 0;
    int room = 0;  // of the nodes that take none of the pending ones: of those that cannot, first
    for (const auto& [node, gpus] : used) room += can_shed_one.contains(node) ? 0 : 8 - gpus;
    for (const auto& [node, gpus] : used) {
      if (!can_shed_one.contains(node)) continue;
      if (hosts < pending.size()) {
        ++hosts;
        EXPECT_EQ(8 - gpus + 1, gpus_of(line, pending[0]));
      } else {
        room += 8 - gpus;
      }
    }
    EXPECT_EQ(hosts, pending.size()) << nodes;
    EXPECT_GE(room, static_cast<int>(pending.size())) << nodes;
  }
}

TEST(Unplaceable, LeavesTooFewWholeNodesEvenWithEverythingEvictedThatMayBe) {
  const Json line = snapshot(preset("unplaceable"));
  EXPECT_EQ(line["nodes"].size(), 1000U);
  const auto pending = pending_pods(line);
  EXPECT_EQ(pending.size(), 10U);
  std::set<std::string> pinned;
  int in_use = 0;
  for (const auto& [node, gpus] : gpus_in_use(line)) in_use += gpus;
  for (const Json& pod : line["pods"]) {
    if (pod.contains("node") && !pod["preemptible"].get<bool>()) pinned.insert(pod["node"]);
  }
  EXPECT_EQ(pinned.size(), 995U);
  EXPECT_GE(8000 - in_use, 80);  // enough in total
  EXPECT_LT(8000 - in_use, 160);
  for (const Json& pod : pending) EXPECT_EQ(gpus_of(line, pod), 8);
}

struct BadSize {
  const char* preset;
  const char* option;
  void (*spoil)(GeneratorOptions&);
};
void PrintTo(const BadSize& bad, std::ostream* out) { *out << bad.preset << " " << bad.option; }
class BadSituationSizes : public testing::TestWithParam<BadSize> {};
TEST_P(BadSituationSizes, AreNamed) {
  GeneratorOptions options = preset(GetParam().preset);
  GetParam().spoil(options);
  const auto fault = generator_fault(options);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->path, GetParam().option);
}
INSTANTIATE_TEST_SUITE_P(
    Of, BadSituationSizes,
    testing::Values(BadSize{"reclaim-gang", "gang-pods", [](GeneratorOptions& o) { o.size.gang_pods = 501; }},
                    BadSize{"reclaim-gang", "gpus-per-node", [](GeneratorOptions& o) { o.cluster.gpus_per_node = 1; }},
                    BadSize{"reclaim-singles", "gangs", [](GeneratorOptions& o) { o.size.gangs = 2; }},
                    BadSize{"consolidate", "gangs", [](GeneratorOptions& o) { o.size.gangs = 42; }},
                    BadSize{"consolidate", "gangs", [](GeneratorOptions& o) { o.cluster.nodes = 5; }},
                    BadSize{"unplaceable", "gang-pods", [](GeneratorOptions& o) { o.size.gang_pods = 1; }},
                    BadSize{"synth", "gangs", [](GeneratorOptions& o) { o.size.gangs = 3; }}));

}  // namespace
}  // namespace muster::generator
