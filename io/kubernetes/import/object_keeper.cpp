#include "io/kubernetes/import/object_keeper.h"

#include <utility>

#include "io/kubernetes/object/slim.h"
#include "model/base/require.h"

namespace muster::kubernetes {

ObjectKeeper::ObjectKeeper(SharedOptions options) : options_(std::move(options)) {
  MUSTER_REQUIRE(options_ != nullptr);
}

std::string_view ObjectKeeper::slim(json::JsonDocument& document, json::JsonValue object, std::string_view api_version,
                                    std::string_view kind) {
  MUSTER_REQUIRE(object.is(json::JsonKind::kObject));
  scratch_.clear();
  slim_object(document, object, {api_version, kind, options_->duration_annotation}, scratch_);
  return scratch_;
}

std::shared_ptr<const KeptObject> ObjectKeeper::keep(std::string_view slim) {
  const bool is_valid = !parser_.parse(slim, json::JsonLimits());
  MUSTER_REQUIRE(is_valid);
  return std::make_shared<const KeptObject>(parser_, options_);
}

}  // namespace muster::kubernetes
