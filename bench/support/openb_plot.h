// Curves of what is unallocated by what has arrived, one panel a trace.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/svg.h"

namespace muster::bench {

struct ArrivalCurve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // arrived and unallocated, percent
};
struct ArrivalPanel {
  std::string title;
  std::vector<ArrivalCurve> curves;  // the same names in every panel
};

class ArrivalPlot {
 public:
  explicit ArrivalPlot(std::vector<ArrivalPanel> panels) : panels_(std::move(panels)) {}

  // Throws where the file cannot be written. Requires a panel.
  void write(const std::string& file) const {
    const std::size_t rows = (panels_.size() + kColumns - 1) / kColumns;
    std::string content;
    for (std::size_t i = 0; i < panels_.size(); ++i)
      content += panel(panels_[i], static_cast<double>(i % kColumns) * kWidth,
                       kTop + static_cast<double>(i / kColumns) * kHeight);
    for (std::size_t i = 0; i < panels_[0].curves.size(); ++i)
      content += svg_legend(20 + 220 * static_cast<double>(i), 24, panels_[0].curves[i].name, kPens[i % kPens.size()]);
    write_svg(file, kColumns * kWidth, kTop + static_cast<double>(rows) * kHeight, content);
  }

 private:
  static constexpr std::size_t kColumns = 3;
  static constexpr double kWidth = 320, kHeight = 230, kTop = 40, kLeft = 40, kRight = 10, kAbove = 24, kBelow = 34;
  static constexpr double kFirst = 80, kLast = 130;  // arrived; before that almost nothing is dropped
  static constexpr std::array<Pen, 4> kPens{kBlue, kVermilion, kBlack, kPurple};

  static std::string panel(const ArrivalPanel& data, double left, double top) {
    double most = 1;
    for (const ArrivalCurve& curve : data.curves)
      for (const auto& [arrived, unallocated] : curve.points) most = arrived >= 90 ? std::max(most, unallocated) : most;
    most = std::ceil(most / 2) * 2;
    const auto x = [&](double arrived) {
      return left + kLeft + (kWidth - kLeft - kRight) * (arrived - kFirst) / (kLast - kFirst);
    };
    const auto y = [&](double unallocated) {
      return top + kAbove + (kHeight - kAbove - kBelow) * (1 - std::min(unallocated, most) / most);
    };
    std::string content = svg_text(left + kLeft, top + 14, data.title + ": % of the GPUs unallocated");
    for (double arrived = kFirst; arrived <= kLast; arrived += 10) {
      content += svg_rule(x(arrived), y(0), x(arrived), y(most));
      content += svg_text(x(arrived), y(0) + 14, fmt::format("{:.0f}", arrived), "middle");
    }
    for (double level = 0; level <= most; level += most / 4) {
      content += svg_rule(x(kFirst), y(level), x(kLast), y(level));
      content += svg_text(x(kFirst) - 6, y(level) + 4, fmt::format("{:g}", level), "end");
    }
    content += svg_text((x(kFirst) + x(kLast)) / 2, y(0) + 28, "% arrived", "middle");
    for (std::size_t i = 0; i < data.curves.size(); ++i) {
      std::string path;
      for (const auto& [arrived, unallocated] : data.curves[i].points)
        if (arrived >= kFirst && arrived <= kLast && unallocated <= most)
          path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x(arrived), y(unallocated));
      content += svg_path(path, kPens[i % kPens.size()]);
    }
    return content;
  }

  std::vector<ArrivalPanel> panels_;
};

}  // namespace muster::bench
