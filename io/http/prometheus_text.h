// Metrics as Prometheus reads them: the text exposition format 0.0.4.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::http {

// Counts of observations up to each bound, and their sum.
class Histogram {
 public:
  // Requires ascending bounds; one more, +Inf, is added implicitly.
  explicit Histogram(std::vector<double> bounds);
  void observe(double value);

  const std::vector<double>& bounds() const { return bounds_; }
  const std::vector<std::int64_t>& counts() const { return counts_; }  // one more than bounds; not cumulative
  double sum() const { return sum_; }

 private:
  std::vector<double> bounds_;
  std::vector<std::int64_t> counts_;
  double sum_ = 0;
};

class PrometheusText {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  explicit PrometheusText(std::string& out) : out_(out) {}
  // Starts the family of the samples that follow. `type`: "counter", "gauge", "histogram".
  PrometheusText& family(std::string_view name, std::string_view type, std::string_view help);
  PrometheusText& sample(Labels labels, double value);
  PrometheusText& histogram(Labels labels, const Histogram& histogram);

 private:
  // `bound`: of a bucket, as the label `le`; empty: none.
  void line(std::string_view suffix, Labels labels, std::string_view bound, double value);

  std::string& out_;
  std::string_view name_;
};

}  // namespace muster::http
