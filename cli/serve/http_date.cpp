#include "cli/serve/http_date.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace muster::cli {

const std::string& HttpDate::now() {
  const std::time_t now = std::time(nullptr);
  if (now == second_) return text_;
  second_ = now;
  std::tm parts{};
  gmtime_r(&now, &parts);
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  text_ = fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays.at(static_cast<std::size_t>(parts.tm_wday)),
                      parts.tm_mday, kMonths.at(static_cast<std::size_t>(parts.tm_mon)), parts.tm_year + 1900,
                      parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text_;
}

}  // namespace muster::cli
