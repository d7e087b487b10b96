#include "io/kubernetes/pod/owner.h"

namespace muster::kubernetes {

namespace {

constexpr std::string_view kReservation = "kai-resource-reservation";

bool is_reservation(const KubernetesObject& object, json::JsonValue app) {
  return object.namespace_name == kReservation && app && app.is(json::JsonKind::kString) &&
         app.string() == kReservation;
}

}  // namespace

bool read_owner(KubernetesReading& in, const KubernetesObject& object, const PodParts& parts, PodOwner& out) {
  json::JsonValue owners;
  bool has_any = false;
  out.is_reservation = is_reservation(object, parts.labels[PodParts::kApp]);
  out.is_fixed = out.is_reservation || parts.annotations[PodParts::kMirror];
  if (!in.take(object.metadata, "ownerReferences", owners) || !in.has_elements(owners, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue owner : owners.elements()) {
    json::JsonValue kind;
    std::string_view name;
    if (!in.expect(owner, json::JsonKind::kObject) || !in.take(owner, "kind", kind) || !in.text(kind, name))
      return false;
    if (name == "DaemonSet") out.is_fixed = true;
  }
  return read_controller(in, owners, out.kind, out.name) &&
         in.text(parts.labels[PodParts::kTemplateHash], out.template_hash);
}

}  // namespace muster::kubernetes
