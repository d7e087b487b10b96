// Parts of shared cards, once all nodes and pods are read -> gpus of pods
#pragma once

#include <span>
#include <vector>

#include "io/kubernetes/pod/node_cards.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

// A node with shared cards.
struct CardNode {
  std::string_view name;
  NodeCards* cards;
};

// What the nodes of the snapshot have to tell otherwise than their objects do.
struct CardChanges {
  bool cards = false;       // some cards do not count
  bool plain_gpus = false;  // which nodes report nvidia.com/gpu: pods that ask for it go to these alone
  bool has_any() const { return cards || plain_gpus; }
};

// The memory that a card lacks to the largest one of its node, which nothing else may have.
struct LackingCard {
  std::string_view node;
  std::int32_t device = 0;
  std::int64_t memory = 0;  // MiB
};

struct SettledCards {
  CardChanges changes;
  std::vector<LackingCard> lacking;
};

// Gives each pod that shares cards the part of a device that stands for its memory, computing and slots, and the
// running ones their devices. A pod whose card is unknown has its part of every card where it may be: no card gets more
// than it has, and the pod stays. If a node has cards of several sizes and all pods ask for memory, the largest counts,
// and the result has what the others lack; else one size counts, for all cards that have at least as much. Remarks say
// what counts for more or less than it is. Cost: a sort of these pods.
SettledCards settle_cards(KubernetesRemarks& remarks, std::span<const CardNode> nodes,
                          std::vector<KubernetesPod>& pods);

}  // namespace muster::kubernetes
