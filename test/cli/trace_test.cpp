// `muster solve --trace`: what is known while a plan is searched for, a line for each change.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/program.h"
#include "test/cli/snapshots.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

std::vector<Json> parsed(const std::string& lines) {
  std::vector<Json> all;
  for (const std::string& line : lines_of(lines)) all.push_back(Json::parse(line));
  return all;
}

// What was said last, by snapshot and level.
std::map<std::pair<std::string, std::string>, Json> last_said(const std::vector<Json>& trace) {
  std::map<std::pair<std::string, std::string>, Json> last;
  for (const Json& event : trace)
    last[{event["id"], event["level"].get<std::string>() + ":" + event.value("priority", Json()).dump()}] = event;
  return last;
}

class Trace : public testing::Test {
 protected:
  // All lines, or those about levels.
  std::vector<Json> all_lines() const { return parsed(workplace.content("trace.jsonl")); }
  std::vector<Json> trace() const {
    std::vector<Json> lines = all_lines();
    std::erase_if(lines, [](const Json& line) { return line.contains("timePlan") || line.contains("refused"); });
    return lines;
  }
  Outcome solve(const std::string& options, const std::string& input) const {
    return workplace.run("solve --quiet --trace " + workplace.path("trace.jsonl") + " " + options, input);
  }
  // One that sums alone do not prove greedy best on.
  std::string hard_line() const {
    return workplace.run("generate --preset synth --nodes 8 --load 1.3 --place-only --seed 3").out;
  }

  Workplace workplace;
};

TEST_F(Trace, EndsWithWhatThePlanSays) {
  const Outcome outcome = solve("--budget 500ms", joined(good_lines()));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto last = last_said(trace());
  std::size_t levels = 0;
  for (const Json& plan : parsed(outcome.out)) {
    for (const Json& level : plan["objective"]) {
      const auto said =
          last.find({plan["id"], level["level"].get<std::string>() + ":" + level.value("priority", Json()).dump()});
      ASSERT_NE(said, last.end()) << plan["id"] << level;
      EXPECT_EQ(said->second["value"], level["value"]) << plan["id"] << level;
      if (level.contains("bound")) {
        EXPECT_EQ(said->second["bound"], level["bound"]) << plan["id"] << level;
      }
      ++levels;
    }
  }
  EXPECT_EQ(last.size(), levels);
}

TEST_F(Trace, SaysWhenAndThatGreedyComesFirst) {
  ASSERT_EQ(solve("--budget 500ms", good_lines()[0] + "\n").exit_code, 0);
  const std::vector<Json> events = trace();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front()["engine"], "greedy");
  EXPECT_EQ(events.front()["level"], "share");
  double before = 0;
  for (const Json& event : events) {
    EXPECT_EQ(event["id"], "good-0");
    EXPECT_GE(event["ms"].get<double>(), before);
    before = event["ms"];
  }
}

TEST_F(Trace, BeginsWithATimePlanThatTakesNoMoreThanTheBudget) {
  ASSERT_EQ(solve("--budget 500ms", good_lines()[0] + "\n").exit_code, 0);
  const Json first = all_lines().front();
  EXPECT_EQ(first["id"], "good-0");
  double sum = 0;
  for (const char* phase : {"greedy", "search", "milp", "verify"}) sum += first["timePlan"][phase].get<double>();
  EXPECT_GT(sum, 0);
  EXPECT_LE(sum, 500.1);
}

TEST_F(Trace, BeginsWithTheCountedWorkWhenDeterministic) {
  ASSERT_EQ(solve("--deterministic", good_lines()[0] + "\n").exit_code, 0);
  const Json plan = all_lines().front()["timePlan"];
  EXPECT_GT(plan["milpWork"], 0);
  EXPECT_GT(plan["searchTrials"], 0);
  EXPECT_FALSE(plan.contains("verify"));
}

// The first level has nothing before it: its value and its bound only come nearer to each other.
TEST_F(Trace, ClosesInOnTheFirstLevel) {
  ASSERT_EQ(solve("--engine milp --deterministic --threads 1", hard_line()).exit_code, 0);
  double value = -1, bound = 1e18;
  int told = 0;
  bool milp = false;
  for (const Json& event : trace()) {
    if (event["level"] != "share") continue;
    ++told;
    milp = milp || event["engine"] == "milp";
    EXPECT_GE(event["value"].get<double>(), value);
    value = event["value"];
    if (event["bound"].is_null()) {
      EXPECT_EQ(bound, 1e18) << "a bound is not forgotten";
    } else {
      EXPECT_LE(event["bound"].get<double>(), bound);
      bound = event["bound"];
    }
    EXPECT_LE(value, bound);
  }
  EXPECT_GT(told, 1);
  EXPECT_TRUE(milp);
}

TEST_F(Trace, SaysNothingTwice) {
  ASSERT_EQ(solve("--engine milp --deterministic --threads 1", hard_line()).exit_code, 0);
  std::map<std::string, std::pair<Json, Json>> last;
  for (const Json& event : trace()) {
    const std::pair<Json, Json> now{event["value"], event["bound"]};
    auto& before = last[event["level"].get<std::string>() + event.value("priority", Json()).dump()];
    EXPECT_NE(now, before) << event;
    before = now;
  }
}

TEST_F(Trace, IsTheSameBytesWhenDeterministic) {
  const std::string line = hard_line();
  ASSERT_EQ(solve("--engine milp --deterministic --threads 1", line).exit_code, 0);
  const std::string first = workplace.content("trace.jsonl");
  ASSERT_EQ(solve("--engine milp --deterministic --threads 2", line).exit_code, 0);
  EXPECT_EQ(workplace.content("trace.jsonl"), first);
  EXPECT_FALSE(trace().front().contains("ms"));
}

TEST_F(Trace, DoesNotChangeThePlan) {
  const std::string lines = joined(good_lines());
  EXPECT_EQ(solve("--deterministic", lines).out, workplace.run("solve --quiet --deterministic", lines).out);
}

TEST_F(Trace, IsRefusedWhereItCannotBeWritten) {
  const std::string input = workplace.file("input.jsonl", good_lines()[0] + "\n");
  EXPECT_EQ(workplace.run("solve --trace /no/such/place " + input).exit_code, 73);
  EXPECT_EQ(workplace.run("solve --trace " + input + " " + input).exit_code, 64);
  EXPECT_EQ(workplace.run("solve --quiet --trace /dev/full " + input).exit_code, 74);
  EXPECT_EQ(workplace.content("input.jsonl"), good_lines()[0] + "\n");
}

}  // namespace
}  // namespace muster::cli
