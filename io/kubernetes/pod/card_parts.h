// Shares of memory, of computing and of the number of users of a card, as the one part of a device that a snapshot has.
//
// Pods that fit by all three must fit by the part, and never the other way round. So of several measures the largest
// part counts: if the parts add up to at most one card, so does each measure. It may refuse what would fit, so a
// measure counts only if it can be exceeded at all: if some pods of the input that fit by the others exceed it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/kubernetes/pod/card_share.h"
#include "io/kubernetes/pod/gpu.h"

namespace muster::kubernetes {

// The usable cards of all nodes that share by one dialect.
struct CardSizes {
  std::int64_t least_memory = 0, most_memory = 0;  // MiB of a card; 0: unknown
  std::int64_t least_slots = 0;                    // pods on a card; 0: any number

  void add(std::int64_t memory, std::int64_t slots);
};

// Which measures count besides memory.
struct CardMeasures {
  bool cores = false, slots = false;
};

// Of all pods that share cards of one dialect. Cost: a sort.
CardMeasures find_measures(std::span<const CardShare* const> shares, const CardSizes& sizes);

// `is_exact`: false if the part is larger than what the pod asks for by one of the measures that count.
struct CardPart {
  GpuShare request;
  bool is_exact = true;
};
CardPart part_of(const CardShare& share, const CardSizes& sizes, CardMeasures measures);

// On which cards of its node a pod is, as an annotation of its system has it.
//
// What a pod has of one card. Memory in MiB, cores in percent; 0: the annotation does not tell.
struct CardPlacement {
  std::string card;  // as NodeCard::id
  std::int64_t memory = 0, cores = 0;
};

// Each card once, with what all containers of the pod have of it. None: the text does not name cards as it should.
std::optional<std::vector<CardPlacement>> read_card_places(const CardShare& share);

}  // namespace muster::kubernetes
