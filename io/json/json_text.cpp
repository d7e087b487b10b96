#include "io/json/json_text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <simdjson.h>
#include <unistd.h>

namespace muster::json {

std::string_view JsonText::piece(std::size_t begin, std::size_t length, Buffer& buffer) const {
  length = std::min(length, size_ - begin);
  if (file_ < 0 && size_ - begin - length >= simdjson::SIMDJSON_PADDING) return {characters_ + begin, length};
  if (buffer.capacity < length + simdjson::SIMDJSON_PADDING) {
    buffer.capacity = length + simdjson::SIMDJSON_PADDING;
    buffer.characters = std::make_unique_for_overwrite<char[]>(buffer.capacity);
  }
  char* const out = buffer.characters.get();
  if (file_ < 0) std::copy_n(characters_ + begin, length, out);
  for (std::size_t done = 0; file_ >= 0 && done < length;) {
    const ssize_t got = pread(file_, out + done, length - done, static_cast<off_t>(begin + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) length = done;
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  std::memset(out + length, ' ', simdjson::SIMDJSON_PADDING);
  return {out, length};
}

}  // namespace muster::json
