#include "cli/answers/top_tables.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cli/answers/answers.h"
#include "cli/terminal/plan_table.h"
#include "model/explain/codes.h"

namespace muster::cli {

namespace {

constexpr std::int64_t kMicro = 1'000'000;
constexpr std::int64_t kMilli = 1000;
constexpr Align kRight = Align::kRight;
constexpr Shown kWide = Shown::kWide;

Decimal gpus(MicroGpu amount) { return {amount, kMicro}; }

Cell quota(Amount amount, std::int64_t scale) {
  return amount == kUnlimited ? Cell().shown_as("unlimited") : Cell(Decimal{amount, scale});
}

// For people in Gi.
Cell memory(Amount bytes) { return Cell(bytes).shown_as(value_text(static_cast<double>(bytes) / (1 << 30)) + "Gi"); }
Cell memory_quota(Amount bytes) { return bytes == kUnlimited ? Cell().shown_as("unlimited") : memory(bytes); }

Cell age(const std::optional<std::int64_t>& seconds) {
  return seconds ? Cell(*seconds).shown_as(age_text(*seconds)) : Cell();
}

std::string_view status_name(GangStatus status) {
  constexpr std::string_view kNames[] = {"running", "waiting", "gated"};
  return kNames[static_cast<std::size_t>(status)];
}

Cell reason_cell(const std::string& code) {
  if (code.empty()) return {};
  const std::optional<explain::Reason> reason = explain::find_reason(code);
  return reason ? Cell(code).shown_as(reason_words(*reason)) : Cell(code);
}

std::vector<Cell> queue_row(const Problem& problem, const QueueOverview& row) {
  const Queue& queue = problem.queues[row.queue];
  const Amount gpu_quota = queue.quota[kQueueGpu], allocated = row.allocated[kQueueGpu];
  const bool starves = row.waiting_gpus > 0 && allocated < row.fair_share[kQueueGpu];
  const bool is_over = gpu_quota != kUnlimited && allocated > gpu_quota;
  const Meaning meaning = starves ? Meaning::kBad : is_over ? Meaning::kWarning : Meaning::kPlain;
  const std::int64_t limit = queue.limit[kQueueGpu];
  std::vector<Cell> cells = {queue.name,
                             queue_cell(problem, queue.parent),
                             queue.priority,
                             quota(gpu_quota, kMicro),
                             limit == kUnlimited ? Cell() : Cell(gpus(limit)),
                             gpus(row.fair_share[kQueueGpu]),
                             Cell(gpus(allocated)).meaning(meaning),
                             gpus(row.waiting_gpus),
                             row.running_gangs,
                             row.waiting_gangs,
                             quota(queue.quota[kQueueCpu], kMilli),
                             Decimal{row.allocated[kQueueCpu], kMilli},
                             memory_quota(queue.quota[kQueueMemory]),
                             memory(row.allocated[kQueueMemory]),
                             age(row.longest_wait_seconds)};
  if (!problem.lists.other_limits.empty()) cells.emplace_back(row.other_limits);
  return cells;
}

std::vector<Cell> gang_row(const Problem& problem, const GangOverview& row, const GangState* state) {
  const Gang& gang = problem.gangs[row.gang];
  const bool waits = row.status != GangStatus::kRunning;
  const std::int64_t waited = gang.times.waited_seconds;
  const std::int64_t now = problem.snapshot->time / kNanosecondsPerSecond;
  const std::int64_t pods = row.running + row.waiting;
  return {gang.name,
          queue_cell(problem, gang.queue),
          Cell(status_name(row.status)).meaning(waits ? Meaning::kWarning : Meaning::kGood),
          row.running,
          row.waiting,
          fmt::format("{}/{}", row.running, pods),
          gpus(row.gpus),
          gang.priority,
          waits ? Cell(now - waited) : Cell(),
          waits ? age(waited) : Cell(),
          state == nullptr || state->phase.empty() ? Cell() : Cell(state->phase),
          state == nullptr || !state->expected_start ? Cell()
                                                     : Cell(Decimal{*state->expected_start, kNanosecondsPerSecond}),
          state == nullptr || state->message.empty() ? Cell() : Cell(state->message),
          state == nullptr ? Cell() : reason_cell(state->reason)};
}

}  // namespace

GangStates states_of(const muster_v1::ReadPlan& plan) {
  GangStates states;
  for (const muster_v1::GangClaim& gang : plan.gangs) {
    states[gang.name] = {std::string(explain::phase_name(gang.phase)),
                         muster_v1::claimed_text(gang.reason, explain::reason_text), gang.message, gang.expected_start};
  }
  return states;
}

GangStates states_of(const Problem& problem, const explain::Report& report) {
  GangStates states;
  for (const explain::GangReport& gang : report.gangs) {
    GangState& state = states[std::string(problem.gangs[gang.gang].name)];
    state = {std::string(explain::phase_name(gang.phase)), explain::reason_text(gang.reason), gang.message, {}};
    if (gang.expected_start) state.expected_start = gang.expected_start->time;
  }
  return states;
}

Table queue_table(const Problem& problem, const Overview& overview) {
  Table table{.key = "queues",
              .title = "Queues",
              .columns = {{"queue", "QUEUE"},
                          {"parent", "PARENT", Align::kLeft, kWide},
                          {"priority", "PRIORITY", kRight, kWide},
                          {"quota", "QUOTA", kRight},
                          {"limit", "LIMIT", kRight, kWide},
                          {"fairShare", "FAIR SHARE", kRight},
                          {"allocated", "ALLOCATED", kRight},
                          {"requested", "REQUESTED", kRight},
                          {"runningGangs", "RUNNING", kRight},
                          {"waitingGangs", "WAITING", kRight},
                          {"cpuQuota", "CPU QUOTA", kRight, kWide},
                          {"cpuAllocated", "CPU ALLOCATED", kRight, kWide},
                          {"memoryQuota", "MEMORY QUOTA", kRight, kWide},
                          {"memoryAllocated", "MEMORY ALLOCATED", kRight, kWide},
                          {"longestWaitSeconds", "LONGEST WAIT", kRight}}};
  if (!problem.lists.other_limits.empty())
    table.columns.push_back({"otherLimits", "OTHER LIMITS", Align::kLeft, kWide});
  std::vector<QueueOverview> rows = overview.queues;
  std::ranges::stable_sort(rows, [&](const QueueOverview& a, const QueueOverview& b) {
    const auto key = [&](const QueueOverview& row) {
      return std::tuple(-row.allocated[kQueueGpu], -row.waiting_gpus, problem.queues[row.queue].name);
    };
    return key(a) < key(b);
  });
  for (const QueueOverview& row : rows) table.rows.push_back(queue_row(problem, row));
  return table;
}

Table device_table(const Overview& overview) {
  Table table{.key = "gpus",
              .title = "GPUs",
              .columns = {{"model", "MODEL"},
                          {"memoryMib", "MEMORY", kRight},
                          {"total", "TOTAL", kRight},
                          {"allocated", "ALLOCATED", kRight},
                          {"freeWhole", "FREE", kRight},
                          {"freeInParts", "FREE IN PARTS", kRight},
                          {"largestBlock", "LARGEST BLOCK", kRight},
                          {"largestBlockNodes", "ON NODES", kRight},
                          {"freeCordoned", "FREE ON CORDONED", kRight}}};
  std::vector<DeviceOverview> rows = overview.devices;
  std::ranges::stable_sort(rows, std::ranges::greater(), &DeviceOverview::devices);
  for (const DeviceOverview& row : rows) {
    const bool is_known = row.memory_mib > 0;
    table.rows.push_back({row.model.empty() ? Cell().shown_as("(unknown)") : Cell(row.model),
                          is_known ? memory(row.memory_mib << 20) : Cell(), row.devices, gpus(row.allocated),
                          row.free_whole, Cell(gpus(row.free_in_parts)), row.largest_block, row.largest_block_nodes,
                          gpus(row.free_cordoned)});
    if (is_known) table.rows.back()[1].value = row.memory_mib;
  }
  return table;
}

Table gang_table(const Problem& problem, const Overview& overview, const std::optional<GangStates>& states) {
  const Shown if_planned = states ? Shown::kAlways : Shown::kJson;
  Table table{.key = "gangs",
              .title = "Gangs",
              .columns = {{"gang", "GANG"},
                          {"queue", "QUEUE"},
                          {"status", "STATUS"},
                          {"running", "", kRight, Shown::kJson},
                          {"waiting", "", kRight, Shown::kJson},
                          {"pods", "PODS", Align::kLeft, Shown::kText},
                          {"gpus", "GPUS", kRight},
                          {"priority", "PRIORITY", kRight},
                          {"waitingSince", "", kRight, Shown::kJson},
                          {"waitedSeconds", "WAITED", kRight},
                          {"phase", "PLAN", Align::kLeft, if_planned},
                          {"expectedStart", "", kRight, Shown::kJson},
                          {"message", "", Align::kLeft, Shown::kJson},
                          {"reason", "REASON", Align::kLeft, if_planned}}};
  std::vector<GangOverview> rows = overview.gangs;
  std::ranges::stable_sort(rows, [&](const GangOverview& a, const GangOverview& b) {
    const auto key = [&](const GangOverview& row) {
      return std::tuple(row.status == GangStatus::kRunning, -row.gpus, problem.gangs[row.gang].name);
    };
    return key(a) < key(b);
  });
  for (const GangOverview& row : rows) {
    const GangState* state = nullptr;
    if (states) {
      const auto found = states->find(problem.gangs[row.gang].name);
      if (found != states->end()) state = &found->second;
    }
    table.rows.push_back(gang_row(problem, row, state));
  }
  return table;
}

Table node_table(const Problem& problem, const Overview& overview) {
  Table table{.key = "nodes",
              .title = "Nodes with free GPUs",
              .columns = {{"node", "NODE"},
                          {"model", "MODEL"},
                          {"total", "TOTAL", kRight},
                          {"free", "FREE", kRight},
                          {"freeInParts", "FREE IN PARTS", kRight},
                          {"largestPart", "LARGEST PART", kRight},
                          {"cpuFree", "CPU FREE", kRight, kWide},
                          {"memoryFree", "MEMORY FREE", kRight, kWide},
                          {"wasted", "WASTED", kRight},
                          {"largestFit", "LARGEST FIT", kRight}}};
  std::vector<NodeOverview> rows = overview.nodes;
  std::ranges::stable_sort(rows, [&](const NodeOverview& a, const NodeOverview& b) {
    const auto key = [&](const NodeOverview& row) {
      return std::tuple(-row.wasted(), row.idle, problem.snapshot->nodes[row.node.value()].name);
    };
    return key(a) < key(b);
  });
  for (const NodeOverview& row : rows) {
    const SnapshotNode& node = problem.snapshot->nodes[row.node.value()];
    const Meaning meaning = row.wasted() > 0 ? Meaning::kWarning : Meaning::kPlain;
    table.rows.push_back({node.name, node.gpu_model.empty() ? Cell() : Cell(node.gpu_model), row.devices, row.idle,
                          gpus(row.free_in_parts), gpus(row.largest_part), Decimal{row.free_cpu, kMilli},
                          memory(row.free_memory), Cell(gpus(row.wasted())).meaning(meaning),
                          row.largest_fit == 0 ? Cell().shown_as("none") : Cell(gpus(row.largest_fit))});
  }
  return table;
}

void add_totals(const Problem& problem, const Overview& overview, AnswerDocument& document) {
  const Snapshot& snapshot = *problem.snapshot;
  std::int64_t devices = 0, running = 0, waiting = 0;
  MicroGpu allocated = 0;
  for (const DeviceOverview& row : overview.devices) {
    devices += row.devices;
    allocated += row.allocated;
  }
  for (const GangOverview& row : overview.gangs) (row.status == GangStatus::kRunning ? running : waiting) += 1;
  const bool has_id = !snapshot.id.empty(), has_time = snapshot.time != 0;
  document.add_field("id", "Snapshot", snapshot.id, has_id ? Shown::kAlways : Shown::kJson);
  document.add_field("time", "Time", has_time ? Cell(Decimal{snapshot.time, kNanosecondsPerSecond}) : Cell(),
                     Shown::kJson);
  const std::string cordoned =
      overview.cordoned_nodes > 0 ? fmt::format(", {} of them cordoned", overview.cordoned_nodes) : "";
  document.add_field("nodeCount", "Nodes",
                     Cell(snapshot.nodes.size()).shown_as(fmt::format("{}{}", snapshot.nodes.size(), cordoned)));
  document.add_field("cordonedNodes", "", overview.cordoned_nodes, Shown::kJson);
  const double share =
      devices == 0 ? 0 : static_cast<double>(allocated) / static_cast<double>(kMicro) / static_cast<double>(devices);
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

std::string age_text(std::int64_t seconds) {
  constexpr std::int64_t kMinute = 60, kHour = 3600, kDay = 86'400;
  if (seconds < kMinute) return fmt::format("{}s", seconds);
  if (seconds < kHour) return fmt::format("{}m", seconds / kMinute);
  if (seconds < kDay) return fmt::format("{}h{:02}m", seconds / kHour, seconds % kHour / kMinute);
  return fmt::format("{}d{}h", seconds / kDay, seconds % kDay / kHour);
}

namespace {

bool equal_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// None: the value is no number.
std::optional<double> number_of(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* exact = std::get_if<Decimal>(&value)) {
    return static_cast<double>(exact->value) / static_cast<double>(exact->scale);
  }
  return std::nullopt;
}

// Whether a stands before b.
bool comes_first(const Value& a, const Value& b) {
  const bool a_is_unknown = std::holds_alternative<std::monostate>(a);
  const bool b_is_unknown = std::holds_alternative<std::monostate>(b);
  if (a_is_unknown || b_is_unknown) return b_is_unknown && !a_is_unknown;
  const std::optional<double> x = number_of(a), y = number_of(b);
  if (x && y) return *x > *y;
  return value_text(a) < value_text(b);
}

}  // namespace

bool sort_rows(Table& table, std::string_view column) {
  const auto found = std::ranges::find_if(table.columns, [&](const Column& known) {
    return equal_letters(known.key, column) || (!known.title.empty() && equal_letters(known.title, column));
  });
  if (found == table.columns.end()) return false;
  const auto at = static_cast<std::size_t>(found - table.columns.begin());
  std::ranges::stable_sort(table.rows, [&](const std::vector<Cell>& a, const std::vector<Cell>& b) {
    return comes_first(a[at].value, b[at].value);
  });
  return true;
}

std::vector<std::string> sortable_columns(const Table& table) {
  std::vector<std::string> keys;
  for (const Column& column : table.columns) keys.push_back(column.key);
  return keys;
}

std::size_t limit_rows(Table& table, std::size_t most) {
  const std::size_t removed = table.rows.size() - std::min(most, table.rows.size());
  table.rows.resize(table.rows.size() - removed);
  return removed;
}

}  // namespace muster::cli
