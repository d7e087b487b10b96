#include "io/kubernetes/import/disruption_budget.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::kubernetes {

namespace {

using muster_v1::SnapshotInput;

bool whole_number(KubernetesReading& in, json::JsonValue value, std::int64_t& out) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return !value || in.read_integer(value, std::numeric_limits<std::int64_t>::min(), kMost, out);
}

// A pod that several budgets select cannot be evicted.
void name_budget(const KubernetesObject& object, SnapshotInput& out, SnapshotDisruptionBudget& entry) {
  entry.name = out.keep(object.name);
  entry.namespace_name = out.keep(object.namespace_name, out.last.namespace_name);
  entry.exclusive = true;
}

}  // namespace

bool import_disruption_budget(KubernetesReading& in, const KubernetesObject& object, SnapshotInput& out,
                              SnapshotDisruptionBudget& entry) {
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
  name_budget(object, out, entry);
  if (spec[0] && !muster_v1::read_label_selector(out, spec[0], entry.selector.emplace())) return false;
  entry.allowed = std::max<std::int64_t>(0, allowed);
  return true;
}

void set_unclear_budget(KubernetesReading& in, const KubernetesObject& object, SnapshotInput& out,
                        SnapshotDisruptionBudget& entry) {
  json::JsonValue selector;
  LabelSelector own;
  name_budget(object, out, entry);
  const bool has_spec = object.spec && object.spec.is(json::JsonKind::kObject);
  const bool has_selector = has_spec && in.tried(in.take(object.spec, "selector", selector)) && selector;
  if (has_selector && muster_v1::read_label_selector(out, selector, own)) {
    entry.selector = std::move(own);
  } else {
    out.error = {};
    entry.selector.emplace();  // all pods of its namespace
  }
}

}  // namespace muster::kubernetes
