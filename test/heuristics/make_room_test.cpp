#include "heuristics/preemption/make_room.h"

#include <string>

#include <gtest/gtest.h>

#include "model/objective/fair_share.h"
#include "test/model/built_problem.h"

namespace muster {
namespace {

constexpr const char* kNode = R"("nodes":[{"name":"n","resources":{"cpu":64},"gpus":{"count":8}}],)";
constexpr const char* kRuns = R"({"name":"a","resources":{"cpu":1},"gpu":{"count":6},"node":"n"})";
constexpr const char* kWaits = R"({"name":"b","resources":{"cpu":1},"gpu":{"count":1}})";
constexpr const char* kShares = R"({"name":"c","resources":{"cpu":1},"gpu":{"fraction":0.5}})";

class Room {
 public:
  explicit Room(const std::string& body)
      : problem(body),
        shares(compute_fair_shares(*problem)),
        before(*problem, ClusterState::Releasing::kFreed),
        bounds(queue_bounds(*problem, before)),
        rules(*problem, shares, before),
        state(before),
        chooser(state, bounds, NodeRule::kBestFit),
        placer(state, bounds, chooser),
        search({*problem, shares, bounds, rules, state, chooser, placer, never}, {}) {}

  BuiltProblem problem;
  FairShares shares;
  ClusterState before;
  QueueBounds bounds;
  EvictionRules rules;
  ClusterState state;
  NodeChooser chooser;
  GangPlacer placer;
  StopRequest never;
  RoomSearch search;
};

TEST(MakeRoom, ClaimsMayBeMetWhereSomebodyRunsWhoMayGo) {
  const std::string both = std::string(R"("pods":[)") + kRuns + "," + kWaits + "]";
  EXPECT_TRUE(Room(kNode + both).search.may_claim(0));
  EXPECT_FALSE(Room(std::string(R"("policy":{"actions":["place"]},)") + kNode + both).search.may_claim(0));
  EXPECT_FALSE(Room(std::string(kNode) + R"("pods":[)" + kWaits + "]").search.may_claim(0)) << "nothing runs";
}

TEST(MakeRoom, ClaimsMayBeMetByWhatWasPlacedAtALaterRank) {
  Room room(std::string(R"("policy":{"actions":["place"]},)") + kNode + R"("pods":[)" + kWaits + "]");
  ASSERT_TRUE(room.placer.place_minimum(room.problem.gang("b")));
  room.search.note_placed(room.problem.gang("b"), 3);
  EXPECT_TRUE(room.search.may_claim(2));
  EXPECT_FALSE(room.search.may_claim(3));
}

TEST(MakeRoom, DevicesFitInSumUpToTheLastPartOfOne) {
  const Room room(std::string(kNode) + R"("pods":[)" + kRuns + "," + kWaits + "," + kShares + "]");
  const auto fit = [&](const std::string& pod, std::int64_t pods) {
    return room.search.devices_fit_in_sum(room.problem.class_of(pod), pods);
  };
  EXPECT_TRUE(fit("b", 2));
  EXPECT_FALSE(fit("b", 3));
  EXPECT_TRUE(fit("c", 4));
  EXPECT_FALSE(fit("c", 5));
}

}  // namespace
}  // namespace muster
