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
  void write_queue_resource(const explain::QueueReport& queue, std::size_t resource, std::int64_t scale);
  void write_objective();
  void write_warnings();

  const PlanLine& line_;
  const Problem& problem_;
  json::JsonWriter json_;
};

void DecisionWriter::write() {
  json_.raw(R"({"format":"muster/v1","id":)").string(problem_.snapshot->id).raw(R"(,"status":"ok")");
  if (problem_.snapshot->time != 0) json_.raw(R"(,"time":)").decimal(problem_.snapshot->time, kNanosecondsPerSecond);
  write_placements();
  write_evictions();
}

void ReportWriter::write() {
  write_gangs();
  write_queues();
  write_objective();
  write_warnings();
}

// Names are gathered first: one look-up after the other, without writing text in between, saves a third of the time.
void DecisionWriter::write_placements() {
  json_.raw(R"(,"placements":[)");
  const auto& placements = plan_.placements;
  const auto pods = names_of(placements, [&](const Placement& p) { return name_of(p.pod); });
  const auto nodes = names_of(placements, [&](const Placement& p) { return name_of(p.node); });
  bool first = true;
  for (const std::uint32_t at : order_of_names(pods)) {
    json_.separate(first).raw(R"({"pod":)").string(pods[at]).raw(R"(,"node":)").string(nodes[at]);
    write_terms(placements[at]);
  }
  json_.raw("]");
}

// Devices, and the pods that must be gone first.
void DecisionWriter::write_terms(const Placement& placement) {
  if (!placement.devices.empty()) {
    const std::int64_t share =
        device_share(problem_.class_of(placement.pod).gpu, problem_.class_of(placement.node).device_memory_mib);
    json_.raw(R"(,"gpus":[)");
    bool first = true;
    for (const std::int32_t device : placement.devices) json_.separate(first).raw(device_text(device, share));
    json_.raw("]");
  }
  if (!placement.after.empty()) json_.raw(R"(,"after":[)").raw(after_text(placement.after)).raw("]");
  if (placement.step > 0) json_.raw(R"(,"step":)").integer(placement.step);
  json_.raw("}");
}

std::string_view DecisionWriter::after_text(const std::vector<PodIndex>& after) {
  if (after_ != nullptr && *after_ == after) return after_text_;
  after_ = &after;
  after_text_.clear();
  json::JsonWriter json(after_text_);
  bool first = true;
  for (const std::uint32_t at : order_by_name(after, [&](PodIndex pod) { return name_of(pod); }))
    json.separate(first).string(name_of(after[at]));
  return after_text_;
}

std::string_view DecisionWriter::device_text(std::int32_t device, std::int64_t share) {
  if (share != device_texts_share_) device_texts_.clear();
  device_texts_share_ = share;
  const auto at = static_cast<std::size_t>(device);
  if (at >= device_texts_.size()) device_texts_.resize(at + 1);
  std::string& text = device_texts_[at];
  if (text.empty())
    json::JsonWriter(text)
        .raw(R"({"index":)")
        .integer(device)
        .raw(R"(,"share":)")
        .decimal(share, kWholeDevice)
        .raw("}");
  return text;
}

void DecisionWriter::write_evictions() {
  json_.raw(R"(,"evictions":[)");
  const auto& evictions = plan_.evictions;
  bool first = true;
  for (const std::uint32_t at : order_by_name(evictions, [&](const Eviction& e) { return name_of(e.pod); })) {
    const Eviction& eviction = evictions[at];
    json_.separate(first).raw(R"({"pod":)").string(name_of(eviction.pod));
    const NodeIndex node = problem_.pods[eviction.pod].node;
    if (!node.is_none()) json_.raw(R"(,"node":)").string(name_of(node));
    json_.raw(R"(,"reason":")").raw(eviction_reason_name(eviction.reason)).raw("\"");
    if (!eviction.for_gang.is_none()) json_.raw(R"(,"for":)").string(problem_.gangs[eviction.for_gang].name);
    json_.raw("}");
  }
  json_.raw("]");
}

// Ranges of a long list are written at the same time, the first of them directly to its destination.
void ReportWriter::write_gangs() {
  constexpr std::size_t kStepsAGang = 10;  // as ranges_for counts them
  json_.raw(R"(,"gangs":[)");
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
  json_.raw("]");
}

void ReportWriter::write_gang(const explain::GangReport& gang, json::JsonWriter& json) const {
  json.raw(R"({"name":)").string(problem_.gangs[gang.gang].name);
  json.raw(R"(,"phase":")").raw(explain::phase_name(gang.phase));
  json.raw(R"(","running":)").integer(gang.running).raw(R"(,"placed":)").integer(gang.placed);
  json.raw(R"(,"evicted":)").integer(gang.evicted).raw(R"(,"pending":)").integer(gang.pending);
  if (gang.reason.code != explain::ReasonCode::kNone)
    json.raw(R"(,"reason":)").string(explain::reason_text(gang.reason));
  if (gang.make_room != explain::MakeRoomCode::kNone)
    json.raw(R"(,"makeRoom":)").string(explain::make_room_text(gang.make_room));
  if (!gang.message.empty()) json.raw(R"(,"message":)").string(gang.message);
  if (!gang.blockers.empty()) {
    json.raw(R"(,"blockers":[)");
    bool first = true;
    for (const explain::Blocker& blocker : gang.blockers) {
      json.separate(first)
          .raw(R"({"code":)")
          .string(explain::filter_text(blocker.filter))
          .raw(R"(,"nodes":)")
          .integer(blocker.nodes)
          .raw("}");
    }
    json.raw("]");
  }
  if (gang.expected_start) {
    json.raw(R"(,"expectedStart":)").decimal(gang.expected_start->time, kNanosecondsPerSecond);
    json.raw(R"(,"expectedStartReason":")")
        .raw(forecast::start_obstacle_text(gang.expected_start->waits_for))
        .raw("\"");
  }
  const auto remedy = std::ranges::find(line_.remedies, gang.gang, &RemedyRecord::gang);
  if (remedy != line_.remedies.end()) write_remedy(*remedy, json);
  json.raw("}");
}

void ReportWriter::write_remedy(const RemedyRecord& remedy, json::JsonWriter& json) {
  json.raw(R"(,"remedy":{"kind":)").string(remedy.kind);
  if (!remedy.text.empty()) {
    json.raw(R"(,"size":)").integer(remedy.size).raw(R"(,"text":)").string(remedy.text);
    json.raw(R"(,"options":)").string(remedy.options);
    json.raw(R"(,"smallest":)").raw(remedy.smallest ? "true" : "false");
  }
  json.raw("}");
}

void ReportWriter::write_queues() {
  json_.raw(R"(,"queues":[)");
  const auto& queues = line_.report.queues;
  bool first = true;
  for (const std::uint32_t at :
       order_by_name(queues, [&](const explain::QueueReport& q) { return problem_.queues[q.queue].name; })) {
    const explain::QueueReport& queue = queues[at];
    json_.separate(first).raw(R"({"name":)").string(problem_.queues[queue.queue].name);
    json_.raw(R"(,"gpu":)");
    write_queue_resource(queue, kQueueGpu, kWholeDevice);
    json_.raw(R"(,"cpu":)");
    write_queue_resource(queue, kQueueCpu, kCpuScale);
    json_.raw(R"(,"memory":)");
    write_queue_resource(queue, kQueueMemory, 1);
    json_.raw("}");
  }
  json_.raw("]");
}

void ReportWriter::write_queue_resource(const explain::QueueReport& queue, std::size_t resource, std::int64_t scale) {
  json_.raw("{");
  if (queue.quota[resource] != kUnlimited) json_.raw(R"("quota":)").decimal(queue.quota[resource], scale).raw(",");
  json_.raw(R"("fairShare":)").decimal(queue.fair_share[resource], scale);
  json_.raw(R"(,"allocated":)").decimal(queue.allocated[resource], scale).raw("}");
}

void ReportWriter::write_objective() {
  json_.raw(R"(,"objective":[)");
  const PlacementPolicy policy = problem_.snapshot->policy.placement;
  bool first = true;
  for (const explain::LevelReport& level : line_.report.objective) {
    const std::int64_t scale = level_scale(level.id.kind, policy);
    json_.separate(first).raw(R"({"level":")").raw(level_name(level.id.kind)).raw("\"");
    if (has_priority(level.id.kind)) json_.raw(R"(,"priority":)").integer(level.id.priority);
    json_.raw(R"(,"value":)").decimal(level.value, scale);
    if (level.bound) json_.raw(R"(,"bound":)").decimal(*level.bound, scale);
    json_.raw("}");
  }
  json_.raw("]");
}

void ReportWriter::write_warnings() {
  const Anomalies& anomalies = problem_.snapshot->anomalies;
  if (anomalies.count() == 0) return;
  json_.raw(R"(,"warnings":[)");
  bool first = true;
  for (const Warning& warning : sorted_warnings(anomalies)) {
    json_.separate(first).raw(R"({"object":)").string(warning.object).raw(R"(,"name":)").string(warning.name);
    json_.raw(R"(,"code":)")
        .string(error_code_text(warning.code))
        .raw(R"(,"message":)")
        .string(warning.message)
        .raw("}");
  }
  json_.raw("]");
  if (anomalies.more > 0) json_.raw(R"(,"warningsOmitted":)").integer(static_cast<std::int64_t>(anomalies.more));
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
  out += R"(,"histories":)";
  write_histories(*line.histories, out);
}

void write_statement(const PlanLine& line, std::string& out) {
  const SolverStatement& solver = line.solver;
  json::JsonWriter json(out);
  json.raw(R"(,"solver":{"origin":)").string(origin_name(solver.origin));
  json.raw(R"(,"proof":)").string(proof_name(solver.proof));
  if (has_unread(line.problem.snapshot->anomalies)) json.raw(R"(,"proofOf":"whatWasRead")");
  json.raw(R"(,"gap":)").number(solver.gap);
  if (line.with_timings) {
    json.raw(R"(,"budgetMs":)");
    write_milliseconds(solver.budget_ms, json);
    json.raw(R"(,"elapsedMs":)");
    write_milliseconds(solver.elapsed_ms, json);
  }
  json.raw(solver.deadline_missed ? R"(,"deadlineMissed":true)" : R"(,"deadlineMissed":false)");
  if (line.with_timings) {
    json.raw(R"(,"phasesMs":{)");
    bool first = true;
    for (const auto& [phase, milliseconds] : solver.phases_ms) {
      json.separate(first).string(phase).raw(":");
      write_milliseconds(milliseconds, json);
    }
    json.raw("}");
  }
  json.raw("}}");
}

void write_error(std::string_view id, const InputError& error, std::int64_t line_number, std::string& out) {
  json::JsonWriter json(out);
  json.raw(R"({"format":"muster/v1","id":)").string(printable(id)).raw(R"(,"status":"error","error":{"code":)");
  json.string(error_code_text(error.code)).raw(R"(,"path":)").string(printable(error.path));
  json.raw(R"(,"message":)").string(printable(error.message)).raw(R"(,"line":)").integer(line_number).raw("}}");
}

}  // namespace muster::muster_v1
