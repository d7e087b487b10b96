#include "model/build/node_checking.h"

#include <algorithm>
#include <iterator>

namespace muster {

NodeChecking::NodeChecking(ProblemDraft& draft, PodsByNode&& on_nodes) : draft_(draft) {
  next_.on_nodes = std::move(on_nodes);
  if (draft.links == nullptr) return;
  last_ = draft.links->checks->get();
  next_.versions.assign(next_.on_nodes.node_count(), 0);
  next_.given.resize(next_.on_nodes.node_count());
}

bool NodeChecking::is_as_before(NodeIndex node) {
  if (!last_ || node.value() >= last_->on_nodes.node_count()) return false;
  const std::uint64_t version = draft_.links->node_versions[node.value()];
  const std::span<const PodIndex> pods = pods_on(node);
  if (last_->versions[node.value()] != version || !std::ranges::equal(last_->on_nodes.of(node), pods)) return false;
  const std::vector<std::int32_t>& given = last_->given[node.value()];
  auto next = given.begin();
  for (std::size_t at = 0; at < pods.size() && next != given.end(); ++at) {
    if (devices_asked(pods[at]) == 0 || !devices_of(pods[at]).empty()) continue;
    const auto end = next + static_cast<std::ptrdiff_t>(devices_asked(pods[at]));
    devices_of(pods[at]).assign(next, end);
    next = end;
  }
  next_.versions[node.value()] = version;
  next_.given[node.value()] = given;
  return true;
}

std::optional<NodeChecking::Unlisted> NodeChecking::unlisted(NodeIndex node) const {
  if (draft_.links == nullptr) return std::nullopt;
  Unlisted result;
  for (const PodIndex pod : pods_on(node)) {
    const std::vector<std::int32_t>& devices = devices_of(pod);
    if (devices.empty() && devices_asked(pod) > 0) result.pods.push_back(pod);
    result.is_reordered = result.is_reordered || !std::ranges::is_sorted(devices);
  }
  return result;
}

void NodeChecking::remember(NodeIndex node, const Unlisted& unlisted) {
  if (unlisted.is_reordered) return;
  next_.versions[node.value()] = draft_.links->node_versions[node.value()];
  for (const PodIndex pod : unlisted.pods)
    std::ranges::copy(devices_of(pod), std::back_inserter(next_.given[node.value()]));
}

void NodeChecking::keep() {
  if (draft_.links != nullptr) draft_.links->checks->set(std::make_shared<const NodeChecks>(std::move(next_)));
}

}  // namespace muster
