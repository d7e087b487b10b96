#include "cli/terminal/terminal.h"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace muster::cli {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // 0: not UTF-8 here
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  std::uint32_t value = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    value = value << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[bytes] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, bytes};
}

// Line and paragraph separators; the marks that turn the direction of writing (Unicode UAX #9).
bool misleads(std::uint32_t value) {
  return value == 0x61C || (value >= 0x200E && value <= 0x200F) || (value >= 0x2028 && value <= 0x202E) ||
         (value >= 0x2066 && value <= 0x2069) || value == 0xFEFF;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    const std::size_t bytes = point.bytes == 0 ? 1 : point.bytes;
    if (point.bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0)) {
      out += fmt::format("\\x{:02x}", point.value);
    } else if (misleads(point.value)) {
      out += fmt::format("\\u{:04x}", point.value);
    } else if (point.value == '\\') {
      out += "\\\\";
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

std::string json_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    const std::size_t bytes = point.bytes == 0 ? 1 : point.bytes;
    if (point.bytes == 0) {
      out += "\\ufffd";
    } else if (point.value == '"' || point.value == '\\') {
      out += {'\\', static_cast<char>(point.value)};
    } else if (point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0) || misleads(point.value)) {
      out += fmt::format("\\u{:04x}", point.value);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

std::string warning_text(const Warning& warning) {
  return fmt::format("{} {}: {}", escaped(warning.object), escaped(warning.name), escaped(warning.message));
}

std::string told_text(const Warning& warning) {
  return is_remark(warning) ? escaped(remark_text(warning)) : "warning: " + warning_text(warning);
}

bool is_terminal(int file_descriptor) { return isatty(file_descriptor) == 1; }

std::size_t terminal_width(int file_descriptor) {
  winsize size{};
  return ioctl(file_descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace muster::cli
