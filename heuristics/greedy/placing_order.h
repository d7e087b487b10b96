// The order in which one start of greedy places the waiting gangs, and the nodes that it prefers.
#pragma once

#include <cstdint>

#include "heuristics/placement/gang_placement.h"
#include "heuristics/placement/node_choice.h"

namespace muster::greedy {

// Among gangs of one priority.
enum class GangOrder : std::uint8_t {
  kQueueByQueue,   // the leaf queue that is furthest below its share next; within a queue more work first, then older
  kBigFirst,       // largest pods first: what is hardest to fit
  kCpuFirst,       // most cpu per GPU first
  kOldestFirst,    // chosen by age within the sum of the free devices, largest pods first; then the others
  kOldestFilling,  // the same if those chosen fill the devices to the last; else kBigFirst
  kInTurn          // by seniority, those first that fill the quotas
};

// When room is made for what finds none.
enum class ClaimTime : std::uint8_t {
  kAtEnd,  // once everything has been tried: there is a complete plan at any interruption
  kAtOnce  // once all of the same pass and priority has been tried: better if there is time for all of it
};

struct PlacingOrder {
  GangOrder gangs = GangOrder::kQueueByQueue;
  placement::PodOrder pods = placement::PodOrder::kBigFirst;
  placement::NodeRule nodes = placement::NodeRule::kBestFit;
  ClaimTime claims = ClaimTime::kAtEnd;
};

}  // namespace muster::greedy
