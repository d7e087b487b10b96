#include "io/kubernetes/object/attachments.h"

#include <array>
#include <optional>

namespace muster::kubernetes {

namespace {

constexpr std::string_view kResourcePrefix = "attachable-volumes-csi-";  // as kube-scheduler's GetCSIAttachLimitKey

}  // namespace

bool read_attach_limits(KubernetesReading& in, const KubernetesObject& object, AttachLimits& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"allocatable", "name"};
  json::JsonValue drivers;
  bool has_any = false;
  out.is_known = true;
  if (!in.take(object.spec, "drivers", drivers) || !in.has_elements(drivers, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue driver : drivers.elements()) {
    std::array<json::JsonValue, 2> found;
    json::JsonValue value;
    std::string_view name;
    std::optional<std::int32_t> count;
    if (!in.expect(driver, json::JsonKind::kObject) || !in.take(driver, kKeys, found) || !in.text(found[1], name) ||
        !in.take(found[0], "count", value) || !in.count(value, count)) {
      return false;
    }
    if (!count || name.empty()) continue;
    AttachLimit& limit = out.of_driver[name];
    limit.resource = std::string(kResourcePrefix).append(name);
    limit.of_node[object.name] = *count;
  }
  return true;
}

}  // namespace muster::kubernetes
