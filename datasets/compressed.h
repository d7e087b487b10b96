// Files that may be carried compressed.
#pragma once

#include <string>

#include "model/error.h"

namespace muster {

// The bytes of the file, or of "PATH.xz" unpacked where only that is there. At most 64 MiB come out. Errors: NoInput
// for what cannot be read, InvalidValue for what is not an xz file or is more than that; the path is the file's.
Result<std::string> read_maybe_compressed(const std::string& path);

}  // namespace muster
