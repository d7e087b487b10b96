// The time, as the owner of these classes gives it: nothing in io/ reads a clock itself.
#pragma once

#include <chrono>
#include <functional>

namespace muster::api_server {

// Steady; `std::chrono::steady_clock::now` in the program, anything in tests.
using Clock = std::function<std::chrono::steady_clock::time_point()>;

}  // namespace muster::api_server
