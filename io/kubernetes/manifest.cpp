#include "io/kubernetes/manifest.h"

#include <optional>
#include <utility>

#include "io/kubernetes/object/documents.h"
#include "io/kubernetes/object/items.h"

namespace muster::kubernetes {

Result<std::vector<ManifestObject>> manifest_objects(std::string text, json::JsonLimits limits) {
  json::JsonDocument document;
  if (auto error = document.parse(join_documents(std::move(text)), limits)) return *std::move(error);
  if (!holds_kubernetes_objects(document.root())) {
    return InputError{ErrorCode::kUnsupportedFormat, "$",
                      "there are no Kubernetes objects: apiVersion and kind are missing"};
  }
  KubernetesReading in;
  in.strict = false;
  KubernetesItems items;
  if (!collect_items(in, document.root(), items)) return std::move(in.error);
  std::vector<ManifestObject> objects;
  for (const std::vector<KubernetesObject>& list : items.by_kind) {
    for (const KubernetesObject& object : list) objects.push_back({std::string(object.kind), object.title()});
  }
  for (const KubernetesObject& object : items.others)
    objects.push_back({std::string(object.kind), object.title(), false});
  return objects;
}

}  // namespace muster::kubernetes
