#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/report/run_figures.h"

namespace muster::reporting {
namespace {

using Json = nlohmann::json;

Json written(const GangHistory& history, double end) {
  std::string text = R"({"":0)";
  json::JsonWriter json(text);
  history.write(json, end);
  return Json::parse(text + "}");
}

TEST(GangHistory, KnowsOnlyGangsThatWereSubmitted) {
  GangHistory history;
  EXPECT_FALSE(history.take("start", {"g", {}, {}, 0, 0}, 1));
  history.submit({"g", "q", 0, 1, 8}, 0, 1);
  EXPECT_TRUE(history.take("start", {"g", {}, {}, 0, 0}, 2));
}

TEST(GangHistory, ReportsARunByWhatEndedIt) {
  GangHistory history;
  history.submit({"g", "q", 0, 1, 8}, 0, 1);
  const auto take = [&](std::string_view what, std::string_view reason, double time) {
    EXPECT_TRUE(history.take(what, {"g", reason, {}, 0, 0}, time));
  };
  take("start", "", 2);
  take("evict", "reclaim", 3);
  take("interrupt", "", 3);
  take("start", "", 5);
  take("finish", "", 9);
  const Json runs = written(history, 10)["runs"];
  EXPECT_EQ(runs["from"], Json({2, 5}));
  EXPECT_EQ(runs["to"], Json({3, 9}));
  EXPECT_EQ(runs["texts"][runs["end"][0].get<std::size_t>()], "reclaim");
  EXPECT_EQ(runs["texts"][runs["end"][1].get<std::size_t>()], "finish");
}

TEST(GangHistory, EndsWhatStillRunsWithTheSimulation) {
  GangHistory history;
  history.submit({"g", "q", 0, 1, 8}, 0, 1);
  EXPECT_TRUE(history.take("start", {"g", {}, {}, 0, 0}, 2));
  EXPECT_EQ(written(history, 10)["runs"]["to"], Json({10}));
}

TEST(GangHistory, TakesTheLastGangOfANameThatIsUsedAgain) {
  GangHistory history;
  history.submit({"g", "q", 0, 1, 8}, 0, 1);
  EXPECT_TRUE(history.take("drop", {"g", {}, {}, 0, 0}, 2));
  history.submit({"g", "q", 0, 1, 8}, 0, 3);
  EXPECT_TRUE(history.take("start", {"g", {}, {}, 0, 0}, 4));
  const Json told = written(history, 5);
  EXPECT_EQ(told["gangs"]["dropped"], Json({1, 0}));
  EXPECT_EQ(told["runs"]["gang"], Json({1}));
}

}  // namespace
}  // namespace muster::reporting
