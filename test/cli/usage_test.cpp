// The command line itself: help, errors of usage, and where options come from.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/program.h"
#include "test/cli/snapshots.h"

namespace muster::cli {
namespace {

class Usage : public testing::Test {
 protected:
  double budget_ms(const std::string& arguments, const std::string& environment = "") {
    const Outcome outcome =
        workplace.run("solve --quiet --engine greedy " + arguments, good_lines()[0] + "\n", environment);
    const auto plan = nlohmann::json::parse(outcome.out, nullptr, false);
    return plan.is_discarded() ? -1 : plan["solver"]["budgetMs"].get<double>();
  }
  Workplace workplace;
};

TEST_F(Usage, TellsItsHelpOnStdout) {
  for (const char* command : {"help", "--help", "help solve", "solve --help", "verify --help", "import --help",
                              "generate --help", "bench --help"}) {
    const Outcome outcome = workplace.run(command);
    EXPECT_EQ(outcome.exit_code, 0) << command;
    EXPECT_NE(outcome.out.find("Usage: muster"), std::string::npos) << command;
    EXPECT_EQ(outcome.err, "") << command;
  }
}

TEST_F(Usage, NamesEveryCommandInItsHelpButTheWorker) {
  const std::string help = workplace.run("help").out;
  for (const char* command : {"solve", "verify", "diff", "top", "import", "generate", "bench", "version", "help"}) {
    EXPECT_NE(help.find(command), std::string::npos) << command;
  }
  EXPECT_EQ(help.find("worker"), std::string::npos);
}

TEST_F(Usage, TellsItsVersion) {
  const Outcome outcome = workplace.run("version");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out.rfind("muster ", 0), 0U);
}

TEST_F(Usage, NamesWhatIsWrong) {
  const struct {
    const char* arguments;
    const char* named;
  } cases[] = {{"", "Usage"},
               {"sovle", "sovle"},
               {"bench speed", "speed"},
               {"bench quality --batch 16", "--batch"},
               {"solve --colour", "--colour"},
               {"solve --budge 1s", "--budge"},
               {"solve --budget", "--budget"},
               {"solve --budget soon", "--budget"},
               {"solve --budget 0s", "--budget"},
               {"solve --budget=-1s", "--budget"},
               {"solve --budget 1s --budget 2s", "--budget"},
               {"solve --engine magic", "--engine"},
               {"solve --threads 0", "--threads"},
               {"solve --threads two", "--threads"},
               {"solve --seed -1", "--seed"},
               {"solve --gap 2", "--gap"},
               {"solve --gap nan", "--gap"},
               {"solve --log-format xml", "--log-format"},
               {"solve --deterministic=perhaps", "--deterministic"},
               {"solve --config /no/such/file", "--config"},
               {"verify only-one-file", "verify"},
               {"verify - -", "stdin"}};
  for (const auto& c : cases) {
    const Outcome outcome = workplace.run(c.arguments, good_lines()[0]);
    EXPECT_EQ(outcome.exit_code, 64) << c.arguments;
    EXPECT_EQ(outcome.out, "") << c.arguments;
    EXPECT_NE(outcome.err.find(c.named), std::string::npos) << c.arguments << ": " << outcome.err;
  }
}

TEST_F(Usage, NamesTheNearestWordToAMistypedOne) {
  const struct {
    const char* arguments;
    const char* named;
  } cases[] = {{"slove", "unknown command 'slove'; did you mean 'solve'?"},
               {"verfy a b", "did you mean 'verify'?"},
               {"help exprot", "did you mean 'export'?"},
               {"import kubernets", "unknown import 'kubernets'; did you mean 'kubernetes'?"},
               {"bench qualty", "did you mean 'quality'?"},
               {"solve --budgte 1s", "unknown option '--budgte'; did you mean '--budget'?"},
               {"verify --quite a b", "did you mean '--quiet'?"}};
  for (const auto& c : cases) {
    const Outcome outcome = workplace.run(c.arguments, good_lines()[0]);
    EXPECT_EQ(outcome.exit_code, 64) << c.arguments;
    EXPECT_NE(outcome.err.find(c.named), std::string::npos) << c.arguments << ": " << outcome.err;
  }
}

TEST_F(Usage, GuessesNothingWhereNoWordIsNear) {
  for (const char* arguments : {"frobnicate", "work", "x", "solve --colour"}) {
    const Outcome outcome = workplace.run(arguments);
    EXPECT_EQ(outcome.exit_code, 64) << arguments;
    EXPECT_EQ(outcome.err.find("did you mean"), std::string::npos) << arguments << ": " << outcome.err;
  }
  EXPECT_NE(workplace.run("frobnicate").err.find("'muster help'"), std::string::npos);
}

TEST_F(Usage, NamesTheNearestKeyOfTheFile) {
  const Outcome outcome = workplace.run("solve --config " + workplace.file("typo.ini", "budgt = 1s\n"));
  EXPECT_EQ(outcome.exit_code, 64);
  EXPECT_NE(outcome.err.find("did you mean 'budget'?"), std::string::npos) << outcome.err;
}

TEST_F(Usage, TakesFlagsBeforeTheEnvironmentBeforeTheFile) {
  const std::string file = workplace.file("muster.ini", "budget = 300ms\n");
  EXPECT_EQ(budget_ms("--config " + file), 300);
  EXPECT_EQ(budget_ms("--config " + file, "MUSTER_BUDGET=200ms"), 200);
  EXPECT_EQ(budget_ms("--config " + file + " --budget 100ms", "MUSTER_BUDGET=200ms"), 100);
  EXPECT_EQ(budget_ms("", "MUSTER_CONFIG=" + file), 300);
}

TEST_F(Usage, NamesTheVariableOrTheKeyThatIsWrong) {
  const Outcome variable = workplace.run("solve", "", "MUSTER_LOG_FORMAT=xml");
  EXPECT_EQ(variable.exit_code, 64);
  EXPECT_NE(variable.err.find("MUSTER_LOG_FORMAT"), std::string::npos) << variable.err;
  const std::string bad_value = workplace.file("value.ini", "quiet = perhaps\n");
  const Outcome value = workplace.run("solve --config " + bad_value);
  EXPECT_EQ(value.exit_code, 64);
  EXPECT_NE(value.err.find("value.ini: quiet"), std::string::npos) << value.err;
  const std::string bad_key = workplace.file("key.ini", "colour = blue\n");
  const Outcome key = workplace.run("solve --config " + bad_key);
  EXPECT_EQ(key.exit_code, 64);
  EXPECT_NE(key.err.find("colour"), std::string::npos) << key.err;
}

TEST_F(Usage, KnowsDurationsWithUnitsAndPlainSeconds) {
  EXPECT_EQ(budget_ms("--budget 1.5s"), 1500);
  EXPECT_EQ(budget_ms("--budget 2"), 2000);
  EXPECT_EQ(budget_ms("--budget 1m1s"), 61000);
}

}  // namespace
}  // namespace muster::cli
