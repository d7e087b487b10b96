#include "model/explain/reasons.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "model/explain/reasons_plain.h"

namespace muster::explain {
namespace {

// Position in the list of reasons, for those that depend on free capacity.
ReasonCode rank_of(ReasonCode reason) {
  if (reason == ReasonCode::kNone) return ReasonCode::kOutOfTime;
  return reason == ReasonCode::kUndecided ? ReasonCode::kInsufficient : reason;
}

// The resources that keep the pod off nodes; none if gpu, cpu or memory do somewhere. These have shares, and so have
// MIG slices, as parts of gpu.
std::vector<std::string> short_without_shares(const std::vector<Blocker>& blockers) {
  std::vector<std::string> resources;
  for (const Blocker& blocker : blockers) {
    switch (blocker.filter.code) {
      case FilterCode::kInsufficientGpu:
      case FilterCode::kInsufficientCpu:
      case FilterCode::kInsufficientMemory:
        return {};
      case FilterCode::kInsufficientPods:
        resources.emplace_back("pods");
        break;
      case FilterCode::kInsufficient:
        if (mig_slice_work(blocker.filter.resource) > 0) return {};
        resources.push_back(blocker.filter.resource);
        break;
      default:
        break;
    }
  }
  return resources;
}

// No reason excludes that it fits.
bool may_fit(ReasonCode reason) { return reason == ReasonCode::kNone || is_open(reason); }

}  // namespace

ReasonTeller::ReasonTeller(const Problem& problem, const FairShares& shares, const AfterPlan& end, bool proven)
    : problem_(problem),
      end_(end),
      remaining_(RemainingCapacity::after(problem, end)),
      census_(problem, remaining_),
      reasons_({problem, end, remaining_, census_, budget_, proven}),
      room_maker_({problem, shares, end, remaining_, [this](PodClassIndex index) { return census_.of(index).total; },
                   proven}) {}

Verdict ReasonTeller::tell(GangIndex gang, bool left_over) {
  if (PlainReason plain = reason_of_gang(problem_, end_, gang); plain.code != ReasonCode::kNone)
    return {{plain.code}, MakeRoomCode::kNone, std::move(plain.sentence), {}};
  const auto plain = left_over ? plain_signature(problem_, end_, gang) : std::nullopt;
  if (!plain) return tell_subject(reason_subject(problem_, end_, gang, left_over));
  const auto [number, is_new] = plain_.intern(*plain);
  if (is_new) plain_told_.push_back(tell_subject(reason_subject(problem_, end_, gang, left_over)));
  return plain_told_[number];
}

Verdict ReasonTeller::tell_in_a_hurry(GangIndex gang, bool left_over) {
  budget_.close();
  return tell(gang, left_over);
}

bool ReasonTeller::has_counted(GangIndex gang) const {
  return std::ranges::all_of(problem_.gangs[gang].pods,
                             [&](PodIndex pod) { return census_.has(problem_.pods[pod].pod_class); });
}

Verdict ReasonTeller::tell_subject(const ReasonSubject& subject) {
  const std::string key = signature(problem_, subject);
  if (key.empty()) return decide(subject);
  if (const auto at = told_.find(key); at != told_.end()) return at->second;
  return told_[key] = decide(subject);
}

// A reason holds only if it holds whichever of its pods the gang starts with. Of those pods' reasons, the last in the
// list is reported; of several ways to the minimum for which it holds, the way that lacks the fewest pods. "Evictions
// would not help enough" requires that it holds for all of the ways.
Verdict ReasonTeller::decide(const ReasonSubject& subject) {
  Reported best;
  bool is_never_enough = subject.others.size() < kMostNeeds;
  for (const GangNeed& need : subject.others) {
    ReasonSubject choice = subject;
    choice.need = need;
    Reported next = decide_choice(choice);
    is_never_enough = is_never_enough && next.verdict.make_room == MakeRoomCode::kNotEnough;
    const bool is_first = &need == &subject.others.front();
    if (is_first || next.is_told_before(best)) best = std::move(next);
    if (is_open(best.verdict.reason.code)) break;
  }
  if (best.verdict.make_room == MakeRoomCode::kNotEnough && !is_never_enough)
    best.verdict.make_room = MakeRoomCode::kUndecided;
  return std::move(best.verdict);
}

bool ReasonTeller::Reported::is_told_before(const Reported& other) const {
  const auto key = [](const Reported& told) {
    return std::tuple(-static_cast<std::int64_t>(rank_of(told.verdict.reason.code)), told.left, told.of);
  };
  return key(*this) < key(other);
}

// A limit or a quota is the reason if nothing else keeps the gang from starting; else what does is the reason, and the
// bound is mentioned. Without time, the bound is the reason.
Reason ReasonTeller::reason(const ReasonSubject& subject, std::string& sentence) {
  PlainReason bound = reason_of_queue(problem_, end_, subject.gang, subject.need);
  if (bound.code == ReasonCode::kNone) return reasons_.reason(subject, &sentence);
  if (!budget_.is_closed()) {
    const Reason other = reasons_.reason(subject, &sentence);
    if (!may_fit(other.code) && !room_maker_.could_start_without_bounds(subject.gang, subject.need)) {
      constexpr std::string_view kWould = " would";
      sentence += " " + bound.sentence.insert(bound.sentence.rfind(kWould) + kWould.size(), " also");
      return other;
    }
  }
  sentence = std::move(bound.sentence);
  return {bound.code};
}

ReasonTeller::Reported ReasonTeller::decide_choice(const ReasonSubject& subject) {
  Reported told;
  std::string sentence;
  told.verdict.reason = reason(subject, sentence);
  const bool fits_already = may_fit(told.verdict.reason.code);
  if (subject.left_over && !budget_.is_closed())
    told.verdict.make_room = room_maker_.tell(subject.gang, subject.need, fits_already);
  if (told.verdict.make_room == MakeRoomCode::kDisruptionBudget) {
    sentence += (sentence.empty() ? "" : " ") + room_maker_.tell_budget();
  }
  tell_tally(subject, sentence, told);
  if (told.verdict.make_room == MakeRoomCode::kFairShare && room_maker_.keeps_own_shares())
    tell_missing_shares(told.verdict);
  return told;
}

void ReasonTeller::tell_missing_shares(Verdict& verdict) {
  const std::vector<std::string> resources = short_without_shares(verdict.blockers);
  if (resources.empty()) return;
  verdict.make_room = MakeRoomCode::kNoShares;
  std::string names;
  for (const std::string& resource : resources) names += (names.empty() ? "" : ", ") + resource;
  verdict.message += " Evictions from other queues would make room, but shares of " + names +
                     " are not counted: only gpu, cpu and memory have quotas and fair shares.";
}

void ReasonTeller::tell_tally(const ReasonSubject& subject, const std::string& sentence, Reported& told) {
  const GangNeed& need = subject.need;
  if (need.items.empty()) return;
  std::int64_t left = 0;
  BlockerTally tally = tally_of(subject, &left);
  if (left == 0) {  // room there is: none of them may have it
    left = need.pods;
    tally = census_.fresh_tally(need.items.front().pod_class);
  }
  told.left = left;
  told.of = need.pods;
  told.verdict.blockers = tally.blockers();
  told.verdict.message =
      std::to_string(left) + "/" + std::to_string(need.pods) + " pods of the gang cannot be placed: " + tally.text();
  if (!sentence.empty()) told.verdict.message += " " + sentence;
}

// Once as many pods as can be are placed: how many are left, and what keeps the first of them off the nodes. None is
// left if the budget does not suffice.
BlockerTally ReasonTeller::tally_of(const ReasonSubject& subject, std::int64_t* left) {
  const GangNeed& need = subject.need;
  if (subject.is_simple()) {
    const PodCensus::ClassCount& counted = census_.of(need.items.front().pod_class);
    *left = std::max<std::int64_t>(need.pods - counted.total, 0);
    return counted.full;
  }
  if (budget_.is_spent()) return {};
  const std::size_t mark = remaining_.mark();
  Packer packer(problem_, &end_, remaining_, PackingRules{});
  const Packing packing = packer.pack(need, problem_.gangs[subject.gang].root);
  budget_.spend(packer.visits() + static_cast<std::int64_t>(problem_.nodes.size()));
  *left = packing.left;
  const NeedItem* first = nullptr;
  PodIndex first_pod = PodIndex::none();
  for (std::size_t i = 0; i < need.items.size(); ++i) {
    const auto put = static_cast<std::size_t>(packing.put[i]);
    if (put == need.items[i].pods.size() || need.items[i].pods[put] >= first_pod) continue;
    first = &need.items[i];
    first_pod = first->pods[put];
  }
  BlockerTally tally;
  if (first != nullptr) tally = tally_blockers(problem_, remaining_, first->pod_class, first->leaf, packing);
  remaining_.roll_back(mark);
  return tally;
}

}  // namespace muster::explain
