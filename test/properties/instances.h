// The number of instances of a property test: MUSTER_INSTANCES, or few enough for the suite to stay fast.
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
