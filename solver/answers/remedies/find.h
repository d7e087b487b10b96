// Finds what would start a waiting gang, the smallest of each kind.
//
// A remedy is tested as a whole: the changed cluster is solved as the next cycle would solve it, with all other gangs
// that wait. So a node that another gang would take does not count, and what is listed works. The plan that leaves the
// gang waiting gives the guesses that each search begins with.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/base/tuning.h"
#include "solver/answers/experiment.h"
#include "solver/answers/remedies/remedy.h"

namespace muster::answers {

// Requires that `gang` waits in the plan of `base`, a run of the experiment without changes. `most_tests`: plans at
// most. Cost: a solve for each test; the kinds that cannot help, since nothing of them keeps the gang from its nodes,
// cost none.
RemedyAnswer find_remedies(Experiment& experiment, const Run& base, GangIndex gang,
                           std::int64_t most_tests = kTuning.answers.tests);

}  // namespace muster::answers
