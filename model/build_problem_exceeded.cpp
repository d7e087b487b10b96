// Rule Exceeded: on a node whose pods take more of a resource than it reports, that resource is closed. What runs
// stays, nothing that asks for the resource may come, and everything else is as it was.
//
// The node goes to a class of its own kind, which has what its pods take: so nothing anywhere is ever less than zero.
// What leaves such a node frees nothing of what is closed in this plan; the next snapshot tells what is free then.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "model/build_problem_stages.h"

namespace muster {
namespace {

class Closing {
 public:
  explicit Closing(ProblemDraft& draft) : draft_(draft), problem_(draft.problem) {}

  void close(const NodeExcess& excess) {
    const NodeClassIndex reported = problem_.nodes[excess.node].node_class;
    std::vector<std::int64_t> used;
    for (const auto& [resource, amount] : excess.used) used.insert(used.end(), {resource.value(), amount});
    const auto [at, is_new] =
        classes_.try_emplace({reported, excess.devices, std::move(used)}, problem_.node_classes.size());
    if (is_new) add_class(excess, reported);
    problem_.node_classes[at->second].nodes.push_back(excess.node);
    problem_.nodes[excess.node].node_class = at->second;
    is_emptied_.resize(problem_.node_classes.size(), false);
    is_emptied_[reported.value()] = true;
    draft_.snapshot.anomalies.tell(
        {"Exceeded", "node", std::string(draft_.snapshot.nodes[excess.node.value()].name),
         "its pods take more than it reports: " + excess.what + "; nothing new that asks for it is placed there"});
  }

  // Takes the nodes out of the classes that they were in.
  void finish() {
    for (const NodeClassIndex index : problem_.node_classes.indices()) {
      if (!is_emptied_[index.value()]) continue;
      std::erase_if(problem_.node_classes[index].nodes,
                    [&](NodeIndex node) { return problem_.nodes[node].node_class != index; });
    }
  }

 private:
  void add_class(const NodeExcess& excess, NodeClassIndex reported) {
    NodeClass closed = problem_.node_classes[reported];
    closed.nodes.clear();
    closed.reported = reported;
    for (const auto& [resource, amount] : excess.used) {
      closed.capacity[resource.value()] = amount;
      closed.closed.push_back(resource);
    }
    closed.devices_closed = excess.devices > 0;
    closed.device_count = std::max(closed.device_count, excess.devices);
    const auto at = reported.value();
    for (PodClass& pod_class : problem_.pod_classes) {
      pod_class.allowed.push_back(pod_class.allowed[at] && !asks_for_closed(pod_class, closed));
      pod_class.preferred_weight.push_back(pod_class.preferred_weight[at]);
      pod_class.untolerated_soft_taints.push_back(pod_class.untolerated_soft_taints[at]);
    }
    problem_.node_classes.push_back(std::move(closed));
  }

  ProblemDraft& draft_;
  Problem& problem_;
  std::map<std::tuple<NodeClassIndex, std::int32_t, std::vector<std::int64_t>>, NodeClassIndex> classes_;
  std::vector<bool> is_emptied_;  // by NodeClassIndex
};

}  // namespace

bool asks_for_closed(const PodClass& pod_class, const NodeClass& node_class) {
  if (node_class.devices_closed && pod_class.gpu.devices > 0) return true;
  return std::ranges::any_of(node_class.closed,
                             [&](ResourceIndex resource) { return pod_class.request[resource.value()] > 0; });
}

void close_exceeded(ProblemDraft& draft, const std::vector<NodeExcess>& excesses) {
  if (excesses.empty()) return;
  Closing closing(draft);
  for (const NodeExcess& excess : excesses) closing.close(excess);
  closing.finish();
}

}  // namespace muster
