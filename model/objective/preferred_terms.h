// Preferred pod affinity and anti-affinity, and topology spread with ScheduleAnyway: what they add to the level
// `preference`, as pods come and leave.
//
// Each preferred term keeps by domain how many pods match it, and the work of the placed pods that have it; those that
// match it themselves are kept apart, since a pod does not count for itself.
#pragma once

#include <cstdint>
#include <vector>

#include "model/base/saturating.h"
#include "model/problem/problem.h"

namespace muster {

class PreferenceTally {
 public:
  explicit PreferenceTally(const Problem& problem);

  // The pod comes to the node, or leaves it. `placed`: its work if the plan places it there, 0 if it runs there. Cost:
  // O(preferred terms that it has or matches), and O(domains) for each spread that it matches.
  void count(const PodClass& pod_class, NodeIndex node, Work placed, bool put);

  // Of the pods that are there, in hundredths of their work.
  std::int64_t value() const { return saturate(total_); }
  // What a pod of the class would gain on the node, in hundredths of its work.
  std::int64_t points(const PodClass& pod_class, NodeIndex node) const;

 private:
  struct InDomain {
    std::int32_t matching = 0;             // pods that match
    Wide work = 0, work_that_matches = 0;  // of placed pods that have the term: without, with a match of it
  };
  struct Counts {
    std::vector<InDomain> domains;           // the last is no domain
    std::vector<std::int32_t> domains_with;  // kEven: by number of matching pods, how many domains have that number
    std::int32_t least = 0;                  // kEven: pods that match in the emptiest domain
  };
  std::size_t position_of(PreferredTermIndex preferred_term, NodeIndex node) const;
  Wide worth(PreferredTermIndex preferred_term, std::size_t position) const;
  void count_match(PreferredTermIndex preferred_term, NodeIndex node, bool put);
  static void follow_least(Counts& counts, std::int32_t before, std::int32_t now);

  const Problem* problem_;
  Indexed<PreferredTermIndex, Counts> counts_;
  Wide total_ = 0;
};

}  // namespace muster
