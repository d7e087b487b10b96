// Objects that do not exist yet, as JSON, so that the import reads them like those of a cluster.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/json/kept_json.h"
#include "io/kubernetes/object/object.h"
#include "io/kubernetes/templates/pod_maker.h"

namespace muster::kubernetes {

// Holds the texts of objects that were made; views into them stay valid.
class MadeObjects {
 public:
  // Requires the JSON of one object.
  KubernetesObject add(const std::string& text);
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

 private:
  json::JsonDocument parsed_;
  std::deque<json::KeptJson> kept_;
  std::deque<std::string> texts_;
};

// RuntimeClass (node.k8s.io/v1): what admission adds to the pods that name one.
struct RuntimeClass {
  json::JsonValue overhead, node_selector, tolerations;  // absent: none
};
class RuntimeClasses {
 public:
  [[nodiscard]] bool add(KubernetesReading& reading, const KubernetesObject& object);
  const RuntimeClass* find(std::string_view name) const;
  bool empty() const { return classes_.empty(); }

 private:
  std::map<std::string_view, RuntimeClass> classes_;
};

using Texts = std::vector<std::pair<std::string, std::string>>;

// What is added to a template, or to a pod that is about to be created.
struct PodAdditions {
  Texts labels, annotations;  // those of a template with the same key give way
  std::string_view owner_kind, owner_name;
  std::string_view scheduler, priority_class;  // of pods that name none
  PodChanges changes;                          // without its spec_text
};

// The pod of a template, whose parts may be absent, as admission would let it pass. `held`: why it would not, or what
// is unknown about it.
std::string pod_text(KubernetesReading& reading, const KubernetesObject& pod_template, const PodAdditions& additions,
                     const RuntimeClasses& classes, std::string& held);

}  // namespace muster::kubernetes
