#include <string>

#include <gtest/gtest.h>

#include "heuristics/state/fit.h"
#include "test/heuristics/preemption/planning.h"

namespace muster::preemption {
namespace {

constexpr const char* kBody = R"(
 "nodes":[{"name":"n","resources":{"cpu":64},"gpus":{"count":8}}],
 "pods":[{"name":"a","resources":{"cpu":60},"gpu":{"count":6},"node":"n"},
         {"name":"b","resources":{"cpu":1},"gpu":{"count":1}},
         {"name":"c","resources":{"cpu":1},"gpu":{"fraction":0.5}},
         {"name":"d","resources":{"cpu":5}}])";

TEST(FreeInSum, DevicesFitUpToTheLastPartOfOne) {
  const Planning all(kBody);
  const auto fit = [&](const char* pod, std::int64_t pods) {
    return devices_fit_total(all.state, all.problem.class_of(pod), pods);
  };
  EXPECT_TRUE(fit("b", 2));
  EXPECT_FALSE(fit("b", 3));
  EXPECT_TRUE(fit("c", 4));
  EXPECT_FALSE(fit("c", 5));
}

TEST(FreeInSum, APodFitsOnlyWithAllItsResources) {
  const Planning all(kBody);
  EXPECT_TRUE(fits_total(all.state, all.problem.class_of("b")));
  EXPECT_FALSE(fits_total(all.state, all.problem.class_of("d"))) << "4 of 5 cpu are free";
}

}  // namespace
}  // namespace muster::preemption
