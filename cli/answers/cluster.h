// The cluster that a command answers a question about: read once, from a file, stdin, or a live API server.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cli/terminal/options.h"
#include "model/snapshot/snapshot.h"

namespace muster::cli {

// A cluster as it was read; build_problem has not been called for it.
struct ClusterInput {
  Snapshot snapshot;
  std::string line;  // that it was read from: a snapshot, or Kubernetes objects
  bool is_kubernetes = false;
};

// The rows that every such command has: where the cluster comes from and how it is read. `others` come first.
std::vector<OptionRow> with_cluster_options(std::vector<OptionRow> others);

// The cluster that `--from` names, `-` (stdin) by default. A file may be of snapshot lines, of which the last one
// counts, or of Kubernetes objects, as JSON. What could not be read completely is reported on stderr. If it cannot be
// read, that is reported, too, and the value is the exit code. Throws UsageError.
std::variant<ClusterInput, int> read_cluster(const Settings& settings);

}  // namespace muster::cli
