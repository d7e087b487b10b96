#include "heuristics/local_search/repair.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "heuristics/state/fit.h"
#include "model/base/require.h"
#include "model/base/tuning.h"

namespace muster::local_search {

void DestroyAndRepair::destroy(Neighbourhood& neighbourhood, Trial& trial) {
  MUSTER_REQUIRE(trial.required.empty() && trial.optional.empty() && trial.placed.empty());
  const double part = random_.coin() ? 1 : random_.unit();  // of the pods that may be destroyed
  for (std::size_t at = 0; at < neighbourhood.size(); ++at) {
    const PartNode& node = neighbourhood.node(at);
    for (const PartNode::Occupant& occupant : node.pods) {
      const bool leaves = problem_.pods[occupant.pod].gang == trial.leaving;
      if (!leaves && random_.unit() >= part) continue;
      neighbourhood.take(at, occupant);
      add(occupant, node.node, trial);
    }
  }
}

void DestroyAndRepair::add(const PartNode::Occupant& occupant, NodeIndex node, Trial& trial) {
  const PodIndex pod = occupant.pod;
  TrialPod destroyed{pod, problem_.pods[pod].pod_class, node, NodeIndex::none(), occupant.devices, {}};
  if (problem_.pods[pod].gang == trial.leaving) {
    trial.optional.push_back(std::move(destroyed));
  } else if (gangs_.may_drop(pod)) {
    destroyed.is_offered = true;
    gangs_.note_dropped(pod);
    waiting_.insert(pod);
    trial.optional.push_back(std::move(destroyed));
  } else {
    trial.required.push_back(std::move(destroyed));
  }
}

bool DestroyAndRepair::repair(GangIndex wanted, Neighbourhood& neighbourhood, Trial& trial) {
  rule_ = static_cast<RepairRule>(random_.below(kRepairRules));
  if (!place_required(neighbourhood, trial)) return false;
  if (!wanted.is_none() && !place_gang(wanted, neighbourhood, trial)) return false;
  fill(wanted, neighbourhood, trial);
  return true;
}

bool DestroyAndRepair::place_required(Neighbourhood& neighbourhood, Trial& trial) {
  for (TrialPod& pod : trial.required) {
    const PodClass& pod_class = problem_.pod_classes[pod.pod_class];
    pod.key = static_cast<double>(pod_class.work) * (1 + kTuning.search.noise * random_.unit());
  }
  std::ranges::sort(trial.required, [](const TrialPod& a, const TrialPod& b) {
    return a.key != b.key ? a.key > b.key : a.pod < b.pod;
  });
  const bool at_home = scope_.has_movable() && random_.coin();
  return std::ranges::all_of(trial.required, [&](TrialPod& pod) {
    return (at_home && neighbourhood.put_home(pod)) || neighbourhood.put(pod, rule_);
  });
}

// All that the gang's minimum needs, or nothing.
bool DestroyAndRepair::place_gang(GangIndex gang, Neighbourhood& neighbourhood, Trial& trial) {
  const Group& root = problem_.groups[problem_.gangs[gang].root];
  std::int32_t missing = root.minimum;
  const std::size_t before = trial.placed.size();
  for (const PodIndex pod : root.pods) {
    if (missing == 0) break;
    if (!fit::is_pending(problem_.pods[pod])) continue;
    TrialPod placed{pod, problem_.pods[pod].pod_class};
    if (!neighbourhood.put(placed, rule_)) break;
    trial.placed.push_back(std::move(placed));
    --missing;
  }
  if (missing == 0) {
    trial.completed.push_back(gang);
    return true;
  }
  for (; trial.placed.size() > before; trial.placed.pop_back()) neighbourhood.take_back(trial.placed.back());
  return false;
}

// Groups of waiting pods and some gangs, those that are preferred first, as long as they fit.
void DestroyAndRepair::fill(GangIndex wanted, Neighbourhood& neighbourhood, Trial& trial) {
  options_.clear();
  preference_ = static_cast<Preference>(random_.below(kPreferences));
  add_groups(neighbourhood);
  draw_gangs(wanted, trial.leaving);
  add_drawn_gangs();
  std::ranges::sort(options_, [](const Option& a, const Option& b) {
    return a.key != b.key ? a.key > b.key : a.position < b.position;
  });
  for (const Option& option : options_) {
    if (option.position < waiting_.groups().size()) {
      place_group(option.position, neighbourhood, trial);
    } else {
      place_gang(drawn_[option.position - waiting_.groups().size()], neighbourhood, trial);
    }
  }
}

void DestroyAndRepair::add_groups(const Neighbourhood& neighbourhood) {
  const CoarseAmounts most = neighbourhood.most_free();
  for (std::size_t i = 0; i < waiting_.groups().size(); ++i) {
    const WaitingPods::Group& group = waiting_.groups()[i];
    if (group.pods.empty() || group.request.exceeds(most)) continue;
    const PodClass& pod_class = problem_.pod_classes[group.pod_class];
    if (!neighbourhood.fits_anywhere(pod_class)) continue;
    options_.push_back({key_of(static_cast<double>(group.worth), pod_class.request[kCpu.value()]), i});
  }
}

// Gangs that may be added in addition to the wanted one: the gang that leaves, and some that wait.
void DestroyAndRepair::draw_gangs(GangIndex wanted, GangIndex leaving) {
  drawn_.clear();
  if (!leaving.is_none()) drawn_.push_back(leaving);
  const std::vector<GangIndex>& waiting = gangs_.waiting();
  const std::size_t count = leaving.is_none() ? 1 : kTuning.heuristics.few;
  for (std::size_t i = 0; i < count && !waiting.empty(); ++i) {
    const GangIndex gang = waiting[random_.below(waiting.size())];
    if (gang != wanted && std::ranges::find(drawn_, gang) == drawn_.end()) drawn_.push_back(gang);
  }
}

void DestroyAndRepair::add_drawn_gangs() {
  for (std::size_t i = 0; i < drawn_.size(); ++i) {
    const std::span<const PodIndex> pods = problem_.gangs[drawn_[i]].pods;
    double worth = 0;
    Amount cpu = 0;
    for (const PodIndex pod : pods) {
      worth += static_cast<double>(scope_.worth(pod));
      cpu += problem_.class_of(pod).request[kCpu.value()];
    }
    if (preference_ == Preference::kWorth) worth /= static_cast<double>(pods.size());
    options_.push_back({key_of(worth, cpu), waiting_.groups().size() + i});
  }
}

double DestroyAndRepair::key_of(double worth, Amount requested_cpu) {
  if (preference_ == Preference::kAny) return random_.unit();
  const auto cpu = static_cast<double>(std::max<Amount>(1, requested_cpu));
  const double key = preference_ == Preference::kWorth         ? worth
                     : preference_ == Preference::kWorthPerCpu ? worth / cpu
                                                               : worth * worth / cpu;
  return key * (1 + kTuning.search.noise * random_.unit());
}

void DestroyAndRepair::place_group(std::size_t group, Neighbourhood& neighbourhood, Trial& trial) {
  const WaitingPods::Group& waiting = waiting_.groups()[group];
  while (!waiting.pods.empty()) {
    TrialPod placed{waiting.pods.back(), waiting.pod_class};
    placed.is_offered = true;
    if (!neighbourhood.put(placed, rule_)) break;
    waiting_.pop(group);
    gangs_.note_placed(placed.pod);
    trial.placed.push_back(std::move(placed));
  }
}

}  // namespace muster::local_search
