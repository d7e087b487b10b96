// Checks of the "Requires ..." sentences of headers, at the entry of the function. A failed one is a defect of the
// caller. It throws std::logic_error with file, line and condition, which ends as the error record `InternalError` of
// the line; with MUSTER_CHECKS it prints them and aborts.
//
//   MUSTER_REQUIRE(condition)       always checked; O(1), and not in an inner loop
//   MUSTER_REQUIRE_SLOW(condition)  costs more: checked with MUSTER_CHECKS alone (presets debug, asan, tsan), where it
//                                   is compiled either way
#pragma once

namespace muster {

[[noreturn]] void fail_requirement(const char* file, int line, const char* condition);

}  // namespace muster

#define MUSTER_REQUIRE(condition) \
  ((condition) ? static_cast<void>(0) : ::muster::fail_requirement(__FILE__, __LINE__, #condition))

#ifdef MUSTER_CHECKS
#define MUSTER_REQUIRE_SLOW(condition) MUSTER_REQUIRE(condition)
#else
#define MUSTER_REQUIRE_SLOW(condition) static_cast<void>(true || (condition))
#endif
