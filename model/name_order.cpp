#include "model/name_order.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace muster {
namespace {

constexpr std::size_t kKeyWords = 2, kWordBytes = 8;

std::size_t common_prefix(std::span<const std::string_view> names) {
  std::string_view prefix = names.front();
  for (const std::string_view name : names) {
    const auto end = std::ranges::mismatch(prefix, name).in1;
    prefix = prefix.substr(0, static_cast<std::size_t>(end - prefix.begin()));
    if (prefix.empty()) break;
  }
  return prefix.size();
}

// The first bytes as numbers that order as they do; a name that ends early is padded with zeros.
using Key = std::array<std::uint64_t, kKeyWords>;

Key key_of(std::string_view rest) {
  Key key{};
  for (std::size_t i = 0; i < kKeyWords * kWordBytes && i < rest.size(); ++i) {
    const std::uint64_t byte = static_cast<unsigned char>(rest[i]);
    key[i / kWordBytes] |= byte << 8U * (kWordBytes - 1 - i % kWordBytes);
  }
  return key;
}

struct Entry {
  Key key{};
  std::uint32_t position = 0;
};

}  // namespace

std::vector<std::uint32_t> order_of_names(std::span<const std::string_view> names) {
  if (names.empty()) return {};
  const std::size_t prefix = common_prefix(names);
  std::vector<Entry> entries(names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    entries[i] = {key_of(names[i].substr(prefix)), static_cast<std::uint32_t>(i)};
  const auto is_before = [&](const Entry& a, const Entry& b) {
    if (a.key != b.key) return a.key < b.key;
    const int order = names[a.position].compare(names[b.position]);
    return order != 0 ? order < 0 : a.position < b.position;
  };
  if (!std::ranges::is_sorted(entries, is_before)) std::ranges::sort(entries, is_before);
  std::vector<std::uint32_t> order(entries.size());
  std::ranges::transform(entries, order.begin(), &Entry::position);
  return order;
}

}  // namespace muster
