#include "io/kubernetes/dialects/card_places.h"

#include <algorithm>

#include "io/kubernetes/dialects/annotation_text.h"

namespace muster::kubernetes {

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
