// Figures of a simulation by its events are those that its summary would have.
#include "io/report/run_figures.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::reporting {
namespace {

using Json = nlohmann::json;

Json written(const RunFigures& figures, const std::vector<GangOutcome>& gangs = {}) {
  std::string text = R"({"":0)";
  json::JsonWriter json(text);
  figures.write(json, gangs);
  return Json::parse(text + "}")["figures"];
}

CycleEvent cycle(double allocated, std::vector<QueueSample> queues = {}) {
  CycleEvent event;
  event.capacity = 10;
  event.allocated = allocated;
  event.queues = std::move(queues);
  return event;
}

TEST(RunFigures, SumsUseBetweenCyclesByTheGangsThatRun) {
  RunFigures figures;
  figures.pass(0, 0);
  figures.note_submission();
  figures.add(cycle(8), 6);  // of a gang that runs with more than its GPUs, or of pods that belong to none
  figures.pass(10, 6);
  figures.note_submission();
  figures.pass(20, 2);
  const Json allocation = written(figures)["allocation"];
  EXPECT_DOUBLE_EQ(allocation["whileArriving"], 0.8);
  EXPECT_DOUBLE_EQ(allocation["mean"], 0.6);
}

TEST(RunFigures, CountsWhatWasLost) {
  RunFigures figures;
  figures.add(cycle(10), 10);
  figures.pass(10, 10);
  const auto add = [&](std::string_view what, std::string_view reason, std::int64_t pods, double lost) {
    figures.add(what, {"g", reason, {}, pods, lost});
  };
  add("evict", "preempt", 2, 0);
  add("evict", "reclaim", 3, 0);
  add("evict", "failure", 4, 0);
  add("interrupt", "", 0, 25);
  const Json told = written(figures);
  EXPECT_EQ(told["evictions"], Json({{"preempt", 2}, {"reclaim", 3}}));
  EXPECT_EQ(told["lost"], 25);
  EXPECT_DOUBLE_EQ(told["allocation"]["mean"], 1);
  EXPECT_DOUBLE_EQ(told["allocation"]["useful"], 0.75);
}

TEST(RunFigures, WeighsFairnessByTheTimeForWhichAPlanHolds) {
  RunFigures figures;
  figures.add(cycle(6, {{"a", 5, 6}, {"b", 5, 0}}), 6);
  figures.pass(30, 6);
  figures.add(cycle(10, {{"a", 5, 5}, {"b", 5, 5}}), 10);
  figures.pass(40, 10);
  const Json fairness = written(figures)["fairness"];
  EXPECT_DOUBLE_EQ(fairness["shortfall"], 5.0 * 30 / 400);
  EXPECT_DOUBLE_EQ(fairness["jain"], (0.5 * 30 + 1 * 10) / 40);
}

TEST(RunFigures, GroupsGangsBySize) {
  const Json told = written(RunFigures(), {{1, true, false, 10, 20},
                                           {1, true, false, 30, 60},
                                           {8, true, false, 100, std::nullopt},
                                           {24, false, false, 500, std::nullopt},
                                           {24, false, true, 0, std::nullopt}});
  EXPECT_EQ(told["gangs"]["submitted"], 5);
  EXPECT_EQ(told["gangs"]["started"], 3);
  EXPECT_EQ(told["gangs"]["finished"], 2);
  EXPECT_EQ(told["gangs"]["dropped"], 1);
  EXPECT_DOUBLE_EQ(told["gangs"]["waiting"]["mean"], 160) << "dropped gangs are left out";
  EXPECT_EQ(told["gangs"]["waiting"]["p99"], 500);
  EXPECT_EQ(told["gangs"]["completion"]["mean"], 40);
  EXPECT_EQ(told["large"]["waiting"]["mean"], 300);
  ASSERT_EQ(told["bySize"].size(), 3U);
  EXPECT_EQ(told["bySize"][2]["gpus"], "<=32");
  EXPECT_EQ(told["bySize"][2]["waiting"]["p50"], 500);
}

TEST(RunFigures, AreFiniteWhereNothingHappened) {
  const Json told = written(RunFigures());
  EXPECT_EQ(told["allocation"]["mean"], 0);
  EXPECT_EQ(told["fairness"]["jain"], 1);
  EXPECT_EQ(told["gangs"]["waiting"], Json({{"count", 0}}));
}

}  // namespace
}  // namespace muster::reporting
