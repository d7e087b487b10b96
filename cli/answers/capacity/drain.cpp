// `muster drain NODE...`: what draining nodes takes from what runs on them.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cli/answers/answers.h"
#include "cli/answers/capacity/loss_cells.h"
#include "cli/answers/cluster.h"
#include "cli/answers/names.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_table.h"
#include "model/base/words.h"
#include "solver/answers/capacity/draining.h"

namespace muster::cli {

namespace {

constexpr std::size_t kMostNodes = 1000;

}  // namespace

const CommandSyntax& drain_syntax() {
  static const CommandSyntax syntax{
      "muster drain NODE... [OPTION...]",
      "Tells whether what runs on the nodes finds room elsewhere if they are drained, what is evicted, moved and lost "
      "for\n"
      "it, and in which order to drain the nodes one after another. Changes nothing. Exit code 1: not everything "
      "finds\n"
      "room, or a disruption budget forbids it.",
      with_answer_options(with_cluster_options(with_experiment_options(
          {{"with-waiting", "", "what waits already competes for the room; otherwise it is held back"}}))),
      1, kMostNodes};
  return syntax;
}
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

std::vector<Column> outcome_columns() {
  return {{"pods", "PODS", Align::kRight, Shown::kJson},
          {"placed", "FIND ROOM", Align::kRight},
          {"lostGpuHours", "LOST GPU-HOURS", Align::kRight},
          {"evictedPods", "EVICTED PODS", Align::kRight},
          {"evictedGpuHours", "EVICTED GPU-HOURS", Align::kRight, Shown::kWide},
          {"movedPods", "MOVED PODS", Align::kRight},
          {"runningGpus", "GPUS AT WORK AFTER", Align::kRight}};
}

// Whether everything finds room, and what that takes of pods on other nodes.
Cell verdict_cell(const answers::Draining& draining) {
  const bool has_room = draining.at_once.has_room();
  const auto moved = std::ssize(draining.others);
  if (!has_room || moved == 0) return Cell(has_room).meaning(has_room ? Meaning::kGood : Meaning::kBad);
  return Cell(true)
      .shown_as(fmt::format("yes, if {} on other nodes {}", counted(moved, "pod"), moved == 1 ? "moves" : "move"))
      .meaning(Meaning::kWarning);
}

void add_outcome(const answers::DrainOutcome& outcome, std::vector<Cell>& row) {
  row.emplace_back(outcome.pods);
  row.push_back(placed_cell(outcome.placed, outcome.pods));
  row.push_back(hours_cell(outcome.lost_work));
  row.emplace_back(outcome.loss.evicted_pods);
  row.push_back(hours_cell(outcome.loss.evicted_work));
  row.emplace_back(outcome.loss.moved_pods);
  row.emplace_back(Decimal{outcome.running_work, 1000});
}

void add_ways(const answers::Draining& draining, const std::vector<std::string>& nodes, AnswerDocument& document) {
  Table all{.key = "atOnce", .title = "All together"};
  all.columns = outcome_columns();
  all.columns.insert(all.columns.begin(), {"nodes", "NODES"});
  std::vector<Cell> row{Cell(nodes)};
  add_outcome(draining.at_once, row);
  all.rows.push_back(std::move(row));
  document.add_table(std::move(all));
  if (draining.steps.empty()) return;
  Table steps{.key = "steps", .title = "One after another"};
  steps.columns = outcome_columns();
  steps.columns.insert(steps.columns.begin(), {"node", "NODE"});
  for (const answers::DrainStep& step : draining.steps) {
    std::vector<Cell> cells{Cell(step.node)};
    add_outcome(step.outcome, cells);
    steps.rows.push_back(std::move(cells));
  }
  document.add_table(std::move(steps));
  if (!draining.is_complete)
    document.add_note("The time was up before all nodes were in order; raise --budget.", Meaning::kWarning);
  if (!draining.is_greedy)
    document.add_note("Not every node was tried for every step, only those with the least work to lose.",
                      Meaning::kWarning);
}

void add_gangs(const answers::Draining& draining, AnswerDocument& document) {
  if (draining.gangs.empty()) return;
  Table gangs{.key = "gangs", .title = "Gangs on the nodes, drained at once"};
  gangs.columns = {{"gang", "GANG"},
                   {"pods", "PODS", Align::kRight, Shown::kJson},
                   {"placed", "FIND ROOM", Align::kRight},
                   {"broken", "BELOW ITS MINIMUM", Align::kLeft},
                   {"whole", "RUNS AFTER", Align::kLeft},
                   {"lostGpuHours", "LOST GPU-HOURS", Align::kRight},
                   {"reason", "REASON"},
                   {"message", "MESSAGE", Align::kLeft, Shown::kWide}};
  constexpr std::size_t kMostRows = 20;
  gangs.most_rows = kMostRows;
  std::vector<const answers::DrainedGang*> order;
  for (const answers::DrainedGang& gang : draining.gangs) order.push_back(&gang);
  // Those first that are short of room.
  std::ranges::stable_sort(order, [](const answers::DrainedGang* a, const answers::DrainedGang* b) {
    return a->pods - a->placed > b->pods - b->placed;
  });
  for (const answers::DrainedGang* gang : order) {
    gangs.rows.push_back({gang->name, Cell(gang->pods), placed_cell(gang->placed, gang->pods), Cell(gang->is_broken),
                          Cell(gang->is_whole).meaning(gang->is_whole ? Meaning::kGood : Meaning::kBad),
                          hours_cell(gang->lost_work), gang->reason, gang->message});
  }
  document.add_table(std::move(gangs));
}

void add_budgets(const answers::Draining& draining, AnswerDocument& document) {
  if (draining.budgets.empty()) return;
  Table budgets{.key = "budgets", .title = "Disruption budgets that forbid it"};
  budgets.columns = {
      {"budget", "BUDGET"}, {"allowed", "ALLOWED PODS", Align::kRight}, {"needed", "PODS ON THE NODES", Align::kRight}};
  for (const answers::ExceededBudget& budget : draining.budgets) {
    budgets.rows.push_back({Cell(budget.title).meaning(Meaning::kBad), Cell(budget.allowed), Cell(budget.needed)});
  }
  document.add_table(std::move(budgets));
}

}  // namespace

int run_drain(int argc, const char* const* argv) {
  const Settings settings(drain_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(drain_syntax()), kExitAnswered);
  const RenderOptions form = render_options(settings);
  const answers::ExperimentOptions options = experiment_options(settings);
  std::variant<ClusterInput, int> cluster = read_cluster(settings);
  if (const int* code = std::get_if<int>(&cluster)) return *code;
  const Snapshot& snapshot = std::get<ClusterInput>(cluster).snapshot;
  const answers::DrainQuestion question{nodes_of(settings, snapshot), settings.is_on("with-waiting")};
  portfolio::Portfolio portfolio(kOwnProgram);
  const Result<answers::Draining> draining = answers::drain_nodes(snapshot, portfolio, options, question);
  if (!draining) return complain_of("drain", draining.error());
  AnswerDocument document("drain");
  const bool is_yes = draining->at_once.has_room() && draining->budgets.empty();
  document.add_field("fits", "Everything finds room elsewhere", verdict_cell(*draining));
  if (draining->tied_pods > 0) document.add_field("tiedPods", "Pods of DaemonSets, which stay", draining->tied_pods);
  add_budgets(*draining, document);
  add_ways(*draining, question.nodes, document);
  if (!draining->others.empty())
    document.add_table(leaving_table("others", "Pods on other nodes that leave for it", draining->others));
  add_gangs(*draining, document);
  return print(render(document, form), is_yes ? kExitAnswered : kExitSomeErrors);
}

}  // namespace muster::cli
