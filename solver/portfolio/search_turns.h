// Which aim the next of several searches has, and which ones may still better a plan.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "heuristics/local_search/search.h"
#include "model/base/require.h"
#include "model/objective/levels.h"
#include "solver/portfolio/offer.h"

namespace muster::portfolio {

// The aims that may still better the offer, first those that find most. Never empty. `ids`: of its levels; `may_move`:
// the policy allows it, and some pod may be moved.
std::vector<local_search::SearchAim> possible_aims(const Offer& best, const std::vector<LevelId>& ids, bool may_move);

// The one that was in vain the fewest times since it last found a better plan; of equal ones, the first.
class SearchTurns {
 public:
  // Requires one aim at least.
  local_search::SearchAim next(const std::vector<local_search::SearchAim>& possible) const {
    MUSTER_REQUIRE(!possible.empty());
    return *std::ranges::min_element(possible, {}, [&](local_search::SearchAim aim) { return vain_[index(aim)]; });
  }
  void note(local_search::SearchAim aim, bool is_better) {
    std::size_t& vain = vain_[index(aim)];
    vain = is_better ? 0 : vain + 1;
    ++number_;
  }
  std::size_t number() const { return number_; }  // of searches

 private:
  static std::size_t index(local_search::SearchAim aim) { return static_cast<std::size_t>(aim); }

  std::array<std::size_t, 3> vain_{};
  std::size_t number_ = 0;
};

}  // namespace muster::portfolio
