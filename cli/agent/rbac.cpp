#include "cli/agent/rbac.h"

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/kubernetes/object/kinds.h"

namespace muster::cli {
namespace {

struct Rule {
  std::string group;
  std::vector<std::string> resources;
  std::vector<std::string> verbs;
};

// As the API server names the kind in paths. The kinds that the import reads all have regular plurals.
std::string plural(std::string_view kind) {
  std::string name;
  for (const char c : kind) name += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (name.ends_with("y")) return name.substr(0, name.size() - 1) + "ies";
  return name.ends_with("s") ? name + "es" : name + "s";
}

std::vector<Rule> rules_of_marks() {
  return {{"scheduling.k8s.io", {"podgroups/status"}, {"patch"}},
          {"scheduling.run.ai", {"podgroups"}, {"patch"}},
          {"scheduling.sigs.k8s.io", {"podgroups"}, {"patch"}},
          {"scheduling.volcano.sh", {"podgroups"}, {"patch"}},
          {"scheduling.x-k8s.io", {"podgroups"}, {"patch"}}};
}

std::vector<Rule> rules_of(ApplyMode mode) {
  std::map<std::string, std::set<std::string>> watched;
  for (const kubernetes::KnownKind& kind : kubernetes::known_kinds())
    watched[std::string(kind.group)].insert(plural(kind.kind));
  watched["apiextensions.k8s.io"].insert("customresourcedefinitions");
  std::vector<Rule> rules;
  for (const auto& [group, resources] : watched)
    rules.push_back({group, {resources.begin(), resources.end()}, {"list", "watch"}});
  rules.push_back({"events.k8s.io", {"events"}, {"create"}});
  if (mode == ApplyMode::kNone) return rules;
  rules.push_back({"", {"pods/eviction"}, {"create"}});
  if (mode == ApplyMode::kGates) rules.push_back({"", {"pods"}, {"patch"}});
  if (mode == ApplyMode::kKai) rules.push_back({"scheduling.run.ai", {"bindrequests"}, {"create", "delete"}});
  if (mode == ApplyMode::kKai) rules.push_back({"scheduling.run.ai", {"podgroups"}, {"patch"}});
  if (mode == ApplyMode::kBindings || mode == ApplyMode::kExtender) {
    rules.push_back({"", {"pods/binding"}, {"create"}});
    rules.push_back({"", {"pods/status"}, {"patch"}});  // nominatedNodeName
  }
  return rules;
}

std::string list_of(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back('"' + name + '"');
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string yaml_of(const Rule& rule) {
  return fmt::format("  - apiGroups: [\"{}\"]\n    resources: {}\n    verbs: {}\n", rule.group, list_of(rule.resources),
                     list_of(rule.verbs));
}

}  // namespace

std::string rbac_yaml(ApplyMode mode, GroupMarking marks) {
  std::string yaml = R"(apiVersion: v1
kind: ServiceAccount
metadata:
  name: muster-agent
  namespace: muster
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: muster-agent
rules:
)";
  for (const Rule& rule : rules_of(mode)) yaml += yaml_of(rule);
  if (marks == GroupMarking::kMarked) {
    for (const Rule& rule : rules_of_marks()) yaml += yaml_of(rule);
  }
  yaml += R"(---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: muster-agent
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: muster-agent
subjects:
  - kind: ServiceAccount
    name: muster-agent
    namespace: muster
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: muster-agent-lease
  namespace: muster
rules:
  - apiGroups: ["coordination.k8s.io"]
    resources: ["leases"]
    verbs: ["create"]
  - apiGroups: ["coordination.k8s.io"]
    resources: ["leases"]
    resourceNames: ["muster-agent"]
    verbs: ["get", "update"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: muster-agent-lease
  namespace: muster
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: muster-agent-lease
subjects:
  - kind: ServiceAccount
    name: muster-agent
    namespace: muster
)";
  return yaml;
}

}  // namespace muster::cli
