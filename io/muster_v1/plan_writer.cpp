#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "io/json/json_document.h"
#include "io/json/json_writer.h"
#include "io/muster_v1/named_plan.h"
#include "io/muster_v1/plan_line.h"
#include "model/base/name_order.h"
#include "model/base/parallel.h"
#include "model/snapshot/unread.h"

namespace muster::muster_v1 {

namespace {

constexpr std::int64_t kCpuScale = 1'000;
constexpr std::size_t kGangBytes = 400;  // of each, mostly

template <class Item, class Name>
std::vector<std::string_view> names_of(const std::vector<Item>& items, const Name& name) {
  std::vector<std::string_view> names(items.size());
  std::ranges::transform(items, names.begin(), name);
  return names;
}

// Positions of `items` in the order of their names; equal plans give equal bytes whatever order they were found in.
template <class Item, class Name>
std::vector<std::uint32_t> order_by_name(const std::vector<Item>& items, const Name& name) {
  return order_of_names(names_of(items, name));
}

// What the plan does.
class DecisionWriter {
 public:
  DecisionWriter(const Problem& problem, const Plan& plan, std::string& out)
      : problem_(problem), plan_(plan), json_(out) {}
  void write();

 private:
  std::string_view name_of(PodIndex pod) const { return problem_.snapshot->pods[pod.value()].name; }
  std::string_view name_of(NodeIndex node) const { return problem_.snapshot->nodes[node.value()].name; }
  void write_placements();
  void write_terms(const Placement& placement);
  std::string_view device_text(std::int32_t device, std::int64_t share);
  std::string_view after_text(const std::vector<PodIndex>& after);
  void write_evictions();

  const Problem& problem_;
  const Plan& plan_;
  json::JsonWriter json_;
  // By device: its entry in a placement, for the share of the last one; empty: not written yet. Neighbours mostly share
  // it.
  std::vector<std::string> device_texts_;
  std::int64_t device_texts_share_ = -1;
  // The names of the last list of pods that must be gone first: the pods of a waiting gang share it.
  const std::vector<PodIndex>* after_ = nullptr;
  std::string after_text_;
};

// The report on the plan.
class ReportWriter {
 public:
  ReportWriter(const PlanLine& line, std::string& out) : line_(line), problem_(line.problem), json_(out) {}
  void write();

 private:
  void write_gangs();
  void write_gang(const explain::GangReport& gang, json::JsonWriter& json) const;
  static void write_remedy(const RemedyRecord& remedy, json::JsonWriter& json);
  void write_queues();
  void write_queue_resource(std::string_view key, const explain::QueueReport& queue, std::size_t resource,
                            std::int64_t scale);
  void write_objective();
  void write_warnings();

  const PlanLine& line_;
  const Problem& problem_;
  json::JsonWriter json_;
};

void DecisionWriter::write() {
  json_.object().member("format", "muster/v1").member("id", problem_.snapshot->id).member("status", "ok");
  if (problem_.snapshot->time != 0) json_.member("time", json::Exact{problem_.snapshot->time, kNanosecondsPerSecond});
  write_placements();
  write_evictions();
}

void ReportWriter::write() {
  json_.raw(",");  // it follows the decisions, also if it begins as a text of its own
  write_gangs();
  write_queues();
  write_objective();
  write_warnings();
}

// Names are gathered first: one look-up after the other, without writing text in between, saves a third of the time.
void DecisionWriter::write_placements() {
  json_.key("placements").array();
  const auto& placements = plan_.placements;
  const auto pods = names_of(placements, [&](const Placement& p) { return name_of(p.pod); });
  const auto nodes = names_of(placements, [&](const Placement& p) { return name_of(p.node); });
  for (const std::uint32_t at : order_of_names(pods)) {
    json_.object().member("pod", pods[at]).member("node", nodes[at]);
    write_terms(placements[at]);
    json_.end();
  }
  json_.end();
}

// Devices, and the pods that must be gone first.
void DecisionWriter::write_terms(const Placement& placement) {
  if (!placement.devices.empty()) {
    const std::int64_t share =
        device_share(problem_.class_of(placement.pod).gpu, problem_.class_of(placement.node).device_memory_mib);
    json_.key("gpus").array();
    for (const std::int32_t device : placement.devices) json_.item().raw(device_text(device, share));
    json_.end();
  }
  if (!placement.after.empty()) json_.key("after").raw(after_text(placement.after));
  if (placement.step > 0) json_.member("step", placement.step);
}

std::string_view DecisionWriter::after_text(const std::vector<PodIndex>& after) {
  if (after_ != nullptr && *after_ == after) return after_text_;
  after_ = &after;
  after_text_.clear();
  json::JsonWriter json(after_text_);
  json.array();
  for (const std::uint32_t at : order_by_name(after, [&](PodIndex pod) { return name_of(pod); }))
    json.value(name_of(after[at]));
  json.end();
  return after_text_;
}

std::string_view DecisionWriter::device_text(std::int32_t device, std::int64_t share) {
  if (share != device_texts_share_) device_texts_.clear();
  device_texts_share_ = share;
  const auto at = static_cast<std::size_t>(device);
  if (at >= device_texts_.size()) device_texts_.resize(at + 1);
  std::string& text = device_texts_[at];
  if (text.empty())
    json::JsonWriter(text).object().member("index", device).member("share", json::Exact{share, kWholeDevice}).end();
  return text;
}

void DecisionWriter::write_evictions() {
  json_.key("evictions").array();
  const auto& evictions = plan_.evictions;
  for (const std::uint32_t at : order_by_name(evictions, [&](const Eviction& e) { return name_of(e.pod); })) {
    const Eviction& eviction = evictions[at];
    json_.object().member("pod", name_of(eviction.pod));
    const NodeIndex node = problem_.pods[eviction.pod].node;
    if (!node.is_none()) json_.member("node", name_of(node));
    json_.member("reason", eviction_reason_name(eviction.reason));
    if (!eviction.for_gang.is_none()) json_.member("for", problem_.gangs[eviction.for_gang].name);
    json_.end();
  }
  json_.end();
}

// Ranges of a long list are written at the same time, the first of them directly to its destination.
void ReportWriter::write_gangs() {
  constexpr std::size_t kStepsAGang = 10;  // as ranges_for counts them
  json_.key("gangs").array();
  const auto& gangs = line_.report.gangs;
  const std::vector<std::uint32_t> order =
      order_by_name(gangs, [&](const explain::GangReport& g) { return problem_.gangs[g.gang].name; });
  const std::size_t ranges = ranges_for(kStepsAGang * order.size(), line_.threads);
  std::vector<std::string> later(ranges);
  parallel_for(ranges, line_.threads, [&](std::size_t range) {
    const std::size_t first = range * order.size() / ranges, end = (range + 1) * order.size() / ranges;
    json::JsonWriter own(later[range]);
    if (range > 0) later[range].reserve(kGangBytes * (end - first));
    json::JsonWriter& json = range == 0 ? json_ : own;
    for (std::size_t at = first; at < end; ++at) {
      if (at > 0) json.raw(",");
      write_gang(gangs[order[at]], json);
    }
  });
  for (const std::string& text : later) json_.raw(text);
  json_.end();
}

void ReportWriter::write_gang(const explain::GangReport& gang, json::JsonWriter& json) const {
  json.object().member("name", problem_.gangs[gang.gang].name).member("phase", explain::phase_name(gang.phase));
  json.member("running", gang.running).member("placed", gang.placed);
  json.member("evicted", gang.evicted).member("pending", gang.pending);
  if (gang.reason.code != explain::ReasonCode::kNone) json.member("reason", explain::reason_text(gang.reason));
  if (gang.make_room != explain::MakeRoomCode::kNone) json.member("makeRoom", explain::make_room_text(gang.make_room));
  if (!gang.message.empty()) json.member("message", gang.message);
  if (!gang.blockers.empty()) {
    json.key("blockers").array();
    for (const explain::Blocker& blocker : gang.blockers)
      json.object().member("code", explain::filter_text(blocker.filter)).member("nodes", blocker.nodes).end();
    json.end();
  }
  if (gang.expected_start) {
    json.member("expectedStart", json::Exact{gang.expected_start->time, kNanosecondsPerSecond});
    json.member("expectedStartReason", forecast::start_obstacle_text(gang.expected_start->waits_for));
  }
  const auto remedy = std::ranges::find(line_.remedies, gang.gang, &RemedyRecord::gang);
  if (remedy != line_.remedies.end()) write_remedy(*remedy, json);
  json.end();
}

void ReportWriter::write_remedy(const RemedyRecord& remedy, json::JsonWriter& json) {
  json.key("remedy").object().member("kind", remedy.kind);
  if (!remedy.text.empty()) {
    json.member("size", remedy.size).member("text", remedy.text);
    json.member("options", remedy.options).member("smallest", remedy.smallest);
  }
  json.end();
}

void ReportWriter::write_queues() {
  json_.key("queues").array();
  const auto& queues = line_.report.queues;
  for (const std::uint32_t at :
       order_by_name(queues, [&](const explain::QueueReport& q) { return problem_.queues[q.queue].name; })) {
    const explain::QueueReport& queue = queues[at];
    json_.object().member("name", problem_.queues[queue.queue].name);
    write_queue_resource("gpu", queue, kQueueGpu, kWholeDevice);
    write_queue_resource("cpu", queue, kQueueCpu, kCpuScale);
    write_queue_resource("memory", queue, kQueueMemory, 1);
    json_.end();
  }
  json_.end();
}

void ReportWriter::write_queue_resource(std::string_view key, const explain::QueueReport& queue, std::size_t resource,
                                        std::int64_t scale) {
  json_.key(key).object();
  if (queue.quota[resource] != kUnlimited) json_.member("quota", json::Exact{queue.quota[resource], scale});
  json_.member("fairShare", json::Exact{queue.fair_share[resource], scale});
  json_.member("allocated", json::Exact{queue.allocated[resource], scale}).end();
}

void ReportWriter::write_objective() {
  json_.key("objective").array();
  const PlacementPolicy policy = problem_.snapshot->policy.placement;
  for (const explain::LevelReport& level : line_.report.objective) {
    const std::int64_t scale = level_scale(level.id.kind, policy);
    json_.object().member("level", level_name(level.id.kind));
    if (has_priority(level.id.kind)) json_.member("priority", level.id.priority);
    json_.member("value", json::Exact{level.value, scale});
    if (level.bound) json_.member("bound", json::Exact{*level.bound, scale});
    json_.end();
  }
  json_.end();
}

void ReportWriter::write_warnings() {
  const Anomalies& anomalies = problem_.snapshot->anomalies;
  if (anomalies.count() == 0) return;
  json_.key("warnings").array();
  for (const Warning& warning : sorted_warnings(anomalies)) {
    json_.object().member("object", warning.object).member("name", warning.name);
    json_.member("code", error_code_text(warning.code)).member("message", warning.message).end();
  }
  json_.end();
  if (anomalies.more > 0) json_.member("warningsOmitted", anomalies.more);
}

// Whole microseconds.
void write_milliseconds(double milliseconds, json::JsonWriter& json) {
  constexpr double kMicroseconds = 1'000, kLongest = 1e15;
  const double bounded = std::isfinite(milliseconds) ? std::clamp(milliseconds, 0.0, kLongest) : 0.0;
  json.decimal(std::llround(bounded * kMicroseconds), 1'000);
}

// Messages may quote text from a line; a broken character must not break the answer.
std::string printable(std::string_view text) {
  std::string out(text);
  if (json::is_utf8(text)) return out;
  std::ranges::replace_if(
      out, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return out;
}

}  // namespace

void write_plan(const PlanLine& line, std::string& out) {
  write_decisions(line, out);
  write_report(line, out);
  write_statement(line, out);
}

void write_decisions(const PlanLine& line, std::string& out) {
  constexpr std::size_t kPlacementBytes = 160;  // of each, mostly
  out.reserve(out.size() + kPlacementBytes * line.plan.placements.size());
  DecisionWriter(line.problem, line.plan, out).write();
}

void write_report(const PlanLine& line, std::string& out) {
  out.reserve(out.size() + kGangBytes * line.report.gangs.size());
  ReportWriter(line, out).write();
  if (line.histories == nullptr || line.histories->empty()) return;
  json::JsonWriter(out).key("histories");
  write_histories(*line.histories, out);
}

void write_statement(const PlanLine& line, std::string& out) {
  const SolverStatement& solver = line.solver;
  json::JsonWriter json(out);
  json.key("solver").object().member("origin", origin_name(solver.origin)).member("proof", proof_name(solver.proof));
  if (has_unread(line.problem.snapshot->anomalies)) json.member("proofOf", "whatWasRead");
  json.member("gap", solver.gap);
  if (line.with_timings) {
    write_milliseconds(solver.budget_ms, json.key("budgetMs"));
    write_milliseconds(solver.elapsed_ms, json.key("elapsedMs"));
  }
  json.member("deadlineMissed", solver.deadline_missed);
  if (line.with_timings) {
    json.key("phasesMs").object();
    for (const auto& [phase, milliseconds] : solver.phases_ms) write_milliseconds(milliseconds, json.any_key(phase));
    json.end();
  }
  json.end().raw("}");  // of the object that write_decisions has begun
}

void write_error(std::string_view id, const InputError& error, std::int64_t line_number, std::string& out) {
  json::JsonWriter json(out);
  json.object().member("format", "muster/v1").member("id", printable(id)).member("status", "error");
  json.key("error").object().member("code", error_code_text(error.code)).member("path", printable(error.path));
  json.member("message", printable(error.message)).member("line", line_number).end().end();
}

}  // namespace muster::muster_v1
