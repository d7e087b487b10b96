#include "heuristics/local_search/neighbourhood.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "heuristics/local_search/plan_value.h"
#include "heuristics/state/fit.h"
#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::local_search {

WaitingPods::WaitingPods(const SearchScope& scope, std::span<const PodIndex> pods)
    : scope_(scope), problem_(scope.problem()) {
  for (const PodIndex pod : pods) group_of(pod).pods.push_back(pod);
  for (Group& group : groups_) std::ranges::sort(group.pods, std::bind_front(&WaitingPods::waits_less, this));
}

void WaitingPods::insert(PodIndex pod) {
  std::vector<PodIndex>& pods = group_of(pod).pods;
  pods.insert(std::ranges::upper_bound(pods, pod, std::bind_front(&WaitingPods::waits_less, this)), pod);
}

void WaitingPods::withdraw(PodIndex pod) { std::erase(group_of(pod).pods, pod); }

WaitingPods::Group& WaitingPods::group_of(PodIndex pod) {
  const std::pair key{problem_.pods[pod].pod_class, scope_.worth(pod)};
  const auto [at, is_new] = positions_.try_emplace(key, groups_.size());
  if (is_new) groups_.push_back({key.first, coarse_request(problem_.pod_classes[key.first]), key.second, {}});
  return groups_[at->second];
}

bool WaitingPods::waits_less(PodIndex a, PodIndex b) const {
  const std::int64_t wait_a = problem_.gangs[problem_.pods[a].gang].times.seniority;
  const std::int64_t wait_b = problem_.gangs[problem_.pods[b].gang].times.seniority;
  return wait_a != wait_b ? wait_a < wait_b : a > b;
}

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
  put_on(best, pod, *choose_devices(contents_[best].room(), problem_, pod_class, node(best).node));
  return true;
}

bool Neighbourhood::put_home(TrialPod& pod) {
  const Pod& p = problem_.pods[pod.pod];
  if (p.status != PodStatus::kRunning) return false;
  const auto is_home = [&](std::size_t at) { return nodes_[at].node == p.node; };
  const auto found = std::ranges::find_if(positions_, is_home);
  const PodClass& pod_class = problem_.pod_classes[pod.pod_class];
  const auto at = static_cast<std::size_t>(found - positions_.begin());
  if (at >= size() || !fits(pod_class, at)) return false;
  Place home = snapshot_place(problem_, pod.pod);
  if (!fit::devices_at(contents_[at].room(), problem_, pod_class, home.node, home.devices)) return false;
  put_on(at, pod, std::move(home.devices));
  return true;
}

void Neighbourhood::put_on(std::size_t at, TrialPod& pod, DeviceList devices) {
  pod.to = node(at).node;
  pod.to_devices = std::move(devices);
  contents_[at].put(problem_, pod.to, problem_.pod_classes[pod.pod_class], pod.to_devices);
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

void Neighbourhood::draw() {
  const std::size_t count = std::min(1 + random_.below(kTuning.heuristics.few), nodes_.size());
  for (std::size_t i = 0; i < count; ++i) add(random_.coin() ? draw_any() : draw_idle());
}

void Neighbourhood::draw_for(GangIndex gang) {
  const PodClass& pod_class = problem_.class_of(problem_.gangs[gang].pods.front());
  const std::size_t count = std::min({problem_.gangs[gang].pods.size() + 1, kTuning.search.trial_nodes, nodes_.size()});
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t position = i % 2 == 0 ? draw_idle() : draw_any();
    if (fit::node(problem_, pod_class, nodes_[position].node)) add(position);
  }
}

void Neighbourhood::draw_of(GangIndex gang, const PartGangs& gangs) {
  for (const PodIndex pod : problem_.gangs[gang].pods) add(gangs.position_of(pod));
  if (size() > kTuning.search.trial_nodes) clear();
  if (is_empty()) return;
  for (std::size_t more = random_.below(kTuning.heuristics.few); more > 0; --more) add(draw_any());
}

std::size_t Neighbourhood::draw_idle() {
  const std::vector<std::size_t>& idle = nodes_.with_idle_devices();
  if (idle.empty()) return draw_any();
  const auto draw_one = [&] { return idle[random_.below(idle.size())]; };
  std::size_t best = draw_one();
  for (std::size_t draws = 1; draws < kTuning.heuristics.few; ++draws) {
    const std::size_t other = draw_one();
    if (nodes_[other].idle > nodes_[best].idle) best = other;
  }
  return best;
}

}  // namespace muster::local_search
