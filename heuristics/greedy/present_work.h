// The work of present pods takes its part of the shares before a pass places other gangs of the same priority.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "heuristics/greedy/gang_order.h"
#include "heuristics/greedy/pass_admission.h"
#include "heuristics/greedy/waiting_gangs.h"
#include "heuristics/state/cluster_state.h"

namespace muster::greedy {

// Counts the present pods of the section's gangs unit by unit, in the order of the gangs. Cost: O(gangs), O(pods) for
// gangs of unequal pods.
void count_present_units(const ClusterState& state, const GangSequence& sequence, const GangSequence::Section& section,
                         PassAdmission& admission);

// The same by sums of each priority and queue, which follow the gangs that come and go. It is exact if all that is
// present lies within the shares, in whatever order its units are counted.
class PresentSums {
 public:
  // `state`: a copy of the state that `initial` counted, with any changes. Both must outlive it.
  PresentSums(const InitialWork& initial, const ClusterState& state)
      : problem_(state.problem()), before_(initial.before()), state_(state), sums_(initial.present()) {}

  void begin_pass() { uncounted_rank_ = 0; }
  // Counts the sums of all priorities from the last one that this pass has counted down to that of `rank`. False: they
  // exceed the shares, so that units have to be counted. Cost: O(gangs changed since the last call, and their pods).
  bool count(std::uint32_t rank, PassAdmission& admission);
  // The minimum of the gang, of which no pod was present, is now: spares a scan of its pods. Requires a gang with a
  // shape.
  void note_minimum(const WaitingGang& gang);

 private:
  struct Counted {
    WorkPair work{};
    std::uint32_t version = 0;
    bool is_known = false;  // else it is as it was before
  };
  void read_changes();
  void recount(GangIndex gang, std::uint32_t rank, QueueIndex queue, const WorkPair& now);

  const Problem& problem_;
  const ClusterState& before_;
  const ClusterState& state_;
  WorkByRank sums_;
  std::size_t uncounted_rank_ = 0;       // the pass has counted the sums of the ranks before
  Indexed<GangIndex, Counted> counted_;  // gangs that came or left; empty before the first change
  std::size_t changes_read_ = 0;         // of StateChanges::changed_gangs()
};

}  // namespace muster::greedy
