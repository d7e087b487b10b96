#include <gtest/gtest.h>

#include "heuristics/preemption/nominator.h"
#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {
namespace {

// `x` is at its limit of two GPUs; the third one is free.
constexpr const char* kLimited = R"(
 "nodes":[{"name":"n","gpus":{"count":3}}],
 "queues":[{"name":"x","gpu":{"limit":2}},{"name":"y"}],
 "pods":[{"name":"low","queue":"x","node":"n","gpus":[0],"gpu":{"count":1},"priority":1},
         {"name":"high","queue":"x","node":"n","gpus":[1],"gpu":{"count":1},"priority":5},
         {"name":"new","queue":"x","gpu":{"count":1},"priority":9},
         {"name":"least","queue":"x","gpu":{"count":1},"priority":0}])";

class QueueAtItsLimit : public testing::Test {
 protected:
  bool free_for(const char* gang) {
    all_.claim_for(gang, PreemptionMode::kPreempt);
    all_.claim.added = {all_.problem.class_of(gang).smallest_gpu_usage, 0, 0};
    return free_queue(all_.context, all_.claim, all_.problem.class_of(gang));
  }
  Planning all_{kLimited};
};

TEST_F(QueueAtItsLimit, TheCheapestVictimLeaves) {
  EXPECT_TRUE(free_for("new"));
  EXPECT_FALSE(all_.state.is_present(all_.pod("low")));
  EXPECT_TRUE(all_.state.is_present(all_.pod("high")));
}

TEST_F(QueueAtItsLimit, NothingMoreLeavesOnceThereIsRoom) {
  ASSERT_TRUE(free_for("new"));
  EXPECT_TRUE(free_for("new"));
  EXPECT_EQ(all_.ledger.evictions().size(), 1U);
}

TEST_F(QueueAtItsLimit, FailsIfNothingMayLeave) { EXPECT_FALSE(free_for("least")); }

}  // namespace
}  // namespace muster::preemption
