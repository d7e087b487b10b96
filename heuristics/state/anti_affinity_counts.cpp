#include "heuristics/state/anti_affinity_counts.h"

#include <utility>

namespace muster {
namespace {

std::uint64_t key_of(AntiAffinityIndex term, DomainIndex domain) {
  return (std::uint64_t{term.value()} << 32U) | domain.value();
}

}  // namespace

std::size_t AntiAffinityCounts::slot(std::uint64_t key) const {
  const std::size_t last = cells_.size() - 1;
  // 2^64 / golden ratio (Knuth, multiplicative hashing); the upper half of the product is the mixed one.
  std::size_t at = ((key * 0x9E37'79B9'7F4A'7C15U) >> 32U) & last;
  while (cells_[at].key != key && cells_[at].key != kNone) at = (at + 1) & last;
  return at;
}

AntiAffinityCounts::Cell AntiAffinityCounts::cell(AntiAffinityIndex term, DomainIndex domain) const {
  return cells_.empty() ? Cell() : cells_[slot(key_of(term, domain))];
}

AntiAffinityCounts::Cell& AntiAffinityCounts::made_cell(std::uint64_t key) {
  if (2 * (used_ + 1) > cells_.size()) grow();
  Cell& cell = cells_[slot(key)];
  if (cell.key == kNone) {
    cell.key = key;
    ++used_;
  }
  return cell;
}

void AntiAffinityCounts::grow() {
  std::vector<Cell> larger(cells_.empty() ? 16 : 2 * cells_.size());
  std::swap(cells_, larger);
  for (const Cell& cell : larger) {
    if (cell.key != kNone) cells_[slot(cell.key)] = cell;
  }
}

void AntiAffinityCounts::count(const Problem& problem, const PodClass& pod_class, NodeIndex node, std::int32_t by) {
  const auto count = [&](const std::vector<AntiAffinityIndex>& terms, std::int32_t Cell::*pods) {
    for (const AntiAffinityIndex term : terms) {
      const DomainIndex domain = problem.inter_pod.anti_affinities[term].domain_of[node];
      if (!domain.is_none()) made_cell(key_of(term, domain)).*pods += by;
    }
  };
  count(pod_class.anti_affinity_owned, &Cell::owners);
  count(pod_class.anti_affinity_matched, &Cell::matched);
}

}  // namespace muster
