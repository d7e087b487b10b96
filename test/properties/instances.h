// How many instances a property looks at: MUSTER_INSTANCES, or so many that the suite stays quick.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace muster::properties {

inline std::uint32_t instances(std::uint32_t by_default) {
  const char* wanted = std::getenv("MUSTER_INSTANCES");
  return wanted == nullptr ? by_default : static_cast<std::uint32_t>(std::stoul(wanted));
}

}  // namespace muster::properties
