// What is free on a node once a plan has been carried out.
#pragma once

#include <span>

#include "model/problem/problem.h"

namespace muster {

// What is free on the node and on its devices (fully taken ones may be left out).
struct NodeEnd {
  NodeClassIndex node_class;
  std::span<const Amount> free;
  std::span<const DeviceUnits> free_devices;
};

}  // namespace muster
