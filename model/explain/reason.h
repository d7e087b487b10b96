// What a reason is about, and which gangs have equal ones.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/explain/codes.h"
#include "model/explain/reasons_need.h"
#include "model/explain/remaining_capacity.h"
#include "model/problem/problem.h"

namespace muster::explain {

// What a reason is about: a gang, what it still lacks, and what decides the answer.
struct ReasonSubject {
  GangIndex gang;
  bool left_over = true;         // its minimum does not run; else one surplus pod is asked about
  GangNeed need;                 // what is still missing
  std::vector<GangNeed> others;  // what would do as well
  std::vector<GangNeed> wholes;  // the whole minimum, as if nothing ran: any of these
  bool has_topology = false, has_anti_affinity = false, has_present = false;
  bool is_simple() const { return need.items.size() == 1 && !has_topology && !has_anti_affinity; }
};

// Cost: O(pods log pods) of the gang, for each way to its minimum.
ReasonSubject reason_subject(const Problem& problem, const AfterPlan& end, GangIndex gang, bool left_over);

// Gangs with equal signatures have equal reasons. Empty: the gang has no equals. Gangs with subgroups that require
// levels, and those bound to where their pods run, have none.
std::string signature(const Problem& problem, const ReasonSubject& subject);

// The same without a subject, for gangs that consist of one leaf group of equal, waiting pods; none for other gangs.
// Cost: O(pods) of the gang.
std::optional<std::array<std::uint64_t, 8>> plain_signature(const Problem& problem, const AfterPlan& end,
                                                            GangIndex gang);

}  // namespace muster::explain
