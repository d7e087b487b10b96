#include "cli/generate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/terminal/console.h"
#include "cli/terminal/options.h"
#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"

namespace muster::cli {
namespace {

struct CountOption {
  const char* name;
  const char* help;
  std::int32_t* (*field)(generator::GeneratorOptions&);
};

struct AmountOption {
  const char* name;
  const char* help;
  double* (*field)(generator::GeneratorOptions&);
};

constexpr CountOption kCounts[] = {
    {"nodes", "nodes", [](generator::GeneratorOptions& o) { return &o.cluster.nodes; }},
    {"gpus-per-node", "GPUs per node", [](generator::GeneratorOptions& o) { return &o.cluster.gpus_per_node; }},
    {"cores-per-node", "CPU cores per node", [](generator::GeneratorOptions& o) { return &o.cluster.cores_per_node; }},
    {"memory-per-node", "GiB of memory per node",
     [](generator::GeneratorOptions& o) { return &o.cluster.memory_gib_per_node; }},
    {"gpu-memory", "GiB per device; 0: not stated",
     [](generator::GeneratorOptions& o) { return &o.cluster.gpu_memory_gib; }},
    {"zones", "topology: zones of racks; 0: none", [](generator::GeneratorOptions& o) { return &o.cluster.zones; }},
    {"racks-per-zone", "racks per zone", [](generator::GeneratorOptions& o) { return &o.cluster.racks_per_zone; }},
    {"queues", "leaf queues; more than four are grouped into departments",
     [](generator::GeneratorOptions& o) { return &o.queues.count; }},
    {"priorities", "priority classes, with values 50, 75, 100, ...",
     [](generator::GeneratorOptions& o) { return &o.priorities; }},
    {"gangs-max", "size of the largest gang, in pods", [](generator::GeneratorOptions& o) { return &o.gangs.largest; }},
    {"start-times", "number of distinct start times of running gangs; 0: all different",
     [](generator::GeneratorOptions& o) { return &o.running.start_times; }},
    {"gangs", "number of pending gangs in a situation", [](generator::GeneratorOptions& o) { return &o.size.gangs; }},
    {"gang-pods", "pods per pending gang in a situation",
     [](generator::GeneratorOptions& o) { return &o.size.gang_pods; }}};

constexpr AmountOption kAmounts[] = {
    {"quota", "sum of the queues' GPU quotas, as a share of the cluster",
     [](generator::GeneratorOptions& o) { return &o.queues.quota; }},
    {"skew", "share of running gangs in the first queue and of pending gangs outside it; 0: even",
     [](generator::GeneratorOptions& o) { return &o.queues.skew; }},
    {"limit", "limit of each queue, as a multiple of its quota; 0: none",
     [](generator::GeneratorOptions& o) { return &o.queues.limit; }},
    {"tainted", "share of nodes with a taint, and of gangs that tolerate it",
     [](generator::GeneratorOptions& o) { return &o.cluster.tainted; }},
    {"selecting", "share of gangs that select one of three pools of nodes",
     [](generator::GeneratorOptions& o) { return &o.cluster.selecting; }},
    {"selecting-models", "share of gangs that accept some GPU models only",
     [](generator::GeneratorOptions& o) { return &o.pods.selecting_models; }},
    {"fractions", "share of pods that request a fraction of a device",
     [](generator::GeneratorOptions& o) { return &o.pods.fractions; }},
    {"memory-requests", "share of pods that request device memory",
     [](generator::GeneratorOptions& o) { return &o.pods.memory_requests; }},
    {"cpu-only", "share of pods without a GPU", [](generator::GeneratorOptions& o) { return &o.pods.cpu_only; }},
    {"elastic", "share of gangs with a minimum below their size",
     [](generator::GeneratorOptions& o) { return &o.gangs.elastic; }},
    {"subgroups", "share of gangs with subgroups", [](generator::GeneratorOptions& o) { return &o.gangs.subgroups; }},
    {"topology-required", "share of gangs that require one rack",
     [](generator::GeneratorOptions& o) { return &o.gangs.topology_required; }},
    {"topology-preferred", "share of gangs that prefer one zone",
     [](generator::GeneratorOptions& o) { return &o.gangs.topology_preferred; }},
    {"one-a-node", "share of gangs that allow only one of their pods per node",
     [](generator::GeneratorOptions& o) { return &o.gangs.one_a_node; }},
    {"gated", "share of pending gangs that are gated", [](generator::GeneratorOptions& o) { return &o.gangs.gated; }},
    {"occupied", "share of GPUs used by running pods",
     [](generator::GeneratorOptions& o) { return &o.running.occupied; }},
    {"preemptible", "share of running gangs that are preemptible",
     [](generator::GeneratorOptions& o) { return &o.running.preemptible; }},
    {"releasing", "share of running gangs that are being deleted",
     [](generator::GeneratorOptions& o) { return &o.running.releasing; }}};

CommandSyntax with_amounts(CommandSyntax syntax) {
  for (const CountOption& count : kCounts) syntax.options.push_back({count.name, "N", count.help});
  for (const AmountOption& amount : kAmounts) syntax.options.push_back({amount.name, "F", amount.help});
  return syntax;
}

}  // namespace

const CommandSyntax& generate_syntax() {
  static const CommandSyntax syntax = with_amounts(
      {"muster generate [OPTION...]",
       "Prints snapshots of synthetic clusters, the same for the same seed. Shares are numbers from 0 to 1.",
       {{"preset", "NAME",
         "defaults for the other options: synth (gangs up to 64), contended (a fifth fits by evictions "
         "only), full (all features), or a situation: reclaim-gang, "
         "reclaim-singles, consolidate, unplaceable",
         kNoLetter, "synth contended full reclaim-gang reclaim-singles consolidate unplaceable"},
        {"seed", "S", "random seed [1]"},
        {"snapshots", "K", "number of snapshots to print [1]"},
        {"id", "ID", "id of the snapshot; if there are K: ID-0, ID-1, ..."},
        {"load", "L", "make pending pods request L times the free GPUs [empty: 1.2, occupied: 1.5]"},
        {"pending-above", "", "give no pending gang the lowest priority class and no running gang the highest"},
        {"place-only", "", "allow only the action place"},
        {"gpu-models", "A,B,...", "GPU models of the nodes"}},
       0,
       0});
  return syntax;
}

namespace {

std::vector<std::string> models_of(std::string_view list) {
  std::vector<std::string> models;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) models.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return models;
}

generator::GeneratorOptions generator_options_of(const Settings& settings) {
  generator::GeneratorOptions options;
  if (settings.text("preset")) options = generator::generator_preset(settings.choice("preset")).value();
  options.id = settings.text("id").value_or(options.id);
  set_seed(settings, options.seed);
  if (const auto load = amount_option(settings, "load")) options.load = load;
  options.pending_above = options.pending_above || settings.is_on("pending-above");
  options.place_only = settings.is_on("place-only");
  if (const auto models = settings.text("gpu-models")) options.cluster.gpu_models = models_of(*models);
  for (const CountOption& count : kCounts) set_count(settings, count.name, *count.field(options));
  for (const AmountOption& amount : kAmounts) set_amount(settings, amount.name, *amount.field(options));
  return options;
}

}  // namespace

int run_generate(int argc, const char* const* argv) {
  const Settings settings(generate_syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(generate_syntax()), kExitAnswered);
  generator::GeneratorOptions options = generator_options_of(settings);
  refuse_fault(generator::generator_fault(options));
  constexpr std::int64_t kMostSnapshots = 1'000'000'000;
  const std::int64_t count = settings.integer("snapshots", 1, kMostSnapshots).value_or(1);
  const std::string id = options.id;
  for (std::int64_t k = 0; k < count; ++k) {
    if (count > 1) options.id = fmt::format("{}-{}", id, k);
    const int exit_code =
        print(generator::generate_snapshot(options, static_cast<std::uint64_t>(k)) + '\n', kExitAnswered);
    if (exit_code != kExitAnswered) return exit_code;
  }
  return kExitAnswered;
}

}  // namespace muster::cli
