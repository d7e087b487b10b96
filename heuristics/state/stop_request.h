// The request to stop long-running work.
#pragma once

#include <functional>

namespace muster {

// Asked from time to time by all work that may take long; true: stop soon and keep what has been found. The portfolio
// owns it, since it alone knows the clock. Never asked in deterministic mode, where work limits take its place.
using StopRequest = std::function<bool()>;

}  // namespace muster
