// Nodes that one filter keeps from a pod.
#pragma once

#include <cstdint>
#include <string>

namespace muster::explain {

struct Blocker {
  std::string code;
  std::int64_t nodes = 0;
};

}  // namespace muster::explain
