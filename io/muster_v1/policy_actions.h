// The names of a policy's actions.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "model/snapshot/snapshot.h"

namespace muster::muster_v1 {

inline constexpr std::array<std::pair<std::string_view, bool Actions::*>, 5> kActionNames = {
    {{"place", &Actions::place},
     {"consolidate", &Actions::consolidate},
     {"reclaim", &Actions::reclaim},
     {"preempt", &Actions::preempt},
     {"stale", &Actions::stale}}};

}  // namespace muster::muster_v1
