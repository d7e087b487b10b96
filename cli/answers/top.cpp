// `muster top`: what a cluster is used for now.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/answers/answers.h"
#include "cli/answers/overview.h"
#include "cli/line/line_source.h"
#include "cli/terminal/plan_table.h"
#include "cli/terminal/terminal.h"
#include "io/muster_v1/plan_line.h"
#include "model/base/words.h"
#include "model/build/build_problem.h"
#include "model/explain/codes.h"
#include "model/explain/report.h"

namespace muster::cli {
namespace {

constexpr std::array<std::string_view, 4> kSections = {"queues", "gpus", "gangs", "nodes"};
constexpr std::size_t kShortRows = 5, kLongRows = 30;  // of tables of all sections, and of one

// ---- what a plan reports of gangs ----

struct GangState {
  std::string phase, reason;  // codes; no reason: empty
  std::string message;        // for people
  std::optional<Nanoseconds> expected_start;
};
using GangStates = std::map<std::string, GangState, std::less<>>;  // by name

// Or why there are none.
struct ReadStates {
  std::optional<GangStates> states;
  std::string note;
};

// Of the last plan line that answers the snapshot; none if the file cannot be read, which is reported.
std::optional<ReadStates> read_states(const std::string& file, std::string_view id) {
  LineSource source({file}, {});
  ReadStates read;
  while (const auto line = source.next()) {
    const Result<muster_v1::ReadPlan> plan = muster_v1::read_plan(line->text, nullptr);
    if (!plan) {
      const InputError& error = plan.error();
      const std::string place = fmt::format("{}: line {}: {}", escaped(file), line->number, escaped(error.path));
      complain_of("top", fmt::format("{}: {}", place, escaped(error.message)), kExitAnswered);
    } else if (!plan->is_error && plan->id == id) {
      GangStates& states = read.states.emplace();
      for (const muster_v1::GangClaim& gang : plan->gangs)
        states[gang.name] = {std::string(explain::phase_name(gang.phase)),
                             muster_v1::claimed_text(gang.reason, explain::reason_text), gang.message,
                             gang.expected_start};
    }
  }
  if (!source.failure().empty()) {
    complain_of("top", source.failure(), kExitNoInput);
    return std::nullopt;
  }
  if (!read.states) read.note = fmt::format("{} has no plan of the snapshot '{}'", file, id);
  return read;
}

GangStates solve_states(const Problem& problem, const Question& question) {
  portfolio::SolveOptions solve = question.options.solve;
  std::chrono::nanoseconds budget = question.options.budget;
  if (const auto set = question.snapshot().policy.budget) budget = std::chrono::nanoseconds(*set);
  if (!solve.deterministic) solve.deadline = portfolio::Clock::now() + budget;
  GangStates states;
  for (const explain::GangReport& gang : question.portfolio.solve(question.snapshot(), problem, solve).report.gangs) {
    GangState& state = states[std::string(problem.gangs[gang.gang].name)];
    state = {std::string(explain::phase_name(gang.phase)), explain::reason_text(gang.reason), gang.message, {}};
    if (gang.expected_start) state.expected_start = gang.expected_start->time;
  }
  return states;
}

// ---- tables, their rows in the order of interest ----

template <class Row, class Key>
std::vector<Row> sorted_by(std::vector<Row> rows, Key key) {
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) { return key(a) < key(b); });
  return rows;
}

Cell quota(Amount amount, std::int64_t scale) {
  return amount == kUnlimited ? Cell().shown_as("unlimited") : Cell(Decimal{amount, scale});
}

Decimal cores(Amount thousandths) { return {thousandths, 1000}; }

// For people in Gi.
Cell memory(Amount bytes) { return Cell(bytes).shown_as(value_text(static_cast<double>(bytes) / (1 << 30)) + "Gi"); }

Cell age(const std::optional<std::int64_t>& seconds) {
  return seconds ? Cell(*seconds).shown_as(age_text(*seconds)) : Cell();
}

// Queues with the most allocated GPUs first.
Table queue_table(const Problem& problem, const Overview& overview) {
  using Row = QueueOverview;
  using enum Align;
  using enum Shown;
  const auto queue = [&](const Row& row) -> const Queue& { return problem.queues[row.queue]; };
  const auto allocated = [&](const Row& row) {
    const MicroGpu amount = row.allocated[kQueueGpu], gpu_quota = queue(row).quota[kQueueGpu];
    const bool starves = row.waiting_gpus > 0 && amount < row.fair_share[kQueueGpu];
    const bool is_over = gpu_quota != kUnlimited && amount > gpu_quota;
    return Cell(gpus(amount)).meaning(starves ? Meaning::kBad : is_over ? Meaning::kWarning : Meaning::kPlain);
  };
  const auto limit = [&](const Row& row) {
    const std::int64_t amount = queue(row).limit[kQueueGpu];
    return amount == kUnlimited ? std::nullopt : std::optional(gpus(amount));
  };
  const auto memory_quota = [&](const Row& row) {
    const Amount bytes = queue(row).quota[kQueueMemory];
    return bytes == kUnlimited ? Cell().shown_as("unlimited") : memory(bytes);
  };
  std::vector<RowColumn<Row>> columns = {
      {"queue", "QUEUE", [&](const Row& row) { return queue(row).name; }},
      {"parent", "PARENT", [&](const Row& row) { return queue_cell(problem, queue(row).parent); }, kWide},
      {"priority", "PRIORITY", [&](const Row& row) { return queue(row).priority; }, kWide},
      {"quota", "QUOTA", [&](const Row& row) { return gpu_cell(queue(row).quota[kQueueGpu]); }, kRight},
      {"limit", "LIMIT", limit, kWide},
      {"fairShare", "FAIR SHARE", [](const Row& row) { return gpus(row.fair_share[kQueueGpu]); }},
      {"allocated", "ALLOCATED", allocated, kRight},
      {"requested", "REQUESTED", [](const Row& row) { return gpus(row.waiting_gpus); }},
      {"runningGangs", "RUNNING", &Row::running_gangs},
      {"waitingGangs", "WAITING", &Row::waiting_gangs},
      {"cpuQuota", "CPU QUOTA", [&](const Row& row) { return quota(queue(row).quota[kQueueCpu], 1000); }, kRight,
       kWide},
      {"cpuAllocated", "CPU ALLOCATED", [](const Row& row) { return cores(row.allocated[kQueueCpu]); }, kWide},
      {"memoryQuota", "MEMORY QUOTA", memory_quota, kRight, kWide},
      {"memoryAllocated", "MEMORY ALLOCATED", [](const Row& row) { return memory(row.allocated[kQueueMemory]); },
       kRight, kWide},
      {"longestWaitSeconds", "LONGEST WAIT", [](const Row& row) { return age(row.longest_wait_seconds); }, kRight}};
  if (!problem.lists.other_limits.empty())
    columns.emplace_back("otherLimits", "OTHER LIMITS", &Row::other_limits, kWide);
  const auto order = [&](const Row& row) {
    return std::tuple(-row.allocated[kQueueGpu], -row.waiting_gpus, queue(row).name);
  };
  return filled({.key = "queues", .title = "Queues"}, columns, sorted_by(overview.queues, order));
}

// Kinds of devices by number.
Table device_table(const Overview& overview) {
  using Row = DeviceOverview;
  using enum Align;
  const auto memory_of_one = [](const Row& row) {
    return row.memory_mib > 0 ? Cell(row.memory_mib).shown_as(memory(row.memory_mib << 20).text) : Cell();
  };
  const auto model = [](const Row& row) { return row.model.empty() ? Cell().shown_as("(unknown)") : Cell(row.model); };
  return filled<Row>({.key = "gpus", .title = "GPUs"},
                     {{"model", "MODEL", model},
                      {"memoryMib", "MEMORY", memory_of_one, kRight},
                      {"total", "TOTAL", &Row::devices},
                      {"allocated", "ALLOCATED", [](const Row& row) { return gpus(row.allocated); }},
                      {"freeWhole", "FREE", &Row::free_whole},
                      {"freeInParts", "FREE IN PARTS", [](const Row& row) { return gpus(row.free_in_parts); }},
                      {"largestBlock", "LARGEST BLOCK", &Row::largest_block},
                      {"largestBlockNodes", "ON NODES", &Row::largest_block_nodes},
                      {"freeCordoned", "FREE ON CORDONED", [](const Row& row) { return gpus(row.free_cordoned); }}},
                     sorted_by(overview.devices, [](const Row& row) { return -row.devices; }));
}

// Gangs that wait before those that run, the largest of each first. `states`: none if there is no plan.
Table gang_table(const Problem& problem, const Overview& overview, const std::optional<GangStates>& states) {
  using Row = GangOverview;
  using enum Align;
  using enum Shown;
  static const GangState kUnknown;
  const auto gang = [&](const Row& row) -> const Gang& { return problem.gangs[row.gang]; };
  const auto state = [&](const Row& row) -> const GangState& {
    if (!states) return kUnknown;
    const auto found = states->find(gang(row).name);
    return found == states->end() ? kUnknown : found->second;
  };
  const auto status = [](const Row& row) {
    constexpr std::array<const char*, 3> kNames = {"running", "waiting", "gated"};
    return Cell(kNames[static_cast<std::size_t>(row.status)]).meaning(row.waits() ? Meaning::kWarning : Meaning::kGood);
  };
  const auto since = [&](const Row& row) -> std::optional<std::int64_t> {
    if (!row.waits()) return std::nullopt;
    return problem.snapshot->time / kNanosecondsPerSecond - gang(row).times.waited_seconds;
  };
  const auto waited = [&](const Row& row) { return row.waits() ? age(gang(row).times.waited_seconds) : Cell(); };
  const auto expected = [&](const Row& row) -> std::optional<Decimal> {
    const auto start = state(row).expected_start;
    return start ? std::optional(seconds(*start)) : std::nullopt;
  };
  const auto reason = [&](const Row& row) {
    const std::string& code = state(row).reason;
    const std::optional<explain::Reason> known = explain::find_reason(code);
    return known && !code.empty() ? Cell(code).shown_as(reason_words(*known)) : text_or_none(code);
  };
  const Shown if_planned = states ? kAlways : Shown::kJson;
  const auto order = [&](const Row& row) { return std::tuple(!row.waits(), -row.gpus, gang(row).name); };
  return filled<Row>(
      {.key = "gangs", .title = "Gangs"},
      {{"gang", "GANG", [&](const Row& row) { return gang(row).name; }},
       {"queue", "QUEUE", [&](const Row& row) { return queue_cell(problem, gang(row).queue); }},
       {"status", "STATUS", status},
       {"running", "", &Row::running, Shown::kJson},
       {"waiting", "", &Row::waiting, Shown::kJson},
       {"pods", "PODS", [](const Row& row) { return fmt::format("{}/{}", row.running, row.running + row.waiting); },
        Shown::kText},
       {"gpus", "GPUS", [](const Row& row) { return gpus(row.gpus); }},
       {"priority", "PRIORITY", [&](const Row& row) { return gang(row).priority; }},
       {"waitingSince", "", since, Shown::kJson},
       {"waitedSeconds", "WAITED", waited, kRight},
       {"phase", "PLAN", [&](const Row& row) { return text_or_none(state(row).phase); }, if_planned},
       {"expectedStart", "", expected, Shown::kJson},
       {"message", "", [&](const Row& row) { return text_or_none(state(row).message); }, Shown::kJson},
       {"reason", "REASON", reason, if_planned}},
      sorted_by(overview.gangs, order));
}

// Nodes with the most wasted GPUs first.
Table node_table(const Problem& problem, const Overview& overview) {
  using Row = NodeOverview;
  using enum Align;
  using enum Shown;
  const auto node = [&](const Row& row) -> const SnapshotNode& { return problem.snapshot->nodes[row.node.value()]; };
  const auto wasted = [](const Row& row) {
    return Cell(gpus(row.wasted())).meaning(row.wasted() > 0 ? Meaning::kWarning : Meaning::kPlain);
  };
  const auto fit = [](const Row& row) {
    return row.largest_fit == 0 ? Cell().shown_as("none") : Cell(gpus(row.largest_fit));
  };
  const auto order = [&](const Row& row) { return std::tuple(-row.wasted(), row.idle, node(row).name); };
  return filled<Row>(
      {.key = "nodes", .title = "Nodes with free GPUs"},
      {{"node", "NODE", [&](const Row& row) { return node(row).name; }},
       {"model", "MODEL", [&](const Row& row) { return text_or_none(node(row).gpu_model); }},
       {"total", "TOTAL", &Row::devices},
       {"free", "FREE", &Row::idle},
       {"freeInParts", "FREE IN PARTS", [](const Row& row) { return gpus(row.free_in_parts); }},
       {"largestPart", "LARGEST PART", [](const Row& row) { return gpus(row.largest_part); }},
       {"cpuFree", "CPU FREE", [](const Row& row) { return cores(row.free_cpu); }, kWide},
       {"memoryFree", "MEMORY FREE", [](const Row& row) { return memory(row.free_memory); }, kRight, kWide},
       {"wasted", "WASTED", wasted, kRight},
       {"largestFit", "LARGEST FIT", fit, kRight}},
      sorted_by(overview.nodes, order));
}

// Fields about the cluster as a whole.
void add_totals(const Problem& problem, const Overview& overview, AnswerDocument& document) {
  const Snapshot& snapshot = *problem.snapshot;
  std::int64_t devices = 0;
  MicroGpu allocated = 0;
  for (const DeviceOverview& row : overview.devices) {
    devices += row.devices;
    allocated += row.allocated;
  }
  const auto waiting = std::ranges::count_if(overview.gangs, &GangOverview::waits);
  const auto running = std::ssize(overview.gangs) - waiting;
  document.add_field("id", "Snapshot", snapshot.id, snapshot.id.empty() ? Shown::kJson : Shown::kAlways);
  document.add_field("time", "Time", snapshot.time != 0 ? Cell(seconds(snapshot.time)) : Cell(), Shown::kJson);
  const std::string cordoned =
      overview.cordoned_nodes > 0 ? fmt::format(", {} of them cordoned", overview.cordoned_nodes) : "";
  document.add_field("nodeCount", "Nodes",
                     Cell(snapshot.nodes.size()).shown_as(fmt::format("{}{}", snapshot.nodes.size(), cordoned)));
  document.add_field("cordonedNodes", "", overview.cordoned_nodes, Shown::kJson);
  const double share = devices == 0 ? 0 : static_cast<double>(allocated) / 1e6 / static_cast<double>(devices);
  document.add_field("gpuCount", "GPUs",
                     Cell(devices).shown_as(fmt::format("{}, {} allocated ({:.1f} %)", devices,
                                                        value_text(gpus(allocated)), 100 * share)));
  document.add_field("gpusAllocated", "", gpus(allocated), Shown::kJson);
  document.add_field("gangsRunning", "Gangs",
                     Cell(running).shown_as(fmt::format("{} running, {} waiting", running, waiting)));
  document.add_field("gangsWaiting", "", waiting, Shown::kJson);
  const std::size_t warnings = snapshot.anomalies.count();
  document.add_field(
      "warnings", "Warnings",
      Cell(warnings).shown_as(fmt::format("{}; `muster solve` lists them", warnings)).meaning(Meaning::kWarning),
      warnings > 0 ? Shown::kAlways : Shown::kJson);
}

// ---- the command ----

struct Arguments {
  std::optional<std::string_view> section;  // none: all
  std::optional<std::string> file;          // none: --from
};

Arguments arguments_of(const Settings& settings) {
  Arguments given;
  std::vector<std::string> words = settings.arguments();
  if (!words.empty()) {
    const auto* section = std::ranges::find(kSections, words.front());
    if (section != kSections.end()) {
      given.section = *section;
      words.erase(words.begin());
    }
  }
  if (words.size() > 1)
    throw UsageError(
        fmt::format("unknown section '{}'; sections are {}", escaped(words.front()), fmt::join(kSections, ", ")));
  if (!words.empty()) given.file = words.front();
  return given;
}

std::vector<std::string> top_sources(const Settings& settings) {
  const Arguments given = arguments_of(settings);
  static_cast<void>(settings.integer("limit", 0, std::numeric_limits<std::int32_t>::max()));
  const auto plans = settings.text("plans");
  if (settings.text("sort") && !given.section) throw UsageError("--sort: name a section, such as 'muster top gangs'");
  if (plans && settings.is_on("solve")) throw UsageError("--plans: either take reasons from plans, or --solve");
  std::vector<std::string> sources{cluster_source(settings, given.file)};
  if (plans) sources.push_back(*plans);
  return sources;
}

// The table as the options request it.
void add_section(Table table, const Settings& settings, bool is_only, AnswerDocument& document) {
  const auto sort = settings.text("sort");
  if (sort && !sort_rows(table, *sort)) {
    std::vector<std::string> keys;
    for (const Column& column : table.columns) keys.push_back(column.key);
    throw UsageError(fmt::format("--sort: unknown column '{}'; columns are {}", escaped(*sort), fmt::join(keys, ", ")));
  }
  table.most_rows = is_only ? kLongRows : kShortRows;
  std::size_t removed = 0;
  if (const auto limit = settings.integer("limit", 0, std::numeric_limits<std::int32_t>::max())) {
    table.most_rows = 0;
    removed = limit_rows(table, static_cast<std::size_t>(*limit));
  }
  const std::string key = table.key;
  document.add_table(std::move(table));
  if (removed > 0)
    document.add_note(counted(static_cast<std::int64_t>(removed), "more " + key.substr(0, key.size() - 1)),
                      Meaning::kDim);
}

Answered top(const Question& question) {
  const auto [only, file] = arguments_of(question.settings);
  const Result<Problem> problem = build_problem(question.snapshot(), question.options.solve.threads);
  if (!problem) return problem.error();
  ReadStates read;
  if (const auto plans = question.settings.text("plans")) {
    auto states = read_states(*plans, question.snapshot().id);
    if (!states) return kExitNoInput;
    read = *std::move(states);
  } else if (question.settings.is_on("solve")) {
    read.states = solve_states(*problem, question);
  }
  const Overview overview = overview_of(*problem);
  AnswerDocument document("top");
  add_totals(*problem, overview, document);
  for (const std::string_view section : kSections) {
    if (only && *only != section) continue;
    Table table = section == "queues"  ? queue_table(*problem, overview)
                  : section == "gpus"  ? device_table(overview)
                  : section == "gangs" ? gang_table(*problem, overview, read.states)
                                       : node_table(*problem, overview);
    add_section(std::move(table), question.settings, only.has_value(), document);
  }
  if (!read.note.empty()) document.add_note(read.note, Meaning::kWarning);
  return Reply{std::move(document)};
}

const AnswerCommand& top_command() {
  constexpr DefaultBudget kBudget{std::chrono::seconds(1),
                                  "time budget of --solve if the policy does not set one [1s]"};
  static const AnswerCommand command{
      {"muster top [queues|gpus|gangs|nodes] [SNAPSHOT] [OPTION...]",
       "Shows what a cluster is used for: queues, GPUs by model, gangs, nodes with free GPUs; without a section, all.\n"
       "SNAPSHOT is short for --from SNAPSHOT.",
       with_cluster_options(with_answer_options(with_experiment_options(
           {{"sort", "COLUMN", "sort the section by this column: numbers descending, texts ascending"},
            {"limit", "N", "show at most N rows of each table"},
            watch_row(),
            {"plans", "FILE", "take reasons from the plan of the snapshot in FILE"},
            {"solve", "", "solve the snapshot, to show the reasons why gangs wait"}},
           kBudget))),
       0, 2},
      top,
      kBudget,
      top_sources,
      [](const Settings& settings) { return read_cluster(settings, arguments_of(settings).file); }};
  return command;
}

}  // namespace

const CommandSyntax& top_syntax() { return top_command().syntax; }
int run_top(int argc, const char* const* argv) { return run_answer(top_command(), argc, argv); }

}  // namespace muster::cli
