// Where the online placer puts a pod.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster::online {

// Where one pod goes.
struct OnlinePlace {
  std::size_t node = 0;
  std::vector<std::int32_t> devices;  // positions on the node, ascending
};

}  // namespace muster::online
