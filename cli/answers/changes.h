// The options of `muster what-if` that change the cluster, and the cluster that they make of it.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/answers/cluster.h"
#include "cli/terminal/options.h"
#include "model/snapshot/snapshot.h"

namespace muster::cli {

// Each may be given several times. `others` follow them.
std::vector<OptionRow> with_change_options(std::vector<OptionRow> others);

// Throws UsageError if both the cluster and a manifest, or two manifests, would be read from stdin.
void check_stdin(const Settings& settings);

struct ChangedCluster {
  Snapshot snapshot;
  std::vector<std::string> changes;     // as options, quoted for a shell, in their order
  bool only_adds_room = true;           // all of them; see solver/answers/plan_pair.h
  std::vector<std::string> submitted;   // gangs of --submit and --gang
  std::vector<std::string> objects;     // of --submit, "Job ml/train": those that are about to be applied
  std::vector<std::string> from_stdin;  // those of them that stdin holds
  std::vector<std::string> remarks;     // on manifests: what is passed over or assumed
};

// Applies the changes in the order in which they were given, each to what those before it have made. Throws UsageError:
// a value that cannot be read, a name that the cluster does not have then. The value is an exit code if a manifest
// cannot be read or submitted, which is reported on stderr. Cost: O(nodes + pods + gangs) for each change.
std::variant<ChangedCluster, int> changed_cluster(const ClusterInput& cluster, const Settings& settings);

}  // namespace muster::cli
