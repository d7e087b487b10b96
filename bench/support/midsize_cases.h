// Mid-size clusters, all different: 20 to 60 nodes, 100 to 400 pods. Made by the generator of datasets/, whose options
// are drawn here. Equal seeds give equal snapshots.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "datasets/generator/generator.h"
#include "datasets/generator/presets.h"
#include "datasets/generator/random.h"

namespace muster::bench {

// The features that one instance in a few has, each drawn with the chance at its place.
class MidsizeDraw {
 public:
  explicit MidsizeDraw(std::uint64_t seed) : random_(seed, kStream) {}

  generator::GeneratorOptions options(std::uint64_t seed) {
    generator::GeneratorOptions options;
    options.id = fmt::format("midsize-{}", seed);
    options.seed = seed;
    draw_cluster(options);
    draw_demand(options);
    draw_state(options);
    return options;
  }

 private:
  static constexpr std::uint64_t kStream = 99;

  std::int32_t between(std::int32_t least, std::int32_t most) {
    return least + static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(most - least + 1)));
  }
  bool chance(std::int64_t percent) { return random_.chance(percent * 10'000); }
  double sometimes(std::int64_t percent, double share) { return chance(percent) ? share : 0; }

  void draw_cluster(generator::GeneratorOptions& options) {
    options.cluster.nodes = between(20, 60);
    options.cluster.gpus_per_node = chance(50) ? 8 : 4;
    options.cluster.cores_per_node = options.cluster.gpus_per_node * between(8, 16);
    options.cluster.memory_gib_per_node = options.cluster.gpus_per_node * 96;
    options.cluster.gpu_models = {"A100", "H100"};
    if (chance(60)) options.cluster.gpu_models.push_back("L40");
    if (chance(30)) options.cluster.zones = 2;
    options.cluster.tainted = sometimes(30, 0.1);
    options.cluster.selecting = sometimes(30, 0.15);
    options.queues.count = between(1, 6);
    options.queues.quota = between(3, 5) / 4.0;
    options.queues.limit = sometimes(20, 2);
    options.priorities = between(1, 3);
  }

  void draw_demand(generator::GeneratorOptions& options) {
    options.pods.fractions = between(0, 4) / 10.0;
    options.pods.cpu_only = sometimes(30, 0.1);
    if (chance(20)) {
      options.cluster.gpu_memory_gib = 80;
      options.pods.memory_requests = 0.1;
    }
    options.pods.selecting_models = between(0, 3) / 10.0;
    constexpr std::int32_t kSizes[] = {4, 8, 16};
    options.gangs.largest = kSizes[random_.below(std::size(kSizes))];
    options.gangs.elastic = between(1, 5) / 10.0;
    options.gangs.subgroups = sometimes(30, 0.3);
    options.gangs.one_a_node = sometimes(20, 0.1);
    options.gangs.topology_required = options.cluster.zones > 0 ? 0.2 : 0;
    options.gangs.topology_preferred = options.cluster.zones > 0 ? 0.2 : 0;
  }

  // A quarter of them empty; a third of the others without evictions.
  void draw_state(generator::GeneratorOptions& options) {
    if (chance(25)) {
      options.load = between(11, 16) / 10.0;
      return;
    }
    options.running.occupied = between(3, 7) / 10.0;
    options.place_only = chance(33);
    options.running.preemptible = options.place_only ? 0 : between(3, 10) / 10.0;
    options.running.releasing = sometimes(30, 0.05);
    options.pending_above = options.priorities > 1 && chance(50);
    if (options.queues.count > 1 && chance(50)) options.queues.skew = 0.8;
    options.load = between(12, 25) / 10.0;
  }

  generator::Random random_;
};

inline std::int64_t count_of(std::string_view text, std::string_view word) {
  std::int64_t count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

// The first line of the seed's options that has 100 to 400 pods; other options if none of a few has.
inline std::string midsize_snapshot(std::uint64_t seed) {
  MidsizeDraw draw(seed);
  for (;;) {
    const generator::GeneratorOptions options = draw.options(seed);
    if (generator::generator_fault(options)) continue;
    std::string line = generator::generate_snapshot(options);
    const std::size_t pods = line.find("\"pods\":[");
    const std::int64_t count = count_of(std::string_view(line).substr(pods), "\"name\":");
    if (count >= 100 && count <= 400) return line;
  }
}

}  // namespace muster::bench
