// A parsed or built document that is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "io/json/json_builder.h"
#include "io/json/json_document.h"

namespace muster::json {

// As large as what it holds, where a JsonDocument is as large as its longest text may need. It never changes, so that
// any number of threads may read it. A move leaves views valid.
class KeptJson {
 public:
  // A copy of what was parsed last, without an error.
  explicit KeptJson(const JsonDocument& parsed);
  explicit KeptJson(const JsonBuilder& built);

  JsonValue root() const { return {tape_.get(), 1}; }
  // As allocated. Several times its text.
  std::size_t bytes() const { return bytes_; }
  // Whether it is a copy of such a document. Cost: that of comparing its bytes.
  bool is(const JsonBuilder& built) const;

 private:
  explicit KeptJson(const JsonTape& from);

  std::unique_ptr<std::uint64_t[]> block_;
  std::unique_ptr<const JsonTape> tape_;
  std::size_t bytes_ = 0;
};

}  // namespace muster::json
