// The objects of a document, sorted by what becomes of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "io/kubernetes/object/kinds.h"
#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

struct KubernetesItems {
  std::array<std::vector<KubernetesObject>, static_cast<std::size_t>(KubernetesKind::kCount)> by_kind;
  std::vector<KubernetesObject> others;  // of kinds that are not read
  std::string_view latest;               // the latest past instant in any of them; empty: none

  const std::vector<KubernetesObject>& of(KubernetesKind kind) const { return by_kind[static_cast<std::size_t>(kind)]; }
};

// An object by itself, and what becomes of it.
struct CollectedObject {
  KubernetesObject object;
  KubernetesKind meaning;
  std::vector<known::Unread> unread = {};  // what it has and the import does not read
};

// An object of a document, whether it is read or not.
struct FoundObject {
  KubernetesObject object;
  const KnownKind* known;  // none: objects of this kind are ignored
};

// What an event says whose object is deleted: an earlier object of the document leaves; or it is an error.
enum class DeletedEvents : std::uint8_t { kApply, kRefuse };

// Whether a document holds Kubernetes objects: an object or a list of them, or a watch event.
bool holds_kubernetes_objects(json::JsonValue root);

// Takes lists apart, applies watch events, and counts what is ignored. Errors: WrongType, MissingKey, DuplicateName,
// each with the object's title in its message.
[[nodiscard]] bool collect_items(KubernetesReading& reading, json::JsonValue root, KubernetesItems& out);

// Takes lists apart and applies watch events, to keep the objects, in the order of the document. Errors, also if the
// reading is not strict: WrongType, MissingKey and DuplicateName as collect_items; InvalidValue for a deletion that is
// refused. What else is wrong with an object is left to its import.
[[nodiscard]] bool find_objects(KubernetesReading& reading, json::JsonValue root, DeletedEvents deleted,
                                std::vector<FoundObject>& out);

// One more object, as if it were in a list without another one of its name. `latest` stays as it is.
[[nodiscard]] bool collect_item(KubernetesReading& reading, json::JsonValue object, KubernetesItems& out);

// None: with it, collect_item has an error or something to say, or takes nothing.
std::optional<CollectedObject> collect_object(json::JsonValue object);

}  // namespace muster::kubernetes
