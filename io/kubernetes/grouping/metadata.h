// Labels and annotations of any object, read on demand: keys that few objects have.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "io/kubernetes/object/object.h"
#include "io/kubernetes/pod/pod.h"

namespace muster::kubernetes {

// Texts that no document holds; views into them stay valid.
using KeptTexts = std::deque<std::string>;

// The text of a label or annotation. Empty: absent, or no text.
inline std::string_view text_at(json::JsonValue object, std::string_view key) {
  const json::JsonValue value = member_of(object, key);
  return value && value.is(json::JsonKind::kString) ? value.string() : std::string_view();
}
inline json::JsonValue annotations_of(json::JsonValue metadata) { return member_of(metadata, "annotations"); }
inline json::JsonValue labels_of(json::JsonValue metadata) { return member_of(metadata, "labels"); }

// Of a pod, or of the template that it is made from.
inline json::JsonValue metadata_of(const KubernetesPod& pod) { return member_of(pod.source.object, "metadata"); }

// The label of a pod; those that its maker adds come first. Cost: O(labels).
inline std::string_view label_of(const KubernetesPod& pod, std::string_view key) {
  for (const auto& [added, value] : pod.labels.added) {
    if (added == key) return value;
  }
  return text_at(pod.labels.own, key);
}

}  // namespace muster::kubernetes
