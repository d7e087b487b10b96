// An object of a cluster that is watched: parsed once, and imported with each plan until it changes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json/kept_json.h"
#include "io/kubernetes/items.h"

namespace muster::kubernetes {

class KeptObject {
 public:
  // The object that has been parsed, in the form of slim_object. Requires an object of a known kind. Cost: a copy.
  explicit KeptObject(const json::JsonDocument& parsed);

  std::string_view text() const { return json_.text(); }
  json::JsonValue value() const { return json_.root(); }
  // None: it cannot be read without an error or a remark, which each import tells anew.
  const std::optional<CollectedObject>& collected() const { return collected_; }
  std::size_t bytes() const { return sizeof *this + json_.bytes(); }

 private:
  json::KeptJson json_;
  std::optional<CollectedObject> collected_;
};

// In the order in which an API server lists them, kind by kind as in known_kinds(). Shared between threads.
using KeptObjects = std::vector<std::shared_ptr<const KeptObject>>;

// `{"apiVersion":"v1","kind":"List","items":[...]}`.
std::string text_of(const KeptObjects& objects);

// As collect_items, of objects that differ in kind or name; `latest` stays as it is.
[[nodiscard]] bool collect_kept(KubernetesReading& reading, const KeptObjects& objects, KubernetesItems& out);

}  // namespace muster::kubernetes
