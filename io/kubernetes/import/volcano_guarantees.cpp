#include "io/kubernetes/import/volcano_guarantees.h"

#include <algorithm>

#include "model/base/saturating.h"

namespace muster::kubernetes {

namespace {

constexpr int kMostDepth = 64;  // of queues; parents in a circle end, too

std::int64_t amount_in(const std::map<std::string_view, std::int64_t>& amounts, std::string_view resource,
                       std::int64_t absent) {
  const auto found = amounts.find(resource);
  return found == amounts.end() ? absent : found->second;
}

}  // namespace

QuantityUnit volcano_unit(std::string_view resource) {
  return resource == "cpu" ? QuantityUnit::kThousandth : QuantityUnit::kOne;
}

VolcanoGuarantees::Amounts VolcanoGuarantees::amounts_of(KubernetesReading& in, json::JsonValue list) {
  Amounts amounts;
  if (!list || !list.is(json::JsonKind::kObject)) return amounts;
  for (const json::JsonMember member : list.members()) {
    Quantity quantity;
    if (!in.try_without_path([&] { return in.read_quantity(member.value, quantity); }) || quantity.negative) continue;
    const auto units = count_units(quantity, volcano_unit(member.key), Rounding::kDown);
    if (units) amounts[member.key] = *units;
  }
  return amounts;
}

VolcanoGuarantees::VolcanoGuarantees(KubernetesReading& in, const KubernetesItems& items) {
  for (const KubernetesObject& object : items.of(KubernetesKind::kVolcanoQueue)) {
    Queue& queue = queues_[object.name];
    const json::JsonValue parent = member_of(object.spec, "parent");
    if (parent && parent.is(json::JsonKind::kString) && parent.string() != "root") queue.parent = parent.string();
    queue.guarantee = amounts_of(in, member_of(member_of(object.spec, "guarantee"), "resource"));
    queue.capability = amounts_of(in, member_of(object.spec, "capability"));
    for (const auto& [resource, amount] : queue.guarantee) {
      std::int64_t& sum = below_[{queue.parent, resource}];
      sum = saturating_add(sum, amount);
    }
  }
  if (below_.empty()) return;
  for (const KubernetesObject& node : items.of(KubernetesKind::kNode)) {
    for (const auto& [resource, amount] : amounts_of(in, member_of(node.status, "allocatable"))) {
      std::int64_t& sum = total_[resource];
      sum = saturating_add(sum, amount);
    }
  }
}

std::int64_t VolcanoGuarantees::guaranteed_beside(const Queue& queue, std::string_view resource, int depth) const {
  const auto all = below_.find({queue.parent, resource});
  const std::int64_t own = amount_in(queue.guarantee, resource, 0);
  const std::int64_t beside = all == below_.end() ? 0 : all->second - own;
  const auto above = queues_.find(queue.parent);
  if (above == queues_.end() || depth > kMostDepth) return beside;
  return saturating_add(beside, guaranteed_beside(above->second, resource, depth + 1));
}

std::int64_t VolcanoGuarantees::available(std::string_view name, std::string_view resource, int depth) const {
  const auto found = queues_.find(name);
  if (found == queues_.end() || depth > kMostDepth) return amount_in(total_, resource, 0);
  const Queue& queue = found->second;
  const auto all = below_.find({queue.parent, resource});
  const std::int64_t beside = all == below_.end() ? 0 : all->second - amount_in(queue.guarantee, resource, 0);
  const std::int64_t left = std::max<std::int64_t>(0, available(queue.parent, resource, depth + 1) - beside);
  return std::min(left, amount_in(queue.capability, resource, left));
}

std::set<std::string_view> VolcanoGuarantees::resources() const {
  std::set<std::string_view> names;
  for (const auto& [key, amount] : below_) names.insert(key.second);
  return names;
}

std::optional<std::int64_t> VolcanoGuarantees::most(std::string_view name, std::string_view resource) const {
  const auto found = queues_.find(name);
  if (found == queues_.end() || guaranteed_beside(found->second, resource, 0) == 0) return {};
  return available(name, resource, 0);
}

}  // namespace muster::kubernetes
