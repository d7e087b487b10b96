#include "model/problem/exceeded.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "model/base/require.h"
#include "model/build/stages.h"
#include "model/snapshot/host_ports.h"

namespace muster {

// Rule Exceeded: on a node whose pods take more of a resource than it reports, nothing of it is free. Running pods
// stay. A pod that asks for the resource may be placed there only if enough pods leave for everything to fit what the
// node reports in the end.
//
// The node gets a class of its own whose capacity is what its pods take (model/problem/exceeded.h). If pods hold more
// devices than the node reports, their number is a resource: which pods hold the missing devices may be a guess.

namespace {

class Splitting {
 public:
  explicit Splitting(ProblemDraft& draft) : draft_(draft), problem_(draft.problem) {}

  void split(const NodeExcess& excess) {
    const NodeClassIndex reported = problem_.nodes[excess.node].node_class;
    std::vector<std::int64_t> used;
    for (const auto& [resource, amount] : excess.used) used.insert(used.end(), {resource.value(), amount});
    const auto [at, is_new] =
        classes_.try_emplace({reported, excess.devices, excess.devices_unclear, excess.devices_asked, std::move(used)},
                             problem_.node_classes.size());
    if (is_new) add_class(excess, reported);
    problem_.node_classes[at->second].nodes.push_back(excess.node);
    problem_.nodes[excess.node].node_class = at->second;
    is_emptied_.resize(problem_.node_classes.size(), false);
    is_emptied_[reported.value()] = true;
    draft_.snapshot.anomalies.tell(
        {ErrorCode::kExceeded, "node", std::string(draft_.snapshot.nodes[excess.node.value()].name),
         "its pods use more than it reports: " + excess.what + "; nothing new that requests it is placed there" +
             (excess.devices_unclear ? "" : " unless everything fits after enough pods have left")});
  }

  // Takes the nodes out of the classes that they were in.
  void finish() {
    for (const NodeClassIndex index : problem_.node_classes.indices()) {
      if (!is_emptied_[index.value()]) continue;
      std::erase_if(problem_.node_classes[index].nodes,
                    [&](NodeIndex node) { return problem_.nodes[node].node_class != index; });
    }
  }

  // Adds the resource, of which there is more than all pods ask for. It precedes the resources of host ports.
  void count_devices() {
    auto& names = draft_.snapshot.resource_names;
    if (device_count_resource(problem_).is_none()) {
      names.push_back(kDeviceCount);
      ++problem_.resource_count;
      const auto insert = [&](std::vector<Amount>& amounts) {
        amounts.insert(amounts.begin() + std::ssize(names) - 1, 0);
      };
      for (PodClass& pod_class : problem_.pod_classes) insert(pod_class.request);
      for (NodeClass& node_class : problem_.node_classes) insert(node_class.capacity);
    }
    count_ = device_count_resource(problem_);
    Amount most = 0, plenty = 0;
    for (PodClass& pod_class : problem_.pod_classes) {
      pod_class.request[count_.value()] = pod_class.gpu.devices;
      most = std::max<Amount>(most, pod_class.gpu.devices);
    }
    for (const NodeClass& node_class : problem_.node_classes) most = std::max<Amount>(most, node_class.device_count);
    for (const PodIndex pod : problem_.pods.indices()) plenty += problem_.class_of(pod).gpu.devices;
    for (NodeClass& node_class : problem_.node_classes) node_class.capacity[count_.value()] = plenty + most;
  }

 private:
  void add_class(const NodeExcess& excess, NodeClassIndex original) {
    NodeClass reported = problem_.node_classes[original];
    reported.nodes.clear();
    NodeClass exceeded = reported;
    for (const auto& [resource, amount] : excess.used) exceeded.capacity[resource.value()] = amount;
    if (excess.devices > 0) {
      exceeded.devices_closed = true;
      exceeded.device_count = std::max(exceeded.device_count, excess.devices);
      reported.capacity[count_.value()] = excess.devices_unclear ? 0 : reported.device_count;
      exceeded.capacity[count_.value()] = std::max<Amount>(reported.capacity[count_.value()], excess.devices_asked);
    }
    exceeded.reported = NodeClassIndex(problem_.node_classes.size() + 1);
    problem_.node_classes.push_back(std::move(exceeded));
    problem_.node_classes.push_back(std::move(reported));
    const auto at = original.value();
    for (PodClass& pod_class : problem_.pod_classes) {
      for (int i = 0; i < 2; ++i) {
        pod_class.allowed.push_back(pod_class.allowed[at]);
        pod_class.preferences.preferred_weight.push_back(pod_class.preferences.preferred_weight[at]);
        pod_class.preferences.untolerated_soft_taints.push_back(pod_class.preferences.untolerated_soft_taints[at]);
      }
    }
  }

  ProblemDraft& draft_;
  Problem& problem_;
  std::map<std::tuple<NodeClassIndex, std::int32_t, bool, Amount, std::vector<std::int64_t>>, NodeClassIndex> classes_;
  std::vector<bool> is_emptied_;  // by NodeClassIndex
  ResourceIndex count_;           // the number of devices; none: no devices are exceeded
};

}  // namespace

void close_exceeded(ProblemDraft& draft, const std::vector<NodeExcess>& excesses) {
  MUSTER_REQUIRE_SLOW(std::ranges::is_sorted(excesses, {}, &NodeExcess::node));
  if (excesses.empty()) return;
  Splitting splitting(draft);
  if (std::ranges::any_of(excesses, [](const NodeExcess& excess) { return excess.devices > 0; }))
    splitting.count_devices();
  for (const NodeExcess& excess : excesses) splitting.split(excess);
  splitting.finish();
}

// Host ports: resources of which each node has one.

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
