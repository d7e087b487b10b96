// `muster what-if`: the plan of a cluster that is changed, before it is changed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/answers/answers.h"
#include "cli/answers/changes.h"
#include "cli/answers/outcome.h"
#include "cli/answers/plan_difference.h"
#include "cli/answers/why_gang.h"
#include "model/base/tuning.h"
#include "model/base/words.h"
#include "model/objective/wholeness.h"
#include "model/snapshot/unread.h"
#include "solver/answers/plan_pair.h"
#include "solver/remedies/remedy_search.h"

namespace muster::cli {
namespace {

constexpr std::size_t kMostNames = 4;

// ---- the plans ----

using TimedRun = answers::PlanPair::Side;

// What would start a workload that was submitted and would wait; see answers::find_remedies.
struct FoundRemedies {
  std::string gang;
  answers::RemedyAnswer answer;
};

struct WhatIf {
  const ChangedCluster& changed;
  TimedRun first, second;  // without changes, only the first
  answers::PlanPair::Trade trade;
  std::optional<FoundRemedies> remedies;

  bool is_changed() const { return !changed.changes.empty(); }
  const TimedRun& last() const { return is_changed() ? second : first; }
  const answers::Run& before() const { return *first.run; }
  const answers::Run& after() const { return *last().run; }
};

// Without changes, only the first.
Result<answers::PlanPair> plans_of(const Question& asked, const ChangedCluster& changed) {
  if (!changed.changes.empty())
    return answers::solve_pair(asked.snapshot(), changed.snapshot, changed.only_adds_room, asked.portfolio,
                               asked.options);
  Result<TimedRun> only = answers::solve_side(asked.snapshot(), asked.portfolio, asked.options);
  if (!only) return only.error();
  return answers::PlanPair{*std::move(only), {}, {}};
}

// Of the first workload that would wait; none if its queue is the reason, which a remark tells. Each plan gets a small
// part of the time, since most are settled long before.
std::optional<FoundRemedies> remedies_for(const Question& asked, const ChangedCluster& changed,
                                          const answers::Run& run) {
  if (asked.settings.is_on("no-remedies")) return std::nullopt;
  const auto waits = [&](const std::string& name) {
    const auto gang = run.find_gang(name);
    return gang && !run.admits(*gang);
  };
  const auto first = std::ranges::find_if(changed.submitted, waits);
  if (first == changed.submitted.end()) return std::nullopt;
  const GangIndex gang = *run.find_gang(*first);
  if (run.report_on(gang)->reason.code == explain::ReasonCode::kUnknownQueue) return std::nullopt;
  answers::ExperimentOptions options = asked.options;
  options.budget /= kTuning.answers.variations;
  if (!options.solve.deterministic)
    options.end = portfolio::Clock::now() + std::chrono::duration_cast<portfolio::Clock::duration>(
                                                kTuning.answers.remedies * asked.options.budget);
  answers::Experiment experiment(changed.snapshot, asked.portfolio, options);
  return FoundRemedies{*first, answers::find_remedies(experiment, run, gang)};
}

// ---- the clusters that they leave ----

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

Table cluster_table(const WhatIf& what_if, const ClusterState& before, const ClusterState& after, bool has_timings) {
  Table table{.key = "cluster",
              .title = "Cluster",
              .columns = {{"what", ""}, {"before", "BEFORE", Align::kRight}, {"after", "AFTER", Align::kRight}}};
  const auto add = [&](const char* key, const char* words, Cell first, Cell second) {
    table.rows.push_back({Cell(key).shown_as(words), std::move(first), std::move(second)});
  };
  const auto add_both = [&](const char* key, const char* words, auto cell, const auto& first, const auto& second) {
    add(key, words, Cell(std::invoke(cell, first)), Cell(std::invoke(cell, second)));
  };
  add_both("gpus", "GPUs", &ClusterState::gpus, before, after);
  add_both("gpusAllocated", "GPUs allocated", &ClusterState::allocated, before, after);
  add_both("gpuUtilisation", "GPU utilisation", utilisation, before, after);
  const auto idle = [](const ClusterState& state) {
    const WholeNodeCount& count = state.whole_nodes;
    return Cell(count.whole).shown_as(fmt::format("{} of {}", count.whole, count.of));
  };
  add_both("wholeNodesIdle", "whole nodes idle", idle, before, after);
  add_both("podsPlaced", "pods placed", &ClusterState::placed, before, after);
  add_both("podsEvicted", "pods evicted", &ClusterState::evicted, before, after);
  add_both("podsMoved", "pods moved", &ClusterState::moved, before, after);
  add_both("gangsWaiting", "gangs that wait", &ClusterState::waiting, before, after);
  const auto proof = [](const answers::Run& run) {
    return Cell(proof_name(run.solution.proof)).shown_as(proof_text(run));
  };
  add_both("proof", "proof", proof, what_if.before(), what_if.after());
  const double gap_before = what_if.before().solution.gap, gap_after = what_if.after().solution.gap;
  if (gap_before > 0 || gap_after > 0) add("gap", "gap", gap_before, gap_after);
  const auto time = [](const TimedRun& run) { return Cell(run.ms).shown_as(fmt::format("{:.3g} s", run.ms / 1000)); };
  if (has_timings) add_both("ms", "time", time, what_if.first, what_if.last());
  return table;
}

// ---- the answer ----

// Gangs of both plans that have their minimum after one of them only, in the order of the names; gangs that are
// submitted or removed are not among them, nor are those that are evicted for one that is submitted.
struct Shift {
  GangOutcome::Counts more, evicted, fewer;
};

Shift shift_of(const answers::Run& changed, const Admitted& before, const Admitted& after,
               const std::vector<GangOutcome>& outcomes) {
  std::unordered_set<std::string_view> evicted, told;
  for (const explain::GangReport& report : changed.solution.report.gangs) {
    if (report.evicted > 0) evicted.insert(changed.problem.gangs[report.gang].name);
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
// c)". A plan that is not proven may leave room for more.
std::string shift_text(const Shift& shift, bool is_optimal) {
  std::string text;
  const auto add = [&](const GangOutcome::Counts& gangs, const char* what) {
    if (gangs.empty()) return;
    const bool is_least = !is_optimal && &gangs == &shift.more;
    text += fmt::format("{}{}{} {} ({})", text.empty() ? "" : ", ", is_least ? "at least " : "",
                        counted(std::ssize(gangs), "gang"), what, names_text(gangs, kMostNames));
  };
  add(shift.more, "more would have room");
  add(shift.evicted, "would be evicted");
  add(shift.fewer, "would no longer have room");
  return text;
}

// "Planned from scratch, gangs change places: 1 gang (a) would have room, and 1 gang (b) would not; proven."; empty:
// nothing is known of that.
std::string trade_text(const answers::PlanPair::Trade& trade) {
  if (trade.fewer.empty()) return "";
  const auto names = [](const std::vector<std::string>& gangs) {
    GangOutcome::Counts counts;
    for (const std::string& gang : gangs) counts.emplace_back(gang, 1);
    return fmt::format("{} ({})", counted(std::ssize(gangs), "gang"), names_text(counts, kMostNames));
  };
  const std::string more = trade.more.empty() ? "" : fmt::format(" {} would have room, and", names(trade.more));
  return fmt::format("Planned from scratch, gangs change places:{} {} would not; proven.", more, names(trade.fewer));
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
  const bool is_optimal = what_if.after().solution.proof == Proof::kOptimal;
  const std::string proof = (is_optimal ? "proven " : "the plan is ") + proof_text(what_if.after());
  if (!what_if.is_changed()) return fmt::format("No change was given, so nothing changes; {}.", proof);
  const std::string others = shift_text(shift, is_optimal);
  if (!outcomes.empty())
    return fmt::format("{}{}; {}.", sentence_of(outcomes), others.empty() ? "" : "; " + others, proof);
  if (!others.empty()) return fmt::format("With the change, {}; {}.", others, proof);
  if (is_equal) return fmt::format("Nothing changes: both plans decide the same; {}.", proof);
  return fmt::format("The same gangs have room, but the plans differ; {}.", proof);
}

Reply reply_of(const WhatIf& what_if, bool has_timings) {
  const Admitted before = admitted_by(what_if.before()), after = admitted_by(what_if.after());
  const PlanDifference difference = difference_of(compared_plan(what_if.before().problem, what_if.before().solution),
                                                  compared_plan(what_if.after().problem, what_if.after().solution));
  const ChangedCluster& changed = what_if.changed;
  const std::vector<GangOutcome> outcomes = outcomes_of(what_if.after(), changed.submitted);
  const bool all_start = std::ranges::all_of(outcomes, &GangOutcome::starts);
  AnswerDocument document("whatIf");
  const Shift shift = shift_of(what_if.after(), before, after, outcomes);
  document.add_note(answer_text(what_if, outcomes, shift, difference.is_empty()),
                    all_start ? Meaning::kGood : Meaning::kBad);
  document.add_field("changes", "Changes",
                     Cell(changed.changes).shown_as(fmt::format("{}", fmt::join(changed.changes, " "))));
  if (const std::string trade = trade_text(what_if.trade); !trade.empty()) document.add_note(trade, Meaning::kDim);
  if (!changed.from_stdin.empty()) document.add_field("stdin", "Stdin", changed.from_stdin, Shown::kText);
  if (!changed.objects.empty()) document.add_field("submittedObjects", "", changed.objects, Shown::kJson);
  for (const std::string& remark : changed.remarks) document.add_note(remark, Meaning::kDim);
  add_outcomes(outcomes, document);
  if (what_if.remedies) {
    if (outcomes.size() > 1) document.add_note(fmt::format("What would start {}:", what_if.remedies->gang));
    write_remedies(what_if.remedies->answer, *what_if.after().snapshot, document);
  }
  document.add_table(
      cluster_table(what_if, state_after(what_if.before(), before), state_after(what_if.after(), after), has_timings));
  difference.write(document);
  return {std::move(document), all_start ? kExitAnswered : kExitSomeErrors};
}

Answered what_if(const Question& asked) {
  const std::variant<ChangedCluster, int> made = changed_cluster(asked.cluster, asked.settings);
  if (const int* code = std::get_if<int>(&made)) return *code;
  WhatIf what_if{std::get<ChangedCluster>(made), {}, {}, {}, {}};
  Result<answers::PlanPair> plans = plans_of(asked, what_if.changed);
  if (!plans) return plans.error();
  what_if.first = std::move(plans->before);
  what_if.second = std::move(plans->after);
  what_if.trade = std::move(plans->trade);
  what_if.remedies = remedies_for(asked, what_if.changed, what_if.after());
  return reply_of(what_if, !asked.options.solve.deterministic);
}

const AnswerCommand& what_if_command() {
  constexpr DefaultBudget kBudget{std::chrono::seconds(1), "time budget of each of the two plans [1s]"};
  static const AnswerCommand command{
      {"muster what-if [CHANGE...] [OPTION...]",
       "Plans the cluster as it is and as the changes make it, and shows the difference. Changes are applied in the\n"
       "order in which they are given. Exit code 1: a workload of --submit or --gang would not start.",
       with_change_options(with_answer_options(with_cluster_options(with_experiment_options(
           {{"no-remedies", "", "do not search for what would start a workload that would wait"},
            {"gap", "FRACTION", "stop once a plan is proven to be within this gap of the best [0]"}},
           kBudget)))),
       0, 0},
      what_if,
      kBudget,
      [](const Settings& settings) {
        check_stdin(settings);
        return std::vector<std::string>{};
      }};
  return command;
}

}  // namespace

const CommandSyntax& what_if_syntax() { return what_if_command().syntax; }
int run_what_if(int argc, const char* const* argv) { return run_answer(what_if_command(), argc, argv); }

}  // namespace muster::cli
