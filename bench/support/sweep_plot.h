// Costs of growing clusters on two logarithmic axes, with the fitted exponent of each in the legend.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/statistics.h"
#include "bench/support/svg.h"

namespace muster::bench {

struct Curve {
  std::string name;
  std::vector<double> costs;  // ms, one for each size; more than 0
};

class SweepPlot {
 public:
  // Requires two sizes or more, ascending, and a curve.
  SweepPlot(std::vector<double> nodes, std::vector<Curve> curves)
      : nodes_(std::move(nodes)), curves_(std::move(curves)), least_ms_(1e300), most_ms_(0) {
    for (const Curve& curve : curves_) {
      least_ms_ = std::min(least_ms_, std::ranges::min(curve.costs));
      most_ms_ = std::max(most_ms_, std::ranges::max(curve.costs));
    }
    least_ms_ = std::pow(10, std::floor(std::log10(least_ms_)));
    most_ms_ = std::pow(10, std::ceil(std::log10(std::max(most_ms_, 10 * least_ms_))));
  }

  void write(const std::string& file, const std::string& title) const {
    std::string content = svg_text(kLeft, 20, title);
    for (const double nodes : nodes_) {
      content += svg_rule(x(nodes), kTop, x(nodes), kHeight - kBottom);
      content += svg_text(x(nodes), kHeight - kBottom + 18, fmt::format("{:.0f}", nodes), "middle");
    }
    for (double ms = least_ms_; ms <= most_ms_ * 1.001; ms *= 10) {
      content += svg_rule(kLeft, y(ms), kWidth - kRight, y(ms));
      content += svg_text(kLeft - 6, y(ms) + 4, fmt::format("{:g}", ms), "end");
    }
    content += svg_text((kLeft + kWidth - kRight) / 2, kHeight - kBottom + 36, "nodes; milliseconds, p50", "middle");
    for (std::size_t i = 0; i < curves_.size(); ++i) content += drawn(i);
    write_svg(file, kWidth, kHeight, content);
  }

 private:
  static constexpr double kWidth = 720, kHeight = 420, kLeft = 60, kRight = 150, kTop = 40, kBottom = 50;
  static constexpr std::array<Pen, 6> kPens{kBlack, kOrange, kGreen, kBlue, kPurple, kVermilion};

  static double part(double value, double least, double most) {
    return std::log(value / least) / std::log(most / least);
  }
  double x(double nodes) const {
    return kLeft + (kWidth - kLeft - kRight) * part(nodes, nodes_.front(), nodes_.back());
  }
  double y(double ms) const { return kHeight - kBottom - (kHeight - kTop - kBottom) * part(ms, least_ms_, most_ms_); }

  std::string drawn(std::size_t i) const {
    const Curve& curve = curves_[i];
    const Pen& pen = kPens[i % kPens.size()];
    std::string path;
    for (std::size_t at = 0; at < nodes_.size(); ++at)
      path += fmt::format("{}{:.1f} {:.1f}", at == 0 ? 'M' : 'L', x(nodes_[at]), y(curve.costs[at]));
    const std::string name = fmt::format("{} {:.2f}", curve.name, exponent(nodes_, curve.costs));
    return svg_path(path, pen) + svg_legend(kWidth - kRight + 14, kTop + 14 + 20 * static_cast<double>(i), name, pen);
  }

  std::vector<double> nodes_;
  std::vector<Curve> curves_;
  double least_ms_, most_ms_;
};

}  // namespace muster::bench
