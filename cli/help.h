// What `muster help` prints.
#pragma once

#include <string>

namespace muster::cli {

// The commands by group, each with its summary.
std::string help_overview();

}  // namespace muster::cli
