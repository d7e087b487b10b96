// Objects that do not exist yet, as JSON, so that the import reads them like those of a cluster.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/json/json_document.h"
#include "io/json/kept_json.h"
#include "io/kubernetes/object/kinds.h"
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

// The gangs that controllers make for the objects whose template makes pods: those of Volcano and of the coscheduling
// plugin. Those of KAI's pod grouper, and of Volcano for pods that no other controller groups, follow from the pods and
// their owners, as for pods that exist: grouping/.
enum class GangSystem : std::uint8_t { kNone, kVolcano, kCoscheduling };

// Which gang the pods of one maker form.
struct GangChoice {
  GangSystem system = GangSystem::kNone;
  bool is_per_set = false;            // each set of pods is a gang
  std::int64_t members = 0;           // that it needs at least
  bool counts_all_resources = false;  // it waits for room for all its pods, even if it needs fewer of them
};

// `scheduler`: that of the pods, empty if they name none. `kai_scheduler`: KAI's. `in_groups`: pods of it that exist
// belong to groups of Volcano. What is assumed is a remark. Errors: those of the values.
[[nodiscard]] bool choose_gang(KubernetesReading& reading, const PodMaker& maker, std::string_view scheduler,
                               bool in_groups, GangChoice& out);

// The scheduler of pods that name none; empty: the default one.
std::string_view default_scheduler(const PodMaker& maker);

// The name of the gang that the pods of a set belong to.
std::string gang_name(const PodMaker& maker, const GangChoice& choice, std::int64_t set);

// What the controllers put on the pods of a role that belong to a gang of this name.
void mark_members(const GangChoice& choice, const PodRole& role, const std::string& gang, PodAdditions& additions);

// The object of the gang; empty: it has none, as its pods tell all. `kind`: how the import reads it.
std::string group_text(KubernetesReading& reading, const PodMaker& maker, const GangChoice& choice,
                       const std::string& gang, KubernetesKind& kind);

}  // namespace muster::kubernetes
