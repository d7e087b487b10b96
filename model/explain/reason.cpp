#include "model/explain/reason.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "model/base/code_table.h"
#include "model/problem/problem.h"

namespace muster::explain {

namespace {

constexpr CodeTable<ReasonCode, kReasonCodes> kReasons = {
    {{ReasonCode::kNone, ""},
     {ReasonCode::kSchedulingTimeout, "SchedulingTimeout"},
     {ReasonCode::kHeld, "Held"},
     {ReasonCode::kGated, "Gated"},
     {ReasonCode::kNotEnoughPods, "NotEnoughPods"},
     {ReasonCode::kUnknownQueue, "UnknownQueue"},
     {ReasonCode::kReserved, "Reserved"},
     {ReasonCode::kLimitExceeded, "LimitExceeded"},
     {ReasonCode::kNonPreemptibleOverQuota, "NonPreemptibleOverQuota"},
     {ReasonCode::kNeverFits, "NeverFits"},
     {ReasonCode::kNodeMismatch, "NodeMismatch"},
     {ReasonCode::kInsufficient, "Insufficient"},
     {ReasonCode::kTopologyUnsatisfied, "TopologyUnsatisfied"},
     {ReasonCode::kFragmented, "Fragmented"},
     {ReasonCode::kPodAffinity, "PodAffinity"},
     {ReasonCode::kTopologySpread, "TopologySpread"},
     {ReasonCode::kUndecided, "Undecided"},
     {ReasonCode::kOutOfTime, "OutOfTime"},
     {ReasonCode::kStale, "Stale"},
     {ReasonCode::kReclaimed, "Reclaimed"},
     {ReasonCode::kPreempted, "Preempted"}}};
static_assert(is_in_order(kReasons));

constexpr CodeTable<MakeRoomCode, kMakeRoomCodes> kMakeRooms = {{{MakeRoomCode::kNone, ""},
                                                                 {MakeRoomCode::kNotAllowed, "NotAllowed"},
                                                                 {MakeRoomCode::kPolicy, "Policy"},
                                                                 {MakeRoomCode::kNotEnough, "NotEnough"},
                                                                 {MakeRoomCode::kFairShare, "FairShare"},
                                                                 {MakeRoomCode::kNoShares, "NoShares"},
                                                                 {MakeRoomCode::kPriority, "Priority"},
                                                                 {MakeRoomCode::kProtected, "Protected"},
                                                                 {MakeRoomCode::kDisruptionBudget, "DisruptionBudget"},
                                                                 {MakeRoomCode::kOutranked, "Outranked"},
                                                                 {MakeRoomCode::kUndecided, "Undecided"},
                                                                 {MakeRoomCode::kOutOfTime, "OutOfTime"}}};
static_assert(is_in_order(kMakeRooms));

constexpr std::string_view kInsufficientText = text_of(kReasons, ReasonCode::kInsufficient);

}  // namespace

std::string reason_text(const Reason& reason) {
  if (reason.code == ReasonCode::kInsufficient) return insufficient_text(reason.resource);
  return std::string(text_of(kReasons, reason.code));
}

std::optional<Reason> find_reason(std::string_view text) {
  const auto code = code_of(kReasons, text);
  if (code && code != ReasonCode::kInsufficient) return Reason{*code};
  if (auto resource = insufficient_resource(text)) return Reason{ReasonCode::kInsufficient, *std::move(resource)};
  return std::nullopt;
}

std::string_view make_room_text(MakeRoomCode code) { return text_of(kMakeRooms, code); }

std::optional<MakeRoomCode> find_make_room(std::string_view text) { return code_of(kMakeRooms, text); }

std::string insufficient_text(std::string_view resource) {
  std::string name(resource);
  const bool built_in =
      name == "gpu" || name == "cpu" || name == "memory" || name == "pods" || name == kHostPortResource;
  if (built_in) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return std::string(kInsufficientText) + name;
}

std::optional<std::string> insufficient_resource(std::string_view text) {
  if (!text.starts_with(kInsufficientText)) return std::nullopt;
  const std::string name(text.substr(kInsufficientText.size()));
  std::string small = name;
  if (!small.empty()) small[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(small[0])));
  for (const std::string& resource : {small, name}) {
    if (insufficient_text(resource) == text) return resource;
  }
  return std::nullopt;
}

namespace {

// One pod of each class that waits; none if all are gated.
std::vector<GangNeed> single_needs(const Problem& problem, const Gang& gang, const PodPredicate& waits) {
  std::vector<GangNeed> needs;
  std::vector<std::pair<PodClassIndex, GroupIndex>> seen;
  for (const PodIndex pod : gang.pods) {
    const std::pair key(problem.pods[pod].pod_class, problem.pods[pod].group);
    if (!waits(pod) || std::ranges::find(seen, key) != seen.end() || needs.size() >= kMostNeeds) continue;
    seen.push_back(key);
    needs.push_back(need_of_pods(problem, {pod}));
  }
  if (needs.empty()) needs.push_back(need_of_pods(problem, {}));
  return needs;
}

void append(std::string& key, std::int64_t value) {
  key += std::to_string(value);
  key += ',';
}

}  // namespace

ReasonSubject reason_subject(const Problem& problem, const AfterPlan& end, GangIndex index, bool left_over) {
  const Gang& gang = problem.gangs[index];
  ReasonSubject subject{.gang = index, .left_over = left_over, .need = {}, .others = {}, .wholes = {}};
  const auto status = [&](PodIndex pod) { return problem.pods[pod].status; };
  const PodPredicate succeeded = [&](PodIndex pod) { return status(pod) == PodStatus::kSucceeded; };
  const PodPredicate has = [&](PodIndex pod) { return end.is_present(pod) || succeeded(pod); };
  const PodPredicate waits = [&](PodIndex pod) {
    return !end.is_present(pod) && (status(pod) == PodStatus::kPending || status(pod) == PodStatus::kRunning);
  };
  if (left_over) {
    subject.others = needs_of_minimum(problem, index, has, waits);
    subject.wholes = needs_of_minimum(problem, index, succeeded, [&](PodIndex pod) {
      return status(pod) == PodStatus::kPending || status(pod) == PodStatus::kRunning ||
             status(pod) == PodStatus::kGated;
    });
  }
  if (!left_over || (subject.others.front().possible && subject.others.front().pods == 0)) {
    subject.others = single_needs(problem, gang, waits);  // surplus, or a minimum of none: any pod
    subject.wholes = subject.others;
  }
  subject.need = subject.others.front();
  subject.has_present = std::ranges::any_of(gang.pods, [&](PodIndex pod) { return end.is_present(pod); });
  subject.has_topology = requires_level(problem, gang);
  for (const GangNeed& need : subject.others) {
    subject.has_anti_affinity = subject.has_anti_affinity || has_anti_affinity(problem, need);
  }
  return subject;
}

std::string signature(const Problem& problem, const ReasonSubject& subject) {
  const Gang& gang = problem.gangs[subject.gang];
  if (subject.has_topology && (subject.has_present || gang.groups.size() > 1)) return "";
  if (subject.has_present && subject.left_over) return "";
  std::string key;
  append(key, gang.queue.value());
  append(key, gang.priority);
  append(key, gang.preemptible);
  append(key, gang.preemption_policy == PreemptionPolicy::kNever);
  append(key, subject.left_over);
  append(key, problem.groups[gang.root].required_level.value());
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
  append(key, gang.min_resources.gpu);
  for (const Amount amount : gang.min_resources.amounts) append(key, amount);
  return key;
}

std::optional<std::array<std::uint64_t, 8>> plain_signature(const Problem& problem, const AfterPlan& end,
                                                            GangIndex index) {
  const Gang& gang = problem.gangs[index];
  if (gang.groups.size() > 1 || gang.pods.empty() || !gang.times.may_start() || !gang.min_resources.amounts.empty())
    return std::nullopt;
  const PodClassIndex pod_class = problem.pods[gang.pods.front()].pod_class;
  const bool are_equal = std::ranges::all_of(gang.pods, [&](PodIndex pod) {
    const Pod& p = problem.pods[pod];
    return p.pod_class == pod_class && p.status == PodStatus::kPending && !end.is_present(pod);
  });
  if (!are_equal) return std::nullopt;
  const Group& root = problem.groups[gang.root];
  return std::array<std::uint64_t, 8>{gang.queue.value(),
                                      static_cast<std::uint32_t>(gang.priority),
                                      gang.preemptible,
                                      static_cast<std::uint64_t>(gang.preemption_policy),
                                      root.required_level.value(),
                                      pod_class.value(),
                                      gang.pods.size(),
                                      static_cast<std::uint32_t>(root.minimum)};
}

}  // namespace muster::explain
