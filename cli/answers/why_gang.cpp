#include "cli/answers/why_gang.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/answers/answers.h"
#include "cli/terminal/plan_table.h"
#include "model/base/words.h"
#include "solver/answers/funnel.h"
#include "solver/answers/holders.h"
#include "solver/answers/standing.h"
#include "solver/remedies/remedy.h"

namespace muster::cli {
namespace {

constexpr std::size_t kShortTable = 10;  // rows

// By answers::Hold.
constexpr std::array<std::string_view, answers::kHolds> kHoldWords = {
    "placed by this plan, before this gang",
    "not preemptible",
    "fair share: its queue keeps what it has",
    "shares of what is missing are not counted: its queue keeps what it has",
    "its priority is not lower",
    "within the minimum run time",
    "a disruption budget or `protect` keeps it",
    "the policy does not allow this eviction",
    "may be evicted, but evicting is not worth it or not enough"};

std::string_view filter_words(explain::FilterCode filter) {
  using explain::FilterCode;
  switch (filter) {
    case FilterCode::kUnschedulable:
      return "cordoned";
    case FilterCode::kUntoleratedTaint:
      return "taint not tolerated";
    case FilterCode::kNodeSelector:
      return "node selector does not match";
    case FilterCode::kNodeAffinity:
      return "node affinity does not match";
    case FilterCode::kVolumeNodeAffinity:
      return "its volumes cannot be attached";
    case FilterCode::kPodAntiAffinity:
      return "anti-affinity to pods there";
    case FilterCode::kPodAffinity:
      return "affinity to pods elsewhere";
    case FilterCode::kTopologySpread:
      return "topology spread";
    case FilterCode::kGpuModel:
      return "another GPU model";
    case FilterCode::kReserved:
      return "held for another gang";
    case FilterCode::kHostPorts:
      return "host port taken";
    case FilterCode::kInsufficientGpu:
      return "too few GPUs";
    case FilterCode::kInsufficientCpu:
      return "too little CPU";
    case FilterCode::kInsufficientMemory:
      return "too little memory";
    case FilterCode::kInsufficient:
      return "too little of";
    case FilterCode::kInsufficientPods:
      return "too many pods";
    case FilterCode::kTopology:
      return "outside the topology domain";
    case FilterCode::kAvailable:
      break;
  }
  return "open";
}

std::string charge_words(const explain::BlockerTally::Charge& charge) {
  std::string words(filter_words(charge.filter));
  return charge.detail.empty() ? words : words + " " + charge.detail;
}

class GangWriter {
 public:
  GangWriter(const WhyGang& input, AnswerDocument& document)
      : run_(input.run),
        problem_(run_.problem),
        gang_(problem_.gangs[input.gang]),
        report_(run_.report_on(input.gang)),
        input_(input),
        document_(document) {}

  void write() {
    document_.add_note(headline(), is_waiting() ? Meaning::kWarning : Meaning::kGood);
    write_fields();
    write_sacrifices();
    if (!is_waiting()) return;
    const answers::WaitingGang waiting(run_, input_.gang);
    write_standing(waiting);
    for (const answers::Funnel& funnel : answers::funnels(waiting)) write_funnel(funnel);
    write_holders(answers::holders(waiting, input_.shares));
    if (input_.remedies) write_remedies(*input_.remedies, *run_.snapshot, document_, nothing_helps());
  }

 private:
  bool is_waiting() const { return report_ != nullptr && !run_.admits(input_.gang); }

  // It has no place among those that wait.
  bool is_unplanned() const {
    return report_->phase == explain::GangPhase::kHeld || report_->phase == explain::GangPhase::kGated ||
           report_->phase == explain::GangPhase::kTimedOut;
  }

  std::string headline() const {
    const std::string name(gang_.name);
    if (report_ == nullptr) return fmt::format("{} runs, or has no pod that could.", name);
    switch (report_->phase) {
      case explain::GangPhase::kRunning:
        return report_->pending == 0
                   ? fmt::format("{} runs.", name)
                   : fmt::format("{} runs with its minimum; {} more of its pods {}: {}.", name, report_->pending,
                                 report_->pending == 1 ? "waits" : "wait", reason_words(report_->reason));
      case explain::GangPhase::kScheduled:
        return fmt::format("{} starts now.", name);
      case explain::GangPhase::kWaiting:
        return fmt::format("{} starts once the pods are gone that leave.", name);
      default:
        return fmt::format("{} waits: {}.", name, reason_words(report_->reason));
    }
  }

  void write_fields() {
    document_.add_field("gang", "gang", std::string(gang_.name));
    document_.add_field("queue", "queue", queue_cell(problem_, gang_.queue));
    document_.add_field("priority", "priority", static_cast<std::int64_t>(gang_.priority));
    document_.add_field("waitedSeconds", "waited", waited_cell(gang_.times.waited_seconds));
    if (report_ == nullptr) return;
    write_proof();
    document_.add_field("phase", "phase", std::string(explain::phase_name(report_->phase)));
    document_.add_field("pods", "pods",
                        fmt::format("{} running, {} starting, {} waiting, {} evicted", report_->running,
                                    report_->placed, report_->pending, report_->evicted),
                        Shown::kText);
    for (const auto& [key, count] : {std::pair{"running", report_->running}, std::pair{"placed", report_->placed},
                                     std::pair{"pending", report_->pending}, std::pair{"evicted", report_->evicted}})
      document_.add_field(key, key, count, Shown::kJson);
    if (report_->reason.code == explain::ReasonCode::kNone && report_->message.empty()) return;
    document_.add_field("reason", "reason", explain::reason_text(report_->reason));
    if (report_->make_room != explain::MakeRoomCode::kNone)
      document_.add_field("makeRoom", "evictions", std::string(explain::make_room_text(report_->make_room)));
    document_.add_field("message", "message", report_->message);
    if (!report_->expected_start) return;
    const Nanoseconds wait = report_->expected_start->time - run_.snapshot->time;
    document_.add_field("expectedStartSeconds", "expected start",
                        Cell(wait / kNanosecondsPerSecond).shown_as("in " + duration_words(wait)));
  }

  void write_proof() {
    const bool is_proven = run_.is_choice_proven();
    std::string words = is_waiting() ? "no; another plan might start it" : "no; another plan might decide otherwise";
    if (is_proven) words = proven_words(*run_.snapshot, is_waiting() ? "it" : "other gangs");
    document_.add_field("choiceProven", "plan proven", Cell(is_proven).shown_as(words));
  }

  // Of a gang that no change of the cluster starts, what does.
  std::string_view nothing_helps() const {
    switch (report_->reason.code) {
      case explain::ReasonCode::kHeld:
        return "No change of the cluster starts it: Muster does not plan it, see the message.";
      case explain::ReasonCode::kGated:
        return "No change of the cluster starts it: it is planned once its pods are no longer gated.";
      case explain::ReasonCode::kSchedulingTimeout:
        return "No change of the cluster starts it: it has reached its timeout.";
      case explain::ReasonCode::kUnknownQueue:
        return "No change of the cluster starts it: it is planned once its queue exists.";
      default:
        return "Nothing that was tried would start it.";
    }
  }

  void write_standing(const answers::WaitingGang& waiting) {
    if (!is_unplanned()) write_places(answers::standing_of(waiting));
    if (!gang_.times.kept_back_for.is_none())
      document_.add_field("keptBackFor", "kept back for", std::string(problem_.gangs[gang_.times.kept_back_for].name));
    if (!gang_.queue.is_none()) write_queues();
  }

  void write_places(const answers::Standing& standing) {
    const auto words = [](std::int64_t all, std::int64_t ahead, std::int64_t level) {
      return fmt::format("{} of {}{}", ahead + 1, all, level == 0 ? "" : fmt::format(", level with {}", level));
    };
    document_.add_field("ahead", "place in its queue",
                        Cell(standing.ahead).shown_as(words(standing.waiting, standing.ahead, standing.level)));
    document_.add_field("aheadInAll", "place in all",
                        Cell(standing.ahead_in_all)
                            .shown_as(words(standing.waiting_in_all, standing.ahead_in_all, standing.level_in_all)));
  }

  void write_queues() {
    using Row = explain::QueueReport;
    using enum Align;
    std::vector<Row> rows;
    for (const QueueIndex index : problem_.queues[gang_.queue].ancestors)
      std::ranges::copy_if(run_.solution.report.queues, std::back_inserter(rows),
                           [&](const Row& row) { return row.queue == index; });
    const auto limit = [&](const Row& row) { return gpu_cell(problem_.queues[row.queue].limit[kQueueGpu]); };
    document_.add_table(filled<Row>(
        {.key = "queues", .title = "GPUs of its queue, and of those above it"},
        {{"queue", "QUEUE", [&](const Row& row) { return problem_.queues[row.queue].name; }},
         {"quota", "QUOTA", [](const Row& row) { return gpu_cell(row.quota[kQueueGpu]); }, kRight},
         {"fairShare", "FAIR SHARE", [](const Row& row) { return gpu_cell(row.fair_share[kQueueGpu]); }, kRight},
         {"allocated", "ALLOCATED", [](const Row& row) { return gpu_cell(row.allocated[kQueueGpu]); }, kRight},
         {"limit", "LIMIT", limit, kRight}},
        rows));
    write_other_limits();
  }

  void write_other_limits() {
    const std::vector<OtherLimitIndex>& limits = problem_.queues[gang_.queue].other_limits;
    if (limits.empty()) return;
    const explain::AfterPlan end = explain::after_plan(problem_, run_.solution.plan);
    const auto limit = [&](OtherLimitIndex index) -> const OtherLimit& { return problem_.lists.other_limits[index]; };
    document_.add_table(filled<OtherLimitIndex>(
        {.key = "otherLimits", .title = "Limits on other resources"},
        {{"queue", "QUEUE", [&](OtherLimitIndex index) { return problem_.queues[limit(index).queue].name; }},
         {"resource", "RESOURCE", [&](OtherLimitIndex index) { return problem_.resource_name(limit(index).resource); }},
         {"allocated", "ALLOCATED", [&](OtherLimitIndex index) { return end.limited[index]; }},
         {"limit", "LIMIT", [&](OtherLimitIndex index) { return limit(index).limit; }}},
        limits));
  }

  void write_funnel(const answers::Funnel& funnel) {
    const std::string key = funnels_ == 0 ? "funnel" : fmt::format("funnel{}", funnels_ + 1);
    ++funnels_;
    Table table{
        .key = key,
        .title = fmt::format("Nodes for the {} it lacks{}", counted(funnel.pods, "pod"), shape_words(funnel.pod_class)),
        .columns = {{"step", "STEP"}, {"nodes", "NODES", Align::kRight}}};
    const auto add = [&](std::string step, std::int64_t nodes, Meaning meaning = Meaning::kPlain) {
      table.rows.push_back({Cell(std::move(step)).meaning(meaning), Cell(nodes)});
    };
    add("in the cluster", funnel.nodes);
    for (const auto& charge : funnel.unsuitable) add("- " + charge_words(charge), charge.nodes, Meaning::kDim);
    add("= suitable", funnel.suitable);
    for (const auto& charge : funnel.full) add("- now " + charge_words(charge), charge.nodes, Meaning::kDim);
    add("= open now", funnel.open, funnel.open == 0 ? Meaning::kBad : Meaning::kGood);
    document_.add_table(std::move(table));
    const bool is_one = funnel.nodes_of_unknown_memory == 1;
    if (funnel.nodes_of_unknown_memory > 0)
      document_.add_note(
          fmt::format(
              "{} not tell the memory of {} GPUs, which the pod asks for a part of; the GPU operator tells it by "
              "the label nvidia.com/gpu.memory.",
              counted(funnel.nodes_of_unknown_memory, "node") + (is_one ? " does" : " do"), is_one ? "its" : "their"),
          Meaning::kWarning);
    document_.add_note(fmt::format(
        "Of {}, {} {} now, {} would if the suitable nodes were empty{}.", counted(funnel.pods, "pod"), funnel.pods_now,
        funnel.pods_now == 1 ? "fits" : "fit", funnel.pods_when_empty,
        funnel.nodes_needed == 0 ? ""
                                 : fmt::format("; empty, at least {} {} needed", counted(funnel.nodes_needed, "node"),
                                               funnel.nodes_needed == 1 ? "is" : "are")));
  }

  // What the plan evicts or moves for the gang.
  void write_sacrifices() {
    const std::vector<answers::LeavingPod> leaving = answers::leaving_pods(run_, input_.gang);
    if (!leaving.empty()) document_.add_table(leaving_table("makesRoom", "Leaves, to make room for it", leaving));
  }

  std::string shape_words(PodClassIndex index) const {
    const GpuRequest& gpu = problem_.pod_classes[index].gpu;
    switch (gpu.kind) {
      case GpuRequestKind::kNone:
        return " (no GPU)";
      case GpuRequestKind::kWhole:
        return fmt::format(" ({} each)", counted(gpu.devices, "GPU"));
      case GpuRequestKind::kFraction:
        return fmt::format(" ({} x {} GPU each)", gpu.devices, value_text(Decimal{gpu.share, 1'000'000}));
      case GpuRequestKind::kMemory:
        break;
    }
    return fmt::format(" ({} x {} MiB of GPU memory each)", gpu.devices, gpu.share);
  }

  void write_holders(const std::vector<answers::Holder>& holders) {
    if (holders.empty()) return;
    using Row = answers::Holder;
    const auto gang = [&](const Row& row) -> const Gang& { return problem_.gangs[row.gang]; };
    const auto words = [](const Row& row) { return kHoldWords[static_cast<std::size_t>(row.hold)]; };
    document_.add_table(
        filled<Row>({.key = "holders",
                     .title = "In use on the nodes that it could use",
                     .most_rows = kShortTable,
                     .overflow = Overflow::kWrap},
                    {{"gang", "GANG", [&](const Row& row) { return gang(row).name; }},
                     {"queue", "QUEUE", [&](const Row& row) { return queue_cell(problem_, gang(row).queue); }},
                     {"priority", "PRIORITY", [&](const Row& row) { return gang(row).priority; }},
                     {"pods", "PODS", &Row::pods},
                     {"gpus", "GPUS", [](const Row& row) { return gpu_cell(row.usage[kQueueGpu]); }, Align::kRight},
                     {"hold", "", [](const Row& row) { return answers::hold_name(row.hold); }, Shown::kJson},
                     {"why", "MAY IT BE EVICTED", words, Shown::kText}},
                    holders));
  }

  const answers::Run& run_;
  const Problem& problem_;
  const Gang& gang_;
  const explain::GangReport* report_;
  const WhyGang& input_;
  AnswerDocument& document_;
  std::size_t funnels_ = 0;
};

std::string kind_list(const std::vector<answers::RemedyKind>& kinds) {
  std::string text;
  for (const answers::RemedyKind kind : kinds)
    text += (text.empty() ? "" : ", ") + std::string(answers::remedy_kind_name(kind));
  return text;
}

// Shown only if there are any.
Table remedy_table(const char* key, const char* title, const std::vector<answers::Remedy>& remedies,
                   const Snapshot& snapshot) {
  using Remedy = answers::Remedy;
  std::vector<RowColumn<Remedy>> columns = remedy_columns(snapshot);
  const auto before_smallest = std::ranges::find(columns, "smallest", [](const auto& one) { return one.column.key; });
  columns.insert(before_smallest, {{"evicts", "EVICTS", [](const Remedy& remedy) { return remedy.with.evicted; }},
                                   {"moves", "MOVES", [](const Remedy& remedy) { return remedy.with.moved; }}});
  return filled({.key = key, .title = title, .shown = remedies.empty() ? Shown::kJson : Shown::kAlways}, columns,
                remedies);
}

}  // namespace

std::vector<RowColumn<answers::Remedy>> remedy_columns(const Snapshot& snapshot) {
  using Remedy = answers::Remedy;
  const auto smallest = [](const Remedy& remedy) {
    return Cell(remedy.is_smallest).shown_as(remedy.is_smallest ? "proven" : "not proven");
  };
  return {{"kind", "", [](const Remedy& remedy) { return answers::remedy_kind_name(remedy.kind); }, Shown::kJson},
          {"size", "", &Remedy::size, Shown::kJson},
          {"remedy", "REMEDY", [&snapshot](const Remedy& remedy) { return answers::remedy_words(remedy, snapshot); }},
          {"smallest", "SMALLEST", smallest},
          {"options", "muster what-if", [](const Remedy& remedy) { return answers::remedy_options(remedy); }}};
}

void write_why_gang(const WhyGang& input, AnswerDocument& document) { GangWriter(input, document).write(); }

void write_remedies(const answers::RemedyAnswer& answer, const Snapshot& snapshot, AnswerDocument& document,
                    std::string_view nothing_helps) {
  document.add_table(remedy_table("remedies", "What would start it (each tested by a plan of the whole cluster)",
                                  answer.remedies, snapshot));
  if (!answer.unproven.empty())
    document.add_table(remedy_table("unprovenRemedies",
                                    "What may start it (a better plan, or one as good, may leave it out)",
                                    answer.unproven, snapshot));
  if (answer.remedies.empty() && answer.unproven.empty() && answer.unfinished.empty())
    document.add_note(std::string(nothing_helps), Meaning::kBad);
  if (!answer.unfinished.empty())
    document.add_note(
        "The time ended before these were searched: " + kind_list(answer.unfinished) + "; give a larger --budget.",
        Meaning::kWarning);
  document.add_field("plansMade", "plans made", answer.tests, Shown::kWide);
}

}  // namespace muster::cli
