#include "test/support/paths.h"

namespace muster::test {

std::string source_folder() { return MUSTER_SOURCE_DIR; }

std::string program() { return MUSTER_BINARY; }

}  // namespace muster::test
