// Which of the reasons of docs/semantics.md ("Reasons") that depend on the nodes keeps a gang pending.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/explain/blockers.h"
#include "model/explain/reason.h"
#include "model/explain/reasons_packing.h"
#include "model/explain/reasons_plain.h"
#include "model/explain/remaining_capacity.h"
#include "model/explain/supply_sums.h"
#include "model/problem/problem.h"

namespace muster::explain {

// No reason excludes that it fits: the time budget ended first, or the engine stopped by itself.
inline bool is_open(ReasonCode reason) { return reason == ReasonCode::kOutOfTime || reason == ReasonCode::kUndecided; }

// What could be placed if every node were empty.
class EmptyCluster {
 public:
  // Both outlive the object.
  EmptyCluster(const Problem& problem, VisitBudget& budget)
      : problem_(problem),
        remaining_(RemainingCapacity::empty_cluster(problem)),
        budget_(budget),
        trial_(problem, nullptr, remaining_, budget) {}
  EmptyCluster(const EmptyCluster&) = delete;
  EmptyCluster& operator=(const EmptyCluster&) = delete;

  // By sums, pod by pod counts and, for mixed gangs, a packing and a bounded search: true is a proof. `with_filters`:
  // only on nodes that the pods may use, and with anti-affinity. Cost: O(node classes) for each pod class, once; and
  // that of a trial, as long as the budget lasts.
  bool never_fits(GangIndex gang, const GangNeed& whole, const SupplySums& supplies, bool with_filters);
  // Which of its pods finds no room, and why: ": a pod requests 99 gpu, and no node has more than 8". Empty if that
  // concerns no pod by itself.
  std::string details(const GangNeed& whole, bool with_filters);

 private:
  bool counts(const PodClass& pod_class, NodeClassIndex node_class, bool with_filters) const;
  std::string excess(PodClassIndex pod_class, bool with_filters) const;
  std::int64_t count(PodClassIndex pod_class, bool with_filters);

  const Problem& problem_;
  RemainingCapacity remaining_;
  VisitBudget& budget_;
  FitTrial trial_;
  std::unordered_map<std::uint64_t, std::int64_t> counts_;  // by pod class and `with_filters`
};

// The reasons for the cluster as the plan leaves it, in the order of their list; the first that holds is reported.
// Limits and quotas of queues are not considered. Cost: O(nodes) for each pod class, once, and that of trials, as long
// as the budget lasts.
class FitReasons {
 public:
  struct Parts {
    const Problem& problem;
    const AfterPlan& end;
    RemainingCapacity& remaining;  // what is free after the plan; used as working memory, and restored
    PodCensus& census;             // of the same
    VisitBudget& budget;
    bool proven = false;  // the work levels are
  };
  // All parts outlive the object.
  explicit FitReasons(const Parts& parts);
  FitReasons(const FitReasons&) = delete;
  FitReasons& operator=(const FitReasons&) = delete;

  // The code, and a sentence for people. kNone: the policy places nothing.
  Reason reason(const ReasonSubject& subject, std::string* sentence);

 private:
  bool never_fits(const ReasonSubject& subject, bool with_filters);
  std::string mismatch_details(const ReasonSubject& subject);
  PlainReason reason_of_holds(const ReasonSubject& subject);
  std::string insufficient(const ReasonSubject& subject);
  std::string short_of_min_resources(const ReasonSubject& subject) const;
  ReasonCode packing_reason(const ReasonSubject& subject, std::string* sentence);
  ReasonCode inter_pod_reason(const ReasonSubject& subject, ReasonCode open);
  Fits placeable(const ReasonSubject& subject);
  GroupIndex root_of(const ReasonSubject& subject) const { return problem_.gangs[subject.gang].root; }

  const Problem& problem_;
  const AfterPlan& end_;
  PodCensus& census_;
  VisitBudget& budget_;
  bool proven_;
  SupplySums supplies_;
  EmptyCluster empty_;
  FitTrial trial_;
};

}  // namespace muster::explain
