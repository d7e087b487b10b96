// Text of strangers made fit for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/snapshot/unread.h"

namespace muster::cli {

// `text` with everything that could move a cursor, end a line or turn the direction of writing replaced by `\x1b`,
// `\u202e` and the like: control characters (C0, DEL, C1), line and paragraph separators, bidirectional marks, invalid
// UTF-8, backslashes.
std::string escaped(std::string_view text);

// The same as the inside of a JSON string.
std::string json_escaped(std::string_view text);

bool is_terminal(int file_descriptor);

// Columns of a terminal; 0: it is none, or the width is unknown.
std::size_t terminal_width(int file_descriptor);
// "pod ns/a: what is wrong with it".
std::string warning_text(const Warning& warning);
// A line for stderr: a remark as it is, a warning with what it is.
std::string told_text(const Warning& warning);

}  // namespace muster::cli
