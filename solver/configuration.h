// Node configurations: what may stand on one node of a room class, all at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "solver/anti_affinity.h"
#include "solver/demand.h"
#include "solver/room.h"

namespace muster {

// Pods of some demand classes that fit together on one node, in the order in which they are put down, each with the
// devices (positions in RoomClass::free_devices) that it takes. Who runs on the node and stays is among them; in a
// pinned room `resident` says which of them it is.
struct Configuration {
  struct Step {
    DemandIndex demand;
    std::vector<std::int32_t> devices;
    std::int32_t resident = -1;  // position in RoomClass::residents
  };
  std::vector<Step> steps;
  std::vector<std::pair<DemandIndex, std::int32_t>> counts;  // ascending by demand class
  // Classes of residents of which one more could stay beside all this. Only where configurations are listed. In a room
  // that is not pinned: whichever devices pods that come use, each class taken by itself.
  std::vector<DemandIndex> could_stay;
  std::int64_t last_level = 0;  // what the node adds to the last level: fragmentation, or the square of its use
};

// All of it outlives whoever is given it.
struct ConfigurationInput {
  const Problem& problem;
  const Demand& demand;
  const AntiAffinityRules& anti_affinity;
};

// Whether there are more of them than `limit`: counts sets of four different pods of small classes alone, so that much
// more may be there where it says no. Cost: O(demand classes of the room).
bool surely_has_more(const ConfigurationInput& input, const RoomClass& room, std::size_t limit);

// Every distinct count of pods that fits on one node of the class, the empty one first, each with the placing that is
// best for the last level; several of one count where they differ in who could stay besides. `states` is how many
// intermediate states there may be, and then how many are left of them; none where they do not suffice.
// None, too, where `stop` says so; it is asked now and then.
std::optional<std::vector<Configuration>> enumerate_configurations(const ConfigurationInput& input,
                                                                   const RoomClass& room, std::size_t& states,
                                                                   const std::function<bool()>& stop = {});

}  // namespace muster
