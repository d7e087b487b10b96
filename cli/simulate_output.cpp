#include "cli/simulate_output.h"

#include <algorithm>
#include <array>
#include <utility>

#include "datasets/simulation/summary.h"
#include "io/json/json_writer.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kThousandths = 1000, kMillionths = 1'000'000;

// An object in the making: members by name.
class Members {
 public:
  explicit Members(std::string& out) : json_(out) { json_.raw("{"); }
  json::JsonWriter& member(std::string_view name) { return json_.separate(is_first_).string(name).raw(":"); }
  Members& text(std::string_view name, std::string_view value) {
    member(name).string(value);
    return *this;
  }
  Members& integer(std::string_view name, std::int64_t value) {
    member(name).integer(value);
    return *this;
  }
  Members& seconds(std::string_view name, Nanoseconds value) {
    member(name).decimal(value, kNanosecondsPerSecond);
    return *this;
  }
  Members& gpus(std::string_view name, Work value) {
    member(name).decimal(value, kThousandths);
    return *this;
  }
  // To six places, which is what a reader can use.
  Members& number(std::string_view name, double value) {
    member(name).decimal(static_cast<std::int64_t>(value * 1e6 + (value < 0 ? -0.5 : 0.5)), kMillionths);
    return *this;
  }
  template <class Items, class Write>
  Members& list(std::string_view name, const Items& items, const Write& write) {
    member(name).raw("[");
    bool is_first = true;
    for (const auto& item : items) {
      json_.separate(is_first);
      write(item);
    }
    json_.raw("]");
    return *this;
  }
  void end() { json_.raw("}"); }

 private:
  json::JsonWriter json_;
  bool is_first_ = true;
};

void write_pod(const simulation::PodRecord& pod, std::string& out) {
  Members members(out);
  members.text("name", pod.name);
  if (!pod.from.empty()) members.text("from", pod.from);
  members.text("node", pod.node);
  if (!pod.devices.empty()) {
    members.list("gpus", pod.devices, [&](std::int32_t device) { json::JsonWriter(out).integer(device); });
    members.member("share").decimal(pod.share, kMillionths);
  }
  members.end();
}

constexpr std::array<std::string_view, 8> kJobEvents = {"submit", "place",     "start",  "move",
                                                        "evict",  "interrupt", "finish", "drop"};
constexpr std::array<std::string_view, 6> kNodeEvents = {"failed",  "repaired", "added",
                                                         "removed", "cordoned", "uncordoned"};

void write_submit(const simulation::SimulatedJob& job, Members& members) {
  members.text("queue", job.queue).integer("priority", job.priority);
  members.integer("pods", static_cast<std::int64_t>(job.pods)).gpus("gpus", job.gpu_work);
  if (job.duration) members.seconds("duration", *job.duration);
}

void write_job(const simulation::JobRecord& record, std::string& out) {
  Members members(out);
  members.seconds("time", record.time).text("event", kJobEvents[static_cast<std::size_t>(record.event)]);
  members.text("gang", record.job.name);
  if (!record.reason.empty() && record.event == simulation::JobEvent::kEvict) members.text("reason", record.reason);
  if (!record.for_gang.empty()) members.text("for", record.for_gang);
  switch (record.event) {
    case simulation::JobEvent::kSubmit:
      write_submit(record.job, members);
      break;
    case simulation::JobEvent::kPlace:
    case simulation::JobEvent::kMove:
      members.list("pods", record.pods, [&](const simulation::PodRecord& pod) { write_pod(pod, out); });
      break;
    case simulation::JobEvent::kEvict:
      members.list("pods", record.pods,
                   [&](const simulation::PodRecord& pod) { json::JsonWriter(out).string(pod.name); });
      break;
    case simulation::JobEvent::kStart:
      members.seconds("waited", record.time - record.job.submitted);
      break;
    case simulation::JobEvent::kInterrupt:
      members.number("lost", simulation::gpu_seconds(record.lost));
      break;
    case simulation::JobEvent::kFinish:
      members.seconds("waited", record.job.first_start.value_or(record.time) - record.job.submitted);
      members.seconds("completion", record.time - record.job.submitted);
      break;
    case simulation::JobEvent::kDrop:
      break;
  }
  members.end();
}

void write_node(const simulation::NodeRecord& record, std::string& out) {
  Members members(out);
  members.seconds("time", record.time).text("event", "node").text("name", record.node.name);
  members.text("change", kNodeEvents[static_cast<std::size_t>(record.event)]);
  members.integer("gpus", record.node.gpu_count).end();
}

void write_cycle(const simulation::CycleRecord& record, std::optional<double> cycle_ms, std::string& out) {
  Members members(out);
  members.seconds("time", record.time).text("event", "cycle").integer("cycle", record.number);
  members.integer("running", record.running).integer("pending", record.pending).integer("placed", record.placed);
  members.integer("evicted", record.evicted).integer("moved", record.moved);
  members.gpus("capacity", record.capacity).gpus("allocated", record.allocated);
  if (record.fragmentation) members.number("fragmentation", static_cast<double>(*record.fragmentation) / 1e9);
  members.list("queues", record.queues, [&](const simulation::QueueSample& queue) {
    Members of_queue(out);
    of_queue.text("name", queue.name).gpus("fairShare", queue.fair_share).gpus("allocated", queue.allocated).end();
  });
  members.member("waiting");
  Members waiting(out);
  waiting.integer("gangs", record.waiting_gangs).gpus("gpus", record.waiting_work).end();
  if (cycle_ms) members.number("ms", *cycle_ms);
  members.end();
}

double part(simulation::GpuTime value, simulation::GpuTime of) {
  return of == 0 ? 0 : static_cast<double>(value) / static_cast<double>(of);
}

void write_spans(std::string_view name, const simulation::SpanStatistics& spans, Members& members, std::string& out) {
  members.member(name);
  Members inner(out);
  inner.integer("count", spans.count).number("mean", spans.mean_seconds).seconds("p50", spans.p50);
  inner.seconds("p99", spans.p99).seconds("max", spans.most).end();
}

void write_told(const simulation::ToldStatistics& told, Members& members, std::string& out) {
  members.member("expectedStarts");
  Members inner(out);
  inner.integer("count", told.count).number("withinTwice", told.within_twice);
  inner.number("p10", told.p10).number("p50", told.p50).number("p90", told.p90).end();
}

void write_gangs(const simulation::GangSummary& summary, Members& members, std::string& out) {
  members.integer("submitted", summary.submitted).integer("started", summary.started);
  members.integer("finished", summary.finished).integer("dropped", summary.dropped);
  write_spans("waiting", summary.waiting, members, out);
  write_spans("completion", summary.completion, members, out);
  write_spans("delay", summary.delay, members, out);
  members.integer("interruptions", summary.interruptions).integer("evictedPods", summary.evicted_pods);
  members.integer("movedPods", summary.moved_pods).number("lost", simulation::gpu_seconds(summary.lost));
  if (summary.told.count > 0) write_told(summary.told, members, out);
}

void write_queue(const simulation::GangSummary& summary, const simulation::SimulationTotals& totals, std::string& out) {
  Members members(out);
  members.text("name", summary.name);
  if (const auto found = totals.samples.queues.find(summary.name); found != totals.samples.queues.end()) {
    const simulation::QueueTotals& queue = found->second;
    const auto mean = [&](simulation::GpuTime sum) {
      return part(sum, simulation::GpuTime{queue.time} * kThousandths);
    };
    members.number("fairShare", mean(queue.fair_share)).number("allocated", mean(queue.allocated));
    members.number("shortfall", mean(queue.shortfall));
  }
  write_gangs(summary, members, out);
  members.end();
}

void write_cluster(const simulation::SimulationTotals& totals, const simulation::SimulationSummary& summary,
                   Members& members, std::string& out) {
  members.member("allocation");
  Members allocation(out);
  allocation.number("mean", part(totals.allocated, totals.capacity));
  allocation.number("whileArriving", part(totals.allocated_arriving, totals.capacity_arriving));
  allocation.number("useful", part(totals.allocated - summary.lost, totals.capacity)).end();
  const double seconds = std::max(1e-9, static_cast<double>(totals.samples.time) / 1e9);
  members.member("fragmentation");
  Members fragmentation(out);
  fragmentation.number("mean", totals.samples.fragmentation_seconds / 1e3 / seconds).end();
  members.member("evictions");
  Members evictions(out);
  evictions.integer("preempt", totals.departed.preempted).integer("reclaim", totals.departed.reclaimed);
  evictions.integer("stale", totals.departed.stale).integer("failure", totals.departed.failed).end();
  members.integer("moves", totals.departed.moved).number("lost", simulation::gpu_seconds(summary.lost));
  members.member("fairness");
  Members fairness(out);
  fairness.number("shortfall", part(totals.samples.shortfall, totals.samples.capacity));
  fairness.number("jain", totals.samples.time == 0 ? 1 : totals.samples.jain_seconds / seconds).end();
}

void write_clock(std::vector<double> cycle_ms, Members& members, std::string& out) {
  if (cycle_ms.empty()) return;
  std::ranges::sort(cycle_ms);
  double sum = 0;
  for (const double ms : cycle_ms) sum += ms;
  const auto ranked = [&](std::size_t percent) { return cycle_ms[(cycle_ms.size() * percent + 99) / 100 - 1]; };
  members.member("cycleMs");
  Members clock(out);
  clock.number("mean", sum / static_cast<double>(cycle_ms.size())).number("p50", ranked(50)).number("p99", ranked(99));
  clock.number("max", cycle_ms.back()).end();
}

void write_what(const SimulationTitle& title, Members& members) {
  members.text("policy", title.policy).text("cycle", title.cycle);
  members.integer("seed", static_cast<std::int64_t>(title.seed));
}

}  // namespace

void write_title(const SimulationTitle& title, const Workload& workload, std::string& out) {
  const Snapshot& all = workload.all;
  Members members(out);
  members.text("format", "muster/v1").text("event", "simulation").seconds("time", all.time);
  write_what(title, members);
  const std::span nodes = std::span(all.nodes).subspan(0, workload.start_nodes.end);
  members.list("nodes", nodes, [&](const SnapshotNode& node) {
    Members of_node(out);
    of_node.text("name", node.name).integer("gpus", node.gpu_count);
    if (!node.gpu_model.empty()) of_node.text("model", node.gpu_model);
    of_node.end();
  });
  const std::span queues = std::span(all.queues).subspan(0, workload.start_queues.end);
  members.list("queues", queues, [&](const SnapshotQueue& queue) {
    Members of_queue(out);
    of_queue.text("name", queue.name);
    if (!queue.parent.empty()) of_queue.text("parent", queue.parent);
    if (queue.gpu.quota != kUnlimited) of_queue.member("quota").decimal(queue.gpu.quota, kMillionths);
    of_queue.end();
  });
  members.end();
  out += '\n';
}

void write_record(const simulation::SimulationRecord& record, std::optional<double> cycle_ms, std::string& out) {
  if (const auto* job = std::get_if<simulation::JobRecord>(&record)) write_job(*job, out);
  if (const auto* node = std::get_if<simulation::NodeRecord>(&record)) write_node(*node, out);
  if (const auto* cycle = std::get_if<simulation::CycleRecord>(&record)) write_cycle(*cycle, cycle_ms, out);
  out += '\n';
}

void write_simulation_summary(const SimulationTitle& title, const simulation::Simulation& simulation,
                              std::vector<double> cycle_ms, std::string& out) {
  const simulation::SimulationTotals& totals = simulation.totals();
  const simulation::SimulationSummary summary = simulation::summarize(simulation);
  Members members(out);
  members.text("format", "muster/v1").member("simulation");
  Members what(out);
  write_what(title, what);
  what.end();
  members.member("time");
  Members time(out);
  time.seconds("start", simulation.workload().all.time).seconds("lastArrival", totals.last_arrival);
  time.seconds("end", simulation.now()).end();
  members.integer("cycles", totals.cycles);
  write_cluster(totals, summary, members, out);
  members.member("gangs");
  Members all(out);
  write_gangs(summary.all, all, out);
  all.end();
  members.member("large");
  Members large(out);
  write_gangs(summary.large, large, out);
  large.end();
  members.list("bySize", summary.by_size, [&](const simulation::GangSummary& size) {
    Members of_size(out);
    of_size.text("gpus", size.name);
    write_gangs(size, of_size, out);
    of_size.end();
  });
  members.list("byQueue", summary.by_queue,
               [&](const simulation::GangSummary& queue) { write_queue(queue, totals, out); });
  write_clock(std::move(cycle_ms), members, out);
  members.end();
  out += '\n';
}

}  // namespace muster::cli
