#include "heuristics/local_search/part/neighbourhood.h"

#include <algorithm>
#include <cmath>

#include "heuristics/local_search/value.h"
#include "heuristics/state/fit.h"
#include "model/base/tuning.h"

namespace muster::local_search {

void Neighbourhood::add(std::size_t position) {
  if (std::ranges::find(positions_, position) != positions_.end()) return;
  if (contents_.size() == positions_.size()) contents_.emplace_back();
  contents_[positions_.size()] = nodes_[position].contents;
  positions_.push_back(position);
}

void Neighbourhood::take(std::size_t at, const PartNode::Occupant& occupant) {
  contents_[at].take(problem_, node(at).node, problem_.class_of(occupant.pod), occupant.devices);
}

bool Neighbourhood::put(TrialPod& pod, RepairRule rule) {
  const PodClass& pod_class = problem_.pod_classes[pod.pod_class];
  std::size_t best = size();
  double best_score = 0;
  for (std::size_t at = 0; at < size(); ++at) {
    if (!fits(pod_class, at)) continue;
    if (!pod.from.is_none() && !scope_.keeps_domains(pod.pod, pod.from, node(at).node)) continue;
    const double found = score(pod_class, at, rule);
    if (best == size() || found < best_score) {
      best = at;
      best_score = found;
    }
  }
  if (best == size()) return false;
  pod.to = node(best).node;
  pod.to_devices = *choose_devices(contents_[best].room(), problem_, pod_class, pod.to);
  contents_[best].put(problem_, pod.to, pod_class, pod.to_devices);
  return true;
}

void Neighbourhood::take_back(const TrialPod& pod) {
  std::size_t at = 0;
  while (node(at).node != pod.to) ++at;
  contents_[at].take(problem_, pod.to, problem_.pod_classes[pod.pod_class], pod.to_devices);
}

bool Neighbourhood::fits(const PodClass& pod_class, std::size_t at) const {
  const NodeIndex index = node(at).node;
  const Room room = contents_[at].room();
  return fit::node(problem_, pod_class, index) && fit::capacity(room, pod_class) &&
         fit::devices(room, problem_, pod_class, index);
}

bool Neighbourhood::fits_anywhere(const PodClass& pod_class) const {
  for (std::size_t at = 0; at < size(); ++at) {
    if (fits(pod_class, at)) return true;
  }
  return false;
}

// Smaller is better.
double Neighbourhood::score(const PodClass& pod_class, std::size_t at, RepairRule rule) {
  if (rule == RepairRule::kAny || size() == 1) return random_.unit();
  const NodeContents& now = contents_[at];
  const NodeClass& node_class = problem_.class_of(node(at).node);
  const auto whole = static_cast<double>(std::max<Amount>(1, node_class.capacity[kCpu.value()]));
  const double cpu = static_cast<double>(now.free[kCpu.value()] - pod_class.request[kCpu.value()]) / whole;
  const double idle = static_cast<double>(idle_thousandths(problem_, node(at).node, now.devices)) /
                      (1000.0 * std::max(1, node_class.device_count));
  const double noise = kTuning.search.noise * random_.unit();
  return rule == RepairRule::kFullest ? idle + noise : std::abs(cpu - idle) + noise;
}

CoarseAmounts Neighbourhood::most_free() const {
  CoarseAmounts most;
  for (std::size_t at = 0; at < size(); ++at) {
    const NodeContents& now = contents_[at];
    most.cpu = std::max(most.cpu, now.free[kCpu.value()]);
    most.memory = std::max(most.memory, now.free[kMemory.value()]);
    const DeviceUnits millionth = problem_.device_capacity(node(at).node) / CoarseAmounts::kDevice;
    for (const DeviceUnits units : now.devices) most.share = std::max(most.share, units / millionth);
  }
  return most;
}

}  // namespace muster::local_search
