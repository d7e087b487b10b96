#include "heuristics/placement/node_ranking.h"

#include <algorithm>
#include <utility>

namespace muster::placement {

void find_bounds(const NodeScores& scores, const PodClass& pod_class, const NodeSummary& requested,
                 const std::vector<NodeCells::Cell>& cells, std::vector<CellBound>& bounds) {
  bounds.clear();
  for (std::uint32_t cell = 0; cell < cells.size(); ++cell) {
    const NodeScore least = scores.least(pod_class, requested, cells[cell]);
    if (least != kNodeDoesNotFit) bounds.push_back({least, cell});
  }
  std::ranges::make_heap(bounds, IsAfter{});
}

NodeIndex NodeRanking::best() {
  if (!has_begun_ || !update()) begin();
  take_best();
  return best_.node;
}

void NodeRanking::begin() {
  cells_.follow();
  best_ = {};
  heap_.clear();
  find_bounds(scores_, pod_class_, requested_, cells_.all(), bounds_);
  begun_ = read_ = marks_.read();
  has_begun_ = true;
}

// Examines nodes that changed since the last call. False: more changes than there are nodes, so that beginning anew
// costs less.
bool NodeRanking::update() {
  if (marks_.read() - read_ > scores_.state().problem().nodes.size()) return false;
  const std::vector<NodeIndex>& touched = scores_.state().changes().touched();
  bool has_best_changed = false;
  for (; read_ < marks_.read(); ++read_) {
    const NodeIndex node = touched[read_];
    if (marks_.last_change(node) != read_ + 1) continue;  // it comes again
    if (node == best_.node) {
      has_best_changed = true;
    } else {
      put(ranked(node));
    }
  }
  if (!has_best_changed) return true;
  const RankedNode now = ranked(best_.node);
  RankedNode before = std::exchange(best_, now.score == kNodeDoesNotFit ? RankedNode{} : now);
  if (marks_.advance(before)) put(before);
  return true;
}

// As the node is now.
RankedNode NodeRanking::ranked(NodeIndex node) const {
  return {marks_.marked(node), scores_.of(pod_class_, requested_, node)};
}

void NodeRanking::put(const RankedNode& ranked) {
  if (ranked.score == kNodeDoesNotFit) return;
  heap_.push_back(ranked);
  std::ranges::push_heap(heap_, IsAfter{});
}

// Puts its nodes into the heap, except those that have changed since the ranking was begun: `update` has seen to them.
void NodeRanking::examine(NodeCells::Cell& cell) {
  constexpr std::size_t kAhead = 6;
  for (std::size_t at = 0; at < cell.nodes.size();) {
    const std::size_t soon = at + kAhead, later = soon + kAhead;
    if (later < cell.nodes.size()) {
      marks_.fetch(cell.nodes[later].node);
      scores_.fetch(cell.nodes[later].node);
    }
    if (soon < cell.nodes.size()) scores_.fetch_devices(cell.nodes[soon].node);
    MarkedNode& node = cell.nodes[at];
    if (marks_.is_stale(node) && !marks_.advance(node)) {
      node = cell.nodes.back();
      cell.nodes.pop_back();
      continue;
    }
    ++at;
    if (marks_.last_change(node.node) > begun_) continue;
    put({node, scores_.of(pod_class_, requested_, node.node)});
  }
}

void NodeRanking::take_best() {
  take_first_of_heap();
  while (!bounds_.empty() && bounds_.front().score <= best_.score) {
    std::ranges::pop_heap(bounds_, IsAfter{});
    examine(cells_.all()[bounds_.back().cell]);
    bounds_.pop_back();
    take_first_of_heap();
  }
}

// The best, if the heap's first node that has not changed is better.
void NodeRanking::take_first_of_heap() {
  while (!heap_.empty() && heap_.front().is_before(best_)) {
    std::ranges::pop_heap(heap_, IsAfter{});
    RankedNode first = heap_.back();
    heap_.pop_back();
    if (!marks_.is_stale(first)) {
      put(std::exchange(best_, first));
      return;
    }
    if (marks_.advance(first)) put(first);
  }
}

}  // namespace muster::placement
