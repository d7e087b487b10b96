// Calls that do not meet what a function requires (model/base/require.h).
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace muster {

// Expects that the call reports `text`: it aborts where all checks are on (MUSTER_CHECKS), and throws otherwise.
inline void expect_unmet(const std::function<void()>& call, const std::string& text) {
#ifdef MUSTER_CHECKS
  EXPECT_DEATH(call(), "requirement not met") << text;
#else
  try {
    call();
    ADD_FAILURE() << "nothing was reported: " << text;
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
#endif
}

}  // namespace muster
