// Comma separated tables with a header line, read by column name. No quoting: a field is what stands between commas.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/error_code.h"

namespace muster::traces {

// The requested columns, in that order, of every line after the header. Views point into the text that was read.
struct CsvTable {
  std::string file;  // as errors name it
  std::vector<std::string> columns;
  std::vector<std::vector<std::string_view>> rows;  // rows[i] is on line i + 2

  // The field as a whole number of at most `most`. Errors: InvalidValue.
  Result<std::int64_t> number(std::size_t row, std::size_t column, std::int64_t most) const;
  // An error that names the field: path "FILE:LINE:COLUMN".
  InputError fault(std::size_t row, std::size_t column, std::string_view message) const;
};

// `optional` columns, which follow those `required`, are empty fields if the header does not have them. Other columns
// of the file are ignored. Errors: MissingColumn, and InvalidValue for a line that has more or fewer fields than the
// header. Cost: one pass.
struct CsvColumns {
  std::vector<std::string> required, optional;
};
Result<CsvTable> read_csv(std::string_view text, std::string_view file, const CsvColumns& columns);

// Files that may be carried compressed.
//
// The bytes of the file, or of "PATH.xz" unpacked if only that exists. At most 64 MiB are returned. Errors: NoInput if
// it cannot be read, InvalidValue if it is not an xz file or is larger; the path is the file's.
Result<std::string> read_maybe_compressed(const std::string& path);

}  // namespace muster::traces
