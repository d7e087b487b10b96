#include "io/muster_v1/histories.h"

#include <string>

#include <gtest/gtest.h>

#include "test/support/case.h"

namespace muster::muster_v1 {
namespace {

const std::string kText =
    R"({"expectedDurations":[{"gpus":[1,1],"count":3,"mean":90},{"gpus":[33],"count":1,"mean":0.5,"queue":"a"}],)"
    R"("queues":[{"name":"a","gpu":{"usage":1.5},"cpu":{"usage":0.25},"memory":{"usage":7}}]})";

std::string histories_text(const Histories& histories) {
  std::string text;
  write_histories(histories, text);
  return text;
}

TEST(Histories, AreReadBackAsTheyAreWritten) {
  const Result<Histories> histories = read_histories(kText);
  ASSERT_TRUE(histories) << histories.error().message;
  EXPECT_EQ(histories_text(*histories), kText);
  EXPECT_EQ(histories_text(*read_histories("{}")), "{}");
  EXPECT_EQ(histories_text(*read_histories(R"({"queues":[]})")), R"({"queues":[]})");
}

TEST(Histories, WhatIsBrokenIsRefusedWithItsPath) {
  const auto path_of = [](const std::string& text) { return read_histories(text).error().path; };
  EXPECT_EQ(path_of("["), "$");
  EXPECT_EQ(path_of(R"({"other":1})"), "$.other");
  EXPECT_EQ(path_of(R"({"queues":[{"gpu":{"usage":1}}]})"), "$.queues[0].name");
  EXPECT_EQ(path_of(R"({"queues":[{"name":"a","gpu":{"usage":-1}}]})"), "$.queues[0].gpu.usage");
  EXPECT_EQ(path_of(R"({"expectedDurations":[{"gpus":[0],"count":1,"mean":1}]})"), "$.expectedDurations[0].gpus[0]");
}

TEST(Histories, FillInWhatTheSnapshotDoesNotTell) {
  Snapshot snapshot = test::Case::read(R"({"format":"muster/v1","queues":[{"name":"a"},{"name":"b"}]})");
  EXPECT_EQ(histories_text(fill_in(*read_histories(kText), snapshot)), kText);
  ASSERT_EQ(snapshot.policy.over_time.expected_durations->size(), 2U);
  EXPECT_EQ(snapshot.policy.over_time.expected_durations->at(1).queue, "a");
  EXPECT_EQ(snapshot.queues[0].gpu.usage, 1'500'000);
  EXPECT_EQ(snapshot.queues[0].cpu.usage, 250);
  EXPECT_EQ(snapshot.queues[0].memory.usage, 7);
  EXPECT_EQ(snapshot.queues[1].gpu.usage, 0) << "it has used nothing";
}

TEST(Histories, LeaveAloneWhatTheSnapshotTells) {
  Snapshot snapshot = test::Case::read(
      R"({"format":"muster/v1","policy":{"expectedDurations":[]},"queues":[{"name":"a"},{"name":"b","cpu":{"usage":1}}]})");
  EXPECT_TRUE(fill_in(*read_histories(kText), snapshot).empty());
  EXPECT_TRUE(snapshot.policy.over_time.expected_durations->empty());
  EXPECT_EQ(snapshot.queues[0].gpu.usage, std::nullopt);
}

TEST(Histories, OfDurationsAreOfNoUseIfGangsAreInTheOrderOfAge) {
  Snapshot snapshot = test::Case::read(R"({"format":"muster/v1","policy":{"overTime":{"order":"waited"}}})");
  EXPECT_TRUE(fill_in(*read_histories(kText), snapshot).empty());
  EXPECT_EQ(snapshot.policy.over_time.expected_durations, std::nullopt);
}

TEST(Histories, OfQueuesThatTheSnapshotDoesNotHaveAreLeftOut) {
  Snapshot snapshot = test::Case::read(R"({"format":"muster/v1","queues":[{"name":"b"}]})");
  EXPECT_EQ(histories_text(fill_in(*read_histories(kText), snapshot)),
            R"({"expectedDurations":[{"gpus":[1,1],"count":3,"mean":90}],"queues":[]})");
}

}  // namespace
}  // namespace muster::muster_v1
