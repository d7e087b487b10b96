#include "model/base/words.h"

#include <algorithm>
#include <array>
#include <utility>

namespace muster {
namespace {

// A leading `=` or `~` is expanded by some shells.
bool is_plain(std::string_view word) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+./:,@%=";
  return !word.empty() && word.front() != '=' && word.find_first_not_of(kPlain) == std::string_view::npos;
}

}  // namespace

std::string counted(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string memory_words(std::int64_t bytes) {
  constexpr std::array<std::pair<std::uint64_t, const char*>, 4> kUnits = {
      {{std::uint64_t{1} << 30, " GiB"}, {1 << 20, " MiB"}, {1 << 10, " KiB"}, {1, " B"}}};
  const std::uint64_t size = bytes < 0 ? 0 - static_cast<std::uint64_t>(bytes) : static_cast<std::uint64_t>(bytes);
  if (size == 0) return "0 GiB";
  const auto* unit = std::ranges::find_if(kUnits, [&](const auto& one) { return size >= one.first; });
  const std::uint64_t thousandths = (size % unit->first * 1000 + unit->first / 2) / unit->first;
  const std::uint64_t whole = size / unit->first + thousandths / 1000;
  std::string text = (bytes < 0 ? "-" : "") + std::to_string(whole);
  if (const std::uint64_t rest = thousandths % 1000; rest != 0) {
    std::string decimals = std::to_string(1000 + rest).substr(1);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    text += "." + decimals;
  }
  return text + unit->second;
}

std::string shell_word(std::string_view word) {
  if (is_plain(word)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string(R"('"'"')") : std::string(1, c);
  return quoted + "'";
}

}  // namespace muster
