#include "solver/cbc/mps.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "solver/cbc/backend.h"
#include "solver/lp/milp.h"
#include "test/solver/mps_file.h"
#include "test/solver/random_milp.h"
#include "test/support/paths.h"

namespace muster::cbc {
namespace {

// A file of this process, gone with the object.
class MpsFile {
 public:
  MpsFile()
      : path_(std::filesystem::path(::testing::TempDir()) / ("mps_test." + std::to_string(::getpid()) + ".mps")) {}
  ~MpsFile() { std::filesystem::remove(path_); }
  MpsFile(const MpsFile&) = delete;
  MpsFile& operator=(const MpsFile&) = delete;
  std::string path() const { return path_.string(); }

  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

lp::Milp read_back(const lp::Milp& milp) {
  const MpsFile file;
  EXPECT_TRUE(write_mps(milp, file.path()));
  const std::optional<lp::Milp> read = test::read_mps(file.path());
  EXPECT_TRUE(read) << file.text();
  return read.value_or(lp::Milp{});
}

// max 3 x - 0.1 y, x + 4 y in [2, 10], x <= 7, y >= 1, x + y = 5, and a column that no row has
lp::Milp every_kind_of_row() {
  lp::Milp milp;
  milp.add_row(2, 10);
  milp.add_row(-lp::kInfinity, 7);
  milp.add_row(1, lp::kInfinity);
  milp.add_row(5, 5);
  milp.add_column({3, 0, lp::kInfinity, true}, {{0, 1}, {1, 1}, {3, 1}});
  milp.add_column({-0.1, -lp::kInfinity, 4, false}, {{0, 4}, {2, 1}, {3, 1}});
  milp.add_column({0, -2, 1e9, true}, {});
  return milp;
}

TEST(WriteMps, NamesTheObjectiveForItsNegation) {
  const MpsFile file;
  ASSERT_TRUE(write_mps(every_kind_of_row(), file.path()));
  EXPECT_NE(file.text().find("\n N  negated_objective\n"), std::string::npos) << file.text();
  EXPECT_NE(file.text().find(" C0 negated_objective -3\n"), std::string::npos) << file.text();
}

TEST(WriteMps, WritesSidesBoundsAndIntegralitySoThatTheyReadBackTheSame) {
  const lp::Milp milp = every_kind_of_row();
  const lp::Milp read = read_back(milp);
  EXPECT_EQ(read.objective, milp.objective);
  EXPECT_EQ(read.lower, milp.lower);
  EXPECT_EQ(read.upper, milp.upper);
  EXPECT_EQ(read.is_integer, milp.is_integer);
  EXPECT_EQ(read.row_lower, milp.row_lower);
  EXPECT_EQ(read.row_upper, milp.row_upper);
  EXPECT_EQ(read.entry_row, milp.entry_row);
  EXPECT_EQ(read.entry_value, milp.entry_value);
}

TEST(WriteMps, KeepsGivenNamesWhereTheyCanBeWritten) {
  lp::Milp milp = every_kind_of_row();
  milp.column_names = {"gang/train-7", "has blank", "negated_objective"};
  milp.row_names = {"quota", "quota", "", "R1"};
  const lp::Milp read = read_back(milp);
  EXPECT_EQ(read.column_names, (std::vector<std::string>{"gang/train-7", "C1", "C2"}));
  // The second row's own name was taken, and so was the next.
  EXPECT_EQ(read.row_names, (std::vector<std::string>{"quota", "R1_", "R2", "R1"}));
}

TEST(WriteMps, WritesDoublesWith16Digits) {
  lp::Milp milp;
  milp.add_row(-lp::kInfinity, 1.0 / 3);
  milp.add_column({0.1 + 0.2, 0, 1e15, false}, {{0, 1e-9}});
  const lp::Milp read = read_back(milp);
  EXPECT_NEAR(read.objective[0], 0.1 + 0.2, 1e-16);
  EXPECT_NEAR(read.row_upper[0], 1.0 / 3, 1e-16);
  EXPECT_EQ(read.upper[0], 1e15);
  EXPECT_EQ(read.entry_value[0], 1e-9);
}

TEST(WriteMps, ReportsAFileThatCannotBeWritten) {
  EXPECT_FALSE(write_mps(every_kind_of_row(), "/nonexistent/model.mps"));
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

  std::optional<double> optimum(const lp::Milp& milp) const {
    EXPECT_TRUE(write_mps(milp, (folder_ / "model.mps").string()));
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
  Backend backend(test::program());
  std::mt19937 random(7);
  int optima = 0;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const lp::Milp milp = test::random_milp(random, round % 2 == 0 ? 100 : 60);
    MilpRequest request;
    request.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const MilpAnswer answer = backend.solve(milp, request);
    const std::optional<double> optimum = command.optimum(milp);
    ASSERT_EQ(answer.status, optimum ? SolveStatus::kOptimal : SolveStatus::kInfeasible);
    if (!optimum) continue;
    EXPECT_NEAR(answer.objective, *optimum, 1e-5);
    ++optima;
  }
  EXPECT_GE(optima, 20);  // or the test would show little
}

}  // namespace
}  // namespace muster::cbc
