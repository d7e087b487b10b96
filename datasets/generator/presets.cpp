#include "datasets/generator/presets.h"

#include <cmath>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "datasets/generator/situations.h"

namespace muster::generator {
namespace {

InputError option_fault(std::string_view option, std::string message) {
  return {ErrorCode::kInvalidOption, std::string(option), std::move(message)};
}

struct NamedShare {
  std::string_view option;
  double value;
};

std::optional<InputError> share_fault(const GeneratorOptions& o) {
  const std::initializer_list<NamedShare> shares = {{"fractions", o.pods.fractions},
                                                    {"memory-requests", o.pods.memory_requests},
                                                    {"cpu-only", o.pods.cpu_only},
                                                    {"elastic", o.gangs.elastic},
                                                    {"subgroups", o.gangs.subgroups},
                                                    {"gated", o.gangs.gated},
                                                    {"skew", o.queues.skew},
                                                    {"tainted", o.cluster.tainted},
                                                    {"selecting", o.cluster.selecting},
                                                    {"one-a-node", o.gangs.one_a_node},
                                                    {"occupied", o.running.occupied},
                                                    {"topology-required", o.gangs.topology_required},
                                                    {"preemptible", o.running.preemptible},
                                                    {"releasing", o.running.releasing},
                                                    {"topology-preferred", o.gangs.topology_preferred},
                                                    {"selecting-models", o.pods.selecting_models}};
  for (const NamedShare& share : shares) {
    if (!(share.value >= 0 && share.value <= 1)) return option_fault(share.option, "must be from 0 to 1");
  }
  return std::nullopt;
}

struct NamedNumber {
  std::string_view option;
  std::int32_t value, least, most;
};

std::optional<InputError> number_fault(const GeneratorOptions& o) {
  const std::initializer_list<NamedNumber> numbers = {{"nodes", o.cluster.nodes, 1, 1'000'000},
                                                      {"gpus-per-node", o.cluster.gpus_per_node, 1, 64},
                                                      {"cores-per-node", o.cluster.cores_per_node, 1, 100'000},
                                                      {"memory-per-node", o.cluster.memory_gib_per_node, 1, 1'000'000},
                                                      {"gpu-memory", o.cluster.gpu_memory_gib, 0, 10'000},
                                                      {"zones", o.cluster.zones, 0, 10'000},
                                                      {"racks-per-zone", o.cluster.racks_per_zone, 1, 10'000},
                                                      {"queues", o.queues.count, 1, 100'000},
                                                      {"priorities", o.priorities, 1, 1'000},
                                                      {"gangs-max", o.gangs.largest, 1, 100'000},
                                                      {"start-times", o.running.start_times, 0, 86'000},
                                                      {"gangs", o.size.gangs, 0, 100'000},
                                                      {"gang-pods", o.size.gang_pods, 0, 100'000}};
  for (const NamedNumber& number : numbers) {
    if (number.value < number.least || number.value > number.most) {
      return option_fault(number.option, fmt::format("must be from {} to {}", number.least, number.most));
    }
  }
  return std::nullopt;
}

struct NamedSituation {
  std::string_view name;
  Situation situation;
  std::int32_t nodes;
};
constexpr NamedSituation kSituations[] = {{"reclaim-gang", Situation::kReclaimGang, 1000},
                                          {"reclaim-singles", Situation::kReclaimSingles, 500},
                                          {"consolidate", Situation::kConsolidate, 500},
                                          {"unplaceable", Situation::kUnplaceable, 1000}};

constexpr std::int32_t kStartTimes = 4;  // of a situation's running pods

GeneratorOptions situation_options(const NamedSituation& named) {
  GeneratorOptions options;
  options.id = named.name;
  options.situation = named.situation;
  options.cluster.nodes = named.nodes;
  options.running.start_times = kStartTimes;
  return options;
}

// A situation fixes all options except its size.
std::optional<InputError> foreign_option_fault(const GeneratorOptions& o) {
  GeneratorOptions plain;
  plain.id = o.id;
  plain.seed = o.seed;
  plain.situation = o.situation;
  plain.cluster.nodes = o.cluster.nodes;
  plain.cluster.gpus_per_node = o.cluster.gpus_per_node;
  plain.cluster.cores_per_node = o.cluster.cores_per_node;
  plain.cluster.memory_gib_per_node = o.cluster.memory_gib_per_node;
  plain.queues.quota = o.queues.quota;
  plain.running.start_times = o.running.start_times;
  plain.size.gangs = o.size.gangs;
  plain.size.gang_pods = o.size.gang_pods;
  if (o == plain) return std::nullopt;
  return option_fault("preset",
                      "names a situation, which can be combined only with nodes, gpus-per-node, cores-per-node, "
                      "memory-per-node, quota, "
                      "start-times, gangs and gang-pods");
}

// Running, of 8,000 GPUs: 3,600 in the first queue, 400 in the others. Waiting: 500 and 4,500. The quotas are a third
// each, so that the first is due 3,100 of its 4,100 and the others all of their 4,900. All that waits runs in the best
// plan, except what does not fit together: 500 of what the first queue runs is reclaimed, and about as much preempted
// within it.
GeneratorOptions contended_options() {
  GeneratorOptions options;
  options.id = "contended";
  options.cluster.nodes = 1000;
  options.gangs.largest = 64;
  options.queues.count = options.priorities = 3;
  options.running.occupied = 0.5;
  options.running.preemptible = 1;
  options.queues.skew = 0.9;
  options.pending_above = true;
  options.load = 1.25;
  return options;
}

}  // namespace

std::optional<GeneratorOptions> generator_preset(std::string_view name) {
  for (const NamedSituation& named : kSituations) {
    if (named.name == name) return situation_options(named);
  }
  GeneratorOptions options;
  if (name == "synth") {
    options.gangs.largest = 64;
    return options;
  }
  if (name == "contended") return contended_options();
  if (name != "full") return std::nullopt;
  options.id = "full";
  options.cluster.gpu_memory_gib = 80;
  options.cluster.gpu_models = {"A100", "H100"};
  options.cluster.zones = 2;
  options.cluster.tainted = options.cluster.selecting = options.pods.selecting_models = 0.1;
  options.queues.count = 6;
  options.queues.limit = 2;
  options.priorities = 4;
  options.pods.fractions = 0.3;
  options.pods.memory_requests = options.pods.cpu_only = 0.1;
  options.gangs.largest = 64;
  options.gangs.elastic = options.gangs.subgroups = 0.3;
  options.gangs.topology_required = options.gangs.topology_preferred = 0.2;
  options.gangs.one_a_node = options.gangs.gated = options.running.releasing = 0.05;
  options.running.occupied = options.running.preemptible = 0.5;
  return options;
}

std::optional<InputError> generator_fault(const GeneratorOptions& o) {
  if (auto fault = number_fault(o)) return fault;
  if (auto fault = share_fault(o)) return fault;
  if (!(o.queues.quota >= 0 && o.queues.quota <= 1000)) return option_fault("quota", "must be from 0 to 1000");
  if (!(o.queues.limit >= 0 && o.queues.limit <= 1000)) return option_fault("limit", "must be from 0 to 1000");
  if (o.load && !(*o.load >= 0 && *o.load <= 1000)) return option_fault("load", "must be from 0 to 1000");
  if (o.pods.fractions + o.pods.memory_requests + o.pods.cpu_only > 1 + 1e-9) {
    return option_fault("fractions", "exceeds 1 together with memory-requests and cpu-only");
  }
  if (o.pods.cpu_only > 0.99)
    return option_fault("cpu-only", "leaves no pods that request GPUs, which the load is made of");
  if (o.pods.memory_requests > 0 && o.cluster.gpu_memory_gib == 0)
    return option_fault("memory-requests", "needs gpu-memory");
  if (o.pending_above && o.priorities < 2) return option_fault("pending-above", "needs two priorities");
  if (o.queues.skew > 0 && o.queues.count < 2) return option_fault("skew", "needs two queues");
  if (o.pods.selecting_models > 0 && o.cluster.gpu_models.empty())
    return option_fault("selecting-models", "needs gpu-models");
  if (o.gangs.topology_required + o.gangs.topology_preferred > 0 && o.cluster.zones == 0) {
    return option_fault("topology-required", "and topology-preferred need zones");
  }
  if (std::int64_t{o.cluster.zones} * o.cluster.racks_per_zone > o.cluster.nodes)
    return option_fault("zones", "makes more racks than there are nodes");
  if (o.situation == Situation::kDrawn) {
    if (o.size.gangs + o.size.gang_pods > 0)
      return option_fault("gangs", "and gang-pods require a preset that is a situation");
    return std::nullopt;
  }
  if (auto fault = foreign_option_fault(o)) return fault;
  return situation_fault(o);
}

}  // namespace muster::generator
