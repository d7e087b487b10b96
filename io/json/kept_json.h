// A parsed document that is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "io/json/json_document.h"

namespace muster::json {

// As large as what it holds, where a JsonDocument is as large as its longest text may need. It never changes, so that
// any number of threads may read it. A move leaves views valid.
class KeptJson {
 public:
  // A copy of what was parsed last, without an error.
  explicit KeptJson(const JsonDocument& parsed);

  JsonValue root() const { return {tape_.get(), 1}; }
  std::string_view text() const { return tape_->text; }
  // As allocated. About four times the text.
  std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<std::uint64_t[]> block_;
  std::unique_ptr<const JsonTape> tape_;
  std::size_t bytes_ = 0;
};

}  // namespace muster::json
