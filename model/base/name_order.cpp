#include "model/base/name_order.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "model/base/radix_order.h"

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

// The first bytes as numbers with the same order; a shorter name is padded with zeros.
using Key = std::array<std::uint64_t, kKeyWords>;

Key key_of(std::string_view rest) {
  Key key{};
  for (std::size_t i = 0; i < kKeyWords * kWordBytes && i < rest.size(); ++i) {
    const std::uint64_t byte = static_cast<unsigned char>(rest[i]);
    key[i / kWordBytes] |= byte << 8U * (kWordBytes - 1 - i % kWordBytes);
  }
  return key;
}

// By the first bytes behind what all have in common.
void sort_by_first_bytes(std::span<const std::string_view> names, std::vector<Keyed>& order) {
  const std::size_t prefix = common_prefix(names);
  std::vector<Key> keys(names.size());
  std::ranges::transform(names, keys.begin(), [&](std::string_view name) { return key_of(name.substr(prefix)); });
  std::vector<Keyed> spare;
  for (std::size_t word = kKeyWords; word-- > 0;) {
    for (Keyed& item : order) item.key = keys[item.position][word];
    sort_by_key(order, spare);
  }
  const auto is_same = [&](const Keyed& a, const Keyed& b) {
    return keys[a.position][0] == keys[b.position][0] && keys[a.position][1] == keys[b.position][1];
  };
  for (auto first = order.begin(); first != order.end();) {
    const auto last =
        std::find_if_not(first + 1, order.end(), [&](const Keyed& item) { return is_same(*first, item); });
    if (last - first > 1)
      std::ranges::stable_sort(first, last, {}, [&](const Keyed& item) { return names[item.position]; });
    first = last;
  }
}

}  // namespace

std::vector<std::uint32_t> order_of_names(std::span<const std::string_view> names) {
  std::vector<Keyed> order(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) order[i].position = static_cast<std::uint32_t>(i);
  if (!std::ranges::is_sorted(names)) sort_by_first_bytes(names, order);
  std::vector<std::uint32_t> positions(order.size());
  std::ranges::transform(order, positions.begin(), &Keyed::position);
  return positions;
}

}  // namespace muster
