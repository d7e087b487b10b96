#include "cli/answers/what_if/answer.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/answers/plan_difference.h"
#include "cli/answers/what_if/outcome.h"
#include "cli/answers/why/gang.h"
#include "model/base/words.h"
#include "model/objective/wholeness.h"
#include "model/snapshot/unread.h"

namespace muster::cli {
namespace {

constexpr std::size_t kMostNames = 4;

// Of the cluster once a plan is carried out.
struct ClusterState {
  Decimal gpus, allocated;  // in millionths
  WholeNodeCount whole_nodes;
  std::int64_t placed = 0, evicted = 0, moved = 0;  // pods; moves are neither of the others
  std::int64_t waiting = 0;                         // gangs that do not have their minimum
};

// Whether gangs have their minimum once the plan is carried out, by name.
using Admitted = std::unordered_map<std::string_view, bool>;

Admitted admitted_by(const answers::Run& run) {
  Admitted admitted;
  for (const Gang& gang : run.problem.gangs) admitted.emplace(gang.name, true);
  for (const explain::GangReport& report : run.solution.report.gangs)
    admitted[run.problem.gangs[report.gang].name] = run.admits(report.gang);
  return admitted;
}

ClusterState state_after(const answers::Run& run, const Admitted& admitted) {
  ClusterState state;
  state.gpus = {run.problem.total[kQueueGpu], 1'000'000};
  state.allocated.scale = 1'000'000;
  for (const explain::QueueReport& queue : run.solution.report.queues) {
    if (run.problem.queues[queue.queue].parent.is_none()) state.allocated.value += queue.allocated[kQueueGpu];
  }
  state.whole_nodes = whole_nodes_after(run.problem, run.solution.plan);
  const std::vector<Eviction>& evictions = run.solution.plan.evictions;
  state.moved = std::ranges::count(evictions, EvictionReason::kConsolidate, &Eviction::reason);
  state.evicted = std::ssize(evictions) - state.moved;
  state.placed = std::ssize(run.solution.plan.placements) - state.moved;
  state.waiting = std::ranges::count(admitted, false, &Admitted::value_type::second);
  return state;
}

std::string proof_text(const answers::Run& run) {
  const portfolio::Solution& solution = run.solution;
  if (solution.proof == Proof::kOptimal) return fmt::format("optimal{}", scope_of_proof(run.snapshot->anomalies));
  if (solution.proof == Proof::kWithinGap) return fmt::format("within {:.3g} % of the best", 100 * solution.gap);
  return "not proven";
}

// Hundredths of a percent, down.
Cell utilisation(const ClusterState& state) {
  if (state.gpus.value <= 0) return {};
  const double share = static_cast<double>(state.allocated.value) / static_cast<double>(state.gpus.value);
  const Decimal percent{static_cast<std::int64_t>(std::floor(share * 1e4)), 100};
  return Cell(percent).shown_as(value_text(percent) + " %");
}

Cell whole_nodes_cell(const WholeNodeCount& count) {
  return Cell(count.whole).shown_as(fmt::format("{} of {}", count.whole, count.of));
}

Table cluster_table(const WhatIf& what_if, const ClusterState& before, const ClusterState& after) {
  Table table{.key = "cluster",
              .title = "Cluster",
              .columns = {{"what", ""}, {"before", "BEFORE", Align::kRight}, {"after", "AFTER", Align::kRight}}};
  const auto add = [&](const char* key, const char* words, Cell first, Cell second) {
    table.rows.push_back({Cell(key).shown_as(words), std::move(first), std::move(second)});
  };
  const portfolio::Solution &first = what_if.before.solution, &second = what_if.after.solution;
  add("gpus", "GPUs", before.gpus, after.gpus);
  add("gpusAllocated", "GPUs allocated", before.allocated, after.allocated);
  add("gpuUtilisation", "GPU utilisation", utilisation(before), utilisation(after));
  add("wholeNodesIdle", "whole nodes idle", whole_nodes_cell(before.whole_nodes), whole_nodes_cell(after.whole_nodes));
  add("podsPlaced", "pods placed", before.placed, after.placed);
  add("podsEvicted", "pods evicted", before.evicted, after.evicted);
  add("podsMoved", "pods moved", before.moved, after.moved);
  add("gangsWaiting", "gangs that wait", before.waiting, after.waiting);
  add("proof", "proof", Cell(proof_name(first.proof)).shown_as(proof_text(what_if.before)),
      Cell(proof_name(second.proof)).shown_as(proof_text(what_if.after)));
  if (first.gap > 0 || second.gap > 0) add("gap", "gap", first.gap, second.gap);
  if (!what_if.has_timings) return table;
  const auto time = [](double ms) { return Cell(ms).shown_as(fmt::format("{:.3g} s", ms / 1000)); };
  add("ms", "time", time(what_if.before_ms), time(what_if.after_ms));
  return table;
}

// Gangs of both plans that have their minimum after one of them only, in the order of the names; gangs that are
// submitted or removed are not among them, nor are those that are evicted for one that is submitted.
struct Shift {
  GangOutcome::Counts more, evicted, fewer;
};

Shift shift_of(const WhatIf& what_if, const Admitted& before, const Admitted& after,
               const std::vector<GangOutcome>& outcomes) {
  std::unordered_set<std::string_view> evicted, told;
  for (const explain::GangReport& report : what_if.after.solution.report.gangs) {
    if (report.evicted > 0) evicted.insert(what_if.after.problem.gangs[report.gang].name);
  }
  for (const GangOutcome& outcome : outcomes) {
    for (const auto& [name, pods] : outcome.evicted) told.insert(name);
  }
  Shift shift;
  for (const auto& [name, is_admitted] : before) {
    const auto other = after.find(name);
    if (other == after.end() || other->second == is_admitted || told.contains(name)) continue;
    GangOutcome::Counts& list = !is_admitted ? shift.more : evicted.contains(name) ? shift.evicted : shift.fewer;
    list.emplace_back(name, 1);
  }
  for (GangOutcome::Counts* list : {&shift.more, &shift.evicted, &shift.fewer}) std::ranges::sort(*list);
  return shift;
}

// What becomes of the gangs that are in the cluster: "1 gang more would have room (a), 2 gangs would be evicted (b,
// c)".
std::string text_of(const Shift& shift) {
  std::string text;
  const auto add = [&](const GangOutcome::Counts& gangs, const char* what) {
    if (gangs.empty()) return;
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", counted(std::ssize(gangs), "gang"), what,
                        names_text(gangs, kMostNames));
  };
  add(shift.more, "more would have room");
  add(shift.evicted, "would be evicted");
  add(shift.fewer, "would no longer have room");
  return text;
}

// "All 3 gangs would start", "1 of 3 gangs would not start: ml/a (too few free GPUs)".
std::string sentence_of(const std::vector<GangOutcome>& outcomes) {
  if (outcomes.size() == 1) return sentence_of(outcomes.front());
  GangOutcome::Counts stuck;
  for (const GangOutcome& outcome : outcomes) {
    const std::string& why = outcome.obstacle.words.empty() ? outcome.phase : outcome.obstacle.words;
    if (!outcome.starts) stuck.emplace_back(fmt::format("{} ({})", outcome.name, why), 1);
  }
  if (stuck.empty()) return fmt::format("All {} gangs would start", outcomes.size());
  return fmt::format("{} of {} gangs would not start: {}", stuck.size(), outcomes.size(),
                     names_text(stuck, kMostNames));
}

std::string answer_text(const WhatIf& what_if, const std::vector<GangOutcome>& outcomes, const Shift& shift,
                        bool is_equal) {
  const bool is_optimal = what_if.after.solution.proof == Proof::kOptimal;
  const std::string proof = (is_optimal ? "proven " : "the plan is ") + proof_text(what_if.after);
  if (what_if.changed.changes.empty()) return fmt::format("No change was given, so nothing changes; {}.", proof);
  const std::string others = text_of(shift);
  if (!outcomes.empty())
    return fmt::format("{}{}; {}.", sentence_of(outcomes), others.empty() ? "" : "; " + others, proof);
  if (!others.empty()) return fmt::format("With the change, {}; {}.", others, proof);
  if (is_equal) return fmt::format("Nothing changes: both plans decide the same; {}.", proof);
  return fmt::format("The same gangs have room, but the plans differ; {}.", proof);
}

}  // namespace

WhatIfAnswer what_if_answer(const WhatIf& what_if) {
  const Admitted before = admitted_by(what_if.before), after = admitted_by(what_if.after);
  const PlanDifference difference = difference_of(compared_plan(what_if.before.problem, what_if.before.solution),
                                                  compared_plan(what_if.after.problem, what_if.after.solution));
  const std::vector<GangOutcome> outcomes = outcomes_of(what_if.after, what_if.changed.submitted);

  WhatIfAnswer answer{AnswerDocument("whatIf"), std::ranges::all_of(outcomes, &GangOutcome::starts)};
  AnswerDocument& document = answer.document;
  document.add_note(answer_text(what_if, outcomes, shift_of(what_if, before, after, outcomes), difference.is_empty()),
                    answer.starts ? Meaning::kGood : Meaning::kBad);
  const ChangedCluster& changed = what_if.changed;
  document.add_field("changes", "Changes",
                     Cell(changed.changes).shown_as(fmt::format("{}", fmt::join(changed.changes, " "))));
  if (!changed.from_stdin.empty()) document.add_field("stdin", "Stdin", changed.from_stdin, Shown::kText);
  if (!changed.objects.empty()) document.add_field("submittedObjects", "", changed.objects, Shown::kJson);
  for (const std::string& remark : what_if.changed.remarks) document.add_note(remark, Meaning::kDim);
  add_outcomes(outcomes, document);
  if (what_if.remedies) {
    if (outcomes.size() > 1) document.add_note(fmt::format("What would start {}:", what_if.remedies->gang));
    write_remedies(what_if.remedies->answer, *what_if.after.snapshot, document);
  }
  document.add_table(cluster_table(what_if, state_after(what_if.before, before), state_after(what_if.after, after)));
  difference.write(document);
  return answer;
}

}  // namespace muster::cli
