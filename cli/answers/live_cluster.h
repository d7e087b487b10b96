// The objects of a live cluster, by kubectl: authentication, contexts and paging are kubectl's.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace muster::cli {

struct KubectlOptions {
  std::string program = "kubectl";  // a path, or a name in PATH
  std::vector<std::string> flags;   // for each call: --context, --kubeconfig, --server
  std::string namespace_name;       // empty: that of the context
};

struct LiveObjects {
  std::string text;  // lists as JSON, one after another
  // What could not be listed and what that costs, a sentence each.
  std::vector<std::string> remarks;
  std::string namespace_name;  // of the options, else of the context, else `default`
};

struct LiveFailure {
  std::string message;
  int exit_code = 0;
};

// Asks for the kinds that the API server has, then lists those that the import reads, several at a time. Not
// ReplicaSets: their pods name their Deployment, and old ones are many. A kind that cannot be listed in all namespaces
// is listed in one, and one that cannot be listed at all is left out, each with a remark. Failures: kubectl cannot be
// run, the API server does not answer, nodes or pods cannot be listed; an interruption, without a message. Cost: two
// calls of kubectl, then one a kind.
std::variant<LiveObjects, LiveFailure> read_live_cluster(const KubectlOptions& options);

}  // namespace muster::cli
