// The cards of a node that a system shares between pods.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

// The systems that share the cards of a node between pods: how each names what pods ask for, what nodes have, and where
// a pod is. The code that reads them knows no system.
//
// Sources: HAMi pkg/device; Volcano pkg/scheduler/api/devices/nvidia; Koordinator apis/extension/device_share.go and
// pkg/scheduler/plugins/deviceshare; AliyunContainerService/gpushare-scheduler-extender; tkestack/gpu-manager.
//
// An annotation that restricts the cards of a pod, which Muster does not plan.
struct CardRestriction {
  std::string_view annotation, harmless;  // a value that restricts nothing; empty: none
  std::string_view held;                  // as in keep_first_reason
};

enum class CardList : std::uint8_t { kNone, kHami, kVolcano };         // how an annotation of a node lists its cards
enum class CardPlace : std::uint8_t { kIds, kKoordinator, kIndices };  // how an annotation of a pod names its cards

// Names are empty where a system has none.
struct ShareDialect {
  std::string_view name;  // for people
  // Resources of pods. `count`: cards; the others: of each card. `both`: cores and percent at once.
  struct Resources {
    std::string_view count, memory, percent, cores, both;
    std::int64_t memory_unit = 1;  // bytes; 0: MiB or GiB, as the node's total tells
  } resources;
  // Each container has its own cards; else the pod as a whole, and a percentage above 100 is of several cards.
  bool is_by_container = false;
  bool keeps_resources = true;  // nodes report what pods ask for, and kube-scheduler counts it
  // The resource that pods of this system ask for in the snapshot, so that they go to its nodes alone.
  std::string_view marker;
  struct Nodes {
    std::string_view cards;  // a resource: `per_card` of it for each card
    std::int64_t per_card = 1;
    std::string_view memory;      // a resource: that of all cards
    std::string_view registered;  // an annotation: the cards
    CardList list = CardList::kNone;
  } nodes;
  std::string_view placed;  // an annotation of a pod
  CardPlace place = CardPlace::kIds;
  std::span<const CardRestriction> restrictions;
};

std::span<const ShareDialect> share_dialects();

// HAMi's plain request is that of the device plugin; this scheduler places such pods.
inline constexpr std::string_view kHamiScheduler = "hami-scheduler";

// The system that has this resource of pods, other than nvidia.com/gpu. None: no one has.
const ShareDialect* dialect_of_resource(std::string_view resource);
const ShareDialect& hami_dialect();

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
