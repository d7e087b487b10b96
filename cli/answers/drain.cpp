// `muster drain NODE...`: what draining nodes takes from what runs on them.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/answers/answers.h"
#include "cli/answers/names.h"
#include "cli/terminal/terminal.h"
#include "model/base/words.h"
#include "solver/answers/draining.h"

namespace muster::cli {
namespace {

std::vector<std::string> nodes_of(const Settings& settings, const Snapshot& snapshot) {
  std::vector<std::string> nodes;
  for (const std::string& typed : settings.arguments()) {
    Result<std::string> node = resolve_node(snapshot, typed);
    if (!node) throw UsageError(escaped(node.error().message));
    if (std::ranges::find(nodes, *node) == nodes.end()) nodes.push_back(*std::move(node));
  }
  return nodes;
}

Cell placed_cell(std::int64_t placed, std::int64_t pods) {
  return Cell(placed)
      .shown_as(fmt::format("{} of {}", placed, pods))
      .meaning(placed == pods ? Meaning::kGood : Meaning::kBad);
}

// Whether everything finds room, and what that takes of pods on other nodes.
Cell room_cell(const answers::Draining& draining) {
  const auto moved = std::ssize(draining.others);
  if (!draining.at_once.has_room() || moved == 0) return verdict_cell(draining.at_once.has_room());
  return Cell(true)
      .shown_as(fmt::format("yes, if {} on other nodes {}", counted(moved, "pod"), moved == 1 ? "moves" : "move"))
      .meaning(Meaning::kWarning);
}

// After `first`, the columns of an outcome, which `of` finds in the row.
template <class Row>
std::vector<RowColumn<Row>> outcome_columns(RowColumn<Row> first, const answers::DrainOutcome Row::*of) {
  using Outcome = answers::DrainOutcome;
  using enum Align;
  using enum Shown;
  std::vector<RowColumn<Row>> columns{std::move(first)};
  const auto add = [&](const char* key, const char* title, auto cell, Shown shown = kAlways) {
    columns.emplace_back(
        key, title, [of, cell](const Row& row) { return std::invoke(cell, row.*of); }, kRight, shown);
  };
  add("pods", "PODS", &Outcome::pods, kJson);
  add("placed", "FIND ROOM", [](const Outcome& outcome) { return placed_cell(outcome.placed, outcome.pods); });
  add("lostGpuHours", "LOST GPU-HOURS", [](const Outcome& outcome) { return hours_cell(outcome.lost_work); });
  add("evictedPods", "EVICTED PODS", [](const Outcome& outcome) { return outcome.loss.evicted_pods; });
  add(
      "evictedGpuHours", "EVICTED GPU-HOURS",
      [](const Outcome& outcome) { return hours_cell(outcome.loss.evicted_work); }, kWide);
  add("movedPods", "MOVED PODS", [](const Outcome& outcome) { return outcome.loss.moved_pods; });
  add("runningGpus", "GPUS AT WORK AFTER", [](const Outcome& outcome) { return Decimal{outcome.running_work, 1000}; });
  return columns;
}

void add_ways(const answers::Draining& draining, const std::vector<std::string>& nodes, AnswerDocument& document) {
  struct AtOnce {
    std::vector<std::string> nodes;
    answers::DrainOutcome outcome;
  };
  const std::vector<AtOnce> all = {{nodes, draining.at_once}};
  document.add_table(filled({.key = "atOnce", .title = "All together"},
                            outcome_columns<AtOnce>({"nodes", "NODES", &AtOnce::nodes}, &AtOnce::outcome), all));
  if (draining.steps.empty()) return;
  using Step = answers::DrainStep;
  document.add_table(filled({.key = "steps", .title = "One after another"},
                            outcome_columns<Step>({"node", "NODE", &Step::node}, &Step::outcome), draining.steps));
  if (!draining.is_complete)
    document.add_note("The time was up before all nodes were in order; raise --budget.", Meaning::kWarning);
  if (!draining.is_greedy)
    document.add_note("Not every node was tried for every step, only those with the least work to lose.",
                      Meaning::kWarning);
}

// Those first that are short of room.
Table gangs_on_nodes(std::vector<answers::DrainedGang> gangs) {
  using Gang = answers::DrainedGang;
  using enum Align;
  constexpr std::size_t kMostRows = 20;
  std::ranges::stable_sort(gangs, std::greater<>(), [](const Gang& gang) { return gang.pods - gang.placed; });
  return filled<Gang>(
      {.key = "gangs", .title = "Gangs on the nodes, drained at once", .most_rows = kMostRows},
      {{"gang", "GANG", &Gang::name},
       {"pods", "PODS", &Gang::pods, Shown::kJson},
       {"placed", "FIND ROOM", [](const Gang& gang) { return placed_cell(gang.placed, gang.pods); }, kRight},
       {"broken", "BELOW ITS MINIMUM", &Gang::is_broken},
       {"whole", "RUNS AFTER", [](const Gang& gang) { return verdict_cell(gang.is_whole); }},
       {"lostGpuHours", "LOST GPU-HOURS", [](const Gang& gang) { return hours_cell(gang.lost_work); }, kRight},
       {"reason", "REASON", &Gang::reason},
       {"message", "MESSAGE", &Gang::message, Shown::kWide}},
      gangs);
}

Table budget_table(const std::vector<answers::ExceededBudget>& budgets) {
  using Budget = answers::ExceededBudget;
  return filled<Budget>(
      {.key = "budgets", .title = "Disruption budgets that forbid it"},
      {{"budget", "BUDGET", [](const Budget& budget) { return Cell(budget.title).meaning(Meaning::kBad); }},
       {"allowed", "ALLOWED PODS", &Budget::allowed},
       {"needed", "PODS ON THE NODES", &Budget::needed}},
      budgets);
}

Answered drain(const Question& asked) {
  const answers::DrainQuestion question{nodes_of(asked.settings, asked.snapshot()),
                                        asked.settings.is_on("with-waiting")};
  const auto draining = answers::drain_nodes(asked.snapshot(), asked.portfolio, asked.options, question);
  if (!draining) return draining.error();
  AnswerDocument document("drain");
  document.add_field("fits", "Everything finds room elsewhere", room_cell(*draining));
  if (draining->tied_pods > 0) document.add_field("tiedPods", "Pods of DaemonSets, which stay", draining->tied_pods);
  if (!draining->budgets.empty()) document.add_table(budget_table(draining->budgets));
  add_ways(*draining, question.nodes, document);
  if (!draining->others.empty())
    document.add_table(leaving_table("others", "Pods on other nodes that leave for it", draining->others));
  if (!draining->gangs.empty()) document.add_table(gangs_on_nodes(draining->gangs));
  const bool is_yes = draining->at_once.has_room() && draining->budgets.empty();
  return Reply{std::move(document), is_yes ? kExitAnswered : kExitSomeErrors};
}

const AnswerCommand& drain_command() {
  constexpr std::size_t kMostNodes = 1000;
  static const AnswerCommand command{
      {"muster drain NODE... [OPTION...]",
       "Tells whether what runs on the nodes finds room elsewhere if they are drained, what is evicted, moved and lost "
       "for\n"
       "it, and in which order to drain the nodes one after another. Changes nothing. Exit code 1: not everything "
       "finds\n"
       "room, or a disruption budget forbids it.",
       with_answer_options(with_cluster_options(with_experiment_options(
           {{"with-waiting", "", "what waits already competes for the room; otherwise it is held back"}}))),
       1, kMostNodes},
      drain};
  return command;
}

}  // namespace

const CommandSyntax& drain_syntax() { return drain_command().syntax; }
int run_drain(int argc, const char* const* argv) { return run_answer(drain_command(), argc, argv); }

}  // namespace muster::cli
