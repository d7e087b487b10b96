#include "io/http/prometheus_text.h"

#include <string>

#include <gtest/gtest.h>

namespace muster::http {
namespace {

TEST(PrometheusText, CountersAndGaugesAreLinesWithTheirLabels) {
  std::string text;
  PrometheusText out(text);
  out.family("muster_solves_total", "counter", "Plans.")
      .sample({{"origin", "greedy"}, {"proof", "optimal"}}, 3)
      .sample({{"origin", "a\"b\\c\nd"}}, 0.5);
  out.family("muster_queue_depth", "gauge", "Lines.").sample({}, 1e15);
  EXPECT_EQ(text,
            "# HELP muster_solves_total Plans.\n"
            "# TYPE muster_solves_total counter\n"
            "muster_solves_total{origin=\"greedy\",proof=\"optimal\"} 3\n"
            "muster_solves_total{origin=\"a\\\"b\\\\c\\nd\"} 0.5\n"
            "# HELP muster_queue_depth Lines.\n"
            "# TYPE muster_queue_depth gauge\n"
            "muster_queue_depth 1000000000000000\n");
}

TEST(PrometheusText, BucketsOfAHistogramAddUp) {
  Histogram histogram({0.1, 1});
  for (const double value : {0.1, 0.5, 0.5, 7.0}) histogram.observe(value);
  std::string text;
  PrometheusText(text).family("d", "histogram", "D.").histogram({{"stage", "x"}}, histogram);
  EXPECT_EQ(text,
            "# HELP d D.\n# TYPE d histogram\n"
            "d_bucket{stage=\"x\",le=\"0.1\"} 1\n"
            "d_bucket{stage=\"x\",le=\"1\"} 3\n"
            "d_bucket{stage=\"x\",le=\"+Inf\"} 4\n"
            "d_sum{stage=\"x\"} 8.1\n"
            "d_count{stage=\"x\"} 4\n");
}

}  // namespace
}  // namespace muster::http
