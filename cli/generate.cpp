#include "cli/generate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/exit_code.h"
#include "cli/instance_option.h"
#include "cli/options.h"
#include "cli/output.h"
#include "datasets/generator.h"

namespace muster {
namespace {

struct CountOption {
  const char* name;
  const char* help;
  std::int32_t GeneratorOptions::*field;
};

struct AmountOption {
  const char* name;
  const char* help;
  double GeneratorOptions::*field;
};

constexpr CountOption kCounts[] = {
    {"nodes", "nodes", &GeneratorOptions::nodes},
    {"gpus-per-node", "devices of each", &GeneratorOptions::gpus_per_node},
    {"cores-per-node", "cores of each", &GeneratorOptions::cores_per_node},
    {"memory-per-node", "GiB of each", &GeneratorOptions::memory_gib_per_node},
    {"gpu-memory", "GiB of a device; 0: not said", &GeneratorOptions::gpu_memory_gib},
    {"zones", "zones of racks, as topology; 0: none", &GeneratorOptions::zones},
    {"racks-per-zone", "racks of each", &GeneratorOptions::racks_per_zone},
    {"queues", "leaf queues; more than four have departments above them", &GeneratorOptions::queues},
    {"priorities", "priority classes, of value 50, 75, 100, ...", &GeneratorOptions::priorities},
    {"gangs-max", "pods of the largest gang", &GeneratorOptions::gangs_max},
    {"start-times", "distinct times at which running gangs started; 0: all different", &GeneratorOptions::start_times},
    {"gangs", "pending gangs of a situation", &GeneratorOptions::gangs},
    {"gang-pods", "pods of each of them", &GeneratorOptions::gang_pods}};

constexpr AmountOption kAmounts[] = {
    {"quota", "the queues' GPU quotas together, as a share of the cluster", &GeneratorOptions::quota},
    {"skew", "share of running gangs in the first queue, and of pending ones outside it; 0: all even",
     &GeneratorOptions::skew},
    {"limit", "a queue's limit, in quotas; 0: none", &GeneratorOptions::limit},
    {"tainted", "share of nodes with a taint, and of gangs that tolerate it", &GeneratorOptions::tainted},
    {"selecting", "share of gangs that select one of three pools of nodes", &GeneratorOptions::selecting},
    {"selecting-models", "share of gangs that accept some GPU models only", &GeneratorOptions::selecting_models},
    {"fractions", "share of pods that ask for a fraction of a device", &GeneratorOptions::fractions},
    {"memory-requests", "share of pods that ask for device memory", &GeneratorOptions::memory_requests},
    {"cpu-only", "share of pods without a GPU", &GeneratorOptions::cpu_only},
    {"elastic", "share of gangs with a minimum below their size", &GeneratorOptions::elastic},
    {"subgroups", "share of gangs in subgroups", &GeneratorOptions::subgroups},
    {"topology-required", "share of gangs all in one rack", &GeneratorOptions::topology_required},
    {"topology-preferred", "share of gangs preferably in one zone", &GeneratorOptions::topology_preferred},
    {"one-a-node", "share of gangs with no two pods on one node", &GeneratorOptions::one_a_node},
    {"gated", "share of pending gangs that are gated", &GeneratorOptions::gated},
    {"occupied", "share of the GPUs under running pods", &GeneratorOptions::occupied},
    {"preemptible", "share of the running gangs that may be evicted", &GeneratorOptions::preemptible},
    {"releasing", "share of the running gangs on their way out", &GeneratorOptions::releasing}};

CommandSyntax syntax() {
  CommandSyntax syntax{"muster generate [OPTION...]",
                       "Prints snapshots of made-up clusters, the same for the same seed. Shares are from 0 to 1.",
                       {{"preset", "NAME",
                         "what the other options change: synth (gangs up to 64), contended (a fifth fits by evictions "
                         "only), full (everything), or a situation: reclaim-gang, "
                         "reclaim-singles, consolidate, unplaceable"},
                        {"seed", "S", "of all that is drawn [1]"},
                        {"snapshots", "K", "lines [1]"},
                        {"id", "ID", "of the snapshot; of K: ID-0, ID-1, ..."},
                        {"load", "L", "pending pods for L times the free GPUs [empty: 1.2, occupied: 1.5]"},
                        {"pending-above", "", "pending gangs are of no lowest class, running ones of no highest"},
                        {"place-only", "", "the policy's only action is to place"},
                        {"gpu-models", "A,B,...", "the nodes' device models"}},
                       0,
                       0};
  for (const CountOption& count : kCounts) syntax.options.push_back({count.name, "N", count.help});
  for (const AmountOption& amount : kAmounts) syntax.options.push_back({amount.name, "F", amount.help});
  return syntax;
}

std::vector<std::string> models_of(std::string_view list) {
  std::vector<std::string> models;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) models.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return models;
}

GeneratorOptions options_of(const Settings& settings) {
  GeneratorOptions options;
  if (const auto preset = settings.text("preset")) {
    const auto named = generator_preset(*preset);
    if (!named)
      throw UsageError(
          fmt::format("--preset: '{}' is not one of synth, contended, full, reclaim-gang, reclaim-singles, "
                      "consolidate, unplaceable",
                      *preset));
    options = *named;
  }
  options.id = settings.text("id").value_or(options.id);
  set_seed(settings, options.seed);
  if (const auto load = amount_option(settings, "load")) options.load = load;
  options.pending_above = options.pending_above || settings.is_on("pending-above");
  options.place_only = settings.is_on("place-only");
  if (const auto models = settings.text("gpu-models")) options.gpu_models = models_of(*models);
  for (const CountOption& count : kCounts) set_count(settings, count.name, options.*count.field);
  for (const AmountOption& amount : kAmounts) set_amount(settings, amount.name, options.*amount.field);
  return options;
}

}  // namespace

int run_generate(int argc, const char* const* argv) {
  const Settings settings(syntax(), argc, argv);
  if (settings.wants_help()) return print(help_text(syntax()), kExitAnswered);
  GeneratorOptions options = options_of(settings);
  refuse_fault(generator_fault(options));
  constexpr std::int64_t kMostSnapshots = 1'000'000'000;
  const std::int64_t count = settings.integer("snapshots", 1, kMostSnapshots).value_or(1);
  const std::string id = options.id;
  for (std::int64_t k = 0; k < count; ++k) {
    if (count > 1) options.id = fmt::format("{}-{}", id, k);
    const int exit_code = print(generate_snapshot(options, static_cast<std::uint64_t>(k)) + '\n', kExitAnswered);
    if (exit_code != kExitAnswered) return exit_code;
  }
  return kExitAnswered;
}

}  // namespace muster
