#include "model/explain/reasons.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "model/base/saturating.h"
#include "model/explain/reasons_plain.h"
#include "model/problem/exceeded.h"

namespace muster {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

// Parts of devices (millionths, up) and MiB that are free on `units_free`.
void add_devices(std::span<const std::int64_t> units_free, DeviceUnits capacity, std::int64_t device_mib,
                 SupplySum& sum) {
  for (const std::int64_t units : units_free) {
    if (units <= 0) continue;
    sum.gpu += static_cast<MicroGpu>((static_cast<Wide>(units) * kMillion + capacity - 1) / capacity);
    if (device_mib > 0) sum.memory_mib += units / kMillion;
  }
}

void add(const SupplySum& part, std::int64_t times, SupplySum& sum) {
  for (std::size_t r = 0; r < part.amounts.size(); ++r) {
    sum.amounts[r] = saturating_add(sum.amounts[r], saturating_multiply(part.amounts[r], times));
  }
  sum.gpu = saturating_add(sum.gpu, saturating_multiply(part.gpu, times));
  sum.memory_mib = saturating_add(sum.memory_mib, saturating_multiply(part.memory_mib, times));
}

// The least of a device's part, in millionths, that one share of the class takes on the nodes that it may use.
MicroGpu least_share(const Problem& problem, const PodClass& pod_class) {
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) return kMillion;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction) return pod_class.gpu.share;
  MicroGpu least = kMillion;
  for (const NodeClass& node_class : problem.node_classes) {
    if (node_class.device_memory_mib < pod_class.gpu.share || node_class.device_memory_mib == 0) continue;
    least = std::min<MicroGpu>(
        least, static_cast<MicroGpu>(static_cast<Wide>(pod_class.gpu.share) * kMillion / node_class.device_memory_mib));
  }
  return least;
}

struct DemandSum {
  std::vector<Amount> amounts;
  MicroGpu gpu = 0;
  std::int64_t memory_mib = 0;
  bool memory_only = true;  // all that ask for devices ask for memory
};

DemandSum demand_of(const Problem& problem, const std::vector<NeedItem>& items) {
  DemandSum sum;
  sum.amounts.assign(problem.resource_count, 0);
  for (const NeedItem& item : items) {
    const PodClass& pod_class = problem.pod_classes[item.pod_class];
    const std::int64_t pods = std::ssize(item.pods);
    for (std::size_t r = 0; r < sum.amounts.size(); ++r) {
      sum.amounts[r] = saturating_add(sum.amounts[r], saturating_multiply(pod_class.request[r], pods));
    }
    if (pod_class.gpu.kind == GpuRequestKind::kNone) continue;
    const std::int64_t shares = saturating_multiply(pods, pod_class.gpu.devices);
    sum.gpu = saturating_add(sum.gpu, saturating_multiply(shares, least_share(problem, pod_class)));
    if (pod_class.gpu.kind == GpuRequestKind::kMemory) {
      sum.memory_mib = saturating_add(sum.memory_mib, saturating_multiply(shares, pod_class.gpu.share));
    } else {
      sum.memory_only = false;
    }
  }
  return sum;
}

// The first resource, GPUs, cpu and memory first and pods last, that is insufficient; empty: none.
std::string first_short(const Problem& problem, const DemandSum& demand, const SupplySum& supply) {
  if (demand.memory_only ? demand.memory_mib > supply.memory_mib : demand.gpu > supply.gpu) return "gpu";
  const auto is_short = [&](ResourceIndex r) {
    return demand.amounts[r.value()] > 0 && demand.amounts[r.value()] > supply.amounts[r.value()];
  };
  if (is_short(kCpu)) return "cpu";
  if (is_short(kMemory)) return "memory";
  for (std::size_t r = kPods.value() + 1; r < problem.resource_count; ++r) {
    const ResourceIndex resource(r);
    if (is_short(resource))
      return resource == device_count_resource(problem) ? "gpu" : std::string(problem.resource_name(resource));
  }
  return is_short(kPods) ? "pods" : "";
}

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

// No reason excludes that it fits: the time budget ended first, or the engine stopped by itself.
constexpr const char *kOutOfTime = "OutOfTime", *kUndecided = "Undecided";
constexpr const char* kMayFit =
    "It may fit: the objective prefers a plan without it, or the engine found no placement.";
bool is_open(std::string_view reason) { return reason == kOutOfTime || reason == kUndecided; }

// Position in the list of reasons, for those that depend on free capacity.
std::size_t rank_of(std::string_view reason) {
  constexpr std::string_view kFirst[] = {"LimitExceeded", "NonPreemptibleOverQuota", "NeverFits", "NodeMismatch"};
  constexpr std::string_view kLast[] = {"TopologyUnsatisfied", "Fragmented", "PodAffinity", "TopologySpread",
                                        "OutOfTime"};
  for (std::size_t i = 0; i < std::size(kFirst); ++i) {
    if (reason == kFirst[i]) return i;
  }
  for (std::size_t i = 0; i < std::size(kLast); ++i) {
    if (reason == kLast[i]) return std::size(kFirst) + 1 + i;
  }
  return reason.empty() ? rank_of(kOutOfTime) : std::size(kFirst);  // of some resource too little
}

void append(std::string& key, std::int64_t value) {
  key += std::to_string(value);
  key += ',';
}

}  // namespace

ReasonTeller::ReasonTeller(const Problem& problem, const FairShares& shares, const AfterPlan& end, bool proven)
    : problem_(problem),
      end_(end),
      proven_(proven),
      room_(RemainingRoom::after(problem, end)),
      empty_(RemainingRoom::empty_cluster(problem)),
      room_maker_({problem, shares, end, room_, [this](PodClassIndex index) { return census(index).total; }, proven}) {
  const SupplySum nothing{std::vector<Amount>(problem.resource_count, 0), 0, 0};
  for (const NodeClass& node_class : problem.node_classes) {
    SupplySum free = nothing;
    for (const NodeIndex node : node_class.nodes) {
      const std::span<const std::int64_t> amounts = room_.free(node);
      for (std::size_t r = 0; r < amounts.size(); ++r) {
        free.amounts[r] = saturating_add(free.amounts[r], std::max<Amount>(amounts[r], 0));
      }
      add_devices(room_.devices(node), problem.device_capacity(node), node_class.device_memory_mib, free);
    }
    free_by_class_.push_back(std::move(free));
    SupplySum capacity = nothing;
    capacity.amounts = as_reported(problem, node_class).capacity;
    capacity.gpu = as_reported(problem, node_class).device_count * kMillion;
    capacity.memory_mib = as_reported(problem, node_class).device_count * node_class.device_memory_mib;
    SupplySum all = nothing;
    add(capacity, std::ssize(node_class.nodes), all);
    capacity_by_class_.push_back(std::move(all));
  }
}

ReasonTeller::Subject ReasonTeller::subject_of(GangIndex index, bool left_over) const {
  const Gang& gang = problem_.gangs[index];
  Subject subject{.gang = index, .left_over = left_over, .need = {}, .others = {}, .wholes = {}};
  const auto status = [&](PodIndex pod) { return problem_.pods[pod].status; };
  const PodPredicate succeeded = [&](PodIndex pod) { return status(pod) == PodStatus::kSucceeded; };
  const PodPredicate has = [&](PodIndex pod) { return end_.is_present(pod) || succeeded(pod); };
  const PodPredicate waits = [&](PodIndex pod) {
    return !end_.is_present(pod) && (status(pod) == PodStatus::kPending || status(pod) == PodStatus::kRunning);
  };
  if (left_over) {
    subject.others = needs_of_minimum(problem_, index, has, waits);
    subject.wholes = needs_of_minimum(problem_, index, succeeded, [&](PodIndex pod) {
      return status(pod) == PodStatus::kPending || status(pod) == PodStatus::kRunning ||
             status(pod) == PodStatus::kGated;
    });
  }
  if (!left_over || (subject.others.front().possible && subject.others.front().pods == 0)) {
    subject.others = single_needs(gang, waits);  // surplus, or a minimum of none: any pod
    subject.wholes = subject.others;
  }
  subject.need = subject.others.front();
  subject.has_present = std::ranges::any_of(gang.pods, [&](PodIndex pod) { return end_.is_present(pod); });
  subject.has_topology = requires_level(problem_, gang);
  for (const GangNeed& need : subject.others) {
    subject.has_anti_affinity = subject.has_anti_affinity || has_anti_affinity(problem_, need);
  }
  return subject;
}

// One pod of each class that waits; none if all are gated.
std::vector<GangNeed> ReasonTeller::single_needs(const Gang& gang, const PodPredicate& waits) const {
  std::vector<GangNeed> needs;
  std::vector<std::pair<PodClassIndex, GroupIndex>> seen;
  for (const PodIndex pod : gang.pods) {
    const std::pair key(problem_.pods[pod].pod_class, problem_.pods[pod].group);
    if (!waits(pod) || std::ranges::find(seen, key) != seen.end() || needs.size() >= kMostNeeds) continue;
    seen.push_back(key);
    needs.push_back(need_of_pods(problem_, {pod}));
  }
  if (needs.empty()) needs.push_back(need_of_pods(problem_, {}));
  return needs;
}

Verdict ReasonTeller::tell(GangIndex gang, bool left_over) {
  if (PlainReason plain = reason_of_gang(problem_, end_, gang); !plain.code.empty())
    return {std::move(plain.code), "", std::move(plain.sentence), {}};
  const auto plain = left_over ? plain_signature(gang) : std::nullopt;
  if (!plain) return tell_subject(subject_of(gang, left_over));
  const auto [number, is_new] = plain_.intern(*plain);
  if (is_new) plain_told_.push_back(tell_subject(subject_of(gang, left_over)));
  return plain_told_[number];
}

Verdict ReasonTeller::tell_in_a_hurry(GangIndex gang, bool left_over) {
  is_hurried_ = true;
  return tell(gang, left_over);
}

bool ReasonTeller::has_counted(GangIndex gang) const {
  return std::ranges::all_of(problem_.gangs[gang].pods,
                             [&](PodIndex pod) { return census_.contains(problem_.pods[pod].pod_class); });
}

std::optional<std::array<std::uint64_t, 8>> ReasonTeller::plain_signature(GangIndex index) const {
  const Gang& gang = problem_.gangs[index];
  if (gang.groups.size() > 1 || gang.pods.empty() || gang.timed_out || !gang.min_resources.empty()) return std::nullopt;
  const PodClassIndex pod_class = problem_.pods[gang.pods.front()].pod_class;
  const bool are_equal = std::ranges::all_of(gang.pods, [&](PodIndex pod) {
    const Pod& p = problem_.pods[pod];
    return p.pod_class == pod_class && p.status == PodStatus::kPending && !end_.is_present(pod);
  });
  if (!are_equal) return std::nullopt;
  const Group& root = problem_.groups[gang.root];
  return std::array<std::uint64_t, 8>{gang.queue.value(),
                                      static_cast<std::uint32_t>(gang.priority),
                                      gang.preemptible,
                                      static_cast<std::uint64_t>(gang.preemption_policy),
                                      root.required_level.value(),
                                      pod_class.value(),
                                      gang.pods.size(),
                                      static_cast<std::uint32_t>(root.minimum)};
}

Verdict ReasonTeller::tell_subject(const Subject& subject) {
  const std::string key = signature(subject);
  if (key.empty()) return decide(subject);
  if (const auto at = told_.find(key); at != told_.end()) return at->second;
  return told_[key] = decide(subject);
}

// Empty: the gang has no equals. Gangs with subgroups that require levels, and those bound to where their pods run,
// have none.
std::string ReasonTeller::signature(const Subject& subject) const {
  const Gang& gang = problem_.gangs[subject.gang];
  if (subject.has_topology && (subject.has_present || gang.groups.size() > 1)) return "";
  if (subject.has_present && subject.left_over) return "";
  std::string key;
  append(key, gang.queue.value());
  append(key, gang.priority);
  append(key, gang.preemptible);
  append(key, gang.preemption_policy == PreemptionPolicy::kNever);
  append(key, subject.left_over);
  append(key, problem_.groups[gang.root].required_level.value());
  for (const std::vector<GangNeed>* needs : {&subject.others, &subject.wholes}) {
    for (const GangNeed& need : *needs) {
      for (const NeedItem& item : need.items) {
        append(key, item.pod_class.value());
        append(key, std::ssize(item.pods));
      }
      key += ';';
    }
    key += '/';
  }
  append(key, gang.min_resources_gpu);
  for (const Amount amount : gang.min_resources) append(key, amount);
  return key;
}

// A reason holds only if it holds whichever of its pods the gang starts with. Of those pods' reasons, the last in the
// list is reported; of several ways to the minimum for which it holds, the way that lacks the fewest pods. "Evictions
// would not help enough" requires that it holds for all of the ways.
Verdict ReasonTeller::decide(const Subject& subject) {
  Told best;
  bool is_never_enough = subject.others.size() < kMostNeeds;
  for (const GangNeed& need : subject.others) {
    Subject choice = subject;
    choice.need = need;
    Told next = decide_choice(choice);
    is_never_enough = is_never_enough && next.verdict.make_room == "NotEnough";
    const bool is_first = &need == &subject.others.front();
    if (is_first || next.is_told_before(best)) best = std::move(next);
    if (is_open(best.verdict.reason)) break;
  }
  if (best.verdict.make_room == "NotEnough" && !is_never_enough) best.verdict.make_room = kUndecided;
  return std::move(best.verdict);
}

bool ReasonTeller::Told::is_told_before(const Told& other) const {
  const auto key = [](const Told& told) {
    return std::tuple(-static_cast<std::int64_t>(rank_of(told.verdict.reason)), told.left, told.of);
  };
  return key(*this) < key(other);
}

ReasonTeller::Told ReasonTeller::decide_choice(const Subject& subject) {
  Told told;
  std::string sentence;
  told.verdict.reason = reason(subject, &sentence);
  const bool fits_already = told.verdict.reason.empty() || is_open(told.verdict.reason);
  if (subject.left_over && !is_hurried_)
    told.verdict.make_room = room_maker_.tell(subject.gang, subject.need, fits_already);
  if (told.verdict.make_room == "DisruptionBudget") {
    sentence += (sentence.empty() ? "" : " ") + room_maker_.tell_budget(subject.gang);
  }
  tell_tally(subject, sentence, told);
  return told;
}

std::string ReasonTeller::reason(const Subject& subject, std::string* sentence) {
  if (PlainReason found = reason_of_queue(problem_, end_, subject.gang, least_usage(problem_, subject.need));
      !found.code.empty()) {
    *sentence = std::move(found.sentence);
    return found.code;
  }
  // Pods may run where no more pods of the gang can be placed, and what is missing may fit next to them.
  const bool fits_beside = subject.has_present && placeable(subject) == Fits::kYes;
  if (!fits_beside && never_fits(subject, false)) {
    *sentence = "It would not fit even if every node were empty.";
    return "NeverFits";
  }
  if (!fits_beside && never_fits(subject, true)) {
    *sentence = "It would not fit on the nodes that it may use, even if they were empty.";
    return "NodeMismatch";
  }
  if (const std::string resource = insufficient(subject); !resource.empty()) {
    *sentence = "The nodes that it may use have too little free " + resource + " in total.";
    return insufficient_code(resource);
  }
  if (const std::string resource = short_of_min_resources(subject); !resource.empty()) {
    *sentence = "minResources requests more " + resource + " than the nodes that its pods may use have free in total.";
    return insufficient_code(resource);
  }
  std::string code = packing_reason(subject, sentence);
  if (is_open(code)) code = company_reason(subject, std::move(code));
  if (code == "PodAffinity") *sentence = "It would fit, but not where its pod affinity allows it.";
  if (code == "TopologySpread") *sentence = "It would fit, but not where its topology spread constraints allow it.";
  if (code == "Fragmented") *sentence = "Enough is free in total, but not where it is needed.";
  if (!is_open(code)) return code;
  if (!problem_.snapshot->policy.actions.place) {  // no reason of the list: the policy places nothing
    *sentence = "The actions of the policy do not include place.";
    return "";
  }
  *sentence = code == kOutOfTime ? "Undetermined: the time budget ran out." : kMayFit;
  return code;
}

// Sums, pod by pod counts and, for mixed gangs, a packing and a bounded search: true is a proof.
bool ReasonTeller::never_fits(const Subject& subject, bool with_filters) {
  return std::ranges::all_of(subject.wholes,
                             [&](const GangNeed& whole) { return never_fits(subject.gang, whole, with_filters); });
}

bool ReasonTeller::never_fits(GangIndex gang, const GangNeed& whole, bool with_filters) {
  for (const NeedItem& item : whole.items) {
    if (count_when_empty(item.pod_class, with_filters) < std::ssize(item.pods)) return true;
  }
  const bool exclusive = with_filters && has_anti_affinity(problem_, whole);
  if (whole.items.size() == 1 && !exclusive) return false;
  if (!first_short(problem_, demand_of(problem_, whole.items), supply(classes_of(whole), true, with_filters)).empty())
    return true;
  if (!may_pack()) return false;
  const PackingRules rules{
      .filters = with_filters, .topology = false, .anti_affinity = with_filters};
  const std::size_t mark = empty_.mark();
  Packer packer(problem_, nullptr, empty_, rules);
  const std::int64_t left = packer.pack(whole, problem_.gangs[gang].root).left;
  empty_.roll_back(mark);
  visits_ += packer.visits();
  if (left == 0 || whole.pods > kSearchPods) return false;
  visits_ += kSearchSteps / 4;
  return search_fit(problem_, whole, nullptr, empty_, rules, kSearchSteps) == Fits::kNo;
}

// Of the pods, each class by itself and all together.
std::string ReasonTeller::insufficient(const Subject& subject) {
  std::string first;
  const auto rank = [&](const std::string& name) {
    for (std::size_t r = kPods.value() + 1; r < problem_.resource_count; ++r) {
      if (problem_.resource_name(ResourceIndex(r)) == name) return r;
    }
    return name == "gpu" ? 0 : name == "cpu" ? 1 : name == "memory" ? 2 : std::numeric_limits<std::size_t>::max();
  };
  const auto consider = [&](const std::string& name) {
    if (!name.empty() && (first.empty() || rank(name) < rank(first))) first = name;
  };
  for (const NeedItem& item : subject.need.items) {
    consider(first_short(problem_, demand_of(problem_, {item}), class_supply(item.pod_class)));
  }
  if (subject.need.items.size() > 1) {
    consider(
        first_short(problem_, demand_of(problem_, subject.need.items), supply(classes_of(subject.need), false, true)));
  }
  return first;
}

// The resources of minResources that are short before any pod of the gang starts.
std::string ReasonTeller::short_of_min_resources(const Subject& subject) const {
  const Gang& gang = problem_.gangs[subject.gang];
  if (!subject.left_over || has_started(problem_, end_, gang) ||
      (gang.min_resources.empty() && gang.min_resources_gpu == 0))
    return "";
  DemandSum wanted;
  wanted.memory_only = false;
  wanted.gpu = gang.min_resources_gpu;
  wanted.amounts = gang.min_resources;
  wanted.amounts.resize(problem_.resource_count, 0);
  std::vector<PodClassIndex> classes;
  for (const PodIndex pod : gang.pods) classes.push_back(problem_.pods[pod].pod_class);
  std::ranges::sort(classes);
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return first_short(problem_, wanted, supply(classes, false, true));
}

std::string ReasonTeller::packing_reason(const Subject& subject, std::string* sentence) {
  const Fits fits = placeable(subject);
  if (fits == Fits::kNo) return "Fragmented";
  if (subject.has_topology && subject.has_present) {
    if (std::string conflict = topology_conflict(problem_, end_, subject.gang, subject.need); !conflict.empty()) {
      *sentence = std::move(conflict);
      return "TopologyUnsatisfied";
    }
  }
  const bool is_decided = proven_ && !is_hurried_;
  if (fits == Fits::kUnknown) return is_decided ? "Fragmented" : kOutOfTime;
  const std::string undecided = is_decided ? kUndecided : kOutOfTime;
  if (!subject.has_topology || !may_pack()) return undecided;
  const std::size_t mark = room_.mark();
  Packer packer(problem_, &end_, room_, PackingRules{});
  const std::int64_t left = packer.pack(subject.need, problem_.gangs[subject.gang].root).left;
  room_.roll_back(mark);
  visits_ += packer.visits();
  if (left == 0) return undecided;
  const bool is_exact = subject.need.pods > kSearchPods || subject.need.items.size() == 1;
  if (!is_exact) {
    visits_ += kSearchSteps / 4;
    if (search_fit(problem_, subject.need, &end_, room_, {}, kSearchSteps) == Fits::kYes) return undecided;
  }
  *sentence = "It would fit, but not within one domain of the required level.";
  return "TopologyUnsatisfied";
}

// `open` if the rules of other pods do not exclude it: some node lets one of the pods in, or what is missing could be
// bound there first and open a node.
std::string ReasonTeller::company_reason(const Subject& subject, std::string open) {
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
    const BlockerTally& tally = fresh_tally(item.pod_class);
    if (tally.available() > 0) continue;
    for (const std::string_view code : {"PodAffinity", "TopologySpread"}) {
      if (std::ranges::any_of(tally.blockers(), [&](const Blocker& blocker) { return blocker.code == code; }))
        return std::string(code);
    }
  }
  return open;
}

// Whether it fits in what is free, required levels aside.
Fits ReasonTeller::placeable(const Subject& subject) {
  const GangNeed& need = subject.need;
  if (need.items.size() == 1 && !subject.has_anti_affinity) {
    return census(need.items.front().pod_class).total >= need.pods ? Fits::kYes : Fits::kNo;
  }
  if (!may_pack()) return Fits::kUnknown;
  const PackingRules rules{.filters = true, .topology = false};
  const std::size_t mark = room_.mark();
  Packer packer(problem_, &end_, room_, rules);
  const std::int64_t left = packer.pack(need, problem_.gangs[subject.gang].root).left;
  room_.roll_back(mark);
  visits_ += packer.visits();
  if (left == 0) return Fits::kYes;
  if (need.pods > kSearchPods) return Fits::kUnknown;
  visits_ += kSearchSteps / 4;
  return search_fit(problem_, need, &end_, room_, rules, kSearchSteps);
}

void ReasonTeller::tell_tally(const Subject& subject, const std::string& sentence, Told& told) {
  const GangNeed& need = subject.need;
  if (need.items.empty()) return;
  std::int64_t left = 0;
  BlockerTally tally;
  if (subject.is_simple()) {
    const ClassCensus& counted = census(need.items.front().pod_class);
    left = std::max<std::int64_t>(need.pods - counted.total, 0);
    tally = counted.full;
  } else if (may_pack()) {
    const std::size_t mark = room_.mark();
    Packer packer(problem_, &end_, room_, PackingRules{});
    const Packing packing = packer.pack(need, problem_.gangs[subject.gang].root);
    visits_ += packer.visits() + static_cast<std::int64_t>(problem_.nodes.size());
    left = packing.left;
    const NeedItem* first = nullptr;
    PodIndex first_pod = PodIndex::none();
    for (std::size_t i = 0; i < need.items.size(); ++i) {
      const auto put = static_cast<std::size_t>(packing.put[i]);
      if (put == need.items[i].pods.size() || need.items[i].pods[put] >= first_pod) continue;
      first = &need.items[i];
      first_pod = first->pods[put];
    }
    if (first != nullptr) tally = tally_blockers(problem_, room_, first->pod_class, first->leaf, packing);
    room_.roll_back(mark);
  }
  if (left == 0) {  // room there is: none of them may have it
    left = need.pods;
    tally = fresh_tally(need.items.front().pod_class);
  }
  told.left = left;
  told.of = need.pods;
  told.verdict.blockers = tally.blockers();
  told.verdict.message =
      std::to_string(left) + "/" + std::to_string(need.pods) + " pods of the gang cannot be placed: " + tally.text();
  if (!sentence.empty()) told.verdict.message += " " + sentence;
}

const ReasonTeller::ClassCensus& ReasonTeller::census(PodClassIndex index) {
  const auto [at, is_new] = census_.try_emplace(index);
  if (!is_new) return at->second;
  ClassCensus& counted = at->second;
  const PodClass& pod_class = problem_.pod_classes[index];
  const std::size_t mark = room_.mark();
  const NodeGroups& groups = groups_for(pod_class);
  for (const NodeClassIndex node_class : problem_.node_classes.indices()) {
    if (!pod_class.allowed[node_class.value()]) continue;
    for (const AlikeNodes& alike : groups[node_class]) {
      const std::int64_t pods = room_.count(pod_class, alike.node, kLargest);
      if (pods == 0) continue;
      counted.total = saturating_add(counted.total, saturating_multiply(pods, alike.nodes));
      if (pods < kLargest) room_.put(pod_class, alike.node, pods);
    }
  }
  counted.full = tally_blockers(problem_, room_, index, groups);
  room_.roll_back(mark);
  return counted;
}

const BlockerTally& ReasonTeller::fresh_tally(PodClassIndex index) {
  census(index);
  std::optional<BlockerTally>& fresh = census_[index].fresh;
  if (!fresh) fresh = tally_blockers(problem_, room_, index, groups_for(problem_.pod_classes[index]));
  return *fresh;
}

// Requires that nothing is put into the room except what the snapshot and the plan have.
const NodeGroups& ReasonTeller::groups_for(const PodClass& pod_class) {
  const bool is_plain = !pod_class.has_company_rules();
  NodeGroups& groups = is_plain ? alike_ : single_;
  if (groups.size() == 0) groups = is_plain ? alike_nodes(problem_, room_) : single_nodes(problem_);
  return groups;
}

std::int64_t ReasonTeller::count_when_empty(PodClassIndex index, bool with_filters) {
  const auto [at, is_new] =
      empty_counts_.try_emplace((std::uint64_t{index.value()} << 1U) | std::uint64_t{with_filters}, 0);
  if (!is_new) return at->second;
  const PodClass& pod_class = problem_.pod_classes[index];
  for (const NodeClassIndex node_class_index : problem_.node_classes.indices()) {
    const NodeClass& node_class = problem_.node_classes[node_class_index];
    if (node_class.nodes.empty() || (with_filters && !pod_class.allowed[node_class_index.value()])) continue;
    const std::int64_t pods = empty_.count(pod_class, node_class.nodes.front(), kLargest);
    at->second = saturating_add(at->second, saturating_multiply(pods, std::ssize(node_class.nodes)));
  }
  return at->second;
}

// On the nodes that some class of the list may use.
SupplySum ReasonTeller::supply(const std::vector<PodClassIndex>& classes, bool when_empty, bool with_filters) const {
  SupplySum sum{std::vector<Amount>(problem_.resource_count, 0), 0, 0};
  const std::vector<SupplySum>& parts = when_empty ? capacity_by_class_ : free_by_class_;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool qualifies = !with_filters || std::ranges::any_of(classes, [&](PodClassIndex index) {
      return problem_.pod_classes[index].allowed[i];
    });
    if (qualifies) add(parts[i], 1, sum);
  }
  return sum;
}

const SupplySum& ReasonTeller::class_supply(PodClassIndex pod_class) {
  const auto at = supply_.find(pod_class);
  if (at != supply_.end()) return at->second;
  return supply_[pod_class] = supply({pod_class}, false, true);
}

}  // namespace muster
