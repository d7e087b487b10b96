// Tiny random clusters: what is moved against the least of all ways to place the pods.
#include <algorithm>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "heuristics/state/fit.h"
#include "heuristics/state/groups.h"
#include "test/solver/random_milp.h"
#include "test/solver/slots/places.h"
#include "test/support/paths.h"

namespace muster::slots {
namespace {

using test::Case;
using test::pick;
using test::Places;

struct Shape {
  bool tight_cores = false;
  bool odd_sizes = false;  // do not divide each other
  bool leaving = false;    // some pods of a gang leave
};

class RandomPlaces {
 public:
  RandomPlaces(std::uint32_t seed, const Shape& shape) : random_(seed), shape_(shape) {}

  // None: a pod does not fit where it was put.
  std::optional<Case> draw() {
    const int nodes = pick(random_, 2, 3);
    test::Cluster cluster;
    cluster.at(1000);
    std::vector<std::vector<int>> percent;  // used of each device
    for (int n = 0; n < nodes; ++n) {
      const int devices = pick(random_, 2, 4);
      percent.emplace_back(static_cast<std::size_t>(devices), 0);
      cluster.node(
          "n" + std::to_string(n), devices,
          R"("resources":{"cpu":)" + std::to_string(shape_.tight_cores ? devices * 3 : 100) + R"(,"memory":"64Gi"})");
    }
    const int running = pick(random_, 1, 4), waiting = pick(random_, 1, 3);
    for (int i = 0; i < running; ++i) {
      const int node = pick(random_, 0, nodes - 1);
      auto& used = percent[static_cast<std::size_t>(node)];
      const auto [asks, count, part] = request();
      std::string list;
      int found = 0;
      for (std::size_t d = 0; d < used.size() && found < count; ++d) {
        if (used[d] + part > 100) continue;
        used[d] += part;
        list += (found++ > 0 ? "," : "") + std::to_string(d);
      }
      if (found < count) return std::nullopt;
      cluster.pod("r" + std::to_string(i),
                  (shape_.leaving ? R"("gang":"r",)" : "") + test::runs_on("n" + std::to_string(node), list, asks));
    }
    for (int i = 0; i < waiting; ++i) cluster.pod("w" + std::to_string(i), std::get<0>(request()));
    if (shape_.leaving) cluster.gang("r", R"("minMember":0)");
    return Case::if_valid(cluster.line());
  }

 private:
  // The JSON, the number of devices and the percentage of each.
  std::tuple<std::string, int, int> request() {
    const std::string cores = R"("resources":{"cpu":)" + std::to_string(pick(random_, 1, 6)) + R"(},"gpu":)";
    if (pick(random_, 0, 1) == 0) {
      const int parts[] = {25, 50, 75, 40, 60};
      const int part = parts[pick(random_, 0, 4)];
      return {cores + R"({"fraction":0.)" + std::to_string(part) + "}", 1, part};
    }
    const int chain[] = {1, 1, 2, 4}, odd[] = {1, 2, 3, 3};
    const int* sizes = shape_.odd_sizes ? odd : chain;
    const int count = sizes[pick(random_, 0, 3)];
    return {cores + R"({"count":)" + std::to_string(count) + "}", count, 100};
  }

  std::mt19937 random_;
  Shape shape_;
};

// The least moved work of all ways to place everything.
class LeastMoved {
 public:
  explicit LeastMoved(const Places& places) : places_(places), state_(places.base) {
    for (const KeptPods& kept : places.kept) remaining_.push_back(kept.kept);
  }

  std::optional<Work> find() {
    choose(0, 0, 0);
    return best_;
  }

 private:
  // Which pods stay, leave or move.
  void choose(std::size_t unit, std::size_t position, Work moved) {
    if (best_ && moved >= *best_) return;
    if (unit == places_.kept.size()) return start_placing(moved);
    const KeptPods& kept = places_.kept[unit];
    if (position == kept.pods.size()) {
      if (remaining_[unit] == 0) choose(unit + 1, 0, moved);
      return;
    }
    const PodIndex pod = kept.pods[position];
    if (remaining_[unit] > 0) {
      --remaining_[unit];
      if (has_room_at_home(state_, pod)) {
        const Place home = snapshot_place(*places_.cluster, pod);
        state_.put(pod, home.node, home.devices);
        choose(unit, position + 1, moved);
        state_.take(pod);
      }
      off_.push_back(pod);
      choose(unit, position + 1, moved + kept.cost);
      off_.pop_back();
      ++remaining_[unit];
    }
    choose(unit, position + 1, moved);  // it leaves
  }

  void start_placing(Work moved) {
    std::vector<PodIndex> pods = off_;
    for (const NewPods& unit : places_.placed) pods.insert(pods.end(), unit.pods.begin(), unit.pods.end());
    if (place(pods, 0)) best_ = moved;
  }

  bool place(const std::vector<PodIndex>& pods, std::size_t position) {
    if (position == pods.size()) return true;
    const Problem& problem = *places_.cluster;
    for (const NodeIndex node : problem.nodes.indices()) {
      const auto devices = static_cast<std::uint32_t>(problem.class_of(node).device_count);
      for (std::uint32_t set = 0; set < 1U << devices; ++set) {
        std::vector<std::int32_t> list;
        for (std::uint32_t d = 0; d < devices; ++d)
          if ((set >> d & 1) != 0) list.push_back(static_cast<std::int32_t>(d));
        const PodClass& pod_class = problem.class_of(pods[position]);
        if (std::ssize(list) != pod_class.gpu.devices) continue;
        if (!fit::devices_at(room_of(state_, node), problem, pod_class, node, list) ||
            !can_place(state_, places_.bounds, pods[position], node))
          continue;
        state_.put(pods[position], node, list);
        const bool is_done = place(pods, position + 1);
        state_.take(pods[position]);
        if (is_done) return true;
      }
    }
    return false;
  }

  const Places& places_;
  ClusterState state_;
  std::vector<std::int64_t> remaining_;
  std::vector<PodIndex> off_;
  std::optional<Work> best_;
};

// Cores may have been exceeded when the running pods were drawn.
bool has_fitting_start(const Places& places) {
  return std::ranges::none_of(places.cluster->node_classes,
                              [](const NodeClass& node_class) { return !node_class.reported.is_none(); });
}

struct Tally {
  int drawn = 0, possible = 0, placed = 0, least = 0, proven = 0, placed_without = 0, least_without = 0;
};

Tally compare(std::uint32_t first, const Shape& shape, int wanted) {
  Tally tally;
  cbc::Backend backend(test::program());
  for (std::uint32_t seed = first; tally.drawn < wanted; ++seed) {
    SCOPED_TRACE(seed);
    std::optional<Case> cluster = RandomPlaces(seed, shape).draw();
    if (!cluster) continue;
    Places places(std::move(*cluster));
    if (!has_fitting_start(places)) continue;
    if (shape.leaving)
      for (KeptPods& kept : places.kept) kept.kept -= seed % 2 == 0 || kept.kept == 1 ? 0 : 1;
    ++tally.drawn;
    const std::optional<Work> least = LeastMoved(places).find();
    const SlotResult with = places.find(&backend), without = places.find();
    EXPECT_EQ(test::fault_of(places, with), "");
    EXPECT_EQ(test::fault_of(places, without), "");
    if (!least) {
      EXPECT_FALSE(with.homeless.empty());
      continue;
    }
    ++tally.possible;
    EXPECT_TRUE(with.least_moved && *with.least_moved <= *least) << with.least_moved.value_or(-1) << " " << *least;
    tally.proven += with.is_proven() ? 1 : 0;
    tally.placed += with.homeless.empty() ? 1 : 0;
    tally.placed_without += without.homeless.empty() ? 1 : 0;
    tally.least += with.homeless.empty() && with.moved_work == *least ? 1 : 0;
    tally.least_without += without.homeless.empty() && without.moved_work == *least ? 1 : 0;
  }
  std::cout << "drawn " << tally.drawn << ", possible " << tally.possible << ", placed " << tally.placed << ", least "
            << tally.least << ", proven " << tally.proven << "; without CBC placed " << tally.placed_without
            << ", least " << tally.least_without << "\n";
  return tally;
}

TEST(SlotsBruteForce, DevicesAlone) {
  const Tally tally = compare(1, {}, 300);
  EXPECT_EQ(tally.least, tally.possible);
  EXPECT_EQ(tally.proven, tally.possible);
}

TEST(SlotsBruteForce, SizesThatDoNotDivideEachOther) {
  const Tally tally = compare(10'000, {.odd_sizes = true}, 300);
  EXPECT_GE(tally.least * 100, tally.possible * 98);
}

TEST(SlotsBruteForce, CoresThatBind) {
  const Tally tally = compare(20'000, {.tight_cores = true}, 300);
  EXPECT_GE(tally.placed * 100, tally.possible * 90);
}

TEST(SlotsBruteForce, PodsThatLeave) {
  const Tally tally = compare(30'000, {.leaving = true}, 300);
  EXPECT_GE(tally.least * 100, tally.possible * 98);
}

}  // namespace
}  // namespace muster::slots
