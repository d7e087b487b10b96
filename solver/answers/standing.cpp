#include "solver/answers/standing.h"

namespace muster::answers {

Standing standing_of(const WaitingGang& gang) {
  Standing standing;
  for (const explain::GangReport& report : gang.run().solution.report.gangs) {
    if (report.phase != explain::GangPhase::kUnschedulable && report.phase != explain::GangPhase::kEvicted) continue;
    const Gang& other = gang.problem().gangs[report.gang];
    const bool is_ahead = rank_of(other) > rank_of(gang.gang());
    const bool is_level = rank_of(other) == rank_of(gang.gang()) && report.gang != gang.index();
    ++standing.waiting_in_all;
    if (is_ahead) ++standing.ahead_in_all;
    if (is_level) ++standing.level_in_all;
    if (other.queue != gang.gang().queue) continue;
    ++standing.waiting;
    if (is_ahead) ++standing.ahead;
    if (is_level) ++standing.level;
  }
  return standing;
}

}  // namespace muster::answers
