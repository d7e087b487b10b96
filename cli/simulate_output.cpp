#include "cli/simulate_output.h"

#include <algorithm>
#include <array>
#include <utility>

#include "datasets/simulation/summary.h"
#include "io/json/json_writer.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kThousandths = 1000, kMillionths = 1'000'000;

using json::Exact, json::JsonWriter;

Exact seconds(Nanoseconds value) { return {value, kNanosecondsPerSecond}; }
Exact gpus(Work value) { return {value, kThousandths}; }
// Six places are what a reader can use.
Exact millionths(double value) {
  return {static_cast<std::int64_t>(value * 1e6 + (value < 0 ? -0.5 : 0.5)), kMillionths};
}

template <class Items, class Write>
void write_list(JsonWriter& json, std::string_view name, const Items& items, const Write& write) {
  json.key(name).array();
  for (const auto& item : items) write(item);
  json.end();
}

void write_pod(const simulation::PodRecord& pod, JsonWriter& json) {
  json.object().member("name", pod.name);
  if (!pod.from.empty()) json.member("from", pod.from);
  json.member("node", pod.node);
  if (!pod.devices.empty()) {
    write_list(json, "gpus", pod.devices, [&](std::int32_t device) { json.value(device); });
    json.member("share", Exact{pod.share, kMillionths});
  }
  json.end();
}

constexpr std::array<std::string_view, 8> kJobEvents = {"submit", "place",     "start",  "move",
                                                        "evict",  "interrupt", "finish", "drop"};
constexpr std::array<std::string_view, 6> kNodeEvents = {"failed",  "repaired", "added",
                                                         "removed", "cordoned", "uncordoned"};

void write_submit(const simulation::SimulatedJob& job, JsonWriter& json) {
  json.member("queue", job.queue).member("priority", job.priority);
  json.member("pods", job.pods).member("gpus", gpus(job.gpu_work));
  if (job.duration) json.member("duration", seconds(*job.duration));
}

void write_job(const simulation::JobRecord& record, JsonWriter& json) {
  json.object().member("time", seconds(record.time));
  json.member("event", kJobEvents[static_cast<std::size_t>(record.event)]).member("gang", record.job.name);
  if (!record.reason.empty() && record.event == simulation::JobEvent::kEvict) json.member("reason", record.reason);
  if (!record.for_gang.empty()) json.member("for", record.for_gang);
  switch (record.event) {
    case simulation::JobEvent::kSubmit:
      write_submit(record.job, json);
      break;
    case simulation::JobEvent::kPlace:
    case simulation::JobEvent::kMove:
      write_list(json, "pods", record.pods, [&](const simulation::PodRecord& pod) { write_pod(pod, json); });
      break;
    case simulation::JobEvent::kEvict:
      write_list(json, "pods", record.pods, [&](const simulation::PodRecord& pod) { json.value(pod.name); });
      break;
    case simulation::JobEvent::kStart:
      json.member("waited", seconds(record.time - record.job.submitted));
      break;
    case simulation::JobEvent::kInterrupt:
      json.member("lost", millionths(simulation::gpu_seconds(record.lost)));
      break;
    case simulation::JobEvent::kFinish:
      json.member("waited", seconds(record.job.first_start.value_or(record.time) - record.job.submitted));
      json.member("completion", seconds(record.time - record.job.submitted));
      break;
    case simulation::JobEvent::kDrop:
      break;
  }
  json.end();
}

void write_node(const simulation::NodeRecord& record, JsonWriter& json) {
  json.object().member("time", seconds(record.time)).member("event", "node").member("name", record.node.name);
  json.member("change", kNodeEvents[static_cast<std::size_t>(record.event)]);
  json.member("gpus", record.node.gpu_count).end();
}

void write_cycle(const simulation::CycleRecord& record, std::optional<double> cycle_ms, JsonWriter& json) {
  json.object().member("time", seconds(record.time)).member("event", "cycle").member("cycle", record.number);
  json.member("running", record.running).member("pending", record.pending).member("placed", record.placed);
  json.member("evicted", record.evicted).member("moved", record.moved);
  json.member("capacity", gpus(record.capacity)).member("allocated", gpus(record.allocated));
  if (record.fragmentation) json.member("fragmentation", millionths(static_cast<double>(*record.fragmentation) / 1e9));
  write_list(json, "queues", record.queues, [&](const simulation::QueueSample& queue) {
    json.object().member("name", queue.name);
    json.member("fairShare", gpus(queue.fair_share)).member("allocated", gpus(queue.allocated)).end();
  });
  json.key("waiting").object().member("gangs", record.waiting_gangs).member("gpus", gpus(record.waiting_work)).end();
  if (cycle_ms) json.member("ms", millionths(*cycle_ms));
  json.end();
}

double part(simulation::GpuTime value, simulation::GpuTime of) {
  return of == 0 ? 0 : static_cast<double>(value) / static_cast<double>(of);
}

void write_spans(std::string_view name, const simulation::SpanStatistics& spans, JsonWriter& json) {
  json.key(name).object().member("count", spans.count).member("mean", millionths(spans.mean_seconds));
  json.member("p50", seconds(spans.p50)).member("p99", seconds(spans.p99)).member("max", seconds(spans.most)).end();
}

void write_told(const simulation::ToldStatistics& told, JsonWriter& json) {
  json.key("expectedStarts").object().member("count", told.count).member("withinTwice", millionths(told.within_twice));
  json.member("p10", millionths(told.p10)).member("p50", millionths(told.p50));
  json.member("p90", millionths(told.p90)).end();
}

void write_gangs(const simulation::GangSummary& summary, JsonWriter& json) {
  json.member("submitted", summary.submitted).member("started", summary.started);
  json.member("finished", summary.finished).member("dropped", summary.dropped);
  write_spans("waiting", summary.waiting, json);
  write_spans("completion", summary.completion, json);
  write_spans("delay", summary.delay, json);
  json.member("interruptions", summary.interruptions).member("evictedPods", summary.evicted_pods);
  json.member("movedPods", summary.moved_pods).member("lost", millionths(simulation::gpu_seconds(summary.lost)));
  if (summary.told.count > 0) write_told(summary.told, json);
}

void write_queue(const simulation::GangSummary& summary, const simulation::SimulationTotals& totals, JsonWriter& json) {
  json.object().member("name", summary.name);
  if (const auto found = totals.samples.queues.find(summary.name); found != totals.samples.queues.end()) {
    const simulation::QueueTotals& queue = found->second;
    const auto mean = [&](simulation::GpuTime sum) {
      return part(sum, simulation::GpuTime{queue.time} * kThousandths);
    };
    json.member("fairShare", millionths(mean(queue.fair_share))).member("allocated", millionths(mean(queue.allocated)));
    json.member("shortfall", millionths(mean(queue.shortfall)));
  }
  write_gangs(summary, json);
  json.end();
}

void write_cluster(const simulation::SimulationTotals& totals, const simulation::SimulationSummary& summary,
                   JsonWriter& json) {
  json.key("allocation").object().member("mean", millionths(part(totals.allocated, totals.capacity)));
  json.member("whileArriving", millionths(part(totals.allocated_arriving, totals.capacity_arriving)));
  json.member("useful", millionths(part(totals.allocated - summary.lost, totals.capacity))).end();
  const double seconds = std::max(1e-9, static_cast<double>(totals.samples.time) / 1e9);
  const double fragmentation = totals.samples.fragmentation_seconds / 1e3 / seconds;
  json.key("fragmentation").object().member("mean", millionths(fragmentation)).end();
  const auto& departed = totals.departed;
  json.key("evictions").object().member("preempt", departed.preempted).member("reclaim", departed.reclaimed);
  json.member("stale", departed.stale).member("failure", departed.failed).end();
  json.member("moves", departed.moved).member("lost", millionths(simulation::gpu_seconds(summary.lost)));
  json.key("fairness").object();
  json.member("shortfall", millionths(part(totals.samples.shortfall, totals.samples.capacity)));
  json.member("jain", millionths(totals.samples.time == 0 ? 1 : totals.samples.jain_seconds / seconds)).end();
}

void write_clock(std::vector<double> cycle_ms, JsonWriter& json) {
  if (cycle_ms.empty()) return;
  std::ranges::sort(cycle_ms);
  double sum = 0;
  for (const double ms : cycle_ms) sum += ms;
  const auto ranked = [&](std::size_t percent) { return cycle_ms[(cycle_ms.size() * percent + 99) / 100 - 1]; };
  json.key("cycleMs").object().member("mean", millionths(sum / static_cast<double>(cycle_ms.size())));
  json.member("p50", millionths(ranked(50))).member("p99", millionths(ranked(99)));
  json.member("max", millionths(cycle_ms.back())).end();
}

void write_what(const SimulationTitle& title, JsonWriter& json) {
  json.member("policy", title.policy).member("cycle", title.cycle).member("seed", title.seed);
}

}  // namespace

void write_title(const SimulationTitle& title, const Workload& workload, std::string& out) {
  const Snapshot& all = workload.all;
  JsonWriter json(out);
  json.object().member("format", "muster/v1").member("event", "simulation").member("time", seconds(all.time));
  write_what(title, json);
  const std::span nodes = std::span(all.nodes).subspan(0, workload.start_nodes.end);
  write_list(json, "nodes", nodes, [&](const SnapshotNode& node) {
    json.object().member("name", node.name).member("gpus", node.gpu_count);
    if (!node.gpu_model.empty()) json.member("model", node.gpu_model);
    json.end();
  });
  const std::span queues = std::span(all.queues).subspan(0, workload.start_queues.end);
  write_list(json, "queues", queues, [&](const SnapshotQueue& queue) {
    json.object().member("name", queue.name);
    if (!queue.parent.empty()) json.member("parent", queue.parent);
    if (queue.gpu.quota != kUnlimited) json.member("quota", Exact{queue.gpu.quota, kMillionths});
    json.end();
  });
  json.end();
  out += '\n';
}

void write_record(const simulation::SimulationRecord& record, std::optional<double> cycle_ms, std::string& out) {
  JsonWriter json(out);
  if (const auto* job = std::get_if<simulation::JobRecord>(&record)) write_job(*job, json);
  if (const auto* node = std::get_if<simulation::NodeRecord>(&record)) write_node(*node, json);
  if (const auto* cycle = std::get_if<simulation::CycleRecord>(&record)) write_cycle(*cycle, cycle_ms, json);
  out += '\n';
}

void write_simulation_summary(const SimulationTitle& title, const simulation::Simulation& simulation,
                              std::vector<double> cycle_ms, std::string& out) {
  const simulation::SimulationTotals& totals = simulation.totals();
  const simulation::SimulationSummary summary = simulation::summarize(simulation);
  JsonWriter json(out);
  json.object().member("format", "muster/v1").key("simulation").object();
  write_what(title, json);
  json.end();
  json.key("time").object().member("start", seconds(simulation.workload().all.time));
  json.member("lastArrival", seconds(totals.last_arrival)).member("end", seconds(simulation.now())).end();
  json.member("cycles", totals.cycles);
  write_cluster(totals, summary, json);
  json.key("gangs").object();
  write_gangs(summary.all, json);
  json.end();
  json.key("large").object();
  write_gangs(summary.large, json);
  json.end();
  write_list(json, "bySize", summary.by_size, [&](const simulation::GangSummary& size) {
    json.object().member("gpus", size.name);
    write_gangs(size, json);
    json.end();
  });
  write_list(json, "byQueue", summary.by_queue,
             [&](const simulation::GangSummary& queue) { write_queue(queue, totals, json); });
  write_clock(std::move(cycle_ms), json);
  json.end();
  out += '\n';
}

}  // namespace muster::cli
