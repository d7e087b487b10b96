// A queue's weight, raised, does not lower its fair share.
#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/properties/crowded.h"
#include "test/properties/cycles.h"
#include "test/properties/instances.h"

namespace muster::properties {
namespace {

// Forests of up to three levels: quotas, limits, priorities and weights of all three resources, and requests that are
// no whole numbers.
class RandomForest {
 public:
  RandomForest(std::uint32_t seed, bool whole_gpus) : random_(seed), whole_gpus_(whole_gpus) {}

  Json snapshot() {
    Json line{{"format", "muster/v1"}, {"time", 0}};
    line["nodes"].push_back({{"name", "n"},
                             {"resources", {{"cpu", pick(1, 40)}, {"memory", pick(10, 1000)}}},
                             {"gpus", {{"count", pick(1, 24)}}}});
    const int queues = pick(2, 9);
    for (int i = 0; i < queues; ++i) add_queue(line, i);
    line["pods"] = Json::array();
    for (int i = 0; i < queues; ++i)
      if (!has_child_[static_cast<std::size_t>(i)]) add_pods(line, i);
    return line;
  }

 private:
  int pick(int lowest, int highest) {
    return lowest + static_cast<int>(random_() % static_cast<std::uint32_t>(highest - lowest + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }

  Json amounts(int most) {
    Json of{{"quota", chance(40) ? 0 : pick(0, most)}, {"weight", chance(30) ? pick(0, 30) / 10.0 : pick(1, 4)}};
    if (chance(25)) of["limit"] = pick(0, 2 * most);
    return of;
  }

  void add_queue(Json& line, int i) {
    Json queue{{"name", "q" + std::to_string(i)}, {"priority", 100 + 50 * (chance(30) ? 1 : 0)}};
    queue["gpu"] = amounts(8);
    queue["cpu"] = amounts(16);
    queue["memory"] = amounts(400);
    has_child_.push_back(false);
    depth_.push_back(0);
    if (i > 0 && chance(50)) {
      const auto parent = static_cast<std::size_t>(pick(0, i - 1));
      if (depth_[parent] < 2) {
        queue["parent"] = "q" + std::to_string(parent);
        has_child_[parent] = true;
        depth_.back() = depth_[parent] + 1;
      }
    }
    line["queues"].push_back(std::move(queue));
  }

  void add_pods(Json& line, int queue) {
    for (int i = pick(0, 3); i > 0; --i) {
      Json pod{{"name", "p" + std::to_string(line["pods"].size())}, {"queue", "q" + std::to_string(queue)}};
      pod["resources"] = {{"cpu", std::to_string(pick(1, 9000)) + "m"}, {"memory", pick(1, 300)}};
      if (chance(70))
        pod["gpu"] = whole_gpus_ || chance(50) ? Json{{"count", pick(1, 8)}} : Json{{"fraction", pick(1, 99) / 100.0}};
      line["pods"].push_back(std::move(pod));
    }
  }

  std::mt19937 random_;
  bool whole_gpus_;
  std::vector<bool> has_child_;
  std::vector<int> depth_;
};

// What the queue can use of its share: what rounding leaves over may be more than it asks for.
Amount usable(const Case& cluster, std::size_t queue, std::size_t resource) {
  const QueueIndex index(queue);
  return std::min(cluster.shares().share[index][resource], cluster.shares().requestable[index][resource]);
}

// GPUs are divided in whole ones, so a queue that asks for a part of a GPU may lose what was left over of one: raising
// the weight of a from 2 to 3 next to b of weight 1, which asks for 0.8 of 3 GPUs, makes offers of 2.25 and 0.75 from 2
// and 1; b no longer gets exactly what it asks for, the 0.2 that it left to a, but a whole GPU of what rounding leaves
// over.
void expect_no_loss(bool whole_gpus, Amount gpu_loss_below) {
  int raised = 0, grown = 0;
  constexpr std::array kResources{"gpu", "cpu", "memory"};
  const std::uint32_t count = instances(2000);
  for (std::uint32_t seed = 1; seed <= count; ++seed) {
    std::mt19937 random(seed);
    const Json line = RandomForest(seed, whole_gpus).snapshot();
    const auto before = Case::if_valid(line.dump());
    ASSERT_TRUE(before) << line;
    const std::size_t queue = random() % line["queues"].size();
    Json other = line;
    for (const char* resource : kResources) {
      Json& weight = other["queues"][queue][resource]["weight"];
      weight = weight.get<double>() + std::array{0.1, 0.5, 1.0, 7.0}[random() % 4];
    }
    const auto after = Case::if_valid(other.dump());
    ASSERT_TRUE(after) << other;
    ++raised;
    bool grows = false;
    for (std::size_t r = 0; r < kResources.size(); ++r) {
      const Amount loss = usable(*before, queue, r) - usable(*after, queue, r);
      EXPECT_LT(loss, r == kQueueGpu ? gpu_loss_below : 1) << kResources[r] << " of q" << queue << "\n"
                                                           << line << "\n"
                                                           << other;
      grows = grows || loss < 0;
    }
    grown += grows ? 1 : 0;
  }
  EXPECT_GE(grown, raised / 10);  // else the forests leave nothing to divide by weight
}

TEST(Weight, RaisedNeverLowersTheShareOfAQueueWhereGpusAreAskedForWhole) { expect_no_loss(true, 1); }

TEST(Weight, RaisedLowersTheShareByLessThanOneGpuWhereTheyAreShared) { expect_no_loss(false, 1'000'000); }

}  // namespace
}  // namespace muster::properties
