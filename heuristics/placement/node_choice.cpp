#include "heuristics/placement/node_choice.h"

#include <algorithm>

namespace muster::placement {

namespace {

Indexed<PodClassIndex, std::int64_t> pending_by_class(const Problem& problem) {
  Indexed<PodClassIndex, std::int64_t> pending(problem.pod_classes.size(), 0);
  for (const Pod& pod : problem.pods) {
    if (pod.status == PodStatus::kPending) ++pending[pod.pod_class];
  }
  return pending;
}

}  // namespace

NodeChooser::NodeChooser(const ClusterState& state, const QueueBounds& bounds, NodeRule rule)
    : problem_(state.problem()),
      state_(state),
      bounds_(bounds),
      pending_(pending_by_class(problem_)),
      immediate_(state),
      typical_(problem_, pending_),
      summaries_(state, typical_),
      scores_(state, immediate_, summaries_, typical_, rule),
      marks_(state, immediate_),
      rankings_(problem_.pod_classes.size()) {
  for (const PodClassIndex pod_class : problem_.pod_classes.indices()) {
    const bool has_ranking = !problem_.pod_classes[pod_class].has_inter_pod_rules() && wants_ranking(pod_class);
    if (!has_ranking) pending_without_ranking_ += pending_[pod_class];
  }
  for (const NodeIndex node : problem_.nodes.indices()) all_nodes_.push_back(node);
}

NodeIndex NodeChooser::choose(PodIndex pod, std::span<const NodeIndex> among) {
  const PodClassIndex class_index = problem_.pods[pod].pod_class;
  const PodClass& pod_class = problem_.pod_classes[class_index];
  // What other pods and a queue's bounds allow changes without a change of the node: such pods have no ranking.
  const bool is_plain = !pod_class.has_inter_pod_rules() && pod_class.gpu.kind != GpuRequestKind::kMemory;
  if (all_nodes_.empty()) return NodeIndex::none();
  follow_state();
  if (!among.empty()) return best_of_equals(pod, scan(pod, among), among);
  if (!is_plain || !wants_ranking(class_index)) {
    const NodeIndex best = is_by_cells(class_index) ? scan_cells(pod) : scan(pod, all_nodes_);
    return best_of_equals(pod, best, all_nodes_);
  }
  const NodeIndex node = best_of_equals(pod, best_of_ranking(class_index), all_nodes_);
  // On every node a plain pod adds the same to its queue, so if the queue's bounds reject one node they reject all.
  return !node.is_none() && fits_queue(state_, bounds_, pod, node) ? node : NodeIndex::none();
}

// The summaries are made for the first pod, so that a chooser that is asked for none costs little.
void NodeChooser::follow_state() {
  if (!marks_.has_begun()) {
    marks_.begin();
    summaries_.begin();
  }
  marks_.follow([&](NodeIndex node) { summaries_.renew(node); });
}

NodeIndex NodeChooser::scan(PodIndex pod, std::span<const NodeIndex> among) const {
  const PodClass& pod_class = problem_.class_of(pod);
  const NodeSummary requested = requested_by(pod_class);
  NodeIndex best = NodeIndex::none();
  NodeScore best_score = kNodeDoesNotFit;
  for (const NodeIndex node : among) {
    const NodeScore score = scores_.of(pod_class, requested, node);
    if (score < best_score && can_place(state_, bounds_, pod, node)) {
      best_score = score;
      best = node;
    }
  }
  return best;
}

// The result of scan(pod, all_nodes_). Nodes with similar free capacity share a cell, and cells whose bound is worse
// than the best node so far need not be examined.
NodeIndex NodeChooser::scan_cells(PodIndex pod) {
  const PodClass& pod_class = problem_.class_of(pod);
  const NodeSummary requested = requested_by(pod_class);
  const std::size_t most_cells = all_nodes_.size();  // with more, their bounds cost more than the scores they save
  const std::optional<NodeCells>& known = cells_of(pod_class);
  if (known && known->all().size() > most_cells) return scan(pod, all_nodes_);  // they only grow in number
  std::vector<NodeCells::Cell>& cells = cells_for(pod_class).all();
  if (cells.size() > most_cells) return scan(pod, all_nodes_);
  std::vector<CellBound>& bounds = cell_bounds_;
  find_bounds(scores_, pod_class, requested, cells, bounds);
  RankedNode best;
  while (!bounds.empty() && bounds.front().score <= best.score) {
    std::ranges::pop_heap(bounds, IsAfter{});
    std::vector<MarkedNode>& nodes = cells[bounds.back().cell].nodes;
    bounds.pop_back();
    for (std::size_t at = 0; at < nodes.size();) {
      if (marks_.is_stale(nodes[at]) && !marks_.advance(nodes[at])) {
        nodes[at] = nodes.back();
        nodes.pop_back();
        continue;
      }
      look_for_place(nodes[at++], pod, requested, best);
    }
  }
  return best.node;
}

// The node, or the first of its group, if it is better and may take the pod.
void NodeChooser::look_for_place(const MarkedNode& node, PodIndex pod, const NodeSummary& requested,
                                 RankedNode& best) const {
  RankedNode found{node, scores_.of(problem_.class_of(pod), requested, node.node)};
  if (found.score == kNodeDoesNotFit || found.score > best.score) return;
  const auto take = [&](NodeIndex candidate) {
    found.node = candidate;
    if (!found.is_before(best) || !can_place(state_, bounds_, pod, candidate)) return false;
    best = found;
    return true;
  };
  if (!NodeMarks::is_group(node)) {
    take(node.node);
    return;
  }
  for (const NodeIndex equal : marks_.group_of(node)) {
    if (marks_.has_changed(equal)) continue;
    if (take(equal) || !found.is_before(best)) return;  // those to come are no better
  }
}

// The first that meets most of the pod's preferred terms, among those that are as good as the best by their summaries.
NodeIndex NodeChooser::best_of_equals(PodIndex pod, NodeIndex best, std::span<const NodeIndex> among) const {
  const PodClass& pod_class = problem_.class_of(pod);
  if (best.is_none() || pod_class.preferences.preferred_owned.empty()) return best;
  const NodeSummary& summary = summaries_[best];
  const NodeSummary requested = requested_by(pod_class);
  const NodeScore least = scores_.of(pod_class, requested, best);
  std::int64_t most = state_.preferred_terms().points(pod_class, best);
  for (const NodeIndex node : among) {
    if (!has_equal_room(summaries_[node], summary)) continue;
    const std::int64_t points = state_.preferred_terms().points(pod_class, node);
    if (points <= most || scores_.of(pod_class, requested, node) != least || !can_place(state_, bounds_, pod, node))
      continue;
    most = points;
    best = node;
  }
  return best;
}

DeviceList NodeChooser::devices_for(PodIndex pod, NodeIndex node) const {
  const PodClass& pod_class = problem_.class_of(pod);
  if (immediate_.has_departing(node)) {
    if (auto devices = choose_devices(immediate_.of(node), problem_, pod_class, node)) return *devices;
  }
  auto devices = choose_devices(room_of(state_, node), problem_, pod_class, node);
  return devices ? *devices : DeviceList{};
}

std::int64_t NodeChooser::copies(PodClassIndex class_index, NodeIndex node, std::int64_t limit) const {
  const PodClass& pod_class = problem_.pod_classes[class_index];
  if (!fit::node(problem_, pod_class, node) || !fit::anti_affinity(state_, pod_class, node)) return 0;
  const Room room = room_of(state_, node);
  for (std::size_t r = 0; r < room.free.size(); ++r) {
    if (pod_class.request[r] > 0) limit = std::min(limit, std::max<Amount>(0, room.free[r]) / pod_class.request[r]);
  }
  if (pod_class.gpu.devices == 0 || limit == 0) return limit;
  if (!fit::devices(room, problem_, pod_class, node)) return 0;
  const DeviceUnits units = share_units(pod_class, problem_.class_of(node));
  std::int64_t shares = 0;
  for (const DeviceUnits free : room.devices) shares += free / units;
  return std::min<std::int64_t>(limit, shares / pod_class.gpu.devices);
}

bool NodeChooser::wants_ranking(PodClassIndex pod_class) const {
  return rankings_[pod_class] != nullptr || pending_[pod_class] > 1;
}

// An affinity admits so few nodes that bounds of their scores never end a search.
bool NodeChooser::is_by_cells(PodClassIndex index) {
  const PodClass& pod_class = problem_.pod_classes[index];
  if (pod_class.gpu.kind == GpuRequestKind::kMemory || !pod_class.affinity.is_none()) return false;
  return cells_of(pod_class) || pending_without_ranking_ > 1;
}

std::optional<NodeCells>& NodeChooser::cells_of(const PodClass& pod_class) {
  return shares_devices(pod_class) ? sharers_cells_ : others_cells_;
}

NodeCells& NodeChooser::cells_for(const PodClass& pod_class) {
  std::optional<NodeCells>& cells = cells_of(pod_class);
  if (cells) {
    cells->follow();
    return *cells;
  }
  if (!marks_.has_groups()) marks_.group_equal_nodes();
  const auto by = shares_devices(pod_class) ? NodeCells::By::kRoom : NodeCells::By::kIdleDevices;
  return cells.emplace(state_, marks_, by);
}

NodeIndex NodeChooser::best_of_ranking(PodClassIndex index) {
  std::unique_ptr<NodeRanking>& ranking = rankings_[index];
  if (ranking == nullptr) {
    const PodClass& pod_class = problem_.pod_classes[index];
    ranking = std::make_unique<NodeRanking>(scores_, marks_, cells_for(pod_class), pod_class);
  }
  return ranking->best();
}

}  // namespace muster::placement
