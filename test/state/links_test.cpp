// Problems of a kept snapshot: what is carried over from the last one is what a new problem would have.
#include "model/snapshot/links.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/state/delta_reader.h"
#include "model/build/build_problem.h"
#include "model/state/kept_snapshot.h"

namespace muster {
namespace {

class KeptProblems : public testing::Test {
 protected:
  void set(const std::string& text) {
    Result<SnapshotDelta> whole = reader_.read_whole(text);
    ASSERT_TRUE(whole) << whole.error().message;
    ASSERT_FALSE(kept_.apply(*std::move(whole), "$"));
  }
  void change(const std::string& text) {
    ASSERT_TRUE(reader_.read_step(text));
    Result<SnapshotDelta> delta = reader_.read_delta(kept_);
    ASSERT_TRUE(delta) << delta.error().message;
    ASSERT_FALSE(kept_.apply(*std::move(delta), "$.set"));
  }
  // Of the running pods, one after the other.
  std::vector<std::int32_t> devices() {
    Snapshot snapshot = kept_.for_cycle();
    EXPECT_TRUE(snapshot.links);
    snapshot.anomalies.strict = true;
    const Result<Problem> problem = build_problem(snapshot);
    if (!problem) {
      ADD_FAILURE() << problem.error().message;
      return {};
    }
    EXPECT_FALSE(snapshot.links) << "they do not hold for what comes after";
    return problem->lists.running_devices;
  }

  state::DeltaReader reader_{{}};
  KeptSnapshot kept_;
};

constexpr const char* kCluster =
    R"({"format":"muster/v1","time":1,"nodes":[{"name":"n","gpus":{"count":4}},{"name":"m","gpus":{"count":4}}],)"
    R"("pods":[{"name":"a","gpu":{"count":2},"node":"n","gpus":[3,1]},{"name":"b","gpu":{"count":1},"node":"n"}]})";

TEST_F(KeptProblems, DevicesListedOutOfOrderAreSortedEachTime) {
  set(kCluster);
  const std::vector<std::int32_t> expected{1, 3, 0};
  EXPECT_EQ(devices(), expected);
  EXPECT_EQ(devices(), expected);
}

TEST_F(KeptProblems, DevicesThatWereGivenAreGivenAgainUntilTheNodeChanges) {
  set(R"({"format":"muster/v1","time":1,"nodes":[{"name":"n","gpus":{"count":4}},{"name":"m","gpus":{"count":4}}],)"
      R"("pods":[{"name":"a","gpu":{"count":2},"node":"n"},{"name":"b","gpu":{"count":1},"node":"n"},)"
      R"({"name":"c","gpu":{"count":1},"node":"m"}]})");
  EXPECT_EQ(devices(), (std::vector<std::int32_t>{0, 1, 2, 0}));
  EXPECT_EQ(devices(), (std::vector<std::int32_t>{0, 1, 2, 0}));
  change(R"({"from":0,"to":1,"set":{"pods":[{"name":"a","gpu":{"count":2},"node":"n","gpus":[0,2]}]}})");
  EXPECT_EQ(devices(), (std::vector<std::int32_t>{0, 2, 1, 0}));
  change(R"({"from":1,"to":2,"remove":{"pods":["a"]}})");
  EXPECT_EQ(devices(), (std::vector<std::int32_t>{0, 0}));  // c has taken the place of a
}

TEST_F(KeptProblems, ANodeThatShrinksIsCheckedAgain) {
  set(kCluster);
  devices();
  change(R"({"from":0,"to":1,"set":{"nodes":[{"name":"n","gpus":{"count":2}}]}})");
  Snapshot snapshot = kept_.for_cycle();
  snapshot.anomalies.strict = true;
  const Result<Problem> problem = build_problem(snapshot);
  ASSERT_FALSE(problem);
  EXPECT_EQ(problem.error().path, "$.pods[0].gpus");
}

}  // namespace
}  // namespace muster
