#include "io/kubernetes/disruption_budget.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace muster::kubernetes {

namespace {

bool whole_number(KubernetesReading& in, json::JsonValue value, std::int64_t& out) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return !value || in.read_integer(value, std::numeric_limits<std::int64_t>::min(), kMost, out);
}

}  // namespace

bool import_disruption_budget(KubernetesReading& in, const KubernetesObject& object, json::JsonWriter& writer) {
  static constexpr std::array<std::string_view, 2> kSpecKeys = {"selector", "unhealthyPodEvictionPolicy"};
  static constexpr std::array<std::string_view, 2> kStatusKeys = {"disruptionsAllowed", "observedGeneration"};
  std::array<json::JsonValue, 2> spec, status;
  json::JsonValue generation;
  std::int64_t allowed = 0, observed = 0, current = 0;
  std::string_view unhealthy;
  if (!in.take(object.spec, kSpecKeys, spec) || !in.take(object.status, kStatusKeys, status) ||
      !in.take(object.metadata, "generation", generation) || !in.text(spec[1], unhealthy) ||
      !whole_number(in, status[0], allowed) || !whole_number(in, status[1], observed) ||
      !whole_number(in, generation, current)) {
    return false;
  }
  if (unhealthy == "AlwaysAllow")
    in.remarks.add("unhealthyPodEvictionPolicy AlwaysAllow is ignored: pods that are not ready count as well", object);
  if (!status[0]) {
    in.remarks.add("a PodDisruptionBudget has no status yet, so none of its pods may be evicted", object);
  } else if (observed < current) {
    in.remarks.add(
        "the status of a PodDisruptionBudget is behind its specification, so none of its pods may be evicted", object);
    allowed = 0;
  }
  writer.raw(R"({"name":)").string(object.name).raw(R"(,"namespace":)").string(object.namespace_name);
  if (spec[0]) {
    writer.raw(R"(,"selector":)");
    write_json(writer, in.document, spec[0]);
  }
  writer.raw(R"(,"allowed":)").integer(std::max<std::int64_t>(0, allowed)).raw(R"(,"exclusive":true})");
  return true;
}

void write_unclear_budget(KubernetesReading& in, const KubernetesObject& object, std::string_view why,
                          json::JsonWriter& writer) {
  writer.raw(R"({"name":)").string(object.name).raw(R"(,"namespace":)").string(object.namespace_name);
  json::JsonValue selector;
  const bool has_spec = object.spec && object.spec.is(json::JsonKind::kObject);
  if (has_spec && in.tried(in.take(object.spec, "selector", selector)) && selector) {
    writer.raw(R"(,"selector":)");
    write_json(writer, in.document, selector);
  }
  writer.raw(R"(,"allowed":0,"exclusive":true,"unclear":)").string(why).raw("}");
}

}  // namespace muster::kubernetes
