#include "model/explain/fit_reasons.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/base/saturating.h"
#include "model/base/words.h"
#include "model/explain/alike_victims.h"
#include "model/problem/exceeded.h"

namespace muster::explain {
namespace {

std::vector<PodClassIndex> classes_of(const GangNeed& need) {
  std::vector<PodClassIndex> classes;
  for (const NeedItem& item : need.items) classes.push_back(item.pod_class);
  return classes;
}

// Some pod of the gang runs or has succeeded: `minResources` requires nothing any more.
bool has_started(const Problem& problem, const AfterPlan& end, const Gang& gang) {
  return std::ranges::any_of(gang.pods, [&](PodIndex pod) {
    return end.is_present(pod) || problem.pods[pod].status == PodStatus::kSucceeded;
  });
}

// Of the pods, if all are of one: " of subgroup a".
std::string of_subgroup(const Problem& problem, const NeedItem& item) {
  const auto group_of = [&](PodIndex pod) { return problem.pods[pod].group; };
  const GroupIndex group = group_of(item.pods.front());
  const bool is_one = std::ranges::all_of(item.pods, [&](PodIndex pod) { return group_of(pod) == group; });
  const std::string_view name = subgroup_name(problem, group);
  return !is_one || name.empty() ? std::string() : " of subgroup " + std::string(name);
}

constexpr const char* kMayFit =
    "It may fit: the objective prefers a plan without it, or the engine found no placement.";

}  // namespace

std::int64_t EmptyCluster::count(PodClassIndex index, bool with_filters) {
  const auto [at, is_new] = counts_.try_emplace((std::uint64_t{index.value()} << 1U) | std::uint64_t{with_filters}, 0);
  if (!is_new) return at->second;
  const PodClass& pod_class = problem_.pod_classes[index];
  for (const NodeClassIndex node_class_index : problem_.node_classes.indices()) {
    const NodeClass& node_class = problem_.node_classes[node_class_index];
    if (!counts(pod_class, node_class_index, with_filters)) continue;
    const std::int64_t pods = remaining_.count(pod_class, node_class.nodes.front(), kLargest);
    at->second = saturating_add(at->second, saturating_multiply(pods, std::ssize(node_class.nodes)));
  }
  return at->second;
}

bool EmptyCluster::counts(const PodClass& pod_class, NodeClassIndex node_class, bool with_filters) const {
  return !problem_.node_classes[node_class].nodes.empty() &&
         (!with_filters || passes_unless_held(problem_, pod_class, node_class));
}

std::string EmptyCluster::details(const GangNeed& whole, bool with_filters) {
  for (const NeedItem& item : whole.items) {
    const std::int64_t fitting = count(item.pod_class, with_filters);
    if (fitting >= std::ssize(item.pods)) continue;
    const std::string of = of_subgroup(problem_, item);
    if (fitting > 0) {
      return ": of the " + counted(std::ssize(item.pods), "pod") + of + " that it needs, " + std::to_string(fitting) +
             " would find room";
    }
    const std::string too_much = excess(item.pod_class, with_filters);
    return too_much.empty() ? ": no node has all that a pod" + of + " requests"
                            : ": a pod" + of + " requests " + too_much;
  }
  return "";
}

// The first thing of which a pod requests more than any node has; empty: none by itself.
std::string EmptyCluster::excess(PodClassIndex index, bool with_filters) const {
  const PodClass& pod_class = problem_.pod_classes[index];
  std::vector<Amount> most(problem_.resource_count, 0);
  std::int64_t devices = 0, memory_mib = 0;
  for (const NodeClassIndex node_class_index : problem_.node_classes.indices()) {
    if (!counts(pod_class, node_class_index, with_filters)) continue;
    const NodeClass& node_class = problem_.node_classes[node_class_index];
    devices = std::max<std::int64_t>(devices, node_class.device_count);
    memory_mib = std::max(memory_mib, node_class.device_memory_mib);
    for (std::size_t r = 0; r < most.size(); ++r) most[r] = std::max(most[r], node_class.capacity[r]);
  }
  const GpuRequest& gpu = pod_class.gpu;
  const std::string than = ", and no node has more than ";
  if (gpu.devices > devices) return counted(gpu.devices, "GPU") + than + std::to_string(devices);
  if (gpu.kind == GpuRequestKind::kMemory && gpu.share > memory_mib) {
    const std::string most_of_it =
        memory_mib == 0 ? ", and no node states the memory of its GPUs" : than + std::to_string(memory_mib) + " MiB";
    return std::to_string(gpu.share) + " MiB of a GPU" + most_of_it;
  }
  const auto is_more = [&](ResourceIndex r) { return pod_class.request[r.value()] > most[r.value()]; };
  const std::array listed{kCpu, kMemory, kPods};
  const auto found = std::ranges::find_if(listed, is_more);
  const ResourceIndex resource = found == listed.end() ? first_other(problem_, is_more) : *found;
  if (resource.is_none()) return "";  // a host port is on every node
  return amount_words(resource, pod_class.request[resource.value()]) + " " +
         std::string(problem_.resource_name(resource)) + than + amount_words(resource, most[resource.value()]);
}

bool EmptyCluster::never_fits(GangIndex gang, const GangNeed& whole, const SupplySums& supplies, bool with_filters) {
  for (const NeedItem& item : whole.items) {
    if (count(item.pod_class, with_filters) < std::ssize(item.pods)) return true;
  }
  const bool exclusive = with_filters && has_anti_affinity(problem_, whole);
  if (whole.items.size() == 1 && !exclusive) return false;
  const SupplySum capacity = supplies.capacity(classes_of(whole), with_filters);
  if (!first_short(problem_, demand_of(problem_, whole.items), capacity).empty()) return true;
  if (budget_.is_spent()) return false;
  const PackingRules rules{.filters = with_filters, .holds = false, .topology = false, .anti_affinity = with_filters};
  return trial_.fits(whole, problem_.gangs[gang].root, rules) == Fits::kNo;
}

FitReasons::FitReasons(const Parts& parts)
    : problem_(parts.problem),
      end_(parts.end),
      census_(parts.census),
      budget_(parts.budget),
      proven_(parts.proven),
      supplies_(parts.problem, parts.remaining),
      empty_(parts.problem, parts.budget),
      trial_(parts.problem, &parts.end, parts.remaining, parts.budget) {}

Reason FitReasons::reason(const ReasonSubject& subject, std::string* sentence) {
  // Pods may run where no more pods of the gang can be placed, and what is missing may fit next to them.
  const bool fits_beside = subject.has_present && placeable(subject) == Fits::kYes;
  if (!fits_beside && never_fits(subject, false)) {
    *sentence = "It would not fit even if every node were empty" + empty_.details(subject.wholes.front(), false) + ".";
    return {ReasonCode::kNeverFits};
  }
  if (!fits_beside && never_fits(subject, true)) {
    *sentence =
        "It would not fit on the nodes that it may use, even if they were empty" + mismatch_details(subject) + ".";
    return {ReasonCode::kNodeMismatch};
  }
  if (PlainReason found = reason_of_holds(subject); found.code != ReasonCode::kNone) {
    *sentence = std::move(found.sentence);
    return {found.code};
  }
  if (const std::string resource = insufficient(subject); !resource.empty()) {
    *sentence = "The nodes that it may use have too little free " + resource + " in total.";
    return {ReasonCode::kInsufficient, resource};
  }
  if (const std::string resource = short_of_min_resources(subject); !resource.empty()) {
    *sentence = "minResources requests more " + resource + " than the nodes that its pods may use have free in total.";
    return {ReasonCode::kInsufficient, resource};
  }
  ReasonCode code = packing_reason(subject, sentence);
  if (is_open(code)) code = inter_pod_reason(subject, code);
  if (code == ReasonCode::kPodAffinity) *sentence = "It would fit, but not where its pod affinity allows it.";
  if (code == ReasonCode::kTopologySpread)
    *sentence = "It would fit, but not where its topology spread constraints allow it.";
  if (code == ReasonCode::kFragmented) *sentence = "Enough is free in total, but not where it is needed.";
  if (!is_open(code)) return {code};
  if (!problem_.snapshot->policy.actions.place) {  // no reason of the list: the policy places nothing
    *sentence = "The actions of the policy do not include place.";
    return {};
  }
  *sentence = code == ReasonCode::kOutOfTime ? "Undetermined: the time budget ran out." : kMayFit;
  return {code};
}

// That no node lets a pod in is what the tally says.
std::string FitReasons::mismatch_details(const ReasonSubject& subject) {
  const GangNeed& whole = subject.wholes.front();
  const auto has_nodes = [&](const NeedItem& item) {
    return std::ranges::any_of(problem_.node_classes.indices(), [&](NodeClassIndex node_class) {
      return passes_unless_held(problem_, problem_.pod_classes[item.pod_class], node_class);
    });
  };
  return std::ranges::all_of(whole.items, has_nodes) ? empty_.details(whole, true) : std::string();
}

bool FitReasons::never_fits(const ReasonSubject& subject, bool with_filters) {
  return std::ranges::all_of(subject.wholes, [&](const GangNeed& whole) {
    return empty_.never_fits(subject.gang, whole, supplies_, with_filters);
  });
}

// It does not fit, and would if no node were held.
PlainReason FitReasons::reason_of_holds(const ReasonSubject& subject) {
  for (const NodeClassIndex node_class : problem_.node_classes.indices()) {
    const GangIndex holder = problem_.node_classes[node_class].held_for;
    const auto is_closed = [&](const NeedItem& item) {
      return is_closed_by_hold(problem_, problem_.pod_classes[item.pod_class], node_class);
    };
    if (holder.is_none() || std::ranges::none_of(subject.need.items, is_closed)) continue;
    if (budget_.is_spent() || placeable(subject) != Fits::kNo) return {};
    const PackingRules without_holds{.filters = true, .holds = false, .topology = false};
    if (trial_.fits(subject.need, root_of(subject), without_holds) != Fits::kYes) return {};
    return reason_of_hold(problem_, subject.gang, holder);
  }
  return {};
}

// Of the pods, each class by itself and all together.
std::string FitReasons::insufficient(const ReasonSubject& subject) {
  std::string first;
  const auto rank = [](const std::string& name) {
    return std::pair(name == "gpu" ? 0 : name == "cpu" ? 1 : name == "memory" ? 2 : name == "pods" ? 4 : 3, name);
  };
  const auto consider = [&](const std::string& name) {
    if (!name.empty() && (first.empty() || rank(name) < rank(first))) first = name;
  };
  for (const NeedItem& item : subject.need.items) {
    consider(first_short(problem_, demand_of(problem_, {item}), supplies_.free_for(item.pod_class)));
  }
  if (subject.need.items.size() > 1) {
    consider(first_short(problem_, demand_of(problem_, subject.need.items), supplies_.free(classes_of(subject.need))));
  }
  return first;
}

// The resources of minResources that are short before any pod of the gang starts.
std::string FitReasons::short_of_min_resources(const ReasonSubject& subject) const {
  const Gang& gang = problem_.gangs[subject.gang];
  if (!subject.left_over || has_started(problem_, end_, gang) || !gang.asks_for_min_resources()) return "";
  DemandSum wanted;
  wanted.memory_only = false;
  wanted.gpu = gang.min_resources.gpu;
  wanted.amounts = gang.min_resources.amounts;
  wanted.amounts.resize(problem_.resource_count, 0);
  std::vector<PodClassIndex> classes;
  for (const PodIndex pod : gang.pods) classes.push_back(problem_.pods[pod].pod_class);
  std::ranges::sort(classes);
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return first_short(problem_, wanted, supplies_.free(classes));
}

ReasonCode FitReasons::packing_reason(const ReasonSubject& subject, std::string* sentence) {
  const Fits fits = placeable(subject);
  if (fits == Fits::kNo) return ReasonCode::kFragmented;
  if (subject.has_topology && subject.has_present) {
    if (std::string conflict = topology_conflict(problem_, end_, subject.gang, subject.need); !conflict.empty()) {
      *sentence = std::move(conflict);
      return ReasonCode::kTopologyUnsatisfied;
    }
  }
  const bool is_decided = proven_ && !budget_.is_closed();
  if (fits == Fits::kUnknown) return is_decided ? ReasonCode::kFragmented : ReasonCode::kOutOfTime;
  const ReasonCode undecided = is_decided ? ReasonCode::kUndecided : ReasonCode::kOutOfTime;
  if (!subject.has_topology || budget_.is_spent()) return undecided;
  // Packing decides for pods of one class.
  const bool fits_within = subject.need.items.size() == 1
                               ? trial_.packs(subject.need, root_of(subject), {})
                               : trial_.fits(subject.need, root_of(subject), {}) == Fits::kYes;
  if (fits_within) return undecided;
  *sentence = "It would fit, but not within one domain of the required level.";
  return ReasonCode::kTopologyUnsatisfied;
}

// `open` if the rules of other pods do not exclude it: some node lets one of the pods in, or what is missing could be
// bound there first and open a node.
ReasonCode FitReasons::inter_pod_reason(const ReasonSubject& subject, ReasonCode open) {
  if (!problem_.has_ordered_rules()) return open;
  for (const NeedItem& item : subject.need.items) {
    const PodClass& pod_class = problem_.pod_classes[item.pod_class];
    if (pod_class.affinity.is_none() && pod_class.spread_owned.empty()) continue;
    const auto helps = [&](const NeedItem& other) {
      const PodClass& other_class = problem_.pod_classes[other.pod_class];
      const bool is_alone = &other == &item && other.pods.size() == 1;
      return !is_alone && (!other_class.affinity_matched.empty() || !other_class.spread_matched.empty());
    };
    if (std::ranges::any_of(subject.need.items, helps)) continue;
    const BlockerTally& tally = census_.fresh_tally(item.pod_class);
    if (tally.available() > 0) continue;
    if (tally.charges(FilterCode::kPodAffinity)) return ReasonCode::kPodAffinity;
    if (tally.charges(FilterCode::kTopologySpread)) return ReasonCode::kTopologySpread;
  }
  return open;
}

// Whether it fits in what is free, required levels aside.
Fits FitReasons::placeable(const ReasonSubject& subject) {
  const GangNeed& need = subject.need;
  if (need.items.size() == 1 && !subject.has_anti_affinity) {
    return census_.of(need.items.front().pod_class).total >= need.pods ? Fits::kYes : Fits::kNo;
  }
  if (budget_.is_spent()) return Fits::kUnknown;
  return trial_.fits(need, root_of(subject), {.filters = true, .topology = false});
}

}  // namespace muster::explain
