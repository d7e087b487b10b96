// How a cycle divides its budget: what each stage gets, and how much time the stages need to be worth beginning.
//
// Computed once at the beginning of a cycle from the size of the problem, the learnt rates and model/base/tuning.h.
// Pure: it reads no clock. All times are in milliseconds; a part is in 0 .. 1, of the time left when its stage begins.
// A cycle without a clock (deterministic) has an hour and is limited by counted work and trials instead; its parts are
// of those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/tuning.h"
#include "solver/budget/milp_parts.h"

namespace muster {

// What the time plan knows of a problem. An item is a pod or a node.
struct InstanceSize {
  std::int64_t pods = 0, nodes = 0, gangs = 0;
  std::int64_t occupied_nodes = 0;  // on which pods run
  std::int64_t leaving = 0;         // pods that may be evicted or moved
  bool may_move = false;            // some pods may be moved
  std::int64_t kinds = 0;  // of gangs, as a choice of victims tells them apart; 0 if nothing can be evicted for others

  std::int64_t items() const { return pods + nodes; }
  bool is_large() const { return items() > kTuning.size.large; }
  // By what runs on them.
  bool nodes_differ() const { return occupied_nodes > static_cast<std::int64_t>(kTuning.size.many_kinds); }
};

// What earlier cycles took, for a problem of this size (solver/budget/forecast.h).
struct LearntTimes {
  double end = 0;           // from the end of the last engine: the referee, the report
  double checking = 0;      // of it, what reads a plan once
  double stopping = 0;      // for greedy, from when it is asked to stop
  double greedy_start = 0;  // greedy's first start
  double first_plan = 0;    // the MILP engine, until its first better plan
  double choice = 0;        // choosing beside greedy, likewise
};

struct TimeBudget {
  double ms = 0;
  bool has_clock = true;
  bool has_milp = true, has_search = true;  // engines that may follow greedy
  std::int32_t threads = 1;
};

// Greedy's starts. Times are from the beginning of the cycle.
struct GreedyTimes {
  std::int32_t starts = 0;   // orders that are tried; 0: all
  bool first_alone = false;  // the first start gets all threads
  double first_ms = 0;       // until when the first start runs
  double more_ms = 0;        // and the others
  double planned_ms = 0;     // what is planned for all of them; small problems may take more
  double claiming = 1;       // part of a start's time, after which it makes no more room
};

// With less time left, a step is not begun, or the step before it gets that time.
struct StageNeeds {
  double first_plan = 0;   // of the MILP engine; 0: small, so it is always begun
  double first_bound = 0;  // of the same: it gives a bound, if no plan
  double alone = 0;        // until the MILP engine finds little more than a search; 0: small
  double all_gain = 0;     // until it finds nothing more
  double search = 0;       // to begin a search and to finish it
};

// Of the search.
struct SearchTimes {
  std::int64_t most_trials = 0;     // of the searches together, without a clock
  std::int64_t settled_trials = 0;  // of one search, if all levels are proven
};

struct TimePlan {
  bool may_search = true;
  bool is_large = false;
  double whole_ms = 0;
  double end_ms = 0;           // kept for the end, before a plan of this line has been checked
  double glance_ms = 0;        // to report for each gang that there is no time for its reason
  double first_reason_ms = 0;  // to find the first reason; the others follow from it
  std::int64_t milp_work = 0;  // units of WorkLimit, without a clock
  // Where pods may be evicted for others, choosing takes most of the time, and begins next to greedy, which then has
  // one thread. Where they may only be moved, choosing first has found nothing in time that the other engines did not.
  bool chooses_beside_greedy = false;
  GreedyTimes greedy;
  StageNeeds needs;
  SearchTimes search;
  MilpParts milp;

  // Whether the MILP engine would reach no plan: it is left to a search.
  bool is_short_for_milp(double left_ms) const { return left_ms < needs.first_plan; }
  // The MILP engine needs all the time, and no search runs beside it.
  bool is_milp_alone(double left_ms) const { return !may_search || left_ms < needs.alone; }
};

TimePlan make_time_plan(const InstanceSize& size, const LearntTimes& learnt, const TimeBudget& budget);

// What of the time left, without that for the end, the MILP engine leaves to a last search.
double time_for_last_search(const TimePlan& plan, double left_ms);

// The planned milliseconds of each phase, if every stage takes what is planned for it: by the names of `phasesMs`.
// Without a clock: the counted work and trials.
using TimeAllotments = std::vector<std::pair<std::string_view, double>>;
TimeAllotments allotments(const TimePlan& plan, const TimeBudget& budget);

}  // namespace muster
