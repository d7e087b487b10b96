// The models that are written for others to solve: another program finds in the file what we find in the model.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "solver/cbc/mps.h"
#include "solver/lp/model_builder.h"
#include "solver/portfolio/portfolio.h"
#include "test/solver/exact_formulation.h"
#include "test/solver/mps_file.h"
#include "test/solver/random_cluster.h"
#include "test/support/paths.h"

namespace muster::cbc {
namespace {

using test::Case;
using test::ExactFormulation;

class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(std::filesystem::path(testing::TempDir()) / ("exported_models." + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_cbc() { return std::system("command -v cbc >/dev/null 2>&1") == 0; }

// The optimum of `model.mps` in the folder by the `cbc` command, in the file's sense; none unless it is proven.
std::optional<double> optimum_by_command(const std::filesystem::path& folder) {
  const std::string command = "cd '" + folder.string() +
                              "' && rm -f solution log && cbc model.mps -seconds 120 -ratioGap 0 -allowableGap 0 "
                              "-solve -solution solution >log 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::string log = content(folder / "log"), solution = content(folder / "solution");
  EXPECT_EQ(log.find(" errors on input"), std::string::npos) << log;
  const std::string words = "objective value";
  const std::size_t position = solution.find(words);
  if (!solution.starts_with("Optimal") || position == std::string::npos) return std::nullopt;
  return std::strtod(solution.c_str() + position + words.size(), nullptr);
}

// What the portfolio writes as `model.mps` for the cluster; none if it proves its plan without a model.
std::optional<lp::Milp> exported_model(portfolio::Portfolio& portfolio, const Case& cluster,
                                       const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "model.mps";
  std::filesystem::remove(path);
  portfolio::SolveOptions options;
  options.deadline = portfolio::Clock::now() + std::chrono::seconds(2);
  options.write_model = path.string();
  portfolio.solve(cluster.snapshot(), cluster.problem(), options);
  if (!std::filesystem::exists(path)) return std::nullopt;
  std::optional<lp::Milp> milp = test::read_mps(path.string());
  EXPECT_TRUE(milp);
  return milp;
}

// 20, or the number in MUSTER_MODELS.
int model_count() {
  const char* text = std::getenv("MUSTER_MODELS");
  return text == nullptr ? 20 : std::atoi(text);
}

TEST(ExportedModels, TheCbcCommandFindsTheSameOptimum) {
  if (!has_cbc()) GTEST_SKIP() << "the cbc command is not on the PATH (package coinor-cbc)";
  const TemporaryFolder folder;
  portfolio::Portfolio portfolio(test::program());
  Backend backend(test::program());
  const int wanted = model_count();
  int models = 0;
  for (std::uint32_t seed = 1; models < wanted; ++seed) {
    ASSERT_LT(seed, 100U + 50U * static_cast<std::uint32_t>(wanted)) << "hardly any cluster needs a model";
    const Case cluster = test::any_cluster(seed);
    SCOPED_TRACE(cluster.line());
    const std::optional<lp::Milp> milp = exported_model(portfolio, cluster, folder.path());
    if (!milp) continue;
    const MilpAnswer answer = test::solve_exactly(backend, *milp);
    ASSERT_EQ(answer.status, SolveStatus::kOptimal) << answer.message;
    const std::optional<double> optimum = optimum_by_command(folder.path());
    ASSERT_TRUE(optimum) << content(folder.path() / "log");
    EXPECT_NEAR(-*optimum, answer.objective, 1e-6 * (1 + std::abs(answer.objective)));
    ++models;
  }
  RecordProperty("models", models);
}

// To 16 digits.
void expect_equal(const std::vector<double>& read, const std::vector<double>& given) {
  ASSERT_EQ(read.size(), given.size());
  for (std::size_t i = 0; i < read.size(); ++i) EXPECT_DOUBLE_EQ(read[i], given[i]) << i;
}

void expect_equal(const lp::Milp& read, const lp::Milp& milp) {
  expect_equal(read.objective, milp.objective);
  expect_equal(read.lower, milp.lower);
  expect_equal(read.upper, milp.upper);
  expect_equal(read.row_lower, milp.row_lower);
  expect_equal(read.row_upper, milp.row_upper);
  EXPECT_EQ(read.column_begin, milp.column_begin);
  EXPECT_EQ(read.entry_row, milp.entry_row);
  expect_equal(read.entry_value, milp.entry_value);
  ASSERT_EQ(read.is_integer.size(), milp.is_integer.size());
  for (std::size_t j = 0; j < read.is_integer.size(); ++j)  // a reader may take a fixed column for a continuous one
    EXPECT_TRUE(read.is_integer[j] == milp.is_integer[j] || milp.lower[j] == milp.upper[j]) << j;
}

TEST(ExportedModels, ReadBackFromTheirFilesTheyAreTheSame) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "model.mps").string();
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    const Case cluster = test::any_cluster(seed);
    SCOPED_TRACE(cluster.line());
    ExactFormulation f(cluster);
    if (!f.is_listed) continue;
    for (const LevelId& id : f.ids) {
      const std::optional<lp::LinearExpression> expression = f.formulation.level(id);
      if (!expression) continue;
      const lp::Milp milp = f.model_of(id, *expression);
      ASSERT_TRUE(write_mps(milp, path));
      const std::optional<lp::Milp> read = test::read_mps(path);
      ASSERT_TRUE(read);
      expect_equal(*read, milp);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace muster::cbc
