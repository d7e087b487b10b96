#include <gtest/gtest.h>

#include "io/report/run_figures.h"

namespace muster::reporting {
namespace {

CyclePoint point(std::int64_t number) {
  CyclePoint made;
  made.time = static_cast<double>(number);
  made.placed = 1;
  return made;
}

TEST(CycleCurves, KeepEveryCycleWhileThereAreFew) {
  CycleCurves curves;
  for (int i = 0; i < 10; ++i) curves.add(point(i));
  EXPECT_EQ(curves.points().size(), 10U);
  EXPECT_EQ(curves.stride(), 1U);
}

TEST(CycleCurves, AddTheCountsOfRemovedCyclesToTheNext) {
  CycleCurves curves;
  constexpr auto kCycles = static_cast<std::int64_t>(8 * CycleCurves::kMostCycles);
  for (std::int64_t i = 0; i < kCycles; ++i) curves.add(point(i));
  EXPECT_LT(curves.points().size(), 2 * CycleCurves::kMostCycles);
  std::int64_t placed = 0;
  for (const CyclePoint& kept : curves.points()) {
    EXPECT_EQ(kept.placed, static_cast<std::int64_t>(curves.stride()));
    placed += kept.placed;
  }
  EXPECT_EQ(placed, kCycles);
  EXPECT_EQ(curves.points().back().time, static_cast<double>(kCycles - 1));
}

}  // namespace
}  // namespace muster::reporting
