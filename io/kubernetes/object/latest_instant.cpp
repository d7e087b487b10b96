#include "io/kubernetes/object/latest_instant.h"

namespace muster::kubernetes {

void LatestInstant::note(const KubernetesObject& object) {
  note(member_of(object.metadata, "creationTimestamp"));
  if (!object.status || !object.status.is(json::JsonKind::kObject)) return;
  for (const json::JsonMember member : object.status.members()) {
    if (member.key == "startTime") note(member.value);
    if (member.key == "conditions" || member.key == "containerStatuses") note_all(member.value);
  }
}

void LatestInstant::note(json::JsonValue instant) {
  if (!instant || !instant.is(json::JsonKind::kString)) return;
  const std::string_view text = instant.string();
  if (text == latest_ || !parse_instant(text)) return;
  if (latest_.empty() || is_earlier(latest_, text)) latest_ = text;
}

// Every member of conditions and states that is a time, by its name: lastTransitionTime, startedAt.
void LatestInstant::note_all(json::JsonValue value) {
  if (value.is(json::JsonKind::kArray)) {
    for (const json::JsonValue element : value.elements()) note_all(element);
  } else if (value.is(json::JsonKind::kObject)) {
    for (const json::JsonMember member : value.members()) {
      if (member.key.ends_with("Time") || member.key.ends_with("At")) {
        note(member.value);
      } else {
        note_all(member.value);
      }
    }
  }
}

}  // namespace muster::kubernetes
