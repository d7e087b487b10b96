// `muster why`: why a gang waits and what would start it; without a name, all that waits, by reason, with what is free
// and cannot be used, and what one more unit would admit.
#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/answers/answers.h"
#include "cli/answers/names.h"
#include "cli/answers/why_gang.h"
#include "cli/line/line_source.h"
#include "cli/terminal/plan_table.h"
#include "io/muster_v1/plan_line.h"
#include "model/base/saturating.h"
#include "model/base/tuning.h"
#include "model/base/words.h"
#include "model/build/build_problem.h"
#include "model/explain/reasons.h"
#include "model/explain/remaining_capacity.h"
#include "model/objective/evaluation.h"
#include "model/objective/fair_share.h"
#include "model/referee/referee.h"
#include "solver/answers/holders.h"
#include "solver/answers/shadow_prices.h"
#include "solver/remedies/remedy_search.h"

namespace muster::cli {
namespace {

constexpr std::size_t kShortTable = 10;  // rows
constexpr MicroGpu kOneGpu = 1'000'000;

// ---- what waits ----

MicroGpu missing_gpus(const answers::Run& run, const explain::GangReport& report) {
  MicroGpu sum = 0;
  for (const PodIndex pod : run.problem.gangs[report.gang].pods) {
    const PodStatus status = run.problem.pods[pod].status;
    if (status == PodStatus::kPending || status == PodStatus::kGated)
      sum = saturating_add(sum, run.problem.class_of(pod).smallest_gpu_usage);
  }
  return sum;
}

// The gangs that the plan leaves waiting: those that would use most GPUs first.
std::vector<GangIndex> waiting_gangs(const answers::Run& run) {
  std::vector<std::pair<MicroGpu, GangIndex>> waiting;
  for (const explain::GangReport& report : run.solution.report.gangs) {
    if (!run.admits(report.gang)) waiting.emplace_back(missing_gpus(run, report), report.gang);
  }
  std::ranges::stable_sort(waiting, std::greater<>(), [](const auto& entry) { return entry.first; });
  std::vector<GangIndex> gangs;
  for (const auto& [gpus, gang] : waiting) gangs.push_back(gang);
  return gangs;
}

// The gangs that wait for one reason.
struct Group {
  explain::Reason reason;
  std::int64_t gangs = 0, pods = 0, oldest_seconds = 0;
  MicroGpu gpus = 0;
  std::string oldest;
};

void write_reasons(const answers::Run& run, AnswerDocument& document) {
  std::map<std::string, Group> groups;
  for (const explain::GangReport& report : run.solution.report.gangs) {
    if (run.admits(report.gang)) continue;
    const Gang& gang = run.problem.gangs[report.gang];
    Group& group = groups[explain::reason_text(report.reason)];
    group.reason = report.reason;
    ++group.gangs;
    group.pods += report.pending;
    group.gpus = saturating_add(group.gpus, missing_gpus(run, report));
    if (group.oldest.empty() || gang.times.waited_seconds > group.oldest_seconds) {
      group.oldest_seconds = gang.times.waited_seconds;
      group.oldest = gang.name;
    }
  }
  std::vector<Group> ordered;
  for (auto& [text, group] : groups) ordered.push_back(std::move(group));
  std::ranges::stable_sort(ordered, std::greater<>(),
                           [](const Group& group) { return std::pair(group.gpus, group.gangs); });
  document.add_table(
      filled<Group>({.key = "reasons", .title = "What waits, by reason"},
                    {{"reason", "REASON", [](const Group& group) { return reason_text(group.reason); }, Shown::kJson},
                     {"words", "REASON", [](const Group& group) { return reason_words(group.reason); }, Shown::kText},
                     {"gangs", "GANGS", &Group::gangs},
                     {"pods", "PODS", &Group::pods},
                     {"gpus", "GPUS", [](const Group& group) { return gpu_cell(group.gpus); }, Align::kRight},
                     {"oldestSeconds", "OLDEST WAITS",
                      [](const Group& group) { return waited_cell(group.oldest_seconds); }, Align::kRight},
                     {"oldest", "OLDEST", &Group::oldest}},
                    ordered));
}

void write_gangs(const answers::Run& run, AnswerDocument& document) {
  using enum Align;
  const auto gang = [&](GangIndex index) -> const Gang& { return run.problem.gangs[index]; };
  const auto report = [&](GangIndex index) -> const explain::GangReport& { return *run.report_on(index); };
  document.add_table(filled<GangIndex>(
      {.key = "gangs", .title = "Gangs that wait, those with most GPUs first", .most_rows = kShortTable},
      {{"gang", "GANG", [&](GangIndex index) { return gang(index).name; }},
       {"queue", "QUEUE", [&](GangIndex index) { return queue_cell(run.problem, gang(index).queue); }},
       {"pods", "PODS", [&](GangIndex index) { return report(index).pending; }},
       {"gpus", "GPUS", [&](GangIndex index) { return gpu_cell(missing_gpus(run, report(index))); }, kRight},
       {"waitedSeconds", "WAITED", [&](GangIndex index) { return waited_cell(gang(index).times.waited_seconds); },
        kRight},
       {"reason", "", [&](GangIndex index) { return reason_text(report(index).reason); }, Shown::kJson},
       {"makeRoom", "EVICTIONS", [&](GangIndex index) { return make_room_text(report(index).make_room); },
        Shown::kWide},
       {"words", "REASON", [&](GangIndex index) { return reason_words(report(index).reason); }, Shown::kText}},
      waiting_gangs(run)));
}

void write_stranded(const answers::Run& run, AnswerDocument& document) {
  using Row = answers::StrandedCapacity;
  const auto filter = [](const Row& row) {
    const std::string code = explain::filter_text({row.filter, row.detail});
    return Cell(code).shown_as(row.filter == explain::FilterCode::kAvailable ? "a pod fits, not its gang or its queue"
                                                                             : code);
  };
  const auto detail = [](const Row& row) {
    return row.filter == explain::FilterCode::kInsufficient ? Cell() : text_or_none(row.detail);
  };
  document.add_table(
      filled<Row>({.key = "stranded", .title = "GPUs that stay free, by what keeps the waiting pods off them"},
                  {{"filter", "FILTER", filter},
                   {"detail", "DETAIL", detail},
                   {"nodes", "NODES", &Row::nodes},
                   {"gpus", "GPUS", [](const Row& row) { return gpu_cell(row.gpus); }, Align::kRight},
                   {"whole", "WHOLE", &Row::whole}},
                  answers::stranded_capacity(run)));
}

std::string resource_words(const change::Change& one_more) {
  if (const auto* nodes = std::get_if<change::AddNodes>(&one_more)) return "nodes like " + nodes->like;
  const auto& queue = std::get<change::SetQueue>(one_more);
  return fmt::format("the {} of queue {}", queue.kind == change::QueueAmountKind::kQuota ? "quota" : "limit",
                     queue.queue);
}

void write_left_out(const answers::ShadowPrices& prices, AnswerDocument& document) {
  constexpr std::size_t kMostNames = 10;  // the rest is counted
  if (prices.left_out.empty()) return;
  std::vector<std::string> words, options;
  for (const change::Change& change : prices.left_out) {
    options.push_back(change::text_of(change));
    if (words.size() < kMostNames) words.push_back(resource_words(change));
  }
  const std::size_t more = options.size() - words.size();
  const bool had_time = std::ssize(prices.prices) >= kTuning.answers.tests;
  document.add_note(fmt::format("{} before one more of these was tried: {}{}{}.",
                                had_time ? counted(kTuning.answers.tests, "plan") + " were made" : "The time ended",
                                fmt::join(words, ", "), more == 0 ? "" : fmt::format(" and {} more", more),
                                had_time ? "" : "; give a larger --budget"),
                    Meaning::kWarning);
  document.add_field("pricesLeftOut", "", std::move(options), Shown::kJson);
}

void write_prices(const answers::ShadowPrices& prices, AnswerDocument& document) {
  using Price = answers::ShadowPrice;
  if (!prices.prices.empty())
    document.add_table(
        filled<Price>({.key = "prices", .title = "What one more would admit", .most_rows = kShortTable},
                      {{"options", "ONE MORE", [](const Price& price) { return change::text_of(price.change); }},
                       {"gpus", "GPUS", [](const Price& price) { return gpu_cell(price.gpus); }, Align::kRight},
                       {"gangs", "GANGS", &Price::gangs},
                       {"proven", "PROVEN", &Price::proven}},
                      prices.prices));
  write_left_out(prices, document);
}

// "starts 5 pods of 2 gangs, evicts 1 pod, moves 3 pods"; "changes nothing".
std::string plan_words(const answers::Run& run) {
  std::set<PodIndex> evicted;
  for (const Eviction& eviction : run.solution.plan.evictions) evicted.insert(eviction.pod);
  std::set<GangIndex> started;
  std::int64_t starts = 0;
  for (const Placement& placement : run.solution.plan.placements) {
    if (evicted.contains(placement.pod)) continue;
    started.insert(run.problem.pods[placement.pod].gang);
    ++starts;
  }
  const std::int64_t moves = std::ssize(run.solution.plan.placements) - starts;
  const std::int64_t evictions = std::ssize(evicted) - moves;
  std::vector<std::string> parts;
  if (starts > 0) {
    parts.push_back(fmt::format("starts {} of {}", counted(starts, "pod"), counted(std::ssize(started), "gang")));
  }
  if (evictions > 0) parts.push_back("evicts " + counted(evictions, "pod"));
  if (moves > 0) parts.push_back("moves " + counted(moves, "pod"));
  return parts.empty() ? "changes nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

// Of gangs that wait, in the order of the list; empty: they were not asked for.
using RemediesOfGangs = std::vector<std::pair<GangIndex, answers::RemedyAnswer>>;

void write_first_remedies(const answers::Run& run, const RemediesOfGangs& remedies, AnswerDocument& document) {
  if (remedies.empty()) return;
  // A remedy of the gang, or that there is none.
  struct FirstRemedy {
    std::string gang;
    const answers::Remedy* remedy = nullptr;
    const char* instead = "";
  };
  std::vector<FirstRemedy> rows;
  for (const auto& [gang, answer] : remedies) {
    const std::string name(run.problem.gangs[gang].name);
    for (const answers::Remedy& remedy : answer.remedies) rows.push_back({name, &remedy});
    const bool is_complete = answer.unfinished.empty() && answer.unproven.empty();
    if (answer.remedies.empty())
      rows.push_back({name, nullptr, is_complete ? "nothing helps" : "the time ended first"});
  }
  std::vector<RowColumn<FirstRemedy>> columns{{"gang", "GANG", &FirstRemedy::gang}};
  for (const RowColumn<answers::Remedy>& one : remedy_columns(*run.snapshot)) {
    const bool is_remedy = one.column.key == "remedy";
    const auto cell = [is_remedy, of = one.cell](const FirstRemedy& row) {
      if (row.remedy != nullptr) return of(*row.remedy);
      return is_remedy ? Cell().shown_as(row.instead) : Cell();
    };
    columns.emplace_back(one.column.key, one.column.title, cell, one.column.align, one.column.shown);
  }
  document.add_table(
      filled({.key = "remedies", .title = "What would start each of them (the smallest of each kind)"}, columns, rows));
}

void write_all_gangs(const answers::Run& run, const answers::ShadowPrices& prices, const RemediesOfGangs& remedies,
                     AnswerDocument& document) {
  const std::int64_t waiting = std::ssize(waiting_gangs(run));
  const bool is_proven = run.is_choice_proven();
  const std::string plan = plan_words(run);
  if (waiting == 0) {
    document.add_note(fmt::format("No gang waits; the next plan {}.", plan), Meaning::kGood);
    document.add_field("choiceProven", "plan proven", is_proven, Shown::kJson);
    return;
  }
  const MicroGpu free = answers::free_gpus(run);
  const bool is_one = free == kOneGpu;
  document.add_note(
      fmt::format("{} {}; the next plan {}; {} {} free.", counted(waiting, "gang"), waiting == 1 ? "waits" : "wait",
                  plan, value_text(Decimal{free, kOneGpu}), is_one ? "GPU stays" : "GPUs stay"),
      Meaning::kWarning);
  document.add_field("choiceProven", "plan proven",
                     Cell(is_proven).shown_as(is_proven ? proven_words(*run.snapshot, "other gangs")
                                                        : "no; another plan might start other gangs"));
  write_reasons(run, document);
  write_gangs(run, document);
  write_stranded(run, document);
  write_prices(prices, document);
  write_first_remedies(run, remedies, document);
}

// ---- a plan that was made before, as the run that the question starts from ----

InputError invalid_plan(std::string message) { return {ErrorCode::kInvalidPlan, "$", std::move(message)}; }

Result<std::string> last_line_of(const std::string& file) {
  LineSource source({file}, {});
  std::optional<std::string> last;
  while (const auto line = source.next()) last = std::string(line->text);
  if (!source.failure().empty()) return InputError{ErrorCode::kNoInput, "$", source.failure()};
  if (!last) return InputError{ErrorCode::kNoInput, "$", fmt::format("{}: the input contains no line", file)};
  return *std::move(last);
}

// What the line proves of each level.
std::vector<std::optional<std::int64_t>> bounds_in(const muster_v1::ReadPlan& read, const Problem& problem) {
  std::vector<std::optional<std::int64_t>> bounds;
  for (const LevelId& id : level_ids(problem)) {
    std::optional<std::int64_t>& bound = bounds.emplace_back();
    const std::int64_t scale = level_scale(id.kind, problem.snapshot->policy.placement);
    for (const muster_v1::ReadPlan::LevelClaim& claim : read.objective) {
      if (claim.level != level_name(id.kind) || (claim.priority && *claim.priority != id.priority)) continue;
      const std::optional<Decimal> told = decimal_in(claim.bound);
      if (told && scale % told->scale == 0) bound = saturating_multiply(told->value, scale / told->scale);
    }
  }
  return bounds;
}

// The last plan line of the file, which answers the snapshot. The referee checks it, so that what is explained is a
// plan that holds. Its levels are computed anew; of its proof, the line is believed. Reasons that need the nodes to be
// looked at are not in its report: see settle_reason. Errors: NoInput, InvalidPlan, and those of read_plan and
// build_problem. Cost: build_problem and O(pods + nodes).
Result<std::unique_ptr<answers::Run>> run_of_plan(const Snapshot& original, const std::string& file) {
  const Result<std::string> line = last_line_of(file);
  if (!line) return line.error();
  auto run = std::make_unique<answers::Run>();
  run->snapshot = std::make_unique<Snapshot>(original);
  muster_v1::fill_in_histories(*line, *run->snapshot);
  Result<Problem> problem = build_problem(*run->snapshot);
  if (!problem) return problem.error();
  run->problem = std::move(*problem);
  Result<muster_v1::ReadPlan> read = muster_v1::read_plan(*line, &run->problem);
  if (!read) return read.error();
  if (read->is_error) return invalid_plan("the plan is an error record: " + read->error.message);
  const FairShares shares = compute_fair_shares(run->problem);
  const auto violations = referee::check_plan(*run->snapshot, run->problem, shares, read->plan);
  if (!violations.empty()) {
    const referee::Violation& first = violations.front();
    return invalid_plan(fmt::format("the plan does not hold for this cluster: {}: {}: {}",
                                    referee::rule_name(first.rule), first.subject, first.message));
  }
  portfolio::Solution& solution = run->solution;
  solution.plan = std::move(read->plan);
  solution.proof = read->solver.proof;
  const Levels levels = evaluate(run->problem, shares, solution.plan);
  explain::ReportInput input{solution.plan, levels, bounds_in(*read, run->problem), solution.proof == Proof::kOptimal};
  input.stop = [] { return true; };
  solution.report = explain::describe(run->problem, shares, input);
  return run;
}

// The report on the gang with its reason, if there was no time for it. Cost: O(nodes x pod classes of the gang).
void settle_reason(answers::Run& run, GangIndex gang, const FairShares& shares) {
  auto& gangs = run.solution.report.gangs;
  const auto report = std::ranges::find(gangs, gang, &explain::GangReport::gang);
  if (report == gangs.end() || report->pending == 0) return;
  const bool is_known = report->reason.code != explain::ReasonCode::kOutOfTime;
  if (is_known && report->make_room != explain::MakeRoomCode::kNone) return;
  const explain::AfterPlan end = explain::after_plan(run.problem, run.solution.plan);
  explain::ReasonTeller teller(run.problem, shares, end, run.solution.proof == Proof::kOptimal);
  explain::Verdict verdict = teller.tell(gang, !run.admits(gang));
  report->reason = std::move(verdict.reason);
  report->make_room = verdict.make_room;
  report->message = std::move(verdict.message);
  report->blockers = std::move(verdict.blockers);
}

// ---- the plans ----

// The time of each plan is a small part of what there is, since most of them are proven, or settled, long before.
answers::ExperimentOptions of_variations(const answers::ExperimentOptions& all, portfolio::Clock::time_point begin) {
  answers::ExperimentOptions options = all;
  options.budget /= kTuning.answers.variations;
  if (!options.solve.deterministic)
    options.end = begin + std::chrono::duration_cast<portfolio::Clock::duration>(all.budget);
  return options;
}

Answered about_gang(const Question& asked, answers::Run& run, const std::string& name,
                    portfolio::Clock::time_point begin, AnswerDocument document) {
  const auto gang = run.find_gang(name);
  if (!gang) return InputError{ErrorCode::kUnknownName, "$", fmt::format("the gang {} is left out of the plan", name)};
  const FairShares shares = compute_fair_shares(run.problem);
  settle_reason(run, *gang, shares);
  std::optional<answers::RemedyAnswer> remedies;
  if (!run.admits(*gang) && !asked.settings.is_on("no-remedies")) {
    answers::Experiment experiment(asked.snapshot(), asked.portfolio, of_variations(asked.options, begin));
    remedies = answers::find_remedies(experiment, run, *gang);
  }
  write_why_gang({run, *gang, shares, remedies}, document);
  return Reply{std::move(document)};
}

Answered about_all(const Question& asked, const answers::Run& run, portfolio::Clock::time_point begin,
                   AnswerDocument document) {
  answers::ShadowPrices prices;
  RemediesOfGangs remedies;
  if (!asked.settings.is_on("no-remedies")) {
    answers::Experiment experiment(asked.snapshot(), asked.portfolio, of_variations(asked.options, begin));
    prices = answers::shadow_prices(experiment, run);
  }
  if (asked.settings.is_on("all")) {
    for (const GangIndex gang : waiting_gangs(run)) {
      answers::ExperimentOptions options = of_variations(asked.options, begin);
      options.end = portfolio::Clock::time_point::max();
      if (!options.solve.deterministic)
        options.end = portfolio::Clock::now() + std::chrono::duration_cast<portfolio::Clock::duration>(options.budget);
      answers::Experiment experiment(asked.snapshot(), asked.portfolio, options);
      remedies.emplace_back(gang, answers::find_remedies(experiment, run, gang));
    }
  }
  write_all_gangs(run, prices, remedies, document);
  return Reply{std::move(document)};
}

Answered why(const Question& asked) {
  const auto begin = portfolio::Clock::now();
  std::optional<std::string> name;
  if (!asked.settings.arguments().empty()) {
    const std::string& typed = asked.settings.arguments().front();
    const auto found = resolve_gang(asked.snapshot(), typed, asked.cluster.namespace_name);
    if (!found) return found.error();
    name = *found;
  }
  answers::ExperimentOptions first = asked.options;
  first.budget /= 3;  // of the time for the plan, the rest for its variations
  const auto plan = asked.settings.text("plan");
  const auto base = plan ? run_of_plan(asked.snapshot(), *plan)
                         : answers::Experiment(asked.snapshot(), asked.portfolio, first).solve({});
  if (!base) return base.error();
  AnswerDocument document("why");
  return name ? about_gang(asked, **base, *name, begin, std::move(document))
              : about_all(asked, **base, begin, std::move(document));
}

const AnswerCommand& why_command() {
  constexpr DefaultBudget kBudget{std::chrono::seconds(3), "time budget of the answer [3s]"};
  static const AnswerCommand command{
      {"muster why [GANG] [OPTION...]",
       "Says why a gang waits: which nodes it could use and what excludes the others, what is in use there and why it "
       "may\n"
       "not be evicted, the place in its queue, and what would start it. GANG is the name of a gang, a pod, a Job, a\n"
       "Deployment, ... Without GANG: all that waits, by reason, and what one more node or GPU of quota would admit.",
       with_cluster_options(with_answer_options(with_experiment_options(
           {{"plan", "FILE", "explain the plan in FILE, which answers this snapshot, in place of a new one"},
            {"all", "", "without GANG: also find what would start each gang that waits"},
            {"no-remedies", "", "only explain; make no further plans"},
            watch_row()},
           kBudget))),
       0, 1},
      why,
      kBudget,
      [](const Settings& settings) {
        std::vector<std::string> sources{cluster_source(settings)};
        if (const auto plan = settings.text("plan")) sources.push_back(*plan);
        return sources;
      }};
  return command;
}

}  // namespace

const CommandSyntax& why_syntax() { return why_command().syntax; }
int run_why(int argc, const char* const* argv) { return run_answer(why_command(), argc, argv); }

}  // namespace muster::cli
