// The cards of which a pod asks for a part, in the words of the system that shares them.
#pragma once

#include <cstdint>
#include <string_view>

#include "io/kubernetes/pod/node_cards.h"
#include "io/kubernetes/pod/parts.h"
#include "io/kubernetes/pod/requests.h"

namespace muster::kubernetes {

// Of each of `cards` different cards of one node. Without memory, percent and cores: all of them.
struct CardShare {
  const ShareDialect* dialect = nullptr;  // none: the pod asks for no such share
  std::int64_t cards = 0;
  std::int64_t memory = 0;   // MiB; a dialect whose memory unit is 0: in the node's unit
  std::int64_t percent = 0;  // of the card's memory
  std::int64_t cores = 0;    // percent of the card's computing
  std::string_view placed;   // where the pod is, as its annotation has it; empty: unknown

  // Computing alone is enough: a card without cores left has no more users.
  bool is_whole() const { return cores >= 100 || percent >= 100 || (memory == 0 && percent == 0 && cores == 0); }
};

// Takes the share out of `requests`; resources that nodes report stay, and one that marks the system is added. `held`:
// see keep_first_reason. Errors: WrongType, InvalidValue: of resources that are no whole numbers, or too large.
[[nodiscard]] bool read_card_share(KubernetesReading& reading, const PodParts& parts, RequestedAmounts& requests,
                                   CardShare& out, std::string_view& held);

}  // namespace muster::kubernetes
