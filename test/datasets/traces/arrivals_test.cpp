// What is carried of the OpenB experiment: every order of arrival, and the published curves.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "datasets/traces/csv.h"
#include "datasets/traces/openb.h"

namespace muster::traces {
namespace {

// GPU thousandths that one pod of the row asks for.
std::int64_t work_of(const OpenbPod& pod) {
  const std::int64_t share = pod.shape.gpu.kind == GpuRequestKind::kFraction ? pod.shape.gpu.share / 1000 : 1000;
  return pod.shape.gpu.devices * share;
}

TEST(Arrivals, EveryTraceAndSeedIsCarriedUpTo130Percent) {
  for (const std::string& trace : openb_traces()) {
    std::set<std::vector<std::uint32_t>> orders;
    for (const std::uint32_t seed : openb_seeds()) {
      const auto input = load_openb(openb_trace_files(openb_source_directory(), trace, seed));
      ASSERT_TRUE(input) << input.error().path << ": " << input.error().message;
      std::int64_t arrived = 0;
      for (const std::uint32_t row : input->order) arrived += work_of(input->pods[row]);
      const double percent =
          100.0 * static_cast<double>(arrived) / static_cast<double>(openb_cluster_thousandths(*input));
      EXPECT_NEAR(percent, 130, 0.2) << trace << ' ' << seed;
      EXPECT_TRUE(orders.insert(input->order).second) << trace << ' ' << seed << " repeats another seed";
    }
  }
}

TEST(Arrivals, PublishedCurvesCoverEveryTraceAndPolicyFrom50To130Percent) {
  const auto points = load_openb_published(openb_source_directory());
  ASSERT_TRUE(points) << points.error().message;
  std::map<std::pair<std::string, std::string>, std::set<std::int32_t>> arrived;
  for (const OpenbPublished& point : *points) arrived[{point.trace, point.policy}].insert(point.arrived);
  EXPECT_EQ(arrived.size(), 6 * openb_traces().size());
  for (const std::string& trace : openb_traces()) {
    const std::set<std::int32_t>& at = arrived[{trace, "FGD"}];
    EXPECT_EQ(at.size(), 81U) << trace;
    EXPECT_EQ(*at.begin(), 50) << trace;
  }
  const auto is_default = [](const OpenbPublished& point) {
    return point.trace == "default" && point.policy == "FGD" && point.arrived == 100;
  };
  EXPECT_EQ(std::ranges::find_if(*points, is_default)->unallocated_milli, 4773);
}

TEST(Arrivals, AFileThatIsNoXzIsAnErrorThatNamesIt) {
  const std::string path = testing::TempDir() + "/no_xz.csv";
  std::ofstream(path + ".xz") << "this is text";
  const auto text = read_maybe_compressed(path);
  ASSERT_FALSE(text);
  EXPECT_EQ(error_code_text(text.error().code), "InvalidValue");
  EXPECT_EQ(text.error().path, path + ".xz");
  EXPECT_EQ(error_code_text(read_maybe_compressed(testing::TempDir() + "/nothing").error().code), "NoInput");
}

}  // namespace
}  // namespace muster::traces
