// Draws traces of `muster solve --trace`: for each snapshot of each file the level that stays short of its bound the
// longest in the order of the levels, as an SVG panel: the plan's value by engine and the proven bound, over time, both
// in percent of the bound that was proven last.
//
// Usage: bench_draw --traces FILE[,FILE...] --output FILE.svg
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/arguments.h"
#include "bench/support/svg.h"
#include "bench/support/trace_file.h"

namespace muster::bench {
namespace {

struct Arguments {
  std::vector<std::string> traces;
  std::string output;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  parse_flags(argc, argv,
              {
                  {"--traces", [&](const std::string& value) { arguments.traces = split(value); }},
                  {"--output", [&](const std::string& value) { arguments.output = value; }},
              });
  if (arguments.traces.empty() || arguments.output.empty())
    throw std::runtime_error("--traces and --output are needed");
  return arguments;
}

using LevelName = std::string;  // with its priority
struct Trace {
  std::string title;
  std::vector<LevelName> order;  // of the levels
  std::map<LevelName, std::vector<TraceLine>> points;
};

// One for each snapshot of the file.
std::vector<Trace> read(const std::string& file) {
  std::map<std::string, Trace> by_id;
  for (TraceLine& line : read_trace(file)) {
    Trace& trace = by_id[line.id];
    trace.title = fmt::format("{} ({})", line.id, file.substr(file.find_last_of('/') + 1));
    std::vector<TraceLine>& points = trace.points[line.level];
    if (points.empty()) trace.order.push_back(line.level);
    points.push_back(std::move(line));
  }
  std::vector<Trace> traces;
  for (auto& [id, trace] : by_id) traces.push_back(std::move(trace));
  return traces;
}

// The first level whose last value is not its last bound; else the first.
const LevelName& level_to_draw(const Trace& trace) {
  const auto is_short = [&](const LevelName& level) {
    const TraceLine& last = trace.points.at(level).back();
    return !last.bound || *last.bound != last.value;
  };
  const auto found = std::ranges::find_if(trace.order, is_short);
  return found != trace.order.end() ? *found : trace.order.front();
}

constexpr double kWidth = 720, kHeight = 300, kLeft = 70, kRight = 20, kTop = 40, kBottom = 50;

Pen pen_of(const std::string& engine) {
  if (engine == "bound") return kVermilion;
  if (engine == "greedy") return kBlue;
  if (engine == "milp") return kGreen;
  return kPurple;
}

class Panel {
 public:
  Panel(const Trace& trace, double top) : trace_(trace), level_(level_to_draw(trace)), top_(top) {
    for (const auto& [level, points] : trace.points) last_ms_ = std::max(last_ms_, points.back().ms);
    for (const TraceLine& point : trace.points.at(level_))
      if (point.bound) scale_ = std::abs(*point.bound);
    if (scale_ == 0) scale_ = std::max(1.0, std::abs(trace.points.at(level_).back().value));
    for (const TraceLine& point : trace.points.at(level_)) {
      see(point.value);
      if (point.bound) see(*point.bound);
    }
    if (least_ == most_) least_ -= 1, most_ += 1;
    const double margin = 0.05 * (most_ - least_);
    least_ -= margin, most_ += margin;
  }

  std::string svg() const {
    std::string text = fmt::format("<g transform=\"translate(0 {})\">\n", top_);
    text += fmt::format("<text x=\"{}\" y=\"20\" font-weight=\"bold\">{}: {}</text>\n", kLeft, escaped(trace_.title),
                        escaped(level_));
    return text + axes() + legend() + values() + bounds() + "</g>\n";
  }

 private:
  double percent(double value) const { return 100 * value / scale_; }
  void see(double value) {
    least_ = std::min(least_, percent(value));
    most_ = std::max(most_, percent(value));
  }
  double x(double ms) const { return kLeft + (kWidth - kLeft - kRight) * ms / std::max(1.0, last_ms_); }
  double y(double value) const {
    return kTop + (kHeight - kTop - kBottom) * (most_ - percent(value)) / (most_ - least_);
  }

  std::string axes() const {
    std::string text;
    constexpr int kTicks = 5;
    for (int i = 0; i <= kTicks; ++i) {
      const double ms = last_ms_ * i / kTicks, share = least_ + (most_ - least_) * i / kTicks;
      const double height = y(share * scale_ / 100);
      text += svg_text(x(ms), kHeight - kBottom + 18, fmt::format("{:.0f}", ms), "middle");
      text += svg_rule(kLeft, height, kWidth - kRight, height);
      text += svg_text(kLeft - 6, height + 4, fmt::format("{:.2f}", share), "end");
    }
    return text + svg_text(kWidth - kRight, kHeight - kBottom + 36, "ms; % of the last bound", "end");
  }

  std::string legend() const {
    std::vector<std::string> lines;
    for (const TraceLine& point : trace_.points.at(level_))
      if (std::ranges::find(lines, point.engine) == lines.end()) lines.push_back(point.engine);
    lines.emplace_back("bound");
    std::string text;
    double right = kWidth - kRight;
    for (const std::string& line : lines) {
      text += svg_legend(right - 80, 20, line, pen_of(line));
      right -= 90;
    }
    return text;
  }

  // Steps: what is known holds until something better is.
  std::string steps(const std::vector<std::pair<double, double>>& known, double until,
                    const std::string& engine) const {
    if (known.empty()) return {};
    std::string path = fmt::format("M{:.1f} {:.1f}", x(known.front().first), y(known.front().second));
    for (std::size_t i = 1; i < known.size(); ++i)
      path += fmt::format("H{:.1f}V{:.1f}", x(known[i].first), y(known[i].second));
    return svg_path(path + fmt::format("H{:.1f}", x(until)), pen_of(engine));
  }

  std::string values() const {
    std::string text;
    const std::vector<TraceLine>& points = trace_.points.at(level_);
    for (std::size_t i = 0; i < points.size();) {
      const std::string& engine = points[i].engine;
      std::vector<std::pair<double, double>> known;
      for (; i < points.size() && points[i].engine == engine; ++i) known.emplace_back(points[i].ms, points[i].value);
      text += steps(known, i < points.size() ? points[i].ms : last_ms_, engine);
    }
    return text;
  }

  std::string bounds() const {
    std::vector<std::pair<double, double>> known;
    for (const TraceLine& point : trace_.points.at(level_))
      if (point.bound) known.emplace_back(point.ms, *point.bound);
    return steps(known, last_ms_, "bound");
  }

  const Trace& trace_;
  const LevelName& level_;
  double top_, last_ms_ = 0, scale_ = 0;
  double least_ = 1e300, most_ = -1e300;  // percent
};

int run(const Arguments& arguments) {
  std::vector<Trace> traces;
  for (const std::string& file : arguments.traces) std::ranges::move(read(file), std::back_inserter(traces));
  std::string panels;
  for (std::size_t i = 0; i < traces.size(); ++i) panels += Panel(traces[i], kHeight * static_cast<double>(i)).svg();
  write_svg(arguments.output, kWidth, kHeight * static_cast<double>(traces.size()), panels);
  std::cout << fmt::format("{} traces drawn\n", traces.size());
  return 0;
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  return muster::bench::guarded("bench_draw", [&] { return muster::bench::run(muster::bench::parse(argc, argv)); });
}
