// The searches of find_remedies, one for each kind of remedy, and what they have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/tuning.h"
#include "solver/answers/experiment.h"
#include "solver/answers/standing.h"
#include "solver/remedies/remedy.h"
#include "solver/remedies/smallest_remedy.h"

namespace muster::answers {

// The smallest count, and the smallest set, with which the next plan admits the gang: sketched first, for a guess, then
// tested. `changes`: of a count, of chosen positions.
std::optional<Remedy> least_count(RemedyKind kind, CountRange range, Admission& admission,
                                  const std::function<Changes(std::int64_t)>& changes);
using ChangesOfSet = std::function<Changes(const std::vector<std::size_t>&)>;
std::optional<Remedy> least_set(RemedyKind kind, const std::vector<std::int64_t>& weights, std::size_t guess,
                                Admission& admission, const ChangesOfSet& changes);

// Each returns what it finds, in any order. They say nothing of kinds that cannot help.
using Remedies = std::vector<Remedy>;
Remedies uncordon(const WaitingGang& gang, Admission& admission);
Remedies tolerate(const WaitingGang& gang, Admission& admission);
Remedies relax_levels(const WaitingGang& gang, Admission& admission);
Remedies lower_minimum(const WaitingGang& gang, Admission& admission);
Remedies raise_limits(const WaitingGang& gang, Admission& admission);
Remedies raise_quotas(const WaitingGang& gang, Admission& admission);
Remedies raise_priority(const WaitingGang& gang, Admission& admission);
Remedies stop_gangs(const WaitingGang& gang, const Rivals& rivals, Admission& admission, Experiment& experiment);
Remedies add_nodes(const WaitingGang& gang, Admission& admission);

// Finds what would start a waiting gang, the smallest of each kind.
//
// A remedy is tested as a whole: the changed cluster is solved as the next cycle would solve it, with all other gangs
// that wait. So a node that another gang would take does not count, and what is listed works. The plan that leaves the
// gang waiting gives the guesses that each search begins with.
//
// Requires that `gang` waits in the plan of `base`, a run of the experiment without changes. `most_tests`: plans at
// most. Cost: a solve for each test; the kinds that cannot help, since nothing of them keeps the gang from its nodes,
// cost none.
RemedyAnswer find_remedies(Experiment& experiment, const Run& base, GangIndex gang,
                           std::int64_t most_tests = kTuning.answers.tests);

}  // namespace muster::answers
