// `muster solve` from outside: lines in, lines out, exit codes.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/program.h"
#include "test/cli/snapshots.h"
#include "test/support/cluster.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kDeterministic = "solve --deterministic --engine greedy --quiet";

class Solve : public testing::Test {
 protected:
  Workplace workplace;
};

TEST_F(Solve, AnswersEveryLineInOrder) {
  const std::vector<std::string> good = good_lines();
  const Outcome outcome = workplace.run("solve --budget 300ms --quiet", joined(good));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> plans = lines_of(outcome.out);
  ASSERT_EQ(plans.size(), good.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Json plan = Json::parse(plans[i]);
    EXPECT_EQ(plan["id"], "good-" + std::to_string(i));
    EXPECT_EQ(plan["status"], "ok");
  }
}

TEST_F(Solve, TellsItsTimesUnlessDeterministic) {
  const Json timed = Json::parse(workplace.run("solve --budget 200ms --quiet", good_lines()[0] + "\n").out);
  const Json& solver = timed["solver"];
  EXPECT_EQ(solver["budgetMs"], 200);
  double sum = 0;
  for (const char* phase : {"parse", "model", "greedy", "verify", "write"}) {
    ASSERT_TRUE(solver["phasesMs"].contains(phase)) << phase << ": " << solver;
    sum += solver["phasesMs"][phase].get<double>();
  }
  EXPECT_LE(sum, solver["elapsedMs"].get<double>() + 0.1);
  const Json untimed = Json::parse(workplace.run(kDeterministic, good_lines()[0] + "\n").out);
  EXPECT_FALSE(untimed["solver"].contains("phasesMs"));
  EXPECT_FALSE(untimed["solver"].contains("elapsedMs"));
}

TEST_F(Solve, TakesTheBudgetOfTheSnapshotBeforeItsOwn) {
  std::string line = good_lines()[0];
  line = R"({"policy":{"budget":"150ms"},)" + line.substr(1) + "\n";
  EXPECT_EQ(Json::parse(workplace.run("solve --budget 2s --quiet", line).out)["solver"]["budgetMs"], 150);
}

TEST_F(Solve, GivesEqualBytesForEqualLinesWhenDeterministic) {
  const std::string lines = joined(good_lines());
  const Outcome first = workplace.run("solve --deterministic --quiet --threads 1", lines);
  const Outcome second = workplace.run("solve --deterministic --quiet --threads 4", lines);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_FALSE(first.out.empty());
  EXPECT_EQ(first.out, second.out);
}

// Each broken line costs one error record with its number, and the good lines around it get the same bytes as without
// it.
TEST_F(Solve, AnswersThreeHundredBrokenLinesWithoutHarmToTheGoodOnes) {
  constexpr std::uint32_t kBroken = 300;
  const std::vector<std::string> good = good_lines();
  const std::vector<std::string> expected = lines_of(workplace.run(kDeterministic, joined(good)).out);
  ASSERT_EQ(expected.size(), good.size());
  std::vector<std::string> mixed, expected_mixed;
  for (std::uint32_t i = 0; i < kBroken; ++i) {
    mixed.push_back(broken_line(good[i % good.size()], i));
    expected_mixed.emplace_back();
    if (i % 10 != 3) continue;
    mixed.push_back(good[(i / 10) % good.size()]);
    expected_mixed.push_back(expected[(i / 10) % good.size()]);
  }
  const Outcome outcome = workplace.run(std::string(kDeterministic) + " --strict", joined(mixed));
  EXPECT_EQ(outcome.exit_code, 1);
  const std::vector<std::string> answers = lines_of(outcome.out);
  ASSERT_EQ(answers.size(), mixed.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!expected_mixed[i].empty()) {
      EXPECT_EQ(answers[i], expected_mixed[i]);
      continue;
    }
    const Json record = Json::parse(answers[i], nullptr, false);
    ASSERT_FALSE(record.is_discarded()) << answers[i];
    EXPECT_EQ(record.value("status", ""), "error") << mixed[i].substr(0, 300);
    if (record.value("status", "") != "error") continue;
    EXPECT_EQ(record["error"]["line"], i + 1);
    EXPECT_NE(record["error"]["code"], "InternalError") << mixed[i].substr(0, 300);
    EXPECT_FALSE(record["error"]["code"].get<std::string>().empty());
    EXPECT_FALSE(record["error"]["message"].get<std::string>().empty());
  }
}

TEST_F(Solve, GivesTheIdOfABrokenLineBackWhereItCanBeFound) {
  const std::string line = R"({"format":"muster/v1","id":"half-good","colour":"blue"})";
  EXPECT_EQ(Json::parse(workplace.run("solve --quiet", line).out)["id"], "half-good");
}

TEST_F(Solve, PassesOverUnknownKeysWhenLenient) {
  const std::string line = R"({"format":"muster/v1","id":"x","colour":"blue"})";
  EXPECT_EQ(workplace.run("solve --quiet", line).exit_code, 65);
  EXPECT_EQ(workplace.run("solve --quiet --lenient", line).exit_code, 0);
}

TEST_F(Solve, CountsBlankLinesButDoesNotAnswerThem) {
  const Outcome outcome = workplace.run(kDeterministic, "\n  \n" + good_lines()[0] + "\r\n\t\nbroken\n\n");
  const std::vector<std::string> answers = lines_of(outcome.out);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(Json::parse(answers[0])["status"], "ok");
  EXPECT_EQ(Json::parse(answers[1])["error"]["line"], 5);
}

TEST_F(Solve, ReadsALastLineWithoutALineFeed) {
  const Outcome outcome = workplace.run(kDeterministic, good_lines()[0]);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(lines_of(outcome.out).size(), 1U);
}

TEST_F(Solve, ReadsFilesAsItReadsStdin) {
  const std::vector<std::string> good = good_lines();
  const std::string from_stdin = workplace.run(kDeterministic, joined(good)).out;
  const std::string all = workplace.file("all.jsonl", joined(good));
  const std::string first = workplace.file("first.jsonl", good[0]);  // without a line feed
  const std::string rest = joined({good.begin() + 1, good.end()});
  EXPECT_EQ(workplace.run(std::string(kDeterministic) + " " + all).out, from_stdin);
  EXPECT_EQ(workplace.run(std::string(kDeterministic) + " " + first + " -", rest).out, from_stdin);
  EXPECT_EQ(workplace.run(std::string(kDeterministic) + " -", joined(good)).out, from_stdin);
}

TEST_F(Solve, WritesItsOutputToAFile) {
  const std::string line = good_lines()[0] + "\n";
  const std::string expected = workplace.run(kDeterministic, line).out;
  const Outcome outcome =
      workplace.run(std::string(kDeterministic) + " --output " + workplace.path("plan.jsonl"), line);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(workplace.content("plan.jsonl"), expected);
}

TEST_F(Solve, RefusesToOverwriteItsInput) {
  const std::string line = good_lines()[0] + "\n";
  const std::string file = workplace.file("both.jsonl", line);
  const Outcome outcome = workplace.run("solve " + file + " --output " + file);
  EXPECT_EQ(outcome.exit_code, 64);
  EXPECT_NE(outcome.err.find("--output"), std::string::npos);
  EXPECT_EQ(workplace.content("both.jsonl"), line);
}

TEST_F(Solve, TellsByItsExitCodeWhatBecameOfTheLines) {
  const std::string good = good_lines()[0] + "\n";
  EXPECT_EQ(workplace.run(kDeterministic, good).exit_code, 0);
  EXPECT_EQ(workplace.run(kDeterministic, good + "broken\n").exit_code, 1);
  EXPECT_EQ(workplace.run(kDeterministic, "broken\n").exit_code, 65);
  EXPECT_EQ(workplace.run(kDeterministic, "").exit_code, 66);
  EXPECT_EQ(workplace.run(kDeterministic, "\n\n").exit_code, 66);
  EXPECT_EQ(workplace.run("solve /no/such/file").exit_code, 66);
  EXPECT_EQ(workplace.run("solve /").exit_code, 66);
  EXPECT_EQ(workplace.run("solve --output /no/such/place", good).exit_code, 73);
}

TEST_F(Solve, AnswersNothingWhereOneOfTheFilesIsMissing) {
  const std::string file = workplace.file("good.jsonl", good_lines()[0]);
  const Outcome outcome = workplace.run("solve " + file + " /no/such/file");
  EXPECT_EQ(outcome.exit_code, 66);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("/no/such/file"), std::string::npos);
}

TEST_F(Solve, SaysThatItsOutputCannotBeWritten) {
  const std::string good = good_lines()[0] + "\n";
  const Outcome closed = workplace.run("solve --quiet >&-", good);
  EXPECT_EQ(closed.exit_code, 74);
  EXPECT_NE(closed.err, "");
  const Outcome full = workplace.run("solve --quiet > /dev/full", good);
  EXPECT_EQ(full.exit_code, 74);
  EXPECT_NE(full.err.find("No space left"), std::string::npos);
}

TEST_F(Solve, EndsQuietlyWhenItsReaderGoesAway) {
  std::string many;
  for (int i = 0; i < 2000; ++i) many += good_lines()[0] + "\n";
  const std::string file = workplace.file("many.jsonl", many);
  const std::string program = test::program() + " " + kDeterministic + " " + file;
  const Outcome outcome =
      workplace.shell("{ " + program + " ; echo $? > " + workplace.path("code") + " ; } | head -n 1");
  EXPECT_EQ(lines_of(outcome.out).size(), 1U);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(workplace.content("code"), "74\n");
}

TEST_F(Solve, RefusesLinesThatAreTooLongAndReadsOn) {
  const std::string good = good_lines()[0];
  const std::string input = std::string(200'000, 'x') + "\n" + good + "\n" + std::string(5000, 'y') + "\n";
  const Outcome outcome = workplace.run(std::string(kDeterministic) + " --max-line-bytes 4000", input);
  const std::vector<std::string> answers = lines_of(outcome.out);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(Json::parse(answers[0])["error"]["code"], "TooLarge");
  EXPECT_EQ(Json::parse(answers[1])["id"], "good-0");
  EXPECT_EQ(Json::parse(answers[2])["error"]["code"], "TooLarge");
  EXPECT_EQ(Json::parse(answers[2])["error"]["line"], 3);
}

TEST_F(Solve, ShowsNamesOfStrangersEscaped) {
  const std::string line = R"({"format":"muster/v1","id":"x","\u001b[31m\u202e":1})";
  const Outcome outcome = workplace.run("solve", line);
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(outcome.err.find("\xe2\x80\xae"), std::string::npos);
  EXPECT_NE(outcome.err.find("\\x1b[31m"), std::string::npos) << outcome.err;
}

TEST_F(Solve, LogsAsJsonWhenAskedTo) {
  const Outcome outcome =
      workplace.run("solve --log-format json --summary --deterministic", good_lines()[0] + "\nbroken\n");
  const std::vector<std::string> records = lines_of(outcome.err);
  ASSERT_EQ(records.size(), 2U) << outcome.err;
  EXPECT_EQ(Json::parse(records[0])["severity"], "info");
  EXPECT_EQ(Json::parse(records[1])["severity"], "warning");
  EXPECT_EQ(Json::parse(records[1])["line"], 2);
}

TEST_F(Solve, SumsUpEachSnapshotWhenAskedTo) {
  const Outcome outcome = workplace.run("solve --summary --deterministic", good_lines()[0] + "\n");
  EXPECT_NE(outcome.err.find("nodes 2, pods 2, GPUs 6, allocated 2.5 (58.33 % unallocated)"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(workplace.run("solve --deterministic", good_lines()[0] + "\n").err, "");
}

TEST_F(Solve, TellsInTheSummaryHowManyWholeNodesStayIdle) {
  const std::string line =
      R"({"format":"muster/v1","policy":{"placement":"spread"},"nodes":[{"name":"n1","gpus":{"count":4}},)"
      R"({"name":"n2","gpus":{"count":4}},{"name":"n3"}],"pods":[{"name":"a","gpu":{"count":3}}]})";
  const Outcome outcome = workplace.run("solve --summary --deterministic", line + "\n");
  EXPECT_NE(outcome.err.find("unallocated); whole nodes idle 1 of 2\n"), std::string::npos) << outcome.err;
}

TEST_F(Solve, TellsInTheSummaryWhichQueuesHavePodsMovedForWhichOthers) {
  test::Cluster cluster;
  cluster.queue("pre", R"("gpu":{"quota":1})").queue("mid", R"("gpu":{"quota":6})").node("n1", 4).node("n2", 4);
  const std::string may_go = R"("queue":"mid","preemptible":true,"started":1000)";
  cluster.running("a", "n1", 2, may_go).running("b", "n2", 2, may_go);
  cluster.pod("new", 4, R"("queue":"pre")").pod("held-up", 4, R"("queue":"mid","nodeSelector":{"no":"node"})");
  const Outcome outcome = workplace.run("solve --summary --deterministic", cluster.line() + "\n");
  EXPECT_NE(outcome.err.find("\n  moved for other queues: 1 pod of mid for pre, which is above its fair share\n"),
            std::string::npos)
      << outcome.err;
}

// Three, three, two and one device of four and four: sums alone do not prove that something must wait.
TEST_F(Solve, WritesTheModelThatItSolves) {
  const std::string line =
      R"({"format":"muster/v1","nodes":[{"name":"n1","gpus":{"count":4}},{"name":"n2","gpus":{"count":4}}],"pods":[)"
      R"({"name":"a","gpu":{"count":3}},{"name":"b","gpu":{"count":3}},{"name":"c","gpu":{"count":2}},)"
      R"({"name":"d","gpu":{"fraction":0.6}},{"name":"e","gpu":{"fraction":0.6}},{"name":"f","gpu":{"fraction":0.6}}]})";
  const Outcome outcome =
      workplace.run("solve --quiet --budget 5s --engine milp --write-model " + workplace.path("model.mps"), line);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string model = workplace.content("model.mps");
  EXPECT_NE(model.find("ROWS"), std::string::npos) << outcome.out;
  EXPECT_NE(model.find("ENDATA"), std::string::npos);
}

// Weight x seconds exceeds 64 bits: the gang that has run for an hour leaves, not the one of twenty days.
TEST_F(Solve, GreedyEvictsTheRightGangWhereWeightsAreLarge) {
  const std::string eight = R"("gpu":{"count":8},"gang":)";
  const std::string line = R"({"format":"muster/v1","time":2000000,"nodes":[{"name":"n1","gpus":{"count":8}},)"
                           R"({"name":"n2","gpus":{"count":8}}],"gangs":[{"name":"elder","priority":10,"weight":1e9},)"
                           R"({"name":"younger","priority":10,"weight":1e9},)"
                           R"({"name":"new","priority":20}],"pods":[{"name":"e",)" +
                           eight + R"("elder","node":"n1","started":272000},{"name":"y",)" + eight +
                           R"("younger","node":"n2","started":1996400},{"name":"n",)" + eight + R"("new"}]})" + "\n";
  const Json plan = Json::parse(workplace.run("solve --quiet --deterministic --engine greedy", line).out);
  ASSERT_EQ(plan["evictions"].size(), 1U) << plan;
  EXPECT_EQ(plan["evictions"][0]["pod"], "y");
}

}  // namespace
}  // namespace muster::cli
