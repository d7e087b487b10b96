// Pods: names, their gang and group, where they run and since when.
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <span>

#include "model/base/parallel.h"
#include "model/base/saturating.h"
#include "model/build/stages.h"

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
    return name_error(ErrorCode::kMissingSubgroup, path_to("pods", index.value(), "subgroup"),
                      "a pod must name a subgroup of its gang", gang.name);
  }
  const std::uint32_t found = draft.subgroups.find(source.subgroup, pod.gang.value());
  if (found == NameTable::kAbsent) {
    return name_error(ErrorCode::kUnknownSubgroup, path_to("pods", index.value(), "subgroup"), "unknown subgroup",
                      source.subgroup);
  }
  pod.group = GroupIndex(found);
  if (draft.problem.groups[pod.group].is_leaf()) return {};
  return name_error(ErrorCode::kInnerSubgroup, path_to("pods", index.value(), "subgroup"),
                    "a pod must name a leaf subgroup, which this is not:", source.subgroup);
}

// What a pod's names refer to; kAbsent if it has no such name, or if nothing has that name.
struct Named {
  bool has_gang = false;
  std::uint32_t gang = NameTable::kAbsent;  // of a pod that names none: what is named as the pod itself
  std::uint32_t node = NameTable::kAbsent, nominated_node = NameTable::kAbsent;
};

// Finds objects by name; mostly the one of the previous pod, which costs no look-up.
class Finder {
 public:
  explicit Finder(const NameTable& table) : table_(table) {}

  std::uint32_t find(std::string_view name) {
    if (name.empty()) return NameTable::kAbsent;
    if (name != last_name_) last_ = table_.find(last_name_ = name);
    return last_;
  }

 private:
  const NameTable& table_;
  std::string_view last_name_;
  std::uint32_t last_ = NameTable::kAbsent;
};

// By links, of which each is verified; those that do not hold are replaced by look-ups.
class LinkFinder {
 public:
  explicit LinkFinder(const ProblemDraft& draft) : draft_(draft), links_(*draft.links) {}

  Named find(PodIndex index) const {
    const SnapshotPod& source = draft_.snapshot.pods[index.value()];
    const PodLinks& links = links_.pods[index.value()];
    const auto node = [&](std::uint32_t number, std::string_view name) {
      return follow(number, links_.node_at, name, draft_.snapshot.nodes, draft_.nodes);
    };
    return {!source.gang.empty(), follow(links.gang, links_.gang_at, source.gang, draft_.snapshot.gangs, draft_.gangs),
            is_on_node(source.status) ? node(links.node, source.node) : NameTable::kAbsent,
            node(links.nominated_node, source.nominated_node)};
  }

 private:
  template <class Element>
  static std::uint32_t follow(std::uint32_t number, const std::vector<std::uint32_t>& positions, std::string_view name,
                              const std::vector<Element>& list, const NameTable& table) {
    if (name.empty()) return NameTable::kAbsent;
    const std::uint32_t at = number == PodLinks::kNothing ? number : positions[number];
    return at != PodLinks::kNothing && list[at].name == name ? at : table.find(name);
  }

  const ProblemDraft& draft_;
  const SnapshotLinks& links_;
};

void find_names(const ProblemDraft& draft, IndexRange<PodIndex> range, Indexed<PodIndex, Named>& out) {
  if (draft.links != nullptr) {
    const LinkFinder finder(draft);
    for (const PodIndex index : range) out[index] = finder.find(index);
    return;
  }
  Finder gangs(draft.gangs), nodes(draft.nodes), nominated_nodes(draft.nodes);
  for (const PodIndex index : range) {
    const SnapshotPod& source = draft.snapshot.pods[index.value()];
    out[index] = {!source.gang.empty(), source.gang.empty() ? draft.gangs.find(source.name) : gangs.find(source.gang),
                  is_on_node(source.status) ? nodes.find(source.node) : NameTable::kAbsent,
                  nominated_nodes.find(source.nominated_node)};
  }
}

Failure set_gang(ProblemDraft& draft, PodIndex index, const Named& named, Pod& pod) {
  const SnapshotPod& source = draft.snapshot.pods[index.value()];
  if (!named.has_gang) {
    if (named.gang != NameTable::kAbsent) {
      return name_error(ErrorCode::kDuplicateName, path_to("pods", index.value(), "name"),
                        "a pod without a gang has the same name as a gang:", source.name);
    }
    pod.gang = GangIndex(draft.problem.gangs.size());
    return add_own_gang(draft, index);
  }
  if (named.gang == NameTable::kAbsent)
    return name_error(ErrorCode::kUnknownGang, path_to("pods", index.value(), "gang"), "unknown gang", source.gang);
  pod.gang = GangIndex(named.gang);
  return {};
}

Failure set_node(const ProblemDraft& draft, PodIndex index, const Named& named, Pod& pod) {
  const SnapshotPod& source = draft.snapshot.pods[index.value()];
  if (is_on_node(pod.status)) {
    if (source.node.empty()) {
      return name_error(ErrorCode::kMissingKey, path_to("pods", index.value(), "node"),
                        "a running or releasing pod must name its node:", source.name);
    }
    if (named.node == NameTable::kAbsent)
      return name_error(ErrorCode::kUnknownNode, path_to("pods", index.value(), "node"), "unknown node", source.node);
    pod.node = NodeIndex(named.node);
  } else if (!source.node.empty() && (pod.status == PodStatus::kPending || pod.status == PodStatus::kGated)) {
    return name_error(ErrorCode::kInvalidValue, path_to("pods", index.value(), "status"),
                      "a pending or gated pod must not have a node:", source.name);
  }
  // A nominated node that no longer exists is common: the pod counts as one without a nomination.
  if (named.nominated_node != NameTable::kAbsent) pod.nominated_node = NodeIndex(named.nominated_node);
  return {};
}

// A pod without a start time counts as started now.
void set_run_time(const ProblemDraft& draft, PodIndex index, Pod& pod) {
  if (!is_on_node(pod.status)) return;
  const Nanoseconds now = draft.snapshot.time;
  const Nanoseconds started = draft.snapshot.pods[index.value()].started.value_or(now);
  pod.run_time = std::max<Nanoseconds>(0, saturating_subtract(now, started));
  pod.run_seconds = std::max<std::int64_t>(1, pod.run_time / kNanosecondsPerSecond);
}

// Position of the first pod with the name of an earlier one; the number of pods if there is none. The slot of a name is
// prefetched: there are more slots than the caches hold.
std::size_t first_repeated_name(const BlockVector<SnapshotPod>& pods) {
  constexpr std::uint32_t kFree = ~std::uint32_t{0};
  constexpr std::size_t kAhead = 16;
  std::vector<std::size_t> hashes;
  hashes.reserve(pods.size());
  for (const SnapshotPod& pod : pods) hashes.push_back(std::hash<std::string_view>()(pod.name));
  std::vector<std::uint32_t> slots(std::bit_ceil(2 * pods.size() + 1), kFree);  // open addressing, linear probing
  const std::size_t mask = slots.size() - 1;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    if (i + kAhead < pods.size()) __builtin_prefetch(&slots[hashes[i + kAhead] & mask], 1);
    std::size_t at = hashes[i] & mask;
    for (; slots[at] != kFree; at = (at + 1) & mask) {
      if (hashes[slots[at]] == hashes[i] && pods[slots[at]].name == pods[i].name) return i;
    }
    slots[at] = static_cast<std::uint32_t>(i);
  }
  return pods.size();
}

void reserve_own_gangs(ProblemDraft& draft, const Indexed<PodIndex, Named>& named) {
  Problem& problem = draft.problem;
  const auto own = static_cast<std::size_t>(std::ranges::count(named, false, &Named::has_gang));
  problem.gangs.reserve(problem.gangs.size() + own);
  problem.groups.reserve(problem.groups.size() + own);
  draft.is_own_gang.reserve(draft.is_own_gang.size() + own);
}

// The pods of each owner one after another, ascending, and for each owner where its own are.
template <class Owners, class OwnerOf>
std::vector<PodIndex> list_pods(const Indexed<PodIndex, Pod>& pods, Owners& owners, const OwnerOf& owner_of) {
  std::vector<std::uint32_t> ends(owners.size() + 1, 0);
  for (const Pod& pod : pods) ++ends[owner_of(pod).value() + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<PodIndex> listed(pods.size());
  for (const PodIndex pod : pods.indices()) listed[ends[owner_of(pods[pod]).value()]++] = pod;
  std::uint32_t begin = 0;
  for (const auto owner : owners.indices()) {
    owners[owner].pods = std::span(listed).subspan(begin, ends[owner.value()] - begin);
    begin = ends[owner.value()];
  }
  return listed;
}

}  // namespace

Failure build_pods(ProblemDraft& draft) {
  Problem& problem = draft.problem;
  const BlockVector<SnapshotPod>& sources = draft.snapshot.pods;
  problem.pods.resize(sources.size());
  Indexed<PodIndex, Named> named(sources.size());
  std::size_t repeated = sources.size();
  const std::size_t ranges = ranges_for(sources.size(), draft.threads);
  parallel_for(1 + ranges, draft.threads, [&](std::size_t task) {
    if (task == 0)
      repeated = draft.links != nullptr ? sources.size() : first_repeated_name(sources);
    else
      find_names(draft, range_of<PodIndex>(sources.size(), task - 1, ranges), named);
  });
  reserve_own_gangs(draft, named);
  for (const PodIndex index : problem.pods.indices()) {
    const SnapshotPod& source = sources[index.value()];
    if (index.value() == repeated) {
      return name_error(ErrorCode::kDuplicateName, path_to("pods", index.value(), "name"), "duplicate pod",
                        source.name);
    }
    Pod& pod = problem.pods[index];
    pod.status = source.status;
    if (Failure failure = set_gang(draft, index, named[index], pod)) return failure;
    if (Failure failure = find_group(draft, index, pod)) return failure;
    if (Failure failure = set_node(draft, index, named[index], pod)) return failure;
    set_run_time(draft, index, pod);
  }
  problem.lists.pods_by_gang = list_pods(problem.pods, problem.gangs, [](const Pod& pod) { return pod.gang; });
  problem.lists.pods_by_group = list_pods(problem.pods, problem.groups, [](const Pod& pod) { return pod.group; });
  return {};
}

}  // namespace muster
