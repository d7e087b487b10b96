// `muster fits SHAPE`: how many more gangs of a shape start, queue by queue.
#include "solver/answers/fits.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/answers/answers.h"
#include "cli/answers/names.h"
#include "cli/answers/shape.h"
#include "cli/terminal/terminal.h"
#include "model/base/saturating.h"

namespace muster::cli {
namespace {

answers::FitsQuestion fits_question(const Settings& settings, const Snapshot& snapshot) {
  answers::FitsQuestion question;
  const std::string& text = settings.arguments().front();
  Result<change::GangShape> shape = parse_shape(text);
  if (!shape) throw UsageError(shape_error(text, shape.error()));
  question.shape = *std::move(shape);
  for (const std::string& typed : settings.texts("queue")) {
    Result<std::string> queue = resolve_queue(snapshot, typed);
    if (!queue) throw UsageError(fmt::format("--queue: {}", escaped(queue.error().message)));
    question.queues.push_back(*std::move(queue));
  }
  constexpr std::int64_t kLargestPriority = 2'000'000'000, kMostPods = 1'000'000;
  question.priority =
      static_cast<std::int32_t>(settings.integer("priority", -kLargestPriority, kLargestPriority).value_or(0));
  if (settings.text("preemptible")) question.preemptible = settings.is_on("preemptible");
  question.ignores_waiting = settings.is_on("ignore-waiting");
  question.most_pods = settings.integer("most-pods", 1, kMostPods).value_or(question.most_pods);
  return question;
}

// "12", or "10 to 14" if that is not proven.
Cell count_cell(const answers::FitCount& count) {
  const Meaning meaning = count.found > 0 ? Meaning::kGood : Meaning::kBad;
  if (count.is_proven()) return Cell(count.found).meaning(meaning);
  const std::string most = count.bound == kLargest ? "" : fmt::format(" to {}", count.bound);
  return Cell(count.found)
      .shown_as(fmt::format("{}{}{}", most.empty() ? "at least " : "", count.found, most))
      .meaning(meaning);
}

Cell bound_cell(const answers::FitCount& count) { return count.bound == kLargest ? Cell() : Cell(count.bound); }

Table fits_table(const answers::Fits& fits) {
  using Row = answers::QueueFits;
  using enum Align;
  using enum Shown;
  std::vector<RowColumn<Row>> columns = {{"queues", "QUEUE", &Row::queues},
                                         {"now", "NOW", [](const Row& row) { return count_cell(row.now); }, kRight},
                                         {"nowBound", "", [](const Row& row) { return bound_cell(row.now); }, kJson},
                                         {"nowProven", "", [](const Row& row) { return row.now.is_proven(); }, kJson}};
  // Nothing in the rows of queues without such a policy.
  const auto add = [&](const char* key, const char* title, auto cell, Shown shown = kAlways) {
    columns.emplace_back(
        key, title, [cell](const Row& row) { return row.has_policy ? Cell(cell(row)) : Cell(); }, kRight, shown);
  };
  if (std::ranges::any_of(fits.queues, &Row::has_policy)) {
    add("evicting", "EVICTING OR MOVING", [](const Row& row) { return count_cell(row.with_policy); });
    add(
        "evictingBound", "", [](const Row& row) { return bound_cell(row.with_policy); }, kJson);
    add(
        "evictingProven", "", [](const Row& row) { return row.with_policy.is_proven(); }, kJson);
    add("evictedPods", "EVICTED PODS", [](const Row& row) { return row.loss.evicted_pods; });
    add(
        "evictedGangs", "EVICTED GANGS", [](const Row& row) { return row.loss.evicted_gangs; }, kWide);
    add("lostGpuHours", "LOST GPU-HOURS", [](const Row& row) { return hours_cell(row.loss.evicted_work); });
    add("movedPods", "MOVED PODS", [](const Row& row) { return row.loss.moved_pods; });
    add(
        "movedGpuHours", "INTERRUPTED GPU-HOURS", [](const Row& row) { return hours_cell(row.loss.moved_work); },
        kWide);
  }
  columns.emplace_back("boundBy", "BOUND BY",
                       [](const Row& row) { return row.bound_by.empty() ? std::string("room") : row.bound_by; });
  return filled({.key = "queues"}, columns, fits.queues);
}

void add_reason(const answers::Fits& fits, const change::GangShape& shape, AnswerDocument& document) {
  const answers::NoFit& none = fits.none;
  document.add_field("reason", "None fits now", Cell(explain::reason_text(none.reason)).meaning(Meaning::kBad));
  if (!none.message.empty()) document.add_field("message", "Message", none.message);
  if (shape.pods > 1)
    document.add_field("fittingPods", "Pods that fit",
                       Cell(none.pods).shown_as(fmt::format("{} of {}", none.pods, shape.pods)));
  if (shape.pod.gpu.kind != GpuRequestKind::kWhole || fits.room.gangs > 0) return;
  document.add_field("fittingShape", "Largest shape that fits",
                     none.gpus ? Cell(change::text_of(change::reduced(shape, *none.gpus))) : Cell().shown_as("none"));
}

Answered fits(const Question& asked) {
  const answers::FitsQuestion question = fits_question(asked.settings, asked.snapshot());
  const auto found = answers::count_fits(asked.snapshot(), asked.portfolio, asked.options, question);
  if (!found) return found.error();
  AnswerDocument document("fits");
  document.add_field("shape", "Shape", change::text_of(question.shape));
  if (!question.ignores_waiting) {
    document.add_field("started", "Gangs that the next plan starts before", found->started);
    document.add_field("waiting", "Gangs that wait after it", found->waiting);
  }
  if (question.shape.pod.gpu.kind != GpuRequestKind::kNone) {
    document.add_field("idleGpus", "Idle GPUs on nodes that let the pods in", found->room.idle_devices);
    document.add_field("mostIdleGpusOfANode", "The most of them on one node", found->room.most_idle_devices);
  }
  document.add_table(fits_table(*found));
  const auto any = [&](auto is_so) { return std::ranges::any_of(found->queues, is_so); };
  if (!any([](const answers::QueueFits& row) { return row.now.found != 0; }))
    add_reason(*found, question.shape, document);
  if (any([](const answers::QueueFits& row) { return row.now.is_cut || row.with_policy.is_cut; }))
    document.add_note("Counting stopped at --most-pods; the upper number is proven.", Meaning::kWarning);
  if (found->is_late)
    document.add_note("The time was up before evictions were tried for all queues; raise --budget.", Meaning::kWarning);
  note_scope(asked.snapshot(), document);
  const bool is_yes = any([](const answers::QueueFits& row) { return row.now.found + row.with_policy.found > 0; });
  return Reply{std::move(document), is_yes ? kExitAnswered : kExitSomeErrors};
}

const AnswerCommand& fits_command() {
  static const AnswerCommand command{
      {"muster fits SHAPE [OPTION...]",
       "Tells how many more gangs of a shape start: [PODSx]GPUS[:MODEL][,cpu=N][,memory=Q][,RESOURCE=Q], such as "
       "16x8:H100,\n"
       "0.5, or gpu-memory=10Gi,cpu=4. Further keys: level=LEVEL (required), tolerate=TAINT, model=MODEL.\n"
       "What waits already comes first. Exit code 1: none fits.",
       with_answer_options(with_cluster_options(with_experiment_options(
           {{"queue", "NAMES", "only these queues (default: all queues without queues below them)", kNoLetter, "",
             Repetition::kLists},
            {"priority", "N", "priority of the gangs, for what they may evict [0]"},
            {"preemptible", "BOOL", "whether they may be evicted (default: if the priority is below 100)"},
            {"ignore-waiting", "", "plan nothing of what waits already"},
            {"most-pods", "N", "stop counting at this many pods [10000]"}}))),
       1, 1},
      fits};
  return command;
}

}  // namespace

const CommandSyntax& fits_syntax() { return fits_command().syntax; }
int run_fits(int argc, const char* const* argv) { return run_answer(fits_command(), argc, argv); }

}  // namespace muster::cli
