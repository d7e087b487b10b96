// The pods that the selector of an anti-affinity term selects: what the model and the referee find by labels, against a
// check of every pair of pods.
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/snapshot/filters.h"
#include "test/support/plan.h"

namespace muster::referee {
namespace {

using test::Case;

constexpr int kPods = 12;

std::string values(std::mt19937& random) {
  std::string all;
  for (const char* value : {"a", "b", "c"}) {
    if (random() % 2 == 0) all += (all.empty() ? "\"" : ",\"") + std::string(value) + "\"";
  }
  return all.empty() ? "\"d\",\"a\",\"a\"" : all;
}

std::string requirement(std::mt19937& random) {
  const std::string key = random() % 2 == 0 ? "app" : "tier";
  switch (random() % 5) {
    case 0:
      return R"({"key":")" + key + R"(","operator":"NotIn","values":[)" + values(random) + "]}";
    case 1:
      return R"({"key":")" + key + R"(","operator":"Exists"})";
    case 2:
      return R"({"key":")" + key + R"(","operator":"DoesNotExist"})";
    default:
      return R"({"key":")" + key + R"(","operator":"In","values":[)" + values(random) + "]}";
  }
}

std::string pod_text(std::mt19937& random, int i) {
  std::string labels;
  for (const char* key : {"app", "tier"}) {
    if (random() % 3 == 0) continue;
    labels += (labels.empty() ? "\"" : ",\"") + std::string(key) + "\":\"" + std::string(1, "abc"[random() % 3]) + "\"";
  }
  std::string text = R"({"name":"p)" + std::to_string(i) + R"(","namespace":"n)" + std::to_string(random() % 2) +
                     R"(","resources":{"cpu":1},"labels":{)" + labels + "}";
  if (random() % 2 == 0) return text + "}";
  std::string requirements = requirement(random);
  if (random() % 2 == 0) requirements += "," + requirement(random);
  const std::string space = random() % 3 == 0 ? R"(,"namespaces":["n0"])" : "";
  return text + R"(,"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"host")" +
         space + R"(,"labelSelector":{"matchExpressions":[)" + requirements + "]}}]}}";
}

bool selects(const SnapshotPod& owner, const PodSpec& spec, const SnapshotPod& other) {
  if (spec.anti_affinity.empty()) return false;
  const PodTerm& term = spec.anti_affinity.front();
  const bool is_in =
      term.namespaces.empty() ? owner.namespace_name == other.namespace_name : other.namespace_name == "n0";
  return is_in && matches(*term.selector, other.labels);
}

TEST(AntiAffinity, SelectsAsALookAtEveryPairDoes) {
  int kept_apart = 0, together = 0;
  for (unsigned seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    std::mt19937 random(seed);
    std::string pods;
    for (int i = 0; i < kPods; ++i) pods += (i == 0 ? "" : ",") + pod_text(random, i);
    const Case cluster = Case::of_line(
        R"({"format":"muster/v1","nodes":[{"name":"n","resources":{"cpu":64},"labels":{"host":"h"}}],"pods":[)" + pods +
        "]}");
    const Problem& problem = cluster.problem();
    const auto is_selected = [&](PodIndex owner, PodIndex other) {
      const SnapshotPod& pod = cluster.snapshot().pods[owner.value()];
      return selects(pod, cluster.snapshot().pod_specs[pod.spec], cluster.snapshot().pods[other.value()]);
    };
    for (const PodIndex owner : problem.pods.indices()) {
      for (const PodIndex other : problem.pods.indices()) {
        const bool selected = is_selected(owner, other);
        bool is_matched = false;
        for (const AntiAffinityIndex term : problem.class_of(owner).anti_affinity_owned)
          is_matched = is_matched || std::ranges::count(problem.class_of(other).anti_affinity_matched, term) > 0;
        ASSERT_EQ(is_matched, selected) << seed << " " << owner.value() << " " << other.value() << "\n" << pods;
        if (!(owner < other)) continue;
        Plan plan;
        plan.placements = {{owner, NodeIndex(std::size_t{0}), {}, {}}, {other, NodeIndex(std::size_t{0}), {}, {}}};
        const bool clash = selected || is_selected(other, owner);
        ASSERT_EQ(cluster.check(plan).empty(), !clash) << seed << " " << owner.value() << " " << other.value() << "\n"
                                                       << pods;
        ++(clash ? kept_apart : together);
      }
    }
  }
  EXPECT_GT(kept_apart, 1'000);
  EXPECT_GT(together, 1'000);
}

}  // namespace
}  // namespace muster::referee
