#include "solver/answers/shadow_prices.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/cli/program.h"
#include "test/support/case.h"
#include "test/support/cluster.h"
#include "test/support/paths.h"

namespace muster::answers {
namespace {

// Two kinds of nodes, and a queue whose limit keeps a gang waiting.
std::string cluster() {
  test::Cluster cluster;
  cluster.queue("q", R"("gpu":{"quota":4,"limit":4})").node("n1", 4).node("n2", 4).node("small", 1);
  return cluster.pod("a", 4, R"("queue":"q")").pod("b", 1, R"("queue":"q")").line();
}

ShadowPrices prices(ExperimentOptions options, std::int64_t most_tests) {
  const Snapshot snapshot = test::Case::read(cluster());
  portfolio::Portfolio portfolio(test::program());
  options.solve.deterministic = true;
  Experiment experiment(snapshot, portfolio, options);
  const auto base = experiment.solve({});
  if (!base) throw std::runtime_error(base.error().message);
  return shadow_prices(experiment, **base, most_tests);
}

std::vector<std::string> texts(const std::vector<change::Change>& changes) {
  std::vector<std::string> texts;
  for (const change::Change& change : changes) texts.push_back(change::text_of(change));
  return texts;
}

const std::vector<std::string> kAll = {"--add-nodes 1xn1", "--add-nodes 1xsmall", "--set-limit q=gpu:5",
                                       "--set-quota q=gpu:5"};

TEST(ShadowPrices, AreThoseOfEachKindOfNodeAndOfQueuesOfWhatWaits) {
  const ShadowPrices found = prices({}, 100);
  EXPECT_EQ(found.left_out.size(), 0U);
  ASSERT_EQ(found.prices.size(), kAll.size());
  for (const ShadowPrice& price : found.prices) EXPECT_TRUE(price.proven);
}

TEST(ShadowPrices, TellWhatTheNumberOfTestsOrTheTimeDidNotReach) {
  const ShadowPrices some = prices({}, 3);
  EXPECT_EQ(some.prices.size(), 3U);
  EXPECT_EQ(texts(some.left_out), std::vector<std::string>(kAll.begin() + 3, kAll.end()));
  ExperimentOptions late;
  late.end = portfolio::Clock::now();
  const ShadowPrices none = prices(late, 100);
  EXPECT_EQ(none.prices.size(), 0U);
  EXPECT_EQ(texts(none.left_out), kAll);
}

}  // namespace
}  // namespace muster::answers
