// `muster import` and `muster generate` as a shell sees them: what is printed, and the exit code.
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "datasets/traces/openb.h"
#include "test/support/paths.h"

namespace muster {
namespace {

// stdout and the exit code of the program with these arguments.
std::pair<std::string, int> run(const std::string& arguments) {
  std::FILE* pipe = popen(("'" + test::program() + "' " + arguments + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return {"", -1};
  std::string output;
  std::array<char, 65'536> chunk{};
  while (const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), pipe)) output.append(chunk.data(), count);
  const int status = pclose(pipe);
  return {output, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

int exit_code_of(const std::string& arguments) { return run(arguments).second; }

TEST(ImportCommand, PrintsTheLineThatTheLibraryGives) {
  traces::OpenbOptions options;
  options.arrived_percent = 100;
  options.gang_max = 4;
  options.falling_sizes = options.place_only = true;
  options.seed = 9;
  options.id = "x";
  const auto input = traces::load_openb(traces::openb_trace_files(traces::openb_source_directory(), "gpuspec33"));
  ASSERT_TRUE(input);
  const auto [output, exit_code] =
      run("import openb --trace gpuspec33 --arrived 100 --gangs 4 --falling-sizes --place-only --seed 9 --id x");
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(output, traces::openb_snapshot(*input, options) + "\n");
}

TEST(ImportCommand, ReadsFilesOfTheUser) {
  const std::string files =
      traces::openb_source_directory() + "/nodes.csv " + traces::openb_source_directory() + "/pods_default.csv";
  const auto all = nlohmann::json::parse(run("import openb " + files).first);
  EXPECT_EQ(all["pods"].size(), 8152u);
  const std::string order = " --order " + traces::openb_source_directory() + "/arrivals_default_42.idx";
  const auto ordered = nlohmann::json::parse(run("import openb " + files + order).first);
  EXPECT_EQ(ordered["pods"].size(), 10'866u);
  const auto arrived = nlohmann::json::parse(run("import openb " + files + order + " --arrived 100").first);
  EXPECT_EQ(arrived["pods"].size(), 8317u);
}

TEST(ImportCommand, HoldsEveryRowOnceWhenNoPercentageIsGiven) {
  EXPECT_EQ(nlohmann::json::parse(run("import openb").first)["pods"].size(), 8152u);
}

TEST(ImportCommand, RefusesWhatDoesNotGoTogether) {
  for (const char* arguments :
       {"import", "import alibaba", "import philly one.csv", "import philly --days 7", "import openb one.csv",
        "import openb a b --trace default", "import openb --arrived 131", "import openb --occupy 2",
        "import openb --occupy 0.5 --arrived 50", "import openb --nodes x", "import openb --nod 5",
        "import openb --order o --load 1", "import openb --load nan", "import openb --falling-sizes"}) {
    EXPECT_EQ(exit_code_of(arguments), 64) << arguments;
  }
}

TEST(ImportCommand, TellsMissingFilesFromBadOnes) {
  EXPECT_EQ(exit_code_of("import openb --trace none-such"), 66);
  EXPECT_EQ(exit_code_of("import openb --data /nowhere"), 66);
  EXPECT_EQ(exit_code_of("import openb " + traces::openb_source_directory() + "/LICENSE " +
                         traces::openb_source_directory() + "/LICENSE"),
            65);
}

TEST(GenerateCommand, PrintsTheLinesThatTheLibraryGives) {
  generator::GeneratorOptions options = *generator::generator_preset("full");
  options.cluster.nodes = 20;
  options.cluster.zones = 1;
  options.seed = 5;
  options.load = 2;
  options.queues.skew = 0.5;
  options.pending_above = true;
  options.place_only = true;
  std::string expected;
  for (std::uint64_t k = 0; k < 3; ++k) {
    options.id = "y-" + std::to_string(k);
    expected += generator::generate_snapshot(options, k) + "\n";
  }
  const auto [output, exit_code] =
      run("generate --nodes 20 --preset full --zones 1 --seed 5 --load 2 --skew 0.5 --pending-above --place-only --id "
          "y --snapshots 3");
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(output, expected);
}

TEST(GenerateCommand, RefusesWhatDoesNotGoTogether) {
  for (const char* arguments :
       {"generate --preset none-such", "generate file", "generate --nodes 0", "generate --nodes 1.5",
        "generate --elastic 2", "generate --topology-required 1", "generate --node 5", "generate --snapshots 0",
        "generate --seed -1", "generate --load -1"}) {
    EXPECT_EQ(exit_code_of(arguments), 64) << arguments;
  }
}

TEST(GenerateCommand, SaysWhenItsOutputCannotBeWritten) { EXPECT_EQ(exit_code_of("generate >/dev/full"), 74); }

}  // namespace
}  // namespace muster
