// What drawings have in common.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace muster::bench {

// As text of an element or of an attribute.
inline std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

// Colours that colour-blind people can distinguish (Okabe and Ito 2008); each also has a dash pattern.
struct Pen {
  std::string_view colour, dashes;
};
inline constexpr Pen kBlue{"#0072B2", ""}, kVermilion{"#D55E00", "6 4"}, kGreen{"#009E73", ""},
    kPurple{"#CC79A7", "2 2"}, kOrange{"#E69F00", "8 2 2 2"}, kBlack{"#000000", ""};

inline std::string svg_text(double x, double y, std::string_view text, std::string_view anchor = "start") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(text));
}

// `path`: the `d` of a path.
inline std::string svg_path(std::string_view path, const Pen& pen) {
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>\n", path,
                     pen.colour, pen.dashes);
}

// A thin line behind the others.
inline std::string svg_rule(double x1, double y1, double x2, double y2) {
  return fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"#ddd\"/>\n", x1, y1, x2, y2);
}

// A line of the legend: the pen, and what it stands for.
inline std::string svg_legend(double x, double y, std::string_view text, const Pen& pen) {
  return svg_path(fmt::format("M{:.1f} {:.1f}h24", x, y - 4), pen) + svg_text(x + 30, y, text);
}

// Throws where the file cannot be written.
inline void write_svg(const std::string& file, double width, double height, std::string_view content) {
  std::ofstream output(file);
  output << fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}</svg>\n",
      width, height, content);
  if (!output.flush()) throw std::runtime_error("cannot write " + file);
}

}  // namespace muster::bench
