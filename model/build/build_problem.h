// From a snapshot, all names, to the problem, all indices.
#pragma once

#include "model/base/error_code.h"
#include "model/problem/problem.h"
#include "model/snapshot/snapshot.h"

namespace muster {

// Builds the problem. Errors (as InputError, path and code): unknown or duplicate names, cycles among queues or
// subgroups, pods that name inner subgroups, classes that are not there, running pods that do not fit their node, and
// everything else that makes a snapshot meaningless. Fills in the devices of running pods that list none: whole devices
// first, the lowest indices that fit. Of a snapshot that is not read strictly, what is wrong is named in its
// `anomalies` instead, and settled as repair_snapshot and close_exceeded say; then nothing of these is an error.
// Of a snapshot with links (model/snapshot/links.h), which are dropped, only what has changed is looked up and checked;
// the result is the same.
// Cost: O(n log n) in nodes + pods, O(node classes x pod classes) for the filters.
// Ensures: the result refers to `snapshot`, which must stay where it is, and is the same for any number of threads.
Result<Problem> build_problem(Snapshot& snapshot, int threads = 1);

}  // namespace muster
