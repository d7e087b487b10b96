// In which order one start of greedy visits the waiting gangs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/greedy/waiting_gangs.h"
#include "heuristics/state/cluster_state.h"
#include "model/base/radix_order.h"

namespace muster::greedy {

// The size by which gangs of one priority are sorted, for each GangOrder.
//
// Larger gangs come first.
struct GangSortKey {
  double size = 0;
  std::uint32_t position = 0;  // of WaitingGangs::all()
};

// Whether any pod of the gang may be placed. `excluded`: by gang.
inline bool may_be_placed(const WaitingGang& gang, const std::vector<bool>& excluded) {
  return gang.waits && !excluded[gang.gang.value()];
}

// One key for each gang, in the order of WaitingGangs::by_age(). `state`: before anything is placed. Cost: O(gangs),
// and O(pods) for gangs of unequal pods.
std::vector<GangSortKey> gang_sort_keys(const ClusterState& state, const WaitingGangs& gangs, const PlacingOrder& order,
                                        const std::vector<bool>& excluded);

// The waiting gangs in the order in which one start of greedy visits them: by priority, the highest first; within a
// priority by size, then by age.
//
// What the passes read of a waiting gang, in contiguous memory, since they visit every gang many times.
struct GangEntry {
  GangIndex gang;
  GroupIndex leaf;                    // none, or as WaitingGang has it
  std::int32_t pods = 0, needed = 0;  // if there is a leaf
  std::int32_t shape = -1;
  std::uint32_t position = 0;  // of WaitingGangs::all()
  QueueIndex queue;
  int failed_at = -1;  // see KnownFailures

  // Its pods need not be visited to examine it.
  bool is_plain() const { return !leaf.is_none(); }
};

class GangSequence {
 public:
  // Gangs of one priority: positions of WaitingGangs::all() in their order, and the entries of those of which a pod may
  // be placed.
  struct Section {
    std::uint32_t rank = 0;  // of their priority, see Gang
    std::span<const Keyed> all;
    std::size_t first = 0, end = 0;                  // of the entries
    std::size_t first_elastic = 0, end_elastic = 0;  // of the elastic ones
  };

  // `keys`: one for each gang, in the order of by_age(). `excluded`: by gang, not to be placed. `gangs` must outlive
  // the sequence. Cost: that of a radix sort.
  GangSequence(const WaitingGangs& gangs, const std::vector<GangSortKey>& keys, const std::vector<bool>& excluded);
  GangSequence(const GangSequence&) = delete;  // sections refer to the order
  GangSequence& operator=(const GangSequence&) = delete;

  const WaitingGangs& gangs() const { return gangs_; }
  const WaitingGang& gang_of(const GangEntry& entry) const { return gangs_.all()[entry.position]; }
  const std::vector<Section>& sections() const { return sections_; }
  std::span<GangEntry> entries(const Section& section) {
    return std::span(entries_).subspan(section.first, section.end - section.first);
  }
  // Calls `visit` for each entry of the section that may have pods beyond its minimum, until it returns false.
  template <class Visit>
  void for_each_elastic(const Section& section, const Visit& visit) const {
    for (std::size_t i = section.first_elastic; i < section.end_elastic; ++i) {
      if (!visit(entries_[elastic_[i]])) return;
    }
  }

 private:
  std::uint32_t rank_at(std::size_t i) const { return gangs_.all()[order_[i].position].rank; }
  void sort(const std::vector<GangSortKey>& keys);
  void add_entries(const std::vector<bool>& excluded);

  const WaitingGangs& gangs_;
  std::vector<Keyed> order_;  // positions of WaitingGangs::all()
  std::vector<Section> sections_;
  std::vector<GangEntry> entries_;
  std::vector<std::size_t> elastic_;  // positions of entries_
};

}  // namespace muster::greedy
