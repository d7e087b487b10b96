// Every line that the datasets write is a snapshot that the reader and the problem's builder accept, running pods
// included.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "datasets/traces/openb.h"
#include "io/snapshot_reader/snapshot_reader.h"
#include "model/build/build_problem.h"
#include "model/problem/problem.h"
#include "test/support/paths.h"

namespace muster {
namespace {

// Builds the problem and counts what the line holds.
struct Counts {
  std::size_t nodes = 0, pods = 0, running = 0, gangs = 0;
};
Counts accept(const std::string& line) {
  Counts counts;
  muster_v1::SnapshotReader reader;
  auto snapshot = reader.read(line);
  if (!snapshot) {
    ADD_FAILURE() << error_code_text(snapshot.error().code) << " " << snapshot.error().path << ": "
                  << snapshot.error().message;
    return counts;
  }
  const auto problem = build_problem(*snapshot);
  if (!problem) {
    ADD_FAILURE() << error_code_text(problem.error().code) << " " << problem.error().path << ": "
                  << problem.error().message;
    return counts;
  }
  counts.nodes = problem->nodes.size();
  counts.pods = problem->pods.size();
  counts.gangs = problem->gangs.size();
  for (const Pod& pod : problem->pods) counts.running += pod.status == PodStatus::kRunning ? 1 : 0;
  return counts;
}

class OpenbLines : public testing::TestWithParam<const char*> {
 protected:
  traces::OpenbInput carried() const {
    auto input = traces::load_openb(traces::openb_trace_files(test::source_folder() + "/datasets/openb", GetParam()));
    EXPECT_TRUE(input);
    return *input;
  }
};

TEST_P(OpenbLines, AreAcceptedAsTheyArrived) {
  const traces::OpenbInput input = carried();
  traces::OpenbOptions options;
  options.arrived_percent = 100;
  const Counts counts = accept(traces::openb_snapshot(input, options));
  EXPECT_EQ(counts.nodes, 1213u);
  EXPECT_EQ(counts.pods, traces::openb_arrival(input, 100).events);
  EXPECT_EQ(counts.gangs, counts.pods);
}

TEST_P(OpenbLines, AreAcceptedTiledAndInGangs) {
  traces::OpenbOptions options;
  options.tile = 2;
  options.gang_max = 8;
  const Counts counts = accept(traces::openb_snapshot(carried(), options));
  EXPECT_EQ(counts.nodes, 2426u);
  EXPECT_LT(counts.gangs, counts.pods / 2);
}

TEST_P(OpenbLines, AreAcceptedOnAnOccupiedCluster) {
  traces::OpenbOptions options;
  options.node_count = 500;
  options.occupied = 0.9;
  const Counts counts = accept(traces::openb_snapshot(carried(), options));
  EXPECT_GT(counts.running, 500u);
  EXPECT_LT(counts.running, counts.pods);
}

INSTANTIATE_TEST_SUITE_P(Of, OpenbLines, testing::Values("default", "gpushare100", "gpuspec33"));

TEST(GeneratedLines, AreAcceptedForManySeedsOfEveryPreset) {
  for (const char* preset : {"synth", "full", "contended"}) {
    generator::GeneratorOptions options = *generator::generator_preset(preset);
    for (const std::int32_t nodes : {8, 50, 300}) {
      options.cluster.nodes = nodes;
      for (std::uint64_t k = 0; k < 10; ++k) {
        SCOPED_TRACE(std::string(preset) + " of " + std::to_string(nodes) + ", k " + std::to_string(k));
        const Counts counts = accept(generator::generate_snapshot(options, k));
        EXPECT_EQ(counts.nodes, static_cast<std::size_t>(nodes));
        EXPECT_GT(counts.pods, 0u);
      }
    }
  }
}

TEST(GeneratedLines, AreAcceptedWhenTheClusterIsAsFullAsItGets) {
  generator::GeneratorOptions options = *generator::generator_preset("full");
  options.cluster.nodes = 40;
  options.running.occupied = 1;
  options.running.preemptible = 1;
  const Counts counts = accept(generator::generate_snapshot(options));
  EXPECT_GT(counts.running, 100u);
}

TEST(GeneratedLines, AreAcceptedWithExtremeShares) {
  generator::GeneratorOptions options = *generator::generator_preset("full");
  options.cluster.nodes = 60;
  options.pods.fractions = 0.5;
  options.pods.memory_requests = 0.5;
  options.pods.cpu_only = 0;
  options.gangs.elastic = options.gangs.subgroups = options.gangs.topology_required = options.gangs.topology_preferred =
      1;
  options.cluster.tainted = options.cluster.selecting = options.pods.selecting_models = 1;
  accept(generator::generate_snapshot(options));
}

}  // namespace
}  // namespace muster
