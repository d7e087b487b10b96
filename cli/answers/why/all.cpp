#include "cli/answers/why/all.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/answers/answers.h"
#include "cli/terminal/plan_table.h"
#include "model/base/saturating.h"
#include "model/base/words.h"
#include "solver/answers/holders.h"
#include "solver/answers/remedies/remedy.h"

namespace muster::cli {
namespace {

constexpr std::size_t kShortTable = 10;  // rows
constexpr MicroGpu kOneGpu = 1'000'000;
constexpr std::size_t kMostNames = 10;  // of what was left out; the rest is counted

MicroGpu missing_gpus(const answers::Run& run, const explain::GangReport& report) {
  MicroGpu sum = 0;
  for (const PodIndex pod : run.problem.gangs[report.gang].pods) {
    const PodStatus status = run.problem.pods[pod].status;
    if (status == PodStatus::kPending || status == PodStatus::kGated)
      sum = saturating_add(sum, run.problem.class_of(pod).smallest_gpu_usage);
  }
  return sum;
}

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
  Table table{.key = "reasons",
              .title = "What waits, by reason",
              .columns = {{"reason", "REASON", Align::kLeft, Shown::kJson},
                          {"words", "REASON", Align::kLeft, Shown::kText},
                          {"gangs", "GANGS", Align::kRight},
                          {"pods", "PODS", Align::kRight},
                          {"gpus", "GPUS", Align::kRight},
                          {"oldestSeconds", "OLDEST WAITS", Align::kRight},
                          {"oldest", "OLDEST"}}};
  for (const Group& group : ordered) {
    table.rows.push_back(
        {explain::reason_text(group.reason), reason_words(group.reason), group.gangs, group.pods, gpu_cell(group.gpus),
         Cell(group.oldest_seconds).shown_as(duration_words(group.oldest_seconds * kNanosecondsPerSecond)),
         group.oldest});
  }
  document.add_table(std::move(table));
}

void write_gangs(const answers::Run& run, AnswerDocument& document) {
  Table table{.key = "gangs",
              .title = "Gangs that wait, those with most GPUs first",
              .columns = {{"gang", "GANG"},
                          {"queue", "QUEUE"},
                          {"pods", "PODS", Align::kRight},
                          {"gpus", "GPUS", Align::kRight},
                          {"waitedSeconds", "WAITED", Align::kRight},
                          {"reason", "", Align::kLeft, Shown::kJson},
                          {"makeRoom", "EVICTIONS", Align::kLeft, Shown::kWide},
                          {"words", "REASON", Align::kLeft, Shown::kText}},
              .most_rows = kShortTable};
  for (const GangIndex index : waiting_gangs(run)) {
    const Gang& gang = run.problem.gangs[index];
    const explain::GangReport& report = *run.report_on(index);
    table.rows.push_back(
        {std::string(gang.name), queue_cell(run.problem, gang.queue), report.pending,
         gpu_cell(missing_gpus(run, report)),
         Cell(gang.times.waited_seconds).shown_as(duration_words(gang.times.waited_seconds * kNanosecondsPerSecond)),
         explain::reason_text(report.reason), std::string(explain::make_room_text(report.make_room)),
         reason_words(report.reason)});
  }
  document.add_table(std::move(table));
}

void write_stranded(const answers::Run& run, AnswerDocument& document) {
  const std::vector<answers::StrandedCapacity> stranded = answers::stranded_capacity(run);
  Table table{.key = "stranded",
              .title = "GPUs that stay free, by what keeps the waiting pods off them",
              .columns = {{"filter", "FILTER"},
                          {"detail", "DETAIL"},
                          {"nodes", "NODES", Align::kRight},
                          {"gpus", "GPUS", Align::kRight},
                          {"whole", "WHOLE", Align::kRight}}};
  for (const answers::StrandedCapacity& one : stranded) {
    const bool fits = one.filter == explain::FilterCode::kAvailable;
    table.rows.push_back(
        {Cell(explain::filter_text({one.filter, one.detail}))
             .shown_as(fits ? "a pod fits, not its gang or its queue" : explain::filter_text({one.filter, one.detail})),
         one.filter == explain::FilterCode::kInsufficient || one.detail.empty() ? Cell() : Cell(one.detail), one.nodes,
         gpu_cell(one.gpus), one.whole});
  }
  document.add_table(std::move(table));
}

std::string resource_words(const change::Change& one_more) {
  if (const auto* nodes = std::get_if<change::AddNodes>(&one_more)) return "nodes like " + nodes->like;
  const auto& queue = std::get<change::SetQueue>(one_more);
  return fmt::format("the {} of queue {}", queue.kind == change::QueueAmountKind::kQuota ? "quota" : "limit",
                     queue.queue);
}

void write_left_out(const answers::ShadowPrices& prices, AnswerDocument& document) {
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
  Table table{.key = "prices",
              .title = "What one more would admit",
              .columns = {{"options", "ONE MORE"},
                          {"gpus", "GPUS", Align::kRight},
                          {"gangs", "GANGS", Align::kRight},
                          {"proven", "PROVEN"}},
              .most_rows = kShortTable};
  for (const answers::ShadowPrice& price : prices.prices)
    table.rows.push_back({change::text_of(price.change), gpu_cell(price.gpus), price.gangs, price.proven});
  if (!table.rows.empty()) document.add_table(std::move(table));
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

void write_first_remedies(const WhyAll& input, AnswerDocument& document) {
  if (input.remedies.empty()) return;
  Table table{.key = "remedies",
              .title = "What would start each of them (the smallest of each kind)",
              .columns = {{"gang", "GANG"},
                          {"kind", "", Align::kLeft, Shown::kJson},
                          {"size", "", Align::kRight, Shown::kJson},
                          {"remedy", "REMEDY"},
                          {"smallest", "SMALLEST"},
                          {"options", "muster what-if"}}};
  for (const auto& [gang, answer] : input.remedies) {
    const std::string name(input.run.problem.gangs[gang].name);
    for (const answers::Remedy& remedy : answer.remedies) {
      table.rows.push_back({name, std::string(answers::remedy_kind_name(remedy.kind)), remedy.size,
                            answers::remedy_words(remedy, *input.run.snapshot),
                            Cell(remedy.is_smallest).shown_as(remedy.is_smallest ? "proven" : "not proven"),
                            answers::remedy_options(remedy)});
    }
    if (!answer.remedies.empty()) continue;
    const bool is_complete = answer.unfinished.empty() && answer.unproven.empty();
    table.rows.push_back({name, Cell(), Cell(), Cell().shown_as(is_complete ? "nothing helps" : "the time ended first"),
                          Cell(), Cell()});
  }
  document.add_table(std::move(table));
}

}  // namespace

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

void write_why_all(const WhyAll& input, AnswerDocument& document) {
  const std::int64_t waiting = std::ssize(waiting_gangs(input.run));
  const bool is_proven = input.run.is_choice_proven();
  const std::string plan = plan_words(input.run);
  if (waiting == 0) {
    document.add_note(fmt::format("No gang waits; the next plan {}.", plan), Meaning::kGood);
    document.add_field("choiceProven", "plan proven", is_proven, Shown::kJson);
    return;
  }
  const MicroGpu free = answers::free_gpus(input.run);
  const bool is_one = free == kOneGpu;
  document.add_note(
      fmt::format("{} {}; the next plan {}; {} {} free.", counted(waiting, "gang"), waiting == 1 ? "waits" : "wait",
                  plan, value_text(Decimal{free, kOneGpu}), is_one ? "GPU stays" : "GPUs stay"),
      Meaning::kWarning);
  document.add_field("choiceProven", "plan proven",
                     Cell(is_proven).shown_as(is_proven ? proven_words(*input.run.snapshot, "other gangs")
                                                        : "no; another plan might start other gangs"));
  write_reasons(input.run, document);
  write_gangs(input.run, document);
  write_stranded(input.run, document);
  write_prices(input.prices, document);
  write_first_remedies(input, document);
}

}  // namespace muster::cli
