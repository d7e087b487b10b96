// What a gang that is expected to start later waits for (docs/semantics.md, "Expected starts"). Codes here, text in
// plan lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::forecast {

// In the order of the list in docs/semantics.md; of two that last equally long, the first counts.
enum class StartObstacle : std::uint8_t {
  kQuota,      // of what is not preemptible
  kLimit,      // of a queue
  kNodes,      // nodes that are more than half empty
  kDevices,    // devices on nodes, for pods of up to half a node
  kResources,  // cpu or memory
  kReserved,   // the start of a gang that it would hold up
  kOther       // there is room by these counts; another rule or a level is against it
};
inline constexpr std::size_t kStartObstacles = static_cast<std::size_t>(StartObstacle::kOther) + 1;

// "Quota".
std::string_view start_obstacle_text(StartObstacle obstacle);

// The obstacle with this text; none if there is no such obstacle.
std::optional<StartObstacle> find_start_obstacle(std::string_view text);

}  // namespace muster::forecast
