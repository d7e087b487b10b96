#include "solver/portfolio/search_turns.h"

namespace muster::portfolio {

namespace {

// Whether the level, of those up to `moved`, is one of these and is not proven.
bool is_any_open(const Offer& best, const std::vector<LevelId>& ids, const auto& is_one) {
  for (std::size_t i = 0; i < ids.size() && ids[i].kind <= LevelKind::kMoved; ++i) {
    const bool is_open = i >= best.bounds.size() || best.bounds[i] != best.candidate.levels.values[i];
    if (is_open && is_one(ids[i].kind)) return true;
  }
  return false;
}

}  // namespace

std::vector<local_search::SearchAim> possible_aims(const Offer& best, const std::vector<LevelId>& ids, bool may_move) {
  using local_search::SearchAim;
  std::vector<SearchAim> aims{SearchAim::kLevels};
  if (may_move && is_any_open(best, ids, [](LevelKind) { return true; })) {
    // Of a plan with moves, searches without them leave most alone.
    const bool has_moves =
        std::ranges::count(best.candidate.plan.evictions, EvictionReason::kConsolidate, &Eviction::reason) > 0;
    aims.insert(has_moves ? aims.begin() : aims.end(), SearchAim::kMoves);
  }
  if (is_any_open(best, ids, is_maximised)) aims.push_back(SearchAim::kRoom);
  return aims;
}

}  // namespace muster::portfolio
