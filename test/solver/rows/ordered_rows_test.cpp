#include "solver/rows/ordered_rows.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "solver/cbc/backend.h"
#include "test/solver/exact_formulation.h"
#include "test/solver/random_cluster.h"
#include "test/support/paths.h"

namespace muster::formulation {
namespace {

// On two nodes in zone `near`, each with two GPUs, and one with six in zone `far`: the most work of the highest
// priority, in GPUs.
std::int64_t most_gpus(const std::string& pods, const std::string& actions = R"("place")") {
  const test::Case cluster(R"("policy":{"actions":[)" + actions +
                           R"(]},"nodes":[)"
                           R"({"name":"n0","gpus":{"count":2},"labels":{"zone":"near","host":"n0"}},)"
                           R"({"name":"n1","gpus":{"count":2},"labels":{"zone":"near","host":"n1"}},)"
                           R"({"name":"n2","gpus":{"count":6},"labels":{"zone":"far","host":"n2"}}],"pods":[)" +
                           pods + "]");
  test::ExactFormulation f(cluster);
  EXPECT_TRUE(f.is_listed);
  const LevelId* work = &*std::ranges::find(f.ids, LevelKind::kWork, &LevelId::kind);
  const lp::LinearExpression expression = *f.formulation.level(*work);
  cbc::Backend backend(test::program());
  const cbc::MilpAnswer answer = test::solve_exactly(backend, f.model_of(*work, expression));
  EXPECT_EQ(answer.status, cbc::SolveStatus::kOptimal) << answer.message;
  return lp::value_of(expression, answer.x) / 1000;
}

// A pod of one GPU.
std::string pod(const std::string& name, const std::string& app, const std::string& more = "") {
  return R"({"name":")" + name + R"(","gpu":{"count":1},"labels":{"app":")" + app + R"("})" +
         (more.empty() ? "" : ",") + more + "}";
}

std::string pods(int count, const std::string& app, const std::string& more = "") {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i > 0 ? "," : "") + pod(app + std::to_string(i), app, more);
  return list;
}

std::string spread_of(const std::string& app, int max_skew, const std::string& more = "") {
  return R"("topologySpread":[{"maxSkew":)" + std::to_string(max_skew) +
         R"(,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":")" + app +
         R"("}})" + more + "}]";
}

std::string affinity_to(const std::string& app, const std::string& key = "zone") {
  return R"("podAffinity":{"topologyKey":")" + key + R"(","labelSelector":{"matchLabels":{"app":")" + app + R"("}}})";
}

const std::string kFar = R"(,"nodeSelector":{"zone":"far"})";
std::string running_on_n2(int gpu) {
  return R"("priority":0,"started":900000,"node":"n2","gpus":[)" + std::to_string(gpu) + "]";
}

TEST(OrderedRows, ADomainHasAtMostMaxSkewPodsMoreThanTheEmptiest) {
  EXPECT_EQ(most_gpus(pods(10, "x", spread_of("x", 1))), 9);
  EXPECT_EQ(most_gpus(pods(10, "x", spread_of("x", 2))), 10);
}

TEST(OrderedRows, PodsThatASpreadOnlyCountsMayFillItsDomains) {
  const std::string kept_far = pods(5, "x", spread_of("x", 1, R"(,"nodeAffinityPolicy":"Ignore")") + kFar);
  EXPECT_EQ(most_gpus(kept_far), 1);
  EXPECT_EQ(most_gpus(kept_far + "," + pod("last", "x", R"("nodeSelector":{"zone":"far"})")), 2);
  EXPECT_EQ(most_gpus(kept_far + "," + pod("first", "x", R"("nodeSelector":{"zone":"near"})")), 3);
}

TEST(OrderedRows, TooFewDomainsForMinDomainsCountAsAnEmptyOne) {
  EXPECT_EQ(most_gpus(pods(10, "x", spread_of("x", 2, R"(,"minDomains":2)"))), 10);
  EXPECT_EQ(most_gpus(pods(10, "x", spread_of("x", 2, R"(,"minDomains":3)"))), 4);
}

TEST(OrderedRows, TheFirstOfAnAffinityOpensOneDomain) {
  EXPECT_EQ(most_gpus(pods(10, "x", affinity_to("x"))), 6);
  EXPECT_EQ(most_gpus(pods(10, "x", affinity_to("y"))), 0);
}

TEST(OrderedRows, APodWithoutTheAffinityOpensAnotherDomain) {
  EXPECT_EQ(most_gpus(pods(10, "x", affinity_to("x")) + "," + pod("seed", "x")), 10);
  EXPECT_EQ(most_gpus(pods(10, "x", affinity_to("x")) + "," + pod("seed", "y")), 7);
}

TEST(OrderedRows, AffinitiesThatWaitForEachOtherOpenNothing) {
  const std::string circle = pods(2, "x", affinity_to("y")) + "," + pods(2, "y", affinity_to("x"));
  EXPECT_EQ(most_gpus(circle), 0);
  EXPECT_EQ(most_gpus(circle + "," + pod("seed", "x", R"("nodeSelector":{"zone":"near"})")), 4);
}

TEST(OrderedRows, ADomainIsClosedWhereWhatAnchorsItLeaves) {
  const std::string blocked = pods(6, "x", R"("priority":10,)" + affinity_to("y") + kFar);
  const std::string anchor = pod("anchor", "y", running_on_n2(0));
  EXPECT_EQ(most_gpus(blocked + "," + anchor, R"("place","preempt")"), 5);
  EXPECT_EQ(most_gpus(blocked + "," + anchor + "," + pod("other", "z", running_on_n2(1)), R"("place","preempt")"), 5);
}

}  // namespace
}  // namespace muster::formulation
