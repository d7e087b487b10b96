// What one plan decides differently from another: for `muster diff` and `muster what-if`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/text_table.h"
#include "io/muster_v1/plan_line.h"
#include "model/base/error_code.h"
#include "model/problem/problem.h"
#include "solver/portfolio/portfolio.h"

namespace muster::cli {

// A plan by its names alone, so that plans of different snapshots can be compared.
struct ComparedPlan {
  muster_v1::ReadPlan plan;  // `named` is filled in, `plan` of it is not
  // By pod, of the pods that the plan places or evicts. If no snapshot gives the gang of a pod, it is the gang of the
  // plan line whose name is the longest one that the pod's name begins with; a pod without one is left out.
  std::map<std::string, std::string, std::less<>> gang_of;
};

// Of a plan line; an error record is a plan, too. `problem`: of its snapshot, for the gangs of pods; may be null.
// Errors: those of read_plan. Cost: O(line), and O(pods) with a problem.
Result<ComparedPlan> compared_plan(std::string_view line, const Problem* problem);
// Of a plan that was not written. Cost: that of writing and reading its line.
ComparedPlan compared_plan(const Problem& problem, const portfolio::Solution& solution);

// What a plan does with a pod. kNone: the pod stays where it is, or waits.
enum class PodAction : std::uint8_t { kNone, kStart, kMove, kEvict };

// From the first plan to the second.
enum class PodChange : std::uint8_t {
  kStarted,
  kNotStarted,
  kEvicted,
  kNotEvicted,
  kMoved,
  kNotMoved,
  kOtherNode,
  kOtherGpus,
  kOtherEviction,  // another reason, or for another gang
  kOtherOrder      // it waits for other pods, or another step
};
inline constexpr std::size_t kPodChanges = static_cast<std::size_t>(PodChange::kOtherOrder) + 1;

struct PlanDifference {
  struct Action {
    PodAction action = PodAction::kNone;
    std::string node, from;  // where it starts; where it ran
    std::vector<muster_v1::NamedPlan::Device> devices;
    std::vector<std::string> after;
    std::int64_t step = 0;
    std::string reason, for_gang;  // of an eviction or a move
  };
  struct Pod {
    std::string name, gang;  // gang empty: unknown
    PodChange change = PodChange::kStarted;
    Action before, after;
  };
  struct GangState {
    std::string phase;  // empty: the plan line does not list the gang
    std::string reason;
    std::int64_t running = 0, placed = 0, evicted = 0, pending = 0;
    std::optional<Nanoseconds> expected_start;
  };
  struct Gang {
    std::string name;  // empty: of pods whose gang is unknown
    GangState before, after;
    std::int64_t pods_changed = 0;
    std::vector<std::int64_t> changes;  // how many pods, by PodChange
  };
  struct Queue {
    std::string name, resource;  // gpu, cpu or memory
    std::optional<Decimal> allocated_before, allocated_after, share_before, share_after;
  };
  enum class Better : std::uint8_t { kNeither, kBefore, kAfter, kUnknown };  // unknown: the levels are not the same
  struct Level {
    std::string name;
    std::optional<std::int32_t> priority;
    std::optional<Decimal> before, after, bound_before, bound_after;  // none: the plan has no such level, or no bound
    Better better = Better::kNeither;
  };
  // About each plan as a whole; empty or none if it does not state it.
  struct Side {
    std::string id, error;  // the snapshot's; the code of an error record
    std::string origin, proof;
    std::optional<double> elapsed_ms;
    bool deadline_missed = false;
  };

  Side before, after;
  std::vector<Gang> gangs;    // that differ; those with the most changed pods first, then by name
  std::vector<Pod> pods;      // in the order of `gangs`, then by change, then by name
  std::vector<Level> levels;  // all of both plans, in the order of the first
  std::vector<Queue> queues;  // whose allocation or fair share differs
  Better better = Better::kNeither;
  std::optional<std::size_t> first_level;  // the position in `levels` of the first whose values differ

  // No decision, phase, reason, count of a gang or value of a level differs. Messages, bounds, expected starts and
  // timings may.
  bool is_empty() const;
  // Adds fields and tables with the keys of docs/cli.md, "muster diff". The short form limits the rows.
  void write(AnswerDocument& document) const;
};

// Cost: O(n log n) in the lengths of both plans.
PlanDifference difference_of(const ComparedPlan& before, const ComparedPlan& after);

}  // namespace muster::cli
