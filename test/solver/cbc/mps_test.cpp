#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "test/solver/random_milp.h"
#include "solver/cbc/backend.h"
#include "solver/lp/milp.h"

namespace muster {
namespace {

std::string written(const Milp& milp) {
  std::ostringstream out;
  write_mps(milp, out);
  return out.str();
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

// max 3 x - 0.1 y, x + 4 y in [2, 10], x <= 7, y >= 1, x + y = 5, and a row without effect
Milp every_kind_of_row() {
  Milp milp;
  milp.add_row(2, 10);
  milp.add_row(-kInfinity, 7);
  milp.add_row(1, kInfinity);
  milp.add_row(5, 5);
  milp.add_row(-kInfinity, kInfinity);
  milp.add_column({3, 0, kInfinity, true}, {{0, 1}, {1, 1}, {3, 1}, {4, 1}});
  milp.add_column({-0.1, -kInfinity, 4, false}, {{0, 4}, {2, 1}, {3, 1}});
  return milp;
}

TEST(WriteMps, StatesThatTheObjectiveIsNegated) {
  const std::string text = written(every_kind_of_row());
  EXPECT_EQ(text.substr(0, text.find('\n')), "* maximised in Muster: objective negated");
  EXPECT_TRUE(has_line(text, " C0 objective -3"));
  EXPECT_TRUE(has_line(text, " C1 objective 0.1"));
}

TEST(WriteMps, NamesTheKindOfEachRowAndLeavesFreeOnesOut) {
  const std::string text = written(every_kind_of_row());
  EXPECT_TRUE(has_line(text, " G R0"));
  EXPECT_TRUE(has_line(text, " L R1"));
  EXPECT_TRUE(has_line(text, " G R2"));
  EXPECT_TRUE(has_line(text, " E R3"));
  EXPECT_EQ(text.find("R4"), std::string::npos);
}

TEST(WriteMps, WritesTheSecondSideAsARange) {
  const std::string text = written(every_kind_of_row());
  EXPECT_TRUE(has_line(text, " RHS R0 2"));
  EXPECT_TRUE(has_line(text, " RANGE R0 8"));
  EXPECT_EQ(text.find("RANGE R1"), std::string::npos);
}

TEST(WriteMps, WritesBothBoundsOfEveryColumn) {
  const std::string text = written(every_kind_of_row());
  EXPECT_TRUE(has_line(text, " LO BOUND C0 0"));
  EXPECT_TRUE(has_line(text, " PL BOUND C0"));
  EXPECT_TRUE(has_line(text, " MI BOUND C1"));
  EXPECT_TRUE(has_line(text, " UP BOUND C1 4"));
}

TEST(WriteMps, PutsMarkersAroundIntegerColumns) {
  const std::string text = written(every_kind_of_row());
  const std::size_t begin = text.find("'INTORG'");
  const std::size_t end = text.find("'INTEND'");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_LT(begin, text.find(" C0 objective"));
  EXPECT_LT(text.find(" C0 objective"), end);
  EXPECT_LT(end, text.find(" C1 objective"));
}

TEST(WriteMps, KeepsGivenNamesWhereTheyCanBeWritten) {
  Milp milp = every_kind_of_row();
  milp.column_names = {"gang/train-7", "has blank"};
  milp.row_names = {"quota", "quota", "", "R1", "free"};
  const std::string text = written(milp);
  EXPECT_TRUE(has_line(text, " gang/train-7 objective -3"));
  EXPECT_TRUE(has_line(text, " C1 objective 0.1"));
  EXPECT_TRUE(has_line(text, " G quota"));
  EXPECT_TRUE(has_line(text, " L R1_"));  // its own name was taken, and so was the next
  EXPECT_TRUE(has_line(text, " G R2"));
  EXPECT_TRUE(has_line(text, " E R1"));
}

TEST(WriteMps, WritesDoublesSoThatTheyReadBackTheSame) {
  Milp milp;
  milp.add_row(-kInfinity, 1.0 / 3);
  milp.add_column({0.1 + 0.2, 0, 1e15 + 0.125, false}, {{0, 1e-9}});
  const std::string text = written(milp);
  EXPECT_NE(text.find(" -0.30000000000000004\n"), std::string::npos);
  EXPECT_NE(text.find(" 0.3333333333333333\n"), std::string::npos);
  EXPECT_NE(text.find(" 1000000000000000.1\n"), std::string::npos);
}

// The `cbc` command's optimum of the written file, in the sense of the model; nothing if it is infeasible.
class CbcCommand {
 public:
  CbcCommand() : folder_(std::filesystem::path(::testing::TempDir()) / ("mps_test." + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~CbcCommand() { std::filesystem::remove_all(folder_); }
  CbcCommand(const CbcCommand&) = delete;
  CbcCommand& operator=(const CbcCommand&) = delete;

  static bool exists() { return std::system("command -v cbc >/dev/null 2>&1") == 0; }

  std::optional<double> optimum(const Milp& milp) const {
    {
      std::ofstream file(folder_ / "model.mps");
      write_mps(milp, file);
    }
    const std::string command =
        "cd '" + folder_.string() + "' && rm -f solution log && cbc model.mps -solve -solution solution >log 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    const std::string log = content(folder_ / "log");
    EXPECT_EQ(log.find(" errors on input"), std::string::npos) << log;
    const std::string first_line = content(folder_ / "solution");
    const std::string words = "objective value";
    const std::size_t position = first_line.find(words);
    EXPECT_NE(position, std::string::npos) << log;
    if (first_line.rfind("Optimal", 0) != 0 || position == std::string::npos) return std::nullopt;
    return -std::strtod(first_line.c_str() + position + words.size(), nullptr);
  }

 private:
  static std::string content(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
};

TEST(WriteMps, IsReadByTheCbcCommandToTheSameOptimumThatTheBackendFinds) {
  if (!CbcCommand::exists()) GTEST_SKIP() << "no cbc command";
  const CbcCommand command;
  Backend backend(MUSTER_BINARY);
  std::mt19937 random(7);
  int optima = 0;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const Milp milp = test::random_milp(random, round % 2 == 0 ? 100 : 60);
    MilpRequest request;
    request.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const MilpAnswer answer = backend.solve(milp, request);
    const std::optional<double> optimum = command.optimum(milp);
    ASSERT_EQ(answer.status, optimum ? SolveStatus::kOptimal : SolveStatus::kInfeasible) << written(milp);
    if (!optimum) continue;
    EXPECT_NEAR(answer.objective, *optimum, 1e-5) << written(milp);
    ++optima;
  }
  EXPECT_GE(optima, 20);  // or the test would show little
}

}  // namespace
}  // namespace muster
