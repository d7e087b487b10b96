#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cli/answers/answers.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

const OptionRow* budget_row(const CommandSyntax& syntax) {
  for (const OptionRow& row : syntax.options) {
    if (std::string_view(row.name) == "budget") return &row;
  }
  return nullptr;
}

answers::ExperimentOptions options(std::vector<const char*> words, const DefaultBudget& budget) {
  words.insert(words.begin(), "x");
  const Settings settings({"muster x", "", with_experiment_options({}, budget)}, static_cast<int>(words.size()),
                          words.data());
  return experiment_options(settings, budget);
}

TEST(ExperimentOptions, HaveTheBudgetThatIsGivenElseTheDefault) {
  constexpr DefaultBudget kBudget{milliseconds(1234), "budget [1234ms]"};
  EXPECT_EQ(options({}, kBudget).budget, milliseconds(1234));
  EXPECT_EQ(options({"--budget", "5s"}, kBudget).budget, milliseconds(5000));
  EXPECT_EQ(options({"--seed", "7"}, kBudget).solve.seed, 7U);
}

TEST(ExperimentOptions, StateTheDefaultBudgetOfEachCommandInItsHelp) {
  const struct {
    const CommandSyntax& syntax;
    const char* budget;
  } cases[] = {{fits_syntax(), "[800ms]"}, {size_syntax(), "[800ms]"}, {drain_syntax(), "[800ms]"},
               {why_syntax(), "[3s]"},     {what_if_syntax(), "[1s]"}, {top_syntax(), "[1s]"}};
  for (const auto& one : cases) {
    const OptionRow* row = budget_row(one.syntax);
    ASSERT_NE(row, nullptr) << one.syntax.synopsis;
    EXPECT_TRUE(std::string_view(row->help).ends_with(one.budget)) << one.syntax.synopsis << ": " << row->help;
  }
  const std::string help = kAnswerBudget.help;
  const std::string stated = help.substr(help.find('[') + 1, help.size() - help.find('[') - 2);
  EXPECT_EQ(duration_in(stated), std::chrono::nanoseconds(kAnswerBudget.time).count());
}

TEST(FailureWords, HaveThePathIfItIsNotTheWholeInput) {
  EXPECT_EQ(failure_words({ErrorCode::kNoInput, "$", "gone"}), "gone");
  EXPECT_EQ(failure_words({ErrorCode::kNoInput, "", "gone"}), "gone");
  EXPECT_EQ(failure_words({ErrorCode::kNoInput, "pods[3]", "a\x1b"}), "pods[3]: a\\x1b");
}

}  // namespace
}  // namespace muster::cli
