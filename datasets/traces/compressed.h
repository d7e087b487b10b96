// Files that may be carried compressed.
#pragma once

#include <string>

#include "model/base/error.h"

namespace muster::traces {

// The bytes of the file, or of "PATH.xz" unpacked if only that exists. At most 64 MiB are returned. Errors: NoInput if
// it cannot be read, InvalidValue if it is not an xz file or is larger; the path is the file's.
Result<std::string> read_maybe_compressed(const std::string& path);

}  // namespace muster::traces
