#include "solver/online/online_placer.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench/support/openb_replay.h"
#include "datasets/traces/openb.h"
#include "solver/online/online_bids.h"

namespace muster::online {
namespace {

policies::OnlineClass pod_of(double cpu, std::int32_t devices, std::int32_t level) {
  return {cpu, cpu * 4, devices, level, ~std::uint64_t{0}};
}

traces::OpenbInput carried(const std::string& trace, std::uint32_t seed, std::size_t pods) {
  auto input = traces::load_openb(traces::openb_trace_files(traces::openb_source_directory(), trace, seed));
  EXPECT_TRUE(input);
  if (pods < input->order.size()) input->order.resize(pods);
  return *std::move(input);
}

bench::Replay replayed(const traces::OpenbInput& input) {
  const bench::OnlineInput online = bench::online_input(input);
  OnlinePlacer placer(online.types, online.type_of_node);
  bench::Replay replay;
  for (const policies::OnlineClass& pod : online.pods) replay.push_back(placer.place(pod));
  return replay;
}

bench::Replay replayed_in_batches(const traces::OpenbInput& input, std::size_t batch) {
  const bench::OnlineInput online = bench::online_input(input);
  const std::span<const policies::OnlineClass> pods = online.pods;
  OnlinePlacer placer(online.types, online.type_of_node);
  bench::Replay replay;
  for (std::size_t first = 0; first < pods.size(); first += batch) {
    const auto places = placer.place_batch(pods.subspan(first, std::min(batch, pods.size() - first)));
    replay.insert(replay.end(), places.begin(), places.end());
  }
  return replay;
}

std::int64_t dropped_of(const bench::Replay& replay) {
  return std::ranges::count_if(replay, [](const auto& place) { return !place; });
}

void expect_alike(const bench::Replay& first, const bench::Replay& second) {
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(first[i].has_value(), second[i].has_value()) << i;
    if (!first[i]) continue;
    ASSERT_EQ(first[i]->node, second[i]->node) << i;
    ASSERT_EQ(first[i]->devices, second[i]->devices) << i;
  }
}

TEST(OnlinePlacer, PlacesWhatFitsAndNothingElse) {
  OnlinePlacer placer({{16, 64, 2}}, {0});
  const auto half = placer.place(pod_of(4, 1, 50));
  ASSERT_TRUE(half);
  EXPECT_EQ(half->devices.size(), 1U);
  EXPECT_FALSE(placer.place(pod_of(4, 2, 100)));
  EXPECT_FALSE(placer.place(pod_of(13, 1, 50)));
  const auto whole = placer.place(pod_of(4, 1, 100));
  ASSERT_TRUE(whole);
  EXPECT_NE(whole->devices, half->devices);
  const auto other_half = placer.place(pod_of(4, 1, 50));
  ASSERT_TRUE(other_half);
  EXPECT_EQ(other_half->devices, half->devices);
  EXPECT_FALSE(placer.place(pod_of(0.1, 1, 1)));
}

TEST(OnlinePlacer, LearnsWhichPiecesBelongTogether) {
  // Devices are requested in pieces of 70 and 30: a piece of 30 that took a whole device, or was next to another one,
  // would leave capacity that no 70 can use.
  const std::vector<policies::OnlineType> types{{64, 256, 1}};
  OnlinePlacer placer(types, std::vector<std::size_t>(200, 0));
  std::int32_t placed = 0;
  for (int i = 0; i < 200; ++i) {
    placed += placer.place(pod_of(2, 1, 30)) ? 1 : 0;
    placed += placer.place(pod_of(2, 1, 70)) ? 1 : 0;
  }
  EXPECT_EQ(placed, 400);
}

TEST(OnlinePlacer, KeepsScarceModelsForPodsThatNeedThem) {
  // A quarter of the devices is of a model that a fifth of the pods insists on; all devices are asked for.
  const std::vector<policies::OnlineType> types{{64, 256, 4}, {64, 256, 4}};
  std::vector<std::size_t> type_of_node(80, 0);
  type_of_node.resize(100, 1);
  OnlinePlacer placer(types, type_of_node);
  std::int32_t dropped = 0;
  for (int i = 0; i < 400; ++i) {
    policies::OnlineClass pod = pod_of(4, 1, 100);
    if (i % 5 == 4) pod.accepts = 2;
    dropped += placer.place(pod) ? 0 : 1;
  }
  EXPECT_LE(dropped, 8);
}

TEST(OnlinePlacer, ObeysTheRulesOfThePublishedExperiment) {
  for (const std::string trace : {"gpuspec33", "multigpu30"}) {
    const traces::OpenbInput input = carried(trace, 42, 8000);
    EXPECT_NO_THROW(bench::check_replay(input, replayed(input))) << trace;
  }
}

TEST(OnlinePlacer, PlacesAlikeAgain) {
  const traces::OpenbInput input = carried("default", 43, 3000);
  expect_alike(replayed(input), replayed(input));
  expect_alike(replayed_in_batches(input, 64), replayed_in_batches(input, 64));
}

TEST(OnlinePlacer, PlacesABatchOfOneAsThePodAlone) {
  const traces::OpenbInput input = carried("default", 43, 1000);
  expect_alike(replayed(input), replayed_in_batches(input, 1));
}

TEST(OnlinePlacer, PutsComplementsOfABatchTogether) {
  // As many devices as pairs. The small pieces come first; one by one, ten of the large ones next to pieces of 10 would
  // be dropped.
  for (const std::int32_t small : {10, 30, 40}) {
    OnlinePlacer placer({{64, 256, 1}}, std::vector<std::size_t>(30, 0));
    std::vector<policies::OnlineClass> pods(30, pod_of(2, 1, small));
    pods.resize(60, pod_of(2, 1, 100 - small));
    EXPECT_EQ(dropped_of(placer.place_batch(pods)), 0) << small;
    EXPECT_FALSE(placer.place(pod_of(1, 1, 1))) << small;
  }
}

TEST(OnlinePlacer, LeavesRoomForTheLargestOfABatch) {
  OnlinePlacer placer({{64, 256, 8}}, {0, 0});
  std::vector<policies::OnlineClass> pods(8, pod_of(4, 1, 100));
  pods.push_back(pod_of(32, 8, 100));
  EXPECT_EQ(dropped_of(placer.place_batch(pods)), 0);
}

TEST(OnlinePlacer, ServesEqualPodsOfABatchInOrderOfArrival) {
  OnlinePlacer placer({{64, 256, 8}}, {0});
  const std::vector<policies::OnlineClass> pods(12, pod_of(4, 1, 100));
  const auto places = placer.place_batch(pods);
  for (std::size_t i = 0; i < pods.size(); ++i) EXPECT_EQ(places[i].has_value(), i < 8) << i;
}

TEST(OnlinePlacer, MovesNothingOfEarlierBatches) {
  for (const std::string trace : {"gpuspec33", "cpu250"}) {
    const traces::OpenbInput input = carried(trace, 42, 8000);
    EXPECT_NO_THROW(bench::check_replay(input, replayed_in_batches(input, 100), 100)) << trace;
  }
}

TEST(OnlinePlacer, LeavesLessTheMoreItKnows) {
  const traces::OpenbInput input = carried("multigpu30", 42, ~std::size_t{0});
  const auto left = [&](const bench::Replay& replay) { return bench::outcome_of(input, replay).unallocated[130]; };
  EXPECT_LT(left(replayed_in_batches(input, 256)), left(replayed(input)));
}

TEST(OnlinePlacer, LeavesLessThanPublishedFgd) {
  // 4.77 % at 100 % arrived.
  const traces::OpenbInput input = carried("default", 42, ~std::size_t{0});
  EXPECT_LT(bench::outcome_of(input, replayed(input)).unallocated[100], 4.2);
}

TEST(OnlineBids, AreWhatAFurtherPodIsWorth) {
  // Twice as much is asked for as there is, all of it alike: a further pod is worth what it takes.
  OnlineForecast forecast;
  forecast.classes = {pod_of(1, 1, 50), pod_of(1, 1, 100)};
  forecast.counts = {10, 10};
  forecast.supply.resize(1);
  forecast.supply[0].cpu = 1000;
  forecast.supply[0].memory = 4000;
  forecast.supply[0].devices[100] = 10;
  forecast.devices = 10;
  const std::vector<double> bids = OnlineBidder({{100, 400, 1}}).bids(forecast);
  ASSERT_EQ(bids.size(), 2U);
  EXPECT_GT(bids[0], 0);
  EXPECT_NEAR(bids[1], 2 * bids[0], 1e-6);
}

}  // namespace
}  // namespace muster::online
