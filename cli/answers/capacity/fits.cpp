// `muster fits SHAPE`: how many more gangs of a shape start, queue by queue.
#include "solver/answers/capacity/fits.h"

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
#include "cli/answers/shape.h"
#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_table.h"
#include "model/base/saturating.h"

namespace muster::cli {

const CommandSyntax& fits_syntax() {
  static const CommandSyntax syntax{
      "muster fits SHAPE [OPTION...]",
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
      1, 1};
  return syntax;
}
namespace {

answers::FitsQuestion question_of(const Settings& settings, const Snapshot& snapshot) {
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

Table queue_table(const answers::Fits& fits) {
  Table table;
  table.key = "queues";
  table.columns = {{"queues", "QUEUE"},
                   {"now", "NOW", Align::kRight},
                   {"nowBound", "", Align::kRight, Shown::kJson},
                   {"nowProven", "", Align::kLeft, Shown::kJson}};
  const bool has_policy = std::ranges::any_of(fits.queues, &answers::QueueFits::has_policy);
  if (has_policy) {
    const std::vector<Column> more = {{"evicting", "EVICTING OR MOVING", Align::kRight},
                                      {"evictingBound", "", Align::kRight, Shown::kJson},
                                      {"evictingProven", "", Align::kLeft, Shown::kJson},
                                      {"evictedPods", "EVICTED PODS", Align::kRight},
                                      {"evictedGangs", "EVICTED GANGS", Align::kRight, Shown::kWide},
                                      {"lostGpuHours", "LOST GPU-HOURS", Align::kRight},
                                      {"movedPods", "MOVED PODS", Align::kRight},
                                      {"movedGpuHours", "INTERRUPTED GPU-HOURS", Align::kRight, Shown::kWide}};
    table.columns.insert(table.columns.end(), more.begin(), more.end());
  }
  table.columns.push_back({"boundBy", "BOUND BY"});
  for (const answers::QueueFits& answer : fits.queues) {
    std::vector<Cell> row;
    row.emplace_back(answer.queues);
    row.push_back(count_cell(answer.now));
    row.push_back(bound_cell(answer.now));
    row.emplace_back(answer.now.is_proven());
    if (has_policy && answer.has_policy) {
      row.push_back(count_cell(answer.with_policy));
      row.push_back(bound_cell(answer.with_policy));
      row.emplace_back(answer.with_policy.is_proven());
      row.emplace_back(answer.loss.evicted_pods);
      row.emplace_back(answer.loss.evicted_gangs);
      row.push_back(hours_cell(answer.loss.evicted_work));
      row.emplace_back(answer.loss.moved_pods);
      row.push_back(hours_cell(answer.loss.moved_work));
    } else if (has_policy) {
      row.resize(row.size() + 8);
    }
    row.emplace_back(answer.bound_by.empty() ? std::string("room") : answer.bound_by);
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_reason(const answers::Fits& fits, const change::GangShape& shape, AnswerDocument& document) {
  const answers::NoFit& none = fits.none;
  document.add_field("reason", "None fits now", Cell(explain::reason_text(none.reason)).meaning(Meaning::kBad));
  if (!none.message.empty()) document.add_field("message", "Message", none.message);
  if (shape.pods > 1)
    document.add_field("fittingPods", "Pods that fit",
                       Cell(none.pods).shown_as(fmt::format("{} of {}", none.pods, shape.pods)));
  if (shape.pod.gpu.kind != GpuRequestKind::kWhole || fits.room.gangs > 0) return;
  if (!none.gpus) return document.add_field("fittingShape", "Largest shape that fits", Cell().shown_as("none"));
  document.add_field("fittingShape", "Largest shape that fits", change::text_of(change::reduced(shape, *none.gpus)));
}

AnswerDocument document_of(const answers::Fits& fits, const answers::FitsQuestion& question) {
  AnswerDocument document("fits");
  document.add_field("shape", "Shape", change::text_of(question.shape));
  if (!question.ignores_waiting) {
    document.add_field("started", "Gangs that the next plan starts before", fits.started);
    document.add_field("waiting", "Gangs that wait after it", fits.waiting);
  }
  if (question.shape.pod.gpu.kind != GpuRequestKind::kNone) {
    document.add_field("idleGpus", "Idle GPUs on nodes that let the pods in", fits.room.idle_devices);
    document.add_field("mostIdleGpusOfANode", "The most of them on one node", fits.room.most_idle_devices);
  }
  document.add_table(queue_table(fits));
  if (std::ranges::all_of(fits.queues, [](const answers::QueueFits& answer) { return answer.now.found == 0; }))
    add_reason(fits, question.shape, document);
  const auto is_cut = [](const answers::QueueFits& answer) { return answer.now.is_cut || answer.with_policy.is_cut; };
  if (std::ranges::any_of(fits.queues, is_cut))
    document.add_note("Counting stopped at --most-pods; the upper number is proven.", Meaning::kWarning);
  if (fits.is_late)
    document.add_note("The time was up before evictions were tried for all queues; raise --budget.", Meaning::kWarning);
  return document;
}

}  // namespace

int run_fits(int argc, const char* const* argv) {
  const Settings settings(fits_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(fits_syntax()), kExitAnswered);
  const RenderOptions form = render_options(settings);
  const answers::ExperimentOptions options = experiment_options(settings);
  std::variant<ClusterInput, int> cluster = read_cluster(settings);
  if (const int* code = std::get_if<int>(&cluster)) return *code;
  const Snapshot& snapshot = std::get<ClusterInput>(cluster).snapshot;
  const answers::FitsQuestion question = question_of(settings, snapshot);
  portfolio::Portfolio portfolio(kOwnProgram);
  const Result<answers::Fits> fits = answers::count_fits(snapshot, portfolio, options, question);
  if (!fits) return complain_of("fits", fits.error());
  const auto fits_some = [](const answers::QueueFits& answer) {
    return answer.now.found + answer.with_policy.found > 0;
  };
  const bool is_yes = std::ranges::any_of(fits->queues, fits_some);
  AnswerDocument document = document_of(*fits, question);
  note_scope(snapshot, document);
  return print(render(document, form), is_yes ? kExitAnswered : kExitSomeErrors);
}

}  // namespace muster::cli
