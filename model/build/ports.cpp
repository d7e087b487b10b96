// Host ports: resources of which each node has one.
#include <algorithm>

#include "model/build/stages.h"
#include "model/snapshot/host_ports.h"

namespace muster {
namespace {

bool may_come(const ProblemDraft& draft, const Pod& pod) {
  if (pod.status == PodStatus::kPending) return true;
  return pod.status == PodStatus::kRunning && draft.snapshot.policy.actions.consolidate &&
         draft.problem.gangs[pod.gang].preemptible;
}

bool holds_ports(const Pod& pod) {
  return pod.status == PodStatus::kPending || pod.status == PodStatus::kRunning || pod.status == PodStatus::kReleasing;
}

std::vector<HostPortUser> users_of(const ProblemDraft& draft) {
  std::vector<HostPortUser> users;
  for (const PodSpec& spec : draft.snapshot.pod_specs) users.push_back({spec.host_ports, 0, false});
  for (const PodIndex index : draft.problem.pods.indices()) {
    HostPortUser& user = users[draft.snapshot.pods[index.value()].spec.value()];
    const Pod& pod = draft.problem.pods[index];
    if (user.ports.empty() || !holds_ports(pod)) continue;
    ++user.pods;
    user.may_come = user.may_come || may_come(draft, pod);
  }
  return users;
}

}  // namespace

Failure build_host_ports(ProblemDraft& draft) {
  const auto& specs = draft.snapshot.pod_specs;
  if (std::ranges::all_of(specs, [](const PodSpec& spec) { return spec.host_ports.empty(); })) return {};
  HostPortResources ports = host_port_resources(users_of(draft));
  Problem& problem = draft.problem;
  if (problem.resource_count + ports.count > kMostResources) {
    return InputError{ErrorCode::kTooLarge, "$.pods",
                      "pods request " + std::to_string(ports.count) +
                          " host ports that can conflict; together with the " + std::to_string(problem.resource_count) +
                          " resources, at most " + std::to_string(kMostResources) + " are supported"};
  }
  const std::size_t first = problem.resource_count;
  problem.resource_count += ports.count;
  for (NodeClass& node_class : problem.node_classes) node_class.capacity.resize(problem.resource_count, 1);
  draft.host_ports.resize(specs.size());
  for (const PodSpecIndex spec : specs.indices()) {
    for (const std::uint32_t number : ports.of_user[spec.value()])
      draft.host_ports[spec].push_back(ResourceIndex(first + number));
  }
  return {};
}

}  // namespace muster
