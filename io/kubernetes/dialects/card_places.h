// On which cards of its node a pod is, as an annotation of its system has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/kubernetes/dialects/card_share.h"

namespace muster::kubernetes {

// What a pod has of one card. Memory in MiB, cores in percent; 0: the annotation does not tell.
struct CardPlacement {
  std::string card;  // as NodeCard::id
  std::int64_t memory = 0, cores = 0;
};

// Each card once, with what all containers of the pod have of it. None: the text does not name cards as it should.
std::optional<std::vector<CardPlacement>> read_card_places(const CardShare& share);

}  // namespace muster::kubernetes
