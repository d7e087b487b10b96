#include "io/kubernetes/kueue/quota_tree.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numeric>

#include "model/base/require.h"

namespace muster::kubernetes {

namespace {

bool read_limit(KubernetesReading& in, json::JsonValue value, json::Reading::Conversion conversion,
                std::optional<std::int64_t>& out) {
  if (!value) return true;
  std::int64_t amount = 0;
  if (!in.read_amount(value, conversion, amount)) return false;
  out = amount;
  return true;
}

bool read_resource(KubernetesReading& in, json::JsonValue element, std::string_view flavor, KueueQuotas& out) {
  static constexpr std::array<std::string_view, 4> kKeys = {"borrowingLimit", "lendingLimit", "name", "nominalQuota"};
  std::array<json::JsonValue, 4> found;
  std::string_view resource;
  if (!in.expect(element, json::JsonKind::kObject) || !in.take(element, kKeys, found) || !in.text(found[2], resource))
    return false;
  const json::Reading::Conversion conversion{resource == "cpu" ? QuantityUnit::kThousandth : QuantityUnit::kOne,
                                             Rounding::kDown};
  KueueQuota quota;
  if (found[3] && !in.read_amount(found[3], conversion, quota.nominal)) return false;
  if (!read_limit(in, found[0], conversion, quota.borrowing) || !read_limit(in, found[1], conversion, quota.lending))
    return false;
  out.by_flavor[{flavor, resource}] = quota;
  std::vector<std::string_view>& covered = out.groups.back().resources;
  if (std::ranges::find(covered, resource) == covered.end()) covered.push_back(resource);
  return true;
}

bool read_flavor(KubernetesReading& in, json::JsonValue flavor, KueueQuotas& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"name", "resources"};
  std::array<json::JsonValue, 2> found;
  std::string_view name;
  bool has_any = false;
  if (!in.expect(flavor, json::JsonKind::kObject) || !in.take(flavor, kKeys, found) || !in.text(found[0], name) ||
      !in.has_elements(found[1], has_any)) {
    return false;
  }
  out.groups.back().flavors.push_back(name);
  if (!has_any) return true;
  for (const json::JsonValue element : found[1].elements()) {
    if (!read_resource(in, element, name, out)) return false;
  }
  return true;
}

}  // namespace

std::int64_t capped_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

bool KueueResourceGroup::covers(std::string_view resource) const {
  return std::ranges::find(resources, resource) != resources.end();
}

bool KueueQuotas::covers(std::string_view resource) const {
  return std::ranges::any_of(groups, [&](const KueueResourceGroup& group) { return group.covers(resource); });
}

std::size_t KueueQuotas::flavors_of(std::string_view resource) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(by_flavor, [&](const auto& entry) { return entry.first.second == resource; }));
}

std::int64_t KueueQuotas::nominal(std::string_view resource) const {
  std::int64_t sum = 0;
  for (const auto& [key, quota] : by_flavor) {
    if (key.second == resource) sum = capped_sum(sum, quota.nominal);
  }
  return sum;
}

std::int64_t mig_thousandths(std::string_view resource) {
  constexpr std::string_view kPrefix = "nvidia.com/mig-";
  if (!resource.starts_with(kPrefix)) return 0;
  resource.remove_prefix(kPrefix.size());
  std::int64_t sevenths = 0;
  const auto [end, code] = std::from_chars(resource.data(), resource.data() + resource.size(), sevenths);
  if (code != std::errc() || end == resource.data() + resource.size() || *end != 'g' || sevenths < 1 || sevenths > 7)
    return 0;
  return (1000 * sevenths + 6) / 7;
}

bool read_kueue_quotas(KubernetesReading& in, json::JsonValue groups, KueueQuotas& out) {
  bool has_groups = false;
  if (!in.has_elements(groups, has_groups)) return false;
  if (!has_groups) return true;
  for (const json::JsonValue group : groups.elements()) {
    json::JsonValue flavors;
    bool has_flavors = false;
    out.groups.emplace_back();
    if (!in.expect(group, json::JsonKind::kObject) || !in.take(group, "flavors", flavors) ||
        !in.has_elements(flavors, has_flavors)) {
      return false;
    }
    if (!has_flavors) continue;
    for (const json::JsonValue flavor : flavors.elements()) {
      if (!read_flavor(in, flavor, out)) return false;
    }
  }
  return true;
}

std::int64_t KueueQuotaTree::Flow::local() const {
  return quota.lending ? std::max<std::int64_t>(0, subtree - *quota.lending) : 0;
}

std::size_t KueueQuotaTree::add(const KueueQuotas& quotas) {
  nodes_.push_back({&quotas});
  return nodes_.size() - 1;
}

void KueueQuotaTree::cut_circles() {
  for (Node& node : nodes_) {
    std::optional<std::size_t> next = node.parent;
    for (node.depth = 0; next && node.depth <= nodes_.size(); ++node.depth) next = nodes_[*next].parent;
    node.is_in_circle = next.has_value();
  }
  for (Node& node : nodes_) {
    if (!node.is_in_circle) continue;
    node.parent.reset();
    node.depth = 0;
  }
}

void KueueQuotaTree::settle() {
  cut_circles();
  std::vector<std::size_t> order(nodes_.size());  // parents first
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [this](std::size_t node) { return nodes_[node].depth; });
  for (Node& node : nodes_) {
    node.flows.clear();
    for (const auto& [key, quota] : node.quotas->by_flavor) node.flows[key] = {quota, quota.nominal, 0, 0};
  }
  for (std::size_t i = order.size(); i-- > 0;) {
    const Node& node = nodes_[order[i]];
    if (!node.parent) continue;
    for (const auto& [key, flow] : node.flows) {
      Flow& above = nodes_[*node.parent].flows[key];
      above.subtree = capped_sum(above.subtree, flow.subtree - flow.local());
      above.hidden = capped_sum(above.hidden, capped_sum(flow.hidden, flow.local()));
    }
  }
  for (const std::size_t position : order) {
    Node& node = nodes_[position];
    for (auto& [key, flow] : node.flows) {
      flow.potential = flow.subtree;
      if (!node.parent) continue;
      flow.potential = capped_sum(flow.local(), nodes_[*node.parent].flows.at(key).potential);
      if (flow.quota.borrowing)
        flow.potential = std::min(flow.potential, capped_sum(flow.subtree, *flow.quota.borrowing));
    }
  }
}

std::size_t KueueQuotaTree::root(std::size_t node) const {
  while (nodes_[node].parent) node = *nodes_[node].parent;
  return node;
}

bool KueueQuotaTree::shares_limited_loan(std::size_t node) const {
  const std::size_t top = root(node);
  bool is_limited = false;
  std::size_t members = 0;
  for (std::size_t other = 0; other < nodes_.size(); ++other) {
    if (other == top || root(other) != top) continue;
    ++members;
    is_limited = is_limited ||
                 std::ranges::any_of(nodes_[other].flows, [](const auto& flow) { return flow.second.local() > 0; });
  }
  return is_limited && members > 2;  // of two, one borrows what the other lends
}

std::int64_t KueueQuotaTree::limit(const Node& node, std::string_view resource) const {
  std::int64_t sum = 0;
  for (const auto& [key, flow] : node.flows) {
    if (key.second == resource) sum = capped_sum(sum, capped_sum(flow.potential, flow.hidden));
  }
  return sum;
}

KueueQuotaTree::Bounds KueueQuotaTree::bounds(std::size_t position, std::string_view resource) const {
  MUSTER_REQUIRE(position < nodes_.size());
  const Node& node = nodes_[position];
  Bounds bounds;
  for (const auto& [key, flow] : node.flows) {
    if (key.second == resource) bounds.quota = capped_sum(bounds.quota, capped_sum(flow.subtree, flow.hidden));
  }
  bounds.limit = limit(node, resource);
  if (node.parent && *bounds.limit >= limit(nodes_[*node.parent], resource) && *bounds.limit > 0) bounds.limit.reset();
  return bounds;
}

std::int64_t KueueQuotaTree::most(std::size_t node, const KueueQuotas::Key& key) const {
  const auto found = nodes_[node].flows.find(key);
  return found == nodes_[node].flows.end() ? 0 : found->second.potential;
}

std::set<std::string_view> KueueQuotaTree::resources(std::size_t node) const {
  std::set<std::string_view> all;
  for (const auto& entry : nodes_[node].flows) all.insert(entry.first.second);
  return all;
}

}  // namespace muster::kubernetes
