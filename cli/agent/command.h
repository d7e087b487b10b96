// The command `muster agent`.
#pragma once

namespace muster::cli {

int run_agent(int argc, const char* const* argv);  // throws UsageError

}  // namespace muster::cli
