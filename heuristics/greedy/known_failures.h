// The gangs that are known to fail, so that passes do not try them again: all gangs of a shape fit or fail together.
//
// A gang that found no room finds none until room has been made. Within a pass the shares and quotas only fill up, so a
// gang beyond them stays beyond them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/greedy/gang_sequence.h"

namespace muster::greedy {

// O(1) each, except for the functions that forget.
class KnownFailures {
 public:
  explicit KnownFailures(std::size_t shapes)
      : found_no_room_(shapes, 0), claim_failed_(shapes, 0), beyond_(shapes, 0) {}

  // The gang's minimum found no room.
  bool found_no_room(const GangEntry& gang) const {
    return gang.shape >= 0 ? found_no_room_[index(gang)] != 0 : gang.failed_at == epoch_;
  }
  void note_no_room(GangEntry& gang) {
    if (gang.shape >= 0) {
      found_no_room_[index(gang)] = 1;
    } else {
      gang.failed_at = epoch_;
    }
  }
  // No room could be made for the gang's minimum.
  bool has_claim_failed(const GangEntry& gang) const { return gang.shape >= 0 && claim_failed_[index(gang)] != 0; }
  void note_failed_claim(const GangEntry& gang) {
    if (gang.shape >= 0) claim_failed_[index(gang)] = 1;
  }
  // The pass does not admit the gang's minimum.
  bool is_beyond(const GangEntry& gang) const { return gang.shape >= 0 && beyond_[index(gang)] != 0; }
  void note_beyond(const GangEntry& gang) {
    if (gang.shape >= 0) beyond_[index(gang)] = 1;
  }

  void begin_pass() { beyond_.assign(beyond_.size(), 0); }
  // Room was made for a claim: what found no room before may find it now.
  void note_claim() {
    ++epoch_;
    found_no_room_.assign(found_no_room_.size(), 0);
    claim_failed_.assign(claim_failed_.size(), 0);
  }
  bool any_claim() const { return epoch_ > 0; }

 private:
  static std::size_t index(const GangEntry& gang) { return static_cast<std::size_t>(gang.shape); }

  std::vector<char> found_no_room_, claim_failed_, beyond_;  // by shape
  int epoch_ = 0;                                            // the claims that were met
};

}  // namespace muster::greedy
