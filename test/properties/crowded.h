// Small crowded clusters where policy has something to do: most GPUs under preemptible gangs of two or three queues and
// three priorities, and gangs that wait. All pods ask for whole GPUs and nothing else. Equal seeds give equal
// snapshots.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "test/support/drawn.h"

namespace muster::properties {

using Json = nlohmann::json;

class CrowdedCluster {
 public:
  explicit CrowdedCluster(std::uint32_t seed) : random_(seed) {}

  Json snapshot() {
    const int nodes = pick(2, 4);
    Json line{{"format", "muster/v1"}, {"id", "crowded"}, {"time", 1'000'000}};
    for (int i = 0; i < nodes; ++i) {
      free_.push_back(pick(2, 4));
      line["nodes"].push_back({{"name", "n" + std::to_string(i)},
                               {"resources", {{"cpu", 64}, {"memory", "512Gi"}}},
                               {"gpus", {{"count", free_.back()}}}});
    }
    add_queues(line);
    line["gangs"] = line["pods"] = Json::array();
    for (int i = pick(2, 5); i > 0; --i) add_gang(line, true);
    for (int i = pick(1, 4); i > 0; --i) add_gang(line, false);
    return Json::parse(test::drawn(line.dump()));
  }

 private:
  int pick(int lowest, int highest) {
    return lowest + static_cast<int>(random_() % static_cast<std::uint32_t>(highest - lowest + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }

  // Two or three leaves; three may have a parent above the first two.
  void add_queues(Json& line) {
    queues_ = pick(2, 3);
    const bool has_parent = queues_ == 3 && chance(40);
    if (has_parent) line["queues"].push_back({{"name", "org"}, {"gpu", {{"quota", pick(0, 5)}}}});
    for (int i = 0; i < queues_; ++i) {
      Json queue{{"name", "q" + std::to_string(i)}, {"gpu", {{"quota", pick(0, 3)}, {"weight", pick(1, 3)}}}};
      if (chance(20)) queue["gpu"]["limit"] = pick(2, 8);
      if (has_parent && i < 2) queue["parent"] = "org";
      line["queues"].push_back(std::move(queue));
    }
  }

  void add_gang(Json& line, bool runs) {
    const std::string name = "g" + std::to_string(line["gangs"].size());
    const int pods = chance(40) ? 1 : pick(2, 3), gpus = chance(60) ? 1 : 2;
    Json gang{{"name", name},
              {"queue", "q" + std::to_string(pick(0, queues_ - 1))},
              {"priority", 25 * pick(0, 2)},
              {"created", 900'000 + pick(0, 9) * 10'000}};
    int placed = 0;
    for (int i = 0; i < pods; ++i) {
      Json pod{{"name", name + "-" + std::to_string(i)}, {"gang", name}, {"gpu", {{"count", gpus}}}};
      const std::size_t node = static_cast<std::size_t>(pick(0, static_cast<int>(free_.size()) - 1));
      if (runs && free_[node] >= gpus) {
        free_[node] -= gpus;
        pod["node"] = "n" + std::to_string(node);
        pod["started"] = 900'000 + pick(0, 9) * 10'000;
        ++placed;
      }
      line["pods"].push_back(std::move(pod));
    }
    // What runs is not below its minimum; a part of what waits is elastic.
    const int least = placed > 0 ? placed : pods;
    gang["minMember"] = chance(30) ? pick(1, least) : least;
    if (chance(10)) gang["preemptible"] = false;
    line["gangs"].push_back(std::move(gang));
  }

  std::mt19937 random_;
  std::vector<int> free_;  // GPUs of each node
  int queues_ = 2;
};

}  // namespace muster::properties
