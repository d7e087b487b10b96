// Pods: names, the gang and group they belong to, where they are and since when.
#include <algorithm>

#include "model/build_problem_stages.h"
#include "model/saturating.h"

namespace muster {
namespace {

bool is_on_node(PodStatus status) { return status == PodStatus::kRunning || status == PodStatus::kReleasing; }

Failure find_group(const ProblemDraft& draft, PodIndex index, Pod& pod) {
  const SnapshotPod& source = draft.snapshot.pods[index.value()];
  const Gang& gang = draft.problem.gangs[pod.gang];
  const bool has_subgroups = !draft.problem.groups[gang.root].is_leaf();
  pod.group = gang.root;
  if (source.subgroup.empty()) {
    if (!has_subgroups) return {};
    return name_error("MissingSubgroup", path_to("pods", index.value(), "subgroup"),
                      "a pod of a gang with subgroups names one of them; gang", gang.name);
  }
  const std::uint32_t found = draft.subgroups.find(source.subgroup, pod.gang.value());
  if (found == NameTable::kAbsent) {
    return name_error("UnknownSubgroup", path_to("pods", index.value(), "subgroup"), "the gang has no subgroup",
                      source.subgroup);
  }
  pod.group = GroupIndex(found);
  if (draft.problem.groups[pod.group].is_leaf()) return {};
  return name_error("InnerSubgroup", path_to("pods", index.value(), "subgroup"),
                    "pods name subgroups without subgroups, unlike", source.subgroup);
}

// Finds each pod's gang; mostly the one of the pod before, which costs no look-up.
class GangFinder {
 public:
  explicit GangFinder(ProblemDraft& draft) : draft_(draft) {}

  Failure find(PodIndex index, Pod& pod) {
    const SnapshotPod& source = draft_.snapshot.pods[index.value()];
    if (source.gang.empty()) {
      pod.gang = GangIndex(draft_.problem.gangs.size());
      return add_own_gang(draft_, index);
    }
    if (source.gang != last_name_ || last_.is_none()) {
      const std::uint32_t found = draft_.gangs.find(source.gang);
      if (found == NameTable::kAbsent) {
        return name_error("UnknownGang", path_to("pods", index.value(), "gang"), "there is no gang", source.gang);
      }
      last_name_ = source.gang;
      last_ = GangIndex(found);
    }
    pod.gang = last_;
    return {};
  }

 private:
  ProblemDraft& draft_;
  std::string_view last_name_;
  GangIndex last_;
};

Failure set_node(const ProblemDraft& draft, PodIndex index, Pod& pod) {
  const SnapshotPod& source = draft.snapshot.pods[index.value()];
  if (is_on_node(pod.status)) {
    if (source.node.empty()) {
      return name_error("MissingKey", path_to("pods", index.value(), "node"),
                        "a pod that runs or is releasing names its node:", source.name);
    }
    const std::uint32_t found = draft.nodes.find(source.node);
    if (found == NameTable::kAbsent) {
      return name_error("UnknownNode", path_to("pods", index.value(), "node"), "there is no node", source.node);
    }
    pod.node = NodeIndex(found);
  } else if (!source.node.empty() && (pod.status == PodStatus::kPending || pod.status == PodStatus::kGated)) {
    return name_error("InvalidValue", path_to("pods", index.value(), "status"),
                      "a pod that is pending or gated has no node:", source.name);
  }
  // A nominated node that is gone is an everyday matter: the pod is as one that has none.
  const std::uint32_t nominated =
      source.nominated_node.empty() ? NameTable::kAbsent : draft.nodes.find(source.nominated_node);
  if (nominated != NameTable::kAbsent) pod.nominated_node = NodeIndex(nominated);
  return {};
}

// A pod that does not say when it started is taken to have started now.
void set_run_time(const ProblemDraft& draft, PodIndex index, Pod& pod) {
  if (!is_on_node(pod.status)) return;
  const Nanoseconds now = draft.snapshot.time;
  const Nanoseconds started = draft.snapshot.pods[index.value()].started.value_or(now);
  pod.run_time = std::max<Nanoseconds>(0, saturating_subtract(now, started));
  pod.run_seconds = std::max<std::int64_t>(1, pod.run_time / kNanosecondsPerSecond);
}

void reserve_own_gangs(ProblemDraft& draft) {
  const auto own = static_cast<std::size_t>(
      std::ranges::count_if(draft.snapshot.pods, [](const SnapshotPod& pod) { return pod.gang.empty(); }));
  draft.problem.gangs.reserve(draft.problem.gangs.size() + own);
  draft.problem.groups.reserve(draft.problem.groups.size() + own);
  draft.is_own_gang.reserve(draft.is_own_gang.size() + own);
}

}  // namespace

Failure build_pods(ProblemDraft& draft) {
  Problem& problem = draft.problem;
  const std::vector<SnapshotPod>& sources = draft.snapshot.pods;
  problem.pods.resize(sources.size());
  reserve_own_gangs(draft);
  NameTable names;
  names.reserve(sources.size());
  GangFinder gang_finder(draft);
  for (const PodIndex index : problem.pods.indices()) {
    const SnapshotPod& source = sources[index.value()];
    if (!names.insert(source.name, index.value()).second) {
      return name_error("DuplicateName", path_to("pods", index.value(), "name"), "there already is a pod", source.name);
    }
    Pod& pod = problem.pods[index];
    pod.status = source.status;
    if (Failure failure = gang_finder.find(index, pod)) return failure;
    if (Failure failure = find_group(draft, index, pod)) return failure;
    if (Failure failure = set_node(draft, index, pod)) return failure;
    set_run_time(draft, index, pod);
    problem.gangs[pod.gang].pods.push_back(index);
    problem.groups[pod.group].pods.push_back(index);
  }
  return {};
}

}  // namespace muster
