#include "heuristics/greedy/gang_sequence.h"

#include "model/base/require.h"

namespace muster::greedy {

GangSequence::GangSequence(const WaitingGangs& gangs, const std::vector<GangSortKey>& keys,
                           const std::vector<bool>& excluded)
    : gangs_(gangs) {
  MUSTER_REQUIRE(keys.size() == gangs.all().size());
  sort(keys);
  add_entries(excluded);
}

void GangSequence::sort(const std::vector<GangSortKey>& keys) {
  order_.reserve(keys.size());
  for (const GangSortKey& key : keys) order_.push_back({descending_key(key.size), key.position});
  std::vector<Keyed> spare;
  for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
    while (end < order_.size() && priority_at(end) == priority_at(begin)) ++end;
    const std::span<Keyed> section = std::span(order_).subspan(begin, end - begin);
    sections_.push_back({priority_at(begin), section});
    sort_by_key(section, spare);
  }
}

void GangSequence::add_entries(const std::vector<bool>& excluded) {
  entries_.reserve(order_.size());
  for (Section& section : sections_) {
    section.first = entries_.size();
    section.first_elastic = elastic_.size();
    for (const Keyed& key : section.all) {
      const WaitingGang& gang = gangs_.all()[key.position];
      if (!may_be_placed(gang, excluded)) continue;
      if (gang.leaf.is_none() || gang.pods > gang.needed) elastic_.push_back(entries_.size());
      entries_.push_back({gang.gang, gang.leaf, gang.pods, gang.needed, gang.shape, key.position, gang.queue});
    }
    section.end = entries_.size();
    section.end_elastic = elastic_.size();
  }
}

}  // namespace muster::greedy
