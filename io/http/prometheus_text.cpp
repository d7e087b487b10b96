#include "io/http/prometheus_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/base/require.h"

namespace muster::http {
namespace {

// Shortest that reads back as the same.
std::string number(double value) { return fmt::format("{}", value); }

std::string escaped_label(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return text;
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {
  MUSTER_REQUIRE(std::ranges::is_sorted(bounds_));
}

void Histogram::observe(double value) {
  const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  ++counts_[static_cast<std::size_t>(bucket)];
  sum_ += value;
}

PrometheusText& PrometheusText::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  return *this;
}

PrometheusText& PrometheusText::sample(Labels labels, double value) {
  line("", labels, {}, value);
  return *this;
}

PrometheusText& PrometheusText::histogram(Labels labels, const Histogram& histogram) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
    count += histogram.counts()[i];
    const bool is_last = i == histogram.bounds().size();
    line("_bucket", labels, is_last ? "+Inf" : number(histogram.bounds()[i]), static_cast<double>(count));
  }
  line("_sum", labels, {}, histogram.sum());
  line("_count", labels, {}, static_cast<double>(count));
  return *this;
}

void PrometheusText::line(std::string_view suffix, Labels labels, std::string_view bound, double value) {
  std::string text;
  for (const auto& [key, label] : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", key, escaped_label(label));
  }
  if (!bound.empty()) text += fmt::format("{}le=\"{}\"", text.empty() ? "" : ",", bound);
  out_ += fmt::format("{}{}{}{}{} {}\n", name_, suffix, text.empty() ? "" : "{", text, text.empty() ? "" : "}",
                      number(value));
}

}  // namespace muster::http
