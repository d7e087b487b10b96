// The workload of a manifest that is about to be applied: what the cluster would make of it.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/answers/cluster.h"
#include "cli/terminal/options.h"
#include "model/snapshot/snapshot.h"

namespace muster::cli {

struct Submission {
  // Its gangs and pods, those of templates included, and the definitions that it brings; for change::merge. Pods whose
  // scheduling gates are all that keeps them back are pending.
  Snapshot workload;
  std::vector<std::string> gangs;    // names, pods without a gang included; in the order of the manifest
  std::vector<std::string> objects;  // kinds and names of what is applied but for definitions: "Job ml/train"
  std::vector<std::string> remarks;  // sentences: what is passed over or assumed
};

// The value is the exit code if the manifest cannot be read (66), or has nothing that could be submitted (65): no pods,
// or objects that the cluster has already; that is reported on stderr. `file`: YAML or JSON documents, `-` is stdin.
//
// If the cluster was read from Kubernetes objects, its queues, classes and groups count as they do for pods that exist;
// else the names of its priority classes and topology levels do, and queues are those of the manifest. Cost: that of
// reading the cluster once more.
std::variant<Submission, int> read_submission(const std::string& file, const ClusterInput& cluster,
                                              const Settings& settings);

}  // namespace muster::cli
