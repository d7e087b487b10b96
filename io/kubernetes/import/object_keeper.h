// Makes objects that are kept out of parsed ones.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/json/json_document.h"
#include "io/kubernetes/import/kept_object.h"

namespace muster::kubernetes {

// Used again for its buffers; one a thread.
class ObjectKeeper {
 public:
  // `options`: with which the objects will be imported, but for the time.
  explicit ObjectKeeper(SharedOptions options);

  const SharedOptions& options() const { return options_; }
  // The object as slim_object writes it, with these instead of its own apiVersion and kind unless they are empty. Valid
  // until the next call. Requires `object` to be an object of `document`.
  std::string_view slim(json::JsonDocument& document, json::JsonValue object, std::string_view api_version,
                        std::string_view kind);
  // Requires a text of slim().
  std::shared_ptr<const KeptObject> keep(std::string_view slim);

 private:
  SharedOptions options_;
  std::string scratch_;
  json::JsonDocument parser_;  // of one object at a time
};

}  // namespace muster::kubernetes
