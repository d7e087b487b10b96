// What queues of Volcano are guaranteed: other queues never get it, even while no pod uses it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "io/kubernetes/object/items.h"
#include "io/kubernetes/object/object.h"
#include "model/snapshot/quantity.h"

namespace muster::kubernetes {

// In thousandths of a core, or in units of the resource.
QuantityUnit volcano_unit(std::string_view resource);

class VolcanoGuarantees {
 public:
  // Values that cannot be read count as absent: the readers of their objects report them. Cost: O(nodes + queues).
  VolcanoGuarantees(KubernetesReading& reading, const KubernetesItems& items);

  // The most that the queue can get of a resource, in its unit: its capability, and what the guarantees of the queues
  // beside it, and beside those above it, leave. None: they leave all that the queue above it gets.
  std::optional<std::int64_t> most(std::string_view queue, std::string_view resource) const;
  // Those of which any queue has a guarantee. Cost: O(guarantees).
  std::set<std::string_view> resources() const;

 private:
  using Amounts = std::map<std::string_view, std::int64_t>;
  struct Queue {
    std::string_view parent;  // empty: none
    Amounts guarantee, capability;
  };
  std::int64_t available(std::string_view queue, std::string_view resource, int depth) const;
  std::int64_t guaranteed_beside(const Queue& queue, std::string_view resource, int depth) const;
  static Amounts amounts_of(KubernetesReading& reading, json::JsonValue list);

  Amounts total_;
  std::map<std::string_view, Queue> queues_;
  std::map<std::pair<std::string_view, std::string_view>, std::int64_t> below_;  // by queue above and resource
};

}  // namespace muster::kubernetes
