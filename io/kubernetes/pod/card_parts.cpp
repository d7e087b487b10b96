#include "io/kubernetes/pod/card_parts.h"

#include <algorithm>

#include "io/kubernetes/pod/gang_terms.h"

namespace muster::kubernetes {

namespace {

constexpr std::int64_t kWholeCard = 1'000'000;  // millionths of a card
constexpr std::int64_t kPercentOfCard = kWholeCard / 100;

std::int64_t divided_up(std::int64_t amount, std::int64_t by) { return (amount + by - 1) / by; }

// Millionths of the memory of a card of this size.
std::int64_t memory_part(const CardShare& share, std::int64_t card) {
  if (share.percent > 0) return share.percent * kPercentOfCard;
  if (share.memory == 0) return 0;
  return card == 0 ? kWholeCard : std::min(kWholeCard, divided_up(share.memory * kWholeCard, card));
}

// What pods have of a card that all fit into, and of another measure of it.
struct Measured {
  std::int64_t part = 0, other = 0;
};

// The most of the other measure that pods have which fit on a card: no less than that, by the fractional knapsack
// (Dantzig 1957).
double most_of_other(std::vector<Measured> pods) {
  std::ranges::sort(pods, [](const Measured& a, const Measured& b) {
    return static_cast<__int128>(a.other) * b.part > static_cast<__int128>(b.other) * a.part;
  });
  std::int64_t room = kWholeCard;
  double sum = 0;
  for (const Measured& pod : pods) {
    const std::int64_t taken = std::min(room, pod.part);
    sum += pod.part == 0 ? static_cast<double>(pod.other)
                         : static_cast<double>(pod.other) * static_cast<double>(taken) / static_cast<double>(pod.part);
    room -= taken;
  }
  return sum;
}

CardPart fraction_of_cards(std::int64_t cards, std::int64_t part, bool is_exact) {
  if (part >= kWholeCard) return {{GpuRequestKind::kWhole, cards, 0}, is_exact};
  return {{GpuRequestKind::kFraction, cards, std::max<std::int64_t>(1, part)}, is_exact};
}

// A share of memory in MiB and of another measure in millionths: on a card of any size the larger of both.
CardPart larger_of(const CardShare& share, std::int64_t other, const CardSizes& sizes) {
  const std::int64_t on_largest = divided_up(other * sizes.most_memory, kWholeCard);
  if (sizes.most_memory == 0 || on_largest <= share.memory)
    return {{GpuRequestKind::kMemory, share.cards, share.memory}, true};
  const std::int64_t on_least = memory_part(share, sizes.least_memory);
  if (share.memory <= sizes.least_memory)
    return fraction_of_cards(share.cards, std::max(other, on_least), other >= on_least);
  return {{GpuRequestKind::kMemory, share.cards, on_largest}, false};
}

}  // namespace

void CardSizes::add(std::int64_t memory, std::int64_t slots) {
  if (memory > 0) {
    least_memory = least_memory == 0 ? memory : std::min(least_memory, memory);
    most_memory = std::max(most_memory, memory);
  }
  if (slots > 0) least_slots = least_slots == 0 ? slots : std::min(least_slots, slots);
}

CardMeasures find_measures(std::span<const CardShare* const> shares, const CardSizes& sizes) {
  CardMeasures measures;
  std::vector<Measured> by_cores, by_number;
  for (const CardShare* share : shares) {
    if (share->is_whole()) continue;
    const std::int64_t memory = memory_part(*share, sizes.most_memory);
    by_cores.push_back({memory, share->cores * kPercentOfCard});
  }
  measures.cores = most_of_other(by_cores) > static_cast<double>(kWholeCard);
  for (const CardShare* share : shares) {
    if (share->is_whole()) continue;
    const std::int64_t memory = memory_part(*share, sizes.most_memory);
    const std::int64_t cores = share->cores * kPercentOfCard;
    by_number.push_back({measures.cores || memory == 0 ? std::max(memory, cores) : memory, kWholeCard});
  }
  measures.slots = sizes.least_slots > 0 && most_of_other(by_number) >= static_cast<double>(kWholeCard) *
                                                                            static_cast<double>(sizes.least_slots + 1);
  return measures;
}

CardPart part_of(const CardShare& share, const CardSizes& sizes, CardMeasures measures) {
  if (share.is_whole()) return {{GpuRequestKind::kWhole, share.cards, 0}, true};
  const std::int64_t slot = measures.slots ? divided_up(kWholeCard, sizes.least_slots) : 0;
  const bool has_memory = share.memory > 0 || share.percent > 0;
  const std::int64_t cores = measures.cores || !has_memory ? share.cores * kPercentOfCard : 0;
  const std::int64_t other = std::max(cores, slot);
  if (share.percent > 0 || share.memory == 0) {
    const std::int64_t memory = share.percent * kPercentOfCard;
    const bool is_exact = slot <= std::max(memory, cores) && (cores == 0 || memory == 0 || cores == memory);
    return fraction_of_cards(share.cards, std::max(memory, other), is_exact);
  }
  if (other == 0) return {{GpuRequestKind::kMemory, share.cards, share.memory}, true};
  CardPart part = larger_of(share, other, sizes);
  part.is_exact = false;
  return part;
}

namespace {

using Places = std::vector<CardPlacement>;

void add_place(CardPlacement more, Places& places) {
  const auto known = std::ranges::find(places, more.card, &CardPlacement::card);
  if (known == places.end()) {
    places.push_back(std::move(more));
  } else {
    known->memory += more.memory;
    known->cores += more.cores;
  }
}

// `uuid,model,MiB,cores:` for each card of a container, `;` after each container.
std::optional<Places> read_ids(std::string_view text) {
  Places places;
  while (!text.empty()) {
    std::string_view card = next_part(text, ":;");
    if (card.empty()) continue;
    const std::string_view id = next_part(card, ",");
    next_part(card, ",");
    const auto memory = whole_number(next_part(card, ",")), cores = whole_number(next_part(card, ","));
    if (id.empty() || !memory || !cores) return std::nullopt;
    add_place({std::string(id), *memory, *cores}, places);
  }
  return places;
}

// {"gpu": [{"minor": 0, ...}]}; what it has of each is what it asks for.
std::optional<Places> read_koordinator(std::string_view text) {
  const AnnotationJson allocated(text, json::JsonKind::kObject);
  if (!allocated) return std::nullopt;
  Places places;
  for (const json::JsonMember type : allocated.root().members()) {
    if (type.key != "gpu") continue;
    if (!type.value.is(json::JsonKind::kArray)) return std::nullopt;
    for (const json::JsonValue device : type.value.elements()) {
      if (!device.is(json::JsonKind::kObject)) return std::nullopt;
      std::string minor;
      for (const json::JsonMember member : device.members()) {
        if (member.key == "minor" && member.value.is(json::JsonKind::kInteger))
          minor = std::to_string(member.value.integer());
      }
      if (minor.empty()) return std::nullopt;
      add_place({std::move(minor)}, places);
    }
  }
  return places;
}

// `0` or `0,1`
std::optional<Places> read_indices(std::string_view text) {
  Places places;
  while (!text.empty()) {
    const auto index = whole_number(next_part(text, ","));
    if (!index) return std::nullopt;
    add_place({std::to_string(*index)}, places);
  }
  return places;
}

}  // namespace

std::optional<std::vector<CardPlacement>> read_card_places(const CardShare& share) {
  std::optional<Places> places;
  switch (share.dialect->place) {
    case CardPlace::kIds:
      places = read_ids(share.placed);
      break;
    case CardPlace::kKoordinator:
      places = read_koordinator(share.placed);
      break;
    case CardPlace::kIndices:
      places = read_indices(share.placed);
      break;
  }
  return places && !places->empty() ? places : std::nullopt;
}

}  // namespace muster::kubernetes
