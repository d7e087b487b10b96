// The cards of a node that a system shares between pods.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/kubernetes/dialects/share_dialect.h"
#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

struct NodeCard {
  std::string id;           // uuid, or its number on the node
  std::int64_t memory = 0;  // MiB; 0: unknown
  std::int64_t slots = 0;   // pods that may share it; 0: any number
  std::string model;
  bool is_usable = true;  // healthy, not closed, and shared by memory
};

struct NodeCards {
  const ShareDialect* dialect = nullptr;  // none: nothing shares the node's cards
  std::vector<NodeCard> cards;            // usable ones first
  bool reports_gpus = false;              // nvidia.com/gpu, which pods ask for whose GPUs nothing shares
  bool counts_largest = false;            // something else takes what the smaller ones lack
  bool is_partitioned = false;            // Koordinator: several cards are given out in fixed sets only
  std::int64_t unit = 1;                  // MiB of a unit in which pods ask for memory, if the system has no fixed one

  std::int64_t usable() const;
  // Leaves out those with less memory.
  void leave_out_below(std::int64_t memory);
  // Of the smallest usable card, so that no card gets more than it has; 0: unknown. If `counts_largest`, of the
  // largest.
  std::int64_t memory() const;
  std::int64_t slots() const;  // of all usable cards
  bool has_equal_cards() const;
};

// Koordinator's Device objects: the cards of the node of that name.
class KoordinatorDevices {
 public:
  // Errors: WrongType, InvalidValue.
  [[nodiscard]] bool import(KubernetesReading& reading, const KubernetesObject& object);
  const std::vector<NodeCard>* cards_of(std::string_view node) const;

 private:
  std::unordered_map<std::string_view, std::vector<NodeCard>> cards_;
};

// Leaves `out` as it is for a node without shared cards. Text in an annotation that does not name cards as it should
// makes the node one without cards, with a remark. Errors: WrongType, InvalidValue.
[[nodiscard]] bool read_node_cards(KubernetesReading& reading, const KubernetesObject& object,
                                   json::JsonValue allocatable, const KoordinatorDevices& devices, NodeCards& out);

}  // namespace muster::kubernetes
