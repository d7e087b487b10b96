// The messages of kube-scheduler's HTTP extender (k8s.io/kube-scheduler/extender/v1).
//
// The names of members are those of the Go types, in any case, as Go reads them: "Pod", "NodeNames", "FailedNodes".
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/json/json_document.h"
#include "model/base/error_code.h"

namespace muster::cli {

// Of a pod in a message.
struct ExtenderPod {
  std::string key;  // "namespace/name", as plans name it
  std::string uid, scheduler;
};

// ExtenderArgs, of `filter` and `prioritize`. Views are valid until the next message is read.
struct ExtenderArguments {
  ExtenderPod pod;
  bool has_names = true;  // nodeCacheCapable: names of nodes, else whole nodes
  std::vector<std::string_view> nodes;
};

// ExtenderPreemptionArgs: uids of the victims that kube-scheduler would take, by node.
struct ExtenderPreemption {
  struct Victims {
    std::vector<std::string> uids;
    std::int64_t budget_violations = 0;
  };
  ExtenderPod pod;
  std::map<std::string, Victims, std::less<>> victims;
};

// ExtenderBindingArgs.
struct ExtenderBinding {
  std::string pod;  // "namespace/name"
  std::string uid, node;
};

// Reads messages, one after another. Errors: InvalidUtf8, InvalidJson, TooLarge, TooDeep, WrongType, MissingKey; each
// with its path ("$.Pod.metadata.name").
class ExtenderReader {
 public:
  Result<ExtenderArguments> arguments(std::string_view body);
  Result<ExtenderPreemption> preemption(std::string_view body);
  Result<ExtenderBinding> binding(std::string_view body);

  // Of the last ExtenderArguments: its pod in a list of Kubernetes objects, for the import.
  std::string pod_list();
  // Of the last ExtenderArguments: the answer of `filter`. The node at `passes` passes, all of them if `all_pass`, and
  // the others do not because of `reason`, whatever pods leave there.
  struct Verdict {
    std::optional<std::size_t> passes;
    bool all_pass = false;
    std::string_view reason;
  };
  std::string filter_answer(const ExtenderArguments& arguments, const Verdict& verdict);

 private:
  std::optional<InputError> parse(std::string_view body);
  std::optional<InputError> read_nodes(json::JsonValue root, ExtenderArguments& arguments);

  json::JsonDocument document_;
  json::JsonValue pod_;                 // of the last ExtenderArguments
  std::vector<json::JsonValue> nodes_;  // the same: whole nodes
};

// {"Error":""} without an error.
std::string error_answer(std::string_view error);
// HostPriorityList: the highest score for the node at `best`, the least for the others.
std::string priorities_answer(std::span<const std::string_view> nodes, std::optional<std::size_t> best);
// ExtenderPreemptionResult.
std::string preemption_answer(const std::map<std::string, ExtenderPreemption::Victims, std::less<>>& victims);

}  // namespace muster::cli
