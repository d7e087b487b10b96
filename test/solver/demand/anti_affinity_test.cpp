#include "solver/demand/anti_affinity.h"

#include <string>

#include <gtest/gtest.h>

#include "test/solver/random_cluster.h"

namespace muster::formulation {
namespace {

// Nodes a, b in zone 1 and c in zone 2. A pod with app x runs on a; `p` must not share a domain of that label with app
// x, `q` (app x) has no terms of its own, `r` is of another app.
struct Terms {
  explicit Terms(const std::string& key)
      : cluster(R"("nodes":[)"
                R"({"name":"a","resources":{"cpu":8},"labels":{"kubernetes.io/hostname":"a","zone":"1"}},)"
                R"({"name":"b","resources":{"cpu":8},"labels":{"kubernetes.io/hostname":"b","zone":"1"}},)"
                R"({"name":"c","resources":{"cpu":8},"labels":{"kubernetes.io/hostname":"c","zone":"2"}}],)"
                R"("policy":{"actions":["place"]},"pods":[)"
                R"({"name":"x","resources":{"cpu":1},"labels":{"app":"x"},"node":"a","started":0},)"
                R"({"name":"p","resources":{"cpu":1},"labels":{"app":"y"},)"
                R"("podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":")" +
                key +
                R"(","labelSelector":{"matchLabels":{"app":"x"}}}]}},)"
                R"({"name":"q","resources":{"cpu":1},"labels":{"app":"x"}},)"
                R"({"name":"r","resources":{"cpu":1},"labels":{"app":"z"}}])"),
        state(cluster.problem(), ClusterState::Releasing::kFreed),
        rules(cluster.problem(), state) {}

  PodClassIndex of(std::size_t pod) const { return cluster.problem().pods[PodIndex(pod)].pod_class; }

  test::Case cluster;
  ClusterState state;
  AntiAffinityRules rules;
};
constexpr std::size_t kOwner = 1, kMatched = 2, kOther = 3;
constexpr NodeIndex kA{0}, kB{1}, kC{2};

TEST(AntiAffinityRules, CloseTheNodeWhereAMatchedPodRuns) {
  const Terms terms("kubernetes.io/hostname");
  EXPECT_TRUE(terms.rules.excludes(terms.of(kOwner), kA));
  EXPECT_FALSE(terms.rules.excludes(terms.of(kOwner), kB));
  EXPECT_FALSE(terms.rules.excludes(terms.of(kMatched), kA)) << "what runs there owns no term";
  EXPECT_FALSE(terms.rules.excludes(terms.of(kOther), kA));
  EXPECT_FALSE(terms.rules.spans_nodes());
}

TEST(AntiAffinityRules, CloseTheWholeDomainWhereAMatchedPodRuns) {
  const Terms terms("zone");
  EXPECT_TRUE(terms.rules.excludes(terms.of(kOwner), kA));
  EXPECT_TRUE(terms.rules.excludes(terms.of(kOwner), kB)) << "b is in the zone of a";
  EXPECT_FALSE(terms.rules.excludes(terms.of(kOwner), kC));
  EXPECT_TRUE(terms.rules.spans_nodes());
}

TEST(AntiAffinityRules, SeparateAnOwnerFromThePodsThatItMatches) {
  const Terms terms("kubernetes.io/hostname");
  EXPECT_TRUE(terms.rules.conflict(terms.of(kOwner), terms.of(kMatched), kB));
  EXPECT_TRUE(terms.rules.conflict(terms.of(kMatched), terms.of(kOwner), kB)) << "whichever is named first";
  EXPECT_FALSE(terms.rules.conflict(terms.of(kOwner), terms.of(kOwner), kB)) << "it does not match itself";
  EXPECT_FALSE(terms.rules.conflict(terms.of(kMatched), terms.of(kMatched), kB)) << "neither owns a term";
  EXPECT_FALSE(terms.rules.conflict(terms.of(kOwner), terms.of(kOther), kB));
}

}  // namespace
}  // namespace muster::formulation
