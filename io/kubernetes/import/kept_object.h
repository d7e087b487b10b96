// An object of a cluster that is watched: read once, and imported with each plan until it changes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json/kept_json.h"
#include "io/kubernetes/items.h"
#include "io/kubernetes/object/options.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

using SharedOptions = std::shared_ptr<const KubernetesOptions>;

class KeptObject {
 public:
  // The object that has been parsed, in the form of slim_object; it is read as `options` say. Cost: a copy, and for a
  // pod about 5 us.
  KeptObject(const json::JsonDocument& parsed, SharedOptions options);
  KeptObject(const KeptObject&) = delete;
  KeptObject& operator=(const KeptObject&) = delete;

  std::string_view text() const { return json_.text(); }
  json::JsonValue value() const { return json_.root(); }
  // None: it cannot be read without an error or a remark, which each import tells anew.
  const std::optional<CollectedObject>& collected() const { return collected_; }
  bool is_read_as(const KubernetesOptions& options) const {
    return &options == options_.get() || reads_alike(options, *options_);
  }
  // As allocated, about.
  std::size_t bytes() const;

 private:
  void read_as_pod();

  json::KeptJson json_;
  SharedOptions options_;
  std::optional<CollectedObject> collected_;
  PodTexts texts_;
  std::unique_ptr<const KubernetesPod> pod_;
};

// In the order in which an API server lists them, kind by kind as in known_kinds(). Shared between threads.
using KeptObjects = std::vector<std::shared_ptr<const KeptObject>>;

// `{"apiVersion":"v1","kind":"List","items":[...]}`.
std::string text_of(const KeptObjects& objects);

// As collect_items, of objects that differ in kind or name; `latest` stays as it is.
[[nodiscard]] bool collect_kept(KubernetesReading& reading, const KeptObjects& objects, KubernetesItems& out);

}  // namespace muster::kubernetes
