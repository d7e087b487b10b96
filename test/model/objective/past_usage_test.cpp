// Past usage in the division, against a plain reading of KAI's text in floating-point numbers.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/objective/fair_share.h"
#include "test/support/case.h"

namespace muster {
namespace {

constexpr double kTotal = 1e12;

struct PlainQueue {
  int parent = -1, priority = 100;
  double quota = 0, weight = 0, usage = 0, requested = 0, share = 0;
  double lack() const { return weight > 0 ? requested - share : 0; }
};

// One round among queues of one priority: max(0, W + k (W - U)), normalised. Returns whether another one follows.
bool plain_round(const std::vector<PlainQueue*>& queues, double whole, double factor, double& remaining) {
  double weights = 0, parts = 0;
  for (const PlainQueue* one : queues) weights += one->lack() > 0 ? one->weight : 0;
  const auto part_of = [&](const PlainQueue& one) {
    const double weight = one.weight / weights;
    return one.lack() > 0 ? std::max(0.0, weight + factor * (weight - one.usage / whole)) : 0;
  };
  if (weights <= 0) return false;
  for (const PlainQueue* one : queues) parts += part_of(*one);
  const double offered = remaining;
  std::vector<double> offers;
  for (const PlainQueue* one : queues) offers.push_back(offered * part_of(*one) / parts);
  bool again = false;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    PlainQueue& one = *queues[i];
    if (one.lack() <= 0) continue;
    again = again || one.lack() < offers[i];
    const double share = one.lack() <= offers[i] ? one.requested : one.share + offers[i];
    remaining -= share - one.share;
    one.share = share;
  }
  return again && remaining > 0;
}

void plain_division(std::vector<PlainQueue>& forest, int parent, double total, double factor) {
  double remaining = total, used = 0;
  std::map<int, std::vector<PlainQueue*>, std::greater<>> by_priority;
  for (PlainQueue& queue : forest) {
    if (queue.parent != parent) continue;
    queue.share = std::min(queue.quota, queue.requested);
    remaining = std::max(0.0, remaining - queue.share);
    used += queue.usage;
    by_priority[queue.priority].push_back(&queue);
  }
  for (const auto& [priority, queues] : by_priority) {
    while (remaining > 0 && plain_round(queues, std::max(total, used), factor, remaining)) {
    }
  }
  for (std::size_t i = 0; i < forest.size(); ++i) {
    if (forest[i].parent == parent) plain_division(forest, static_cast<int>(i), forest[i].share, factor);
  }
}

// Memory, since a byte is so small a unit that rounding does not show.
std::vector<PlainQueue> random_forest(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t n) { return static_cast<int>(random() % n); };
  const int roots = 1 + below(4), leaves = 1 + below(8);
  std::vector<PlainQueue> forest(static_cast<std::size_t>(roots + leaves));
  for (int i = 0; i < roots + leaves; ++i) {
    PlainQueue& queue = forest[static_cast<std::size_t>(i)];
    queue.parent = i < roots ? -1 : below(static_cast<std::uint64_t>(roots));
    queue.priority = below(4) == 0 ? 200 : 100;
    queue.quota = below(3) * 1e11;
    queue.weight = below(6) == 0 ? 0 : 1 + below(5);
    queue.usage = below(3) == 0 ? 0 : below(1000) * (i < roots ? 1e9 : 3e8);
    if (i < roots) continue;
    queue.requested = below(1000) * 1e9;
    forest[static_cast<std::size_t>(queue.parent)].requested += queue.requested;
  }
  return forest;
}

std::string amount(double value) { return std::to_string(static_cast<std::int64_t>(value)); }

std::string line_of(const std::vector<PlainQueue>& forest, double factor) {
  std::string queues, pods;
  for (std::size_t i = 0; i < forest.size(); ++i) {
    const PlainQueue& queue = forest[i];
    const std::string number = std::to_string(i);
    queues +=
        std::string(i > 0 ? "," : "") + R"({"name":"q)" + number + R"(","priority":)" + std::to_string(queue.priority);
    if (queue.parent >= 0) queues += R"(,"parent":"q)" + std::to_string(queue.parent) + "\"";
    queues += R"(,"memory":{"quota":)" + amount(queue.quota) + R"(,"weight":)" + amount(queue.weight) + R"(,"usage":)" +
              amount(queue.usage) + "}}";
    if (queue.parent < 0) continue;
    pods += std::string(pods.empty() ? "" : ",") + R"({"name":"p)" + number + R"(","queue":"q)" + number +
            R"(","resources":{"memory":)" + amount(queue.requested) + "}}";
  }
  return R"("policy":{"overTime":{"usageFactor":)" + std::to_string(factor) +
         R"(}},"nodes":[{"name":"n","resources":{"memory":)" + amount(kTotal) + R"(}}],"queues":[)" + queues +
         R"(],"pods":[)" + pods + "]";
}

std::vector<double> shares_of(const std::vector<PlainQueue>& forest, double factor) {
  const test::Case built(line_of(forest, factor));
  std::vector<double> shares;
  for (const QueueAmounts& amounts : built.shares().share) shares.push_back(static_cast<double>(amounts[kQueueMemory]));
  return shares;
}

TEST(PastUsage, IsWhatAPlainReadingOfKaisTextComputesOnRandomForests) {
  std::mt19937_64 random(7);
  int changed = 0;
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<PlainQueue> forest = random_forest(random);
    const double factor = static_cast<double>(random() % 5) * 0.75;
    const std::vector<double> shares = shares_of(forest, factor);
    changed += shares == shares_of(forest, 0) ? 0 : 1;
    plain_division(forest, -1, kTotal, factor);
    for (std::size_t i = 0; i < forest.size(); ++i) {
      EXPECT_NEAR(shares[i], forest[i].share, kTotal * 1e-5) << "trial " << trial << ", queue " << i;
    }
  }
  EXPECT_GT(changed, 50) << "past usage must matter in this test";
}

}  // namespace
}  // namespace muster
